//! The body of an error: its message, and the names that tell what a person must mend. Pure.

use crate::vision::AccountProblem;
use serde_json::Value;

/// The JSON of an error; Gemini wraps it in a list.
pub(super) fn json(content: &[u8]) -> Value {
    match serde_json::from_slice(content).unwrap_or_default() {
        Value::Array(list) => list.into_iter().next().unwrap_or_default(),
        body => body,
    }
}

/// What an error body says, in whichever of the usual shapes.
pub(super) struct ErrorBody {
    pub(super) message: String,
    /// Code, type and status, the provider's own names.
    names: Vec<String>,
    /// Whether it tells what of the question was flagged.
    flagged: bool,
    /// The whole body as text.
    body: String,
}

/// Phrases of gateways and providers, in lower case, of an account that cannot call, whatever the
/// status: LiteLLM, OpenRouter, Gemini's compatible endpoint, Anthropic, Groq.
const ACCOUNT_PHRASES: [(AccountProblem, &[&str]); 3] = [
    (
        AccountProblem::Funds,
        &[
            "budget has been exceeded",
            "exceededbudget",
            "credit balance is too low",
            "insufficient credits",
            "insufficient balance",
            "insufficient funds",
        ],
    ),
    (
        AccountProblem::Key,
        &["api key not valid", "invalid api key", "incorrect api key", "authentication error"],
    ),
    (
        AccountProblem::Model,
        &[
            "invalid model name",
            "is not a valid model",
            "unknown model",
            "model not found",
            "no such model",
            "has been decommissioned",
        ],
    ),
];

/// Words of refusals that hold for the rest of the day: Gemini's quota ids and OpenRouter's limit of
/// free models.
const DAY_LIMITS: [&str; 2] = ["PerDay", "free-models-per-day"];

impl ErrorBody {
    pub(super) fn read(body: &Value, content: &[u8]) -> Self {
        let error = body.get("error").unwrap_or(body);
        let field = |name: &str| error.get(name).and_then(Value::as_str);
        let message = match (error.as_str(), body.get("message").and_then(Value::as_str)) {
            // Frameworks name the kind of error beside what is wrong.
            (Some(kind), Some(message)) => Some(format!("{kind}: {message}")),
            (kind, _) => {
                kind.or_else(|| field("message")).or_else(|| field("detail")).map(str::to_owned)
            }
        };
        let message = message.unwrap_or_else(|| String::from_utf8_lossy(content).into_owned());
        let parameter = field("param").filter(|name| !message.contains(name));
        let message = match parameter {
            Some(parameter) => format!("{parameter}: {message}"),
            None if message.trim().is_empty() => "the answer says nothing more".to_owned(),
            None => message,
        };
        let names = ["code", "type", "status"].iter().filter_map(|name| field(name));
        let metadata = error.get("metadata");
        let flagged = ["reasons", "flagged_input"]
            .iter()
            .any(|key| metadata.is_some_and(|metadata| metadata.get(key).is_some()));
        let body = String::from_utf8_lossy(content).into_owned();
        Self { message, names: names.map(str::to_owned).collect(), flagged, body }
    }

    /// Whether one of these words stands anywhere in the body: gateways wrap an error in another.
    fn mentions(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.body.contains(word))
    }

    pub(super) fn names(&self, names: &[&str]) -> bool {
        self.names.iter().any(|name| names.contains(&name.as_str()))
    }

    /// Whether this one question was found not to be allowed, whatever the status: OpenRouter says
    /// it with a 403.
    pub(super) fn is_moderation(&self) -> bool {
        let policies =
            ["content_policy_violation", "content_filter", "ResponsibleAIPolicyViolation"];
        self.flagged || self.names(&policies)
    }

    /// Names tell more than a status: gateways put the same names under several.
    pub(super) fn account_problem(&self, status: u16) -> Option<AccountProblem> {
        let funds = ["insufficient_quota", "billing_hard_limit_reached", "billing_not_active"];
        if self.names(&funds) || self.names(&["budget_exceeded"]) {
            return Some(AccountProblem::Funds);
        }
        if status == 429 && self.mentions(&["insufficient_quota"]) {
            return Some(AccountProblem::Funds);
        }
        if status == 429 && self.mentions(&DAY_LIMITS) {
            return Some(AccountProblem::DayLimit);
        }
        if status == 404 && self.mentions(&["support image input"]) {
            return Some(AccountProblem::Images);
        }
        // LiteLLM without a database knows its master key alone, and looks for any other there.
        if self.names(&["invalid_api_key", "token_not_found_in_db", "no_db_connection"]) {
            return Some(AccountProblem::Key);
        }
        if self.names(&["model_not_found", "DeploymentNotFound", "model_decommissioned"]) {
            return Some(AccountProblem::Model);
        }
        if matches!(status, 200 | 400 | 422) {
            let message = self.message.to_lowercase();
            let says = |phrases: &[&str]| phrases.iter().any(|phrase| message.contains(phrase));
            let problem = ACCOUNT_PHRASES.iter().find(|(_, phrases)| says(phrases));
            return problem.map(|(problem, _)| *problem);
        }
        match status {
            401 => Some(AccountProblem::Key),
            402 => Some(AccountProblem::Funds),
            403 => Some(AccountProblem::Permission),
            404 if self.message.to_lowercase().contains("model") => Some(AccountProblem::Model),
            // A server that takes no questions at this address takes none of another job either.
            404 | 405 => Some(AccountProblem::Address),
            _ => None,
        }
    }
}
