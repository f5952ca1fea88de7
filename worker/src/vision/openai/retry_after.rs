//! Wait stated in an error's body, for servers that send no header. Pure.

use crate::vision::response_headers::{MAX_WAIT, interval};
use serde_json::Value;
use std::time::Duration;

/// Wait requested by an error, at most [`MAX_WAIT`]: by Gemini's `RetryInfo`, else by the message,
/// as in `Please retry in 10.05s`, `Please try again in 6m0s` (OpenAI) and `Try again in 5 seconds`
/// (LiteLLM).
pub(super) fn read(body: &Value, message: &str) -> Option<Duration> {
    retry_info(body).or_else(|| from_message(message)).map(|wait| wait.min(MAX_WAIT))
}

fn retry_info(body: &Value) -> Option<Duration> {
    let details = body.pointer("/error/details")?.as_array()?;
    details.iter().find_map(|detail| interval(detail.get("retryDelay")?.as_str()?))
}

fn from_message(message: &str) -> Option<Duration> {
    let lower = message.to_lowercase();
    let (_, rest) = lower.split_once("retry in ").or_else(|| lower.split_once("try again in "))?;
    let mut words = rest.split_whitespace();
    let amount = words.next()?.trim_end_matches(['.', ',', ';']);
    let unit = words.next().unwrap_or_default();
    let seconds_per_unit = match amount.parse::<f64>() {
        Ok(_) if unit.starts_with("minute") => 60,
        // Either seconds, or the amount carries its own unit.
        Ok(_) if unit.starts_with("second") => 1,
        Ok(_) => return None,
        Err(_) => 1,
    };
    Some(interval(amount)?.saturating_mul(seconds_per_unit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn all_textual_retry_after_formats_are_parsed() {
        for (message, milliseconds) in [
            ("Please retry in 10.05676626s.", Some(10_056)),
            ("Rate limit reached. Please try again in 6m0s. Visit", Some(360_000)),
            ("Please try again in 250ms.", Some(250)),
            ("No deployments available, Try again in 5 seconds. Passed model=x", Some(5_000)),
            ("try again in 2 minutes", Some(120_000)),
            ("try again in 9999 minutes", Some(MAX_WAIT.as_millis())),
            ("Try again in a moment", None),
            ("try again in 7", None),
            ("try again in -5 seconds", None),
            ("try again later", None),
            ("retry in ", None),
        ] {
            let wait = read(&Value::Null, message).map(|wait| wait.as_millis());
            assert_eq!(wait, milliseconds, "{message}");
        }
    }

    #[test]
    fn gemini_retry_info_takes_precedence() {
        let body = json!({"error": {"details": [
            {"@type": "type.googleapis.com/google.rpc.Help"},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "38s"},
        ]}});
        assert_eq!(read(&body, "retry in 1s"), Some(Duration::from_secs(38)));
        let odd = json!({"error": {"details": [{"retryDelay": 38}, 7]}});
        assert_eq!(read(&odd, "retry in 1s"), Some(Duration::from_secs(1)));
    }
}
