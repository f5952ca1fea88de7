//! What a status other than 200 means. Pure.

use super::envelope;
use crate::vision::{AccountProblem, CallEnd};
use reqwest::header::{HeaderMap, LOCATION};
use serde_json::Value;
use std::time::Duration;

/// Reads a failure. `wait` says how long the headers ask to wait; `show` makes a foreign message
/// presentable.
pub(super) fn classify(
    status: u16,
    content: &[u8],
    headers: &HeaderMap,
    wait: impl FnOnce() -> Option<Duration>,
    show: impl Fn(&str) -> String,
) -> CallEnd {
    let body: Value = serde_json::from_slice(content).unwrap_or_default();
    let said = Said::read(&body, content);
    let message = show(&said.message);
    let usage = envelope::usage(&body);
    if let Some(problem) = said.account_problem(status) {
        return CallEnd::Account { problem, message };
    }
    match status {
        300..=399 => {
            let target = headers.get(LOCATION).and_then(|value| value.to_str().ok());
            let message = show(&format!(
                "it redirects to {:?} (status {status}), and the key does not travel",
                target.unwrap_or("nowhere")
            ));
            CallEnd::Account { problem: AccountProblem::Address, message }
        }
        // A question above the whole minute's limit never passes, however long one waits.
        429 if said.message.to_lowercase().contains("request too large") => {
            CallEnd::Refused { status, message, usage }
        }
        429 => CallEnd::RateLimited { retry_after: wait() },
        408 | 409 | 425 | 500..=599 => match (usage, body.get("choices")) {
            (None, None) => CallEnd::Unavailable { status, message },
            // The work was done before it failed.
            _ => CallEnd::BadAnswer { message, usage },
        },
        _ => CallEnd::Refused { status, message, usage },
    }
}

/// Whether a refusal is about how the reply's shape was asked for.
pub(super) fn names_reply_format(message: &str) -> bool {
    let message = message.to_lowercase();
    let names = ["response_format", "response format", "json_schema", "json_object"];
    let unsupported =
        ["not supported", "unsupported", "does not support", "unknown", "not allowed"];
    let mentions = |words: &[&str]| words.iter().any(|word| message.contains(word));
    mentions(&names) || (mentions(&["schema", "structured output"]) && mentions(&unsupported))
}

/// What an error body says, in whichever of the usual shapes.
struct Said {
    message: String,
    /// Code and type, the provider's own names.
    names: Vec<String>,
}

impl Said {
    fn read(body: &Value, content: &[u8]) -> Self {
        let error = body.get("error").unwrap_or(body);
        let field = |name: &str| error.get(name).and_then(Value::as_str);
        let message = error
            .as_str()
            .or_else(|| field("message"))
            .or_else(|| field("detail"))
            .map(str::to_owned)
            .unwrap_or_else(|| String::from_utf8_lossy(content).into_owned());
        let parameter = field("param").filter(|name| !message.contains(name));
        let message = match parameter {
            Some(parameter) => format!("{parameter}: {message}"),
            None if message.trim().is_empty() => "the answer says nothing more".to_owned(),
            None => message,
        };
        let names = ["code", "type"].iter().filter_map(|name| field(name)).map(str::to_owned);
        Self { message, names: names.collect() }
    }

