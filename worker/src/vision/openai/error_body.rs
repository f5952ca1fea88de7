//! The body of an error: its message, and the names that determine the remedy. Pure.

use super::phrases::{
    ACCOUNT_RULES, AccountRule, MODERATION, Place, QUOTA_EXCEEDED, QUOTA_PERIODS,
    RESOURCE_EXHAUSTED, UPSTREAM_LOST,
};
use crate::{lone_surrogates::replace_lone_surrogates, vision::AccountProblem};
use serde_json::Value;

/// Content of an error body, in any of the usual shapes.
pub(super) struct ErrorBody {
    pub(super) message: String,
    /// Code, type and status, the provider's own names.
    names: Vec<String>,
    /// True if it names the flagged part of the request.
    flagged: bool,
    /// The whole body as text.
    body: String,
}

impl ErrorBody {
    pub(super) fn read(body: &Value, content: &[u8]) -> Self {
        let error = body.get("error").unwrap_or(body);
        let field = |name: &str| error.get(name).and_then(Value::as_str);
        let message = match (error.as_str(), body.get("message").and_then(Value::as_str)) {
            // Frameworks name the kind of error next to its message.
            (Some(kind), Some(message)) => Some(format!("{kind}: {message}")),
            (kind, _) => {
                kind.or_else(|| field("message")).or_else(|| field("detail")).map(str::to_owned)
            }
        };
        let message = message.unwrap_or_else(|| String::from_utf8_lossy(content).into_owned());
        let parameter = field("param").filter(|name| !message.contains(name));
        let message = match parameter {
            Some(parameter) => format!("{parameter}: {message}"),
            None if message.trim().is_empty() => "without a message".to_owned(),
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

    /// True if the message contains a phrase, which is in lower case.
    pub(super) fn contains(&self, phrase: &str) -> bool {
        self.message.to_lowercase().contains(phrase)
    }

    /// True if one of these is the code, type or status.
    pub(super) fn names(&self, names: &[&str]) -> bool {
        self.names.iter().any(|name| names.contains(&name.as_str()))
    }

    /// True if content moderation refused this one request, under any status: OpenRouter uses a
    /// 403.
    pub(super) fn is_moderation(&self) -> bool {
        self.flagged || self.names(MODERATION)
    }

    /// The problem of the account, if the error is one.
    pub(super) fn account_problem(&self, status: u16) -> Option<AccountProblem> {
        let fits = |rule: &&AccountRule| {
            let holds = rule.statuses.is_empty() || rule.statuses.contains(&status);
            holds && (rule.phrases.is_empty() || self.has_one_of(rule.phrases, rule.place))
        };
        ACCOUNT_RULES.iter().find(fits).map(|rule| rule.problem)
    }

    /// True if Gemini's error names its quota as used up without the period of the quota, so that
    /// no retry within minutes is known to help.
    pub(super) fn is_exhausted_quota(&self) -> bool {
        self.names(&[RESOURCE_EXHAUSTED])
            && self.contains(QUOTA_EXCEEDED)
            && !self.has_one_of(QUOTA_PERIODS, Place::Body)
    }

    fn has_one_of(&self, phrases: &[&str], place: Place) -> bool {
        match place {
            Place::Name => self.names(phrases),
            Place::Message => phrases.iter().any(|phrase| self.contains(phrase)),
            Place::Body => phrases.iter().any(|phrase| self.body.contains(phrase)),
        }
    }

    /// True if an error is the provider's own, which bills nothing: JSON of a documented shape. A
    /// gateway's report about its upstream (a page, a text, nothing, LiteLLM's own timeouts) is
    /// not: the upstream may finish and bill the call. `json` is the body.
    pub(super) fn is_own_error(&self, status: u16, json: &Value) -> bool {
        if UPSTREAM_LOST.iter().any(|phrase| self.contains(phrase)) {
            return false;
        }
        let is_timeout = matches!(status, 408 | 504 | 520..=527);
        match json.get("error") {
            // Ollama's shape.
            Some(Value::String(_)) => !is_timeout,
            Some(error) => {
                let has = |key: &str| error.get(key).is_some_and(Value::is_string);
                // OpenAI's and Anthropic's type, Gemini's status: without either, a timeout is a
                // gateway's.
                has("message") && (!is_timeout || has("type") || has("status"))
            }
            // An older shape of vLLM.
            None => json.get("object").is_some_and(|object| object == "error") && !is_timeout,
        }
    }
}

/// The JSON of an error; Gemini wraps it in a list.
pub(super) fn json(content: &[u8]) -> Value {
    match serde_json::from_slice(&replace_lone_surrogates(content)).unwrap_or_default() {
        Value::Array(list) => list.into_iter().next().unwrap_or_default(),
        body => body,
    }
}
