//! Faults of batches, by name.

use crate::deviation_share::named;

named! {
    /// Something that goes wrong with a batch or with its rows.
    BatchFault, "fault of batches", "--batch-fault";
    ValidationFailed = "validation-failed": "the batch fails validation, with the line at fault; nothing runs";
    CreationLimit = "creation-limit": "429 for the first creation of a batch";
    LaterCreationLimit = "later-creation-limit": "429 for every creation of a batch after the first";
    CreationLost = "creation-lost": "the first creation succeeds, and its answer never arrives";
    CreationsLost = "creations-lost": "every creation succeeds, and no answer arrives";
    CancelRefused = "cancel-refused": "409 for every cancellation, which changes nothing";
    Unlisted = "unlisted": "no list has a batch";
    TruncatedList = "truncated-list": "every list is empty, and says that more batches follow";
    UnmarkedList = "unmarked-list": "the list of batches leaves their metadata out";
    LateListing = "late-listing": "a batch is missing in the first two lists after its creation";
    LateTokenLimit = "late-token-limit": "the limit of enqueued tokens fails the batch instead of refusing its creation";
    Expired = "expired": "rows are not run within 24 hours; give the share of rows, as in expired=0.5";
    Missing = "missing": "rows run and are billed, and are in neither file (share of rows)";
    Doubled = "doubled": "rows occur in the output file twice (share of rows)";
    Shuffled = "shuffled": "the output file has the rows in reverse";
    FailedRow = "failed-row": "rows end with a status of 500 and error null (share of rows)";
    RefusedRow = "refused-row": "rows end without a response, with an error of their own (share of rows)";
    OtherIds = "other-ids": "rows run and are billed, and name another custom_id (share of rows)";
    CutOnce = "cut-once": "the first download of a file of answers is cut in the middle";
    EmptyFiles = "empty-files": "files of answers have no content";
    Forgotten = "forgotten": "a batch that has ended is unknown, with its files";
    NoUsage = "no-batch-usage": "the batch does not report its usage";
    WrongUsage = "wrong-batch-usage": "the batch reports twice the usage of its rows";
    LimitedRow = "limited-row": "rows do not run and end with the error of the limit of enqueued tokens (share of rows)";
}
