//! Faults of a reply, by name.

use crate::deviation_share::named;

named! {
    /// A fault of one reply.
    Fault, "fault", "--fault";
    RateLimit = "rate-limit": "429: too many requests or tokens in a minute";
    InsufficientQuota = "insufficient-quota": "429: the account has no funds";
    Unauthorized = "unauthorized": "401: the key is not known";
    PaymentRequired = "payment-required": "402: payment required";
    Forbidden = "forbidden": "403: the key may not do this";
    ModelNotFound = "model-not-found": "404: there is no such model";
    BadRequest = "bad-request": "400: the request is malformed";
    ContentPolicy = "content-policy": "400: the images or texts are not allowed";
    TooLarge = "too-large": "413: the request is too large";
    Timeout = "timeout": "408: the request timed out";
    Conflict = "conflict": "409: a conflicting request is in progress";
    ServerError = "server-error": "500: the server failed";
    Unavailable = "unavailable": "503: the server is unavailable";
    Overloaded = "overloaded": "529: the server is overloaded";
    Hang = "hang": "no answer until the client gives up or the simulator ends";
    Reset = "reset": "the connection is closed before any byte of an answer";
    Cut = "cut": "the connection is closed in the middle of the answer";
    Slow = "slow": "the body is sent in small chunks";
    Truncated = "truncated": "the verdict ends in the middle";
    Fenced = "fenced": "the verdict is in a fenced block";
    Prose = "prose": "the verdict is between sentences";
    Refusal = "refusal": "the model refuses to answer";
    Length = "length": "the answer ends at the output limit";
    ContentFilter = "content-filter": "the answer is withheld by a filter";
    OutOfRange = "out-of-range": "a score lies beyond its scale";
    Fractional = "fractional": "a score is not a whole number";
    StringScores = "string-scores": "the scores are strings";
    MissingKeys = "missing-keys": "a score is missing";
    Empty = "empty": "the answer has no content";
}
