//! Phrases by which providers and gateways report errors: OpenAI, Anthropic, Gemini's compatible
//! endpoint, Groq, OpenRouter, LiteLLM, llama.cpp.

use crate::vision::AccountProblem::{
    self, Address, DayLimit, Funds, Images, Key, Model, Permission,
};

/// The part of an error that contains a phrase.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// The whole of its code, type or status.
    Name,
    /// Part of its message, in any case; the phrase is in lower case.
    Message,
    /// Part of the body: gateways wrap an error in another.
    Body,
}

/// Errors of an account that cannot call until a person acts.
pub(super) struct AccountRule {
    pub(super) problem: AccountProblem,
    /// The statuses that it applies to; empty for all.
    pub(super) statuses: &'static [u16],
    pub(super) place: Place,
    /// Phrases of which one suffices; empty if the status suffices.
    pub(super) phrases: &'static [&'static str],
}

const fn rule(
    problem: AccountProblem,
    statuses: &'static [u16],
    place: Place,
    phrases: &'static [&'static str],
) -> AccountRule {
    AccountRule { problem, statuses, place, phrases }
}

/// Statuses under which only the message distinguishes an account's error from a request's.
const REFUSALS: &[u16] = &[200, 400, 422];

/// Rules of account errors; the first match applies. Names are more specific than a status:
/// gateways use the same names with several.
pub(super) const ACCOUNT_RULES: &[AccountRule] = &[
    rule(
        Funds,
        &[],
        Place::Name,
        &[
            "insufficient_quota",
            "billing_hard_limit_reached",
            "billing_not_active",
            "budget_exceeded",
        ],
    ),
    rule(Funds, &[429], Place::Body, &["insufficient_quota"]),
    // Gemini's quota ids, and OpenRouter's limit of free models.
    rule(DayLimit, &[429], Place::Body, &["PerDay", "free-models-per-day"]),
    rule(Images, &[404], Place::Body, &["support image input"]),
    // LiteLLM without a database knows its master key alone, and looks for any other there.
    rule(Key, &[], Place::Name, &["invalid_api_key", "token_not_found_in_db", "no_db_connection"]),
    rule(
        Model,
        &[],
        Place::Name,
        &["model_not_found", "DeploymentNotFound", "model_decommissioned"],
    ),
    rule(
        Funds,
        REFUSALS,
        Place::Message,
        &[
            "budget has been exceeded",
            "exceededbudget",
            "credit balance is too low",
            "insufficient credits",
            "insufficient balance",
            "insufficient funds",
            // Anthropic's limit of spending, until a date that the message names.
            "reached your specified api usage limits",
        ],
    ),
    rule(
        Key,
        REFUSALS,
        Place::Message,
        &["api key not valid", "invalid api key", "incorrect api key", "authentication error"],
    ),
    rule(
        Model,
        REFUSALS,
        Place::Message,
        &[
            "invalid model name",
            "is not a valid model",
            "unknown model",
            "model not found",
            "no such model",
            "has been decommissioned",
        ],
    ),
    rule(Key, &[401], Place::Body, &[]),
    rule(Funds, &[402], Place::Body, &[]),
    rule(Permission, &[403], Place::Body, &[]),
    rule(Model, &[404], Place::Message, &["model"]),
    // 404 and 405 concern the address, hence every job.
    rule(Address, &[404, 405], Place::Body, &[]),
];

/// Names of refusals of one request by its content, under any status.
pub(super) const MODERATION: &[&str] =
    &["content_policy_violation", "content_filter", "ResponsibleAIPolicyViolation"];

/// Status of Gemini's errors by rate and by quota.
pub(super) const RESOURCE_EXHAUSTED: &str = "RESOURCE_EXHAUSTED";

/// Phrase of Gemini, in lower case, for a quota that is used up.
pub(super) const QUOTA_EXCEEDED: &str = "exceeded your current quota";

/// Parts of Gemini's errors by rate that name the period of the quota.
pub(super) const QUOTA_PERIODS: &[&str] = &["PerMinute", "per minute", "QuotaFailure"];

/// Phrase for a request above the whole minute's limit, in lower case.
pub(super) const TOO_LARGE: &str = "request too large";

/// The name of Groq's error for a reply of the model that is no JSON.
pub(super) const NO_JSON: &str = "json_validate_failed";

/// Phrases of gateways, in lower case, about an upstream that may continue.
pub(super) const UPSTREAM_LOST: &[&str] =
    &["litellm.timeout", "litellm.apiconnectionerror", "apitimeouterror"];

/// llama.cpp's phrase, in lower case, for a schema that it cannot make a grammar of.
pub(super) const GRAMMAR: &str = "failed to parse grammar";

/// The parameters that request a reply's format, in lower case.
pub(super) const REPLY_FORMAT: &[&str] =
    &["response_format", "response format", "json_schema", "json_object"];

/// The common prefix of the parameters of the prompt cache.
pub(super) const PROMPT_CACHE: &str = "prompt_cache";

/// Names of such parameters, in lower case: they are refused if one of these occurs beside one of
/// [`UNSUPPORTED`].
pub(super) const STRUCTURE: &[&str] = &["schema", "structured output"];

/// Phrases of refusals, in lower case.
pub(super) const UNSUPPORTED: &[&str] =
    &["not supported", "unsupported", "does not support", "unknown", "not allowed"];