    /// Names tell more than a status: gateways put the same names under several.
    fn account_problem(&self, status: u16) -> Option<AccountProblem> {
        let named = |names: &[&str]| self.names.iter().any(|name| names.contains(&name.as_str()));
        if named(&["content_policy_violation", "content_filter", "ResponsibleAIPolicyViolation"]) {
            return None;
        }
        if named(&["insufficient_quota", "billing_hard_limit_reached", "billing_not_active"]) {
            return Some(AccountProblem::Funds);
        }
        if named(&["invalid_api_key"]) {
            return Some(AccountProblem::Key);
        }
        if named(&["model_not_found", "DeploymentNotFound"]) {
            return Some(AccountProblem::Model);
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn failure(status: u16, body: &Value) -> CallEnd {
        classify(
            status,
            body.to_string().as_bytes(),
            &HeaderMap::new(),
            || Some(Duration::from_secs(3)),
            str::to_owned,
        )
    }

    fn error(message: &str, code: &str) -> Value {
        json!({"error": {"message": message, "type": "t", "param": null, "code": code}})
    }

    #[test]
    fn what_a_person_must_mend_is_told_apart() {
        for (status, body, problem) in [
            (401, error("no", "x"), AccountProblem::Key),
            (400, error("no", "invalid_api_key"), AccountProblem::Key),
            (402, error("no", "x"), AccountProblem::Funds),
            (429, error("no", "insufficient_quota"), AccountProblem::Funds),
            (400, error("no", "billing_hard_limit_reached"), AccountProblem::Funds),
            (403, error("no", "x"), AccountProblem::Permission),
            (404, error("no", "model_not_found"), AccountProblem::Model),
            (404, json!({"message": "The model `x` does not exist"}), AccountProblem::Model),
            (404, json!({"detail": "Not Found"}), AccountProblem::Address),
            (405, json!({}), AccountProblem::Address),
        ] {
            let CallEnd::Account { problem: found, .. } = failure(status, &body) else {
                panic!("{status} {body}")
            };
            assert_eq!(found, problem, "{status} {body}");
        }
    }

    #[test]
    fn what_is_refused_for_good_is_not_tried_again() {
        for (status, body) in [
            (400, error("bad image", "x")),
            (400, error("policy", "content_policy_violation")),
            (403, error("policy", "content_policy_violation")),
            (413, json!("too big")),
            (415, json!({"error": "no such type"})),
            (422, json!({"detail": [{"msg": "field required"}]})),
            (429, error("Request too large for gpt-4o", "rate_limit_exceeded")),
        ] {
            let end = failure(status, &body);
            assert!(matches!(end, CallEnd::Refused { usage: None, .. }), "{status}: {end:?}");
        }
        let billed = json!({"error": {"message": "filtered"},
                            "usage": {"prompt_tokens": 7, "completion_tokens": 0}});
        let CallEnd::Refused { usage: Some(usage), .. } = failure(400, &billed) else { panic!() };
        assert_eq!(usage.input_tokens, 7);
    }

    #[test]
    fn what_may_pass_later_is_told_apart_from_what_was_billed() {
        assert_eq!(
            failure(429, &error("slow down", "rate_limit_exceeded")),
            CallEnd::RateLimited { retry_after: Some(Duration::from_secs(3)) }
        );
        for status in [408, 409, 500, 502, 503, 504, 529] {
            let end = failure(status, &error("overloaded", "x"));
            assert!(matches!(end, CallEnd::Unavailable { .. }), "{status}: {end:?}");
        }
        let late = json!({"choices": [{"message": {"content": "{"}}]});
        assert!(matches!(failure(500, &late), CallEnd::BadAnswer { usage: None, .. }));
    }

    #[test]
    fn messages_come_from_wherever_they_stand() {
        for (content, expected) in [
            ("<html>Bad Gateway</html>", "<html>Bad Gateway</html>"),
            ("", "the answer says nothing more"),
            ("{\"error\":\"plain\"}", "plain"),
            (
                "{\"error\":{\"message\":\"no\",\"param\":\"response_format\"}}",
                "response_format: no",
            ),
        ] {
            let end = classify(500, content.as_bytes(), &HeaderMap::new(), || None, str::to_owned);
            assert_eq!(
                end,
                CallEnd::Unavailable { status: 500, message: expected.to_owned() },
                "{content}"
            );
        }
    }

    #[test]
    fn only_refusals_of_the_format_loosen_it() {
        for message in [
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported",
            "response_format: no",
            "this model does not support structured outputs",
        ] {
            assert!(names_reply_format(message), "{message}");
        }
        for message in ["image too large", "invalid image_url", "unknown model"] {
            assert!(!names_reply_format(message), "{message}");
        }
    }
}
