//! Content of a reply of status 200: the reply in its envelope. Pure.

use super::{
    decode::{Undecodable, beginning_of, decode, not_completion},
    failure,
    usage::usage,
};
use crate::vision::{CallEnd, Completion, Finish, headers};
use juror_types::{lane::Lane, usage::Money};
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use serde::Deserialize;
use serde_json::Value;

/// Service tiers that cost more than the standard one, for which price tables have no price.
const DEARER_TIERS: [&str; 3] = ["priority", "fast", "ultrafast"];

/// Reads a reply. Fields that are not needed may be missing or of any shape.
pub(super) fn read(
    content: &[u8],
    headers: &HeaderMap,
    simulated: bool,
    show: impl Fn(&str) -> String,
) -> CallEnd {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let content_type = content_type.unwrap_or("none");
    let value = match decode(content, content_type) {
        Ok(value) => value,
        Err(Undecodable::NotCompletion(message)) => return CallEnd::NotCompletion(show(&message)),
        Err(Undecodable::Stream(message)) => {
            return CallEnd::BadAnswer { message: show(&message), usage: None };
        }
        Err(Undecodable::Damaged(message)) => return CallEnd::Lost(show(&message)),
    };
    let usage = usage(&value);
    let bad = |message: String| CallEnd::BadAnswer { message, usage };
    if usage.is_none()
        && let Some(failed) = error_without_reply(&value)
        && let Some(end) = failure::in_ok_response(failed, headers, &show)
    {
        return end;
    }
    if usage.is_none() && value.get("choices").is_none_or(Value::is_null) {
        let message = show(&not_completion(content_type, &beginning_of(&value)));
        let is_billable = is_of_another_api(&value);
        return if is_billable { bad(message) } else { CallEnd::NotCompletion(message) };
    }
    let envelope = match ReplyEnvelope::deserialize(&value) {
        Ok(envelope) => envelope,
        Err(error) => return bad(show(&format!("the reply is not a chat completion ({error})"))),
    };
    let Some(choice) = envelope.choices.into_iter().next() else {
        let error_message = value.pointer("/error/message").and_then(Value::as_str);
        return bad(show(error_message.unwrap_or("the reply has no choice")));
    };
    let content = choice.message.content.and_then(ReplyContent::text);
    // Gateways pass the fingerprint on, and drop or rename the header.
    let simulated =
        simulated || envelope.system_fingerprint.as_deref() == Some(SIMULATOR_FINGERPRINT);
    CallEnd::Answered(Completion {
        cache_write_tokens: cache_write_tokens(&value),
        // A count of zero tokens is no count.
        usage: usage.filter(|usage| content.is_none() || usage.output_tokens > 0),
        content,
        refusal: choice.message.refusal.filter(|refusal| !refusal.is_empty()),
        finish: finish(choice.finish_reason.as_deref()),
        fingerprint: fingerprint(envelope.model.as_deref(), envelope.system_fingerprint),
        model: envelope.model.filter(|model| !model.trim().is_empty()),
        lane: match envelope.service_tier.as_deref() {
            Some("flex") => Lane::Flex,
            _ => Lane::Realtime,
        },
        dearer_tier: envelope.service_tier.filter(|tier| DEARER_TIERS.contains(&tier.as_str())),
        cost: reported_cost(&value).or_else(|| headers::reported_cost(headers)),
        simulated,
    })
}

/// The names in a list of models; none if it is no such list.
pub(super) fn model_names(content: &[u8]) -> Option<Vec<String>> {
    let list: ModelList = serde_json::from_slice(content).ok()?;
    Some(list.data.into_iter().map(|model| model.id).collect())
}

#[derive(Deserialize)]
struct ReplyEnvelope {
    #[serde(default)]
    choices: Vec<ReplyChoice>,
    system_fingerprint: Option<String>,
    model: Option<String>,
    service_tier: Option<String>,
}

#[derive(Deserialize)]
struct ReplyChoice {
    message: ReplyMessage,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct ReplyMessage {
    content: Option<ReplyContent>,
    refusal: Option<String>,
}

/// Content of a reply: most servers send a text, some send parts.
#[derive(Deserialize)]
#[serde(untagged)]
enum ReplyContent {
    Text(String),
    Parts(Vec<ReplyPart>),
}

#[derive(Deserialize)]
struct ReplyPart {
    text: Option<String>,
}

impl ReplyContent {
    fn text(self) -> Option<String> {
        let text = match self {
            Self::Text(text) => text,
            Self::Parts(parts) => parts.into_iter().filter_map(|part| part.text).collect(),
        };
        (!text.is_empty()).then_some(text)
    }
}

#[derive(Deserialize)]
struct ModelList {
    data: Vec<Model>,
}

#[derive(Deserialize)]
struct Model {
    id: String,
}

/// The part of a body that holds the error of a reply without content: the body if it has no
/// choice, or the first choice if that ended by an error, as OpenRouter reports an upstream's.
fn error_without_reply(body: &Value) -> Option<&Value> {
    let Some(choice) = body.pointer("/choices/0") else { return Some(body) };
    let has_content = match choice.pointer("/message/content") {
        None | Some(Value::Null) => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(_) => true,
    };
    let is_failed = choice.get("finish_reason").and_then(Value::as_str) == Some("error");
    (is_failed && !has_content).then_some(choice)
}

/// True if a body is a model's reply in the format of another API, as of Anthropic, Gemini, Ollama
/// or OpenAI's Responses, so that it may be billed. Gemini streams a list of replies.
fn is_of_another_api(body: &Value) -> bool {
    let answer = body.get(0).unwrap_or(body);
    ["usage", "usageMetadata", "candidates", "content", "output", "model"]
        .iter()
        .any(|field| answer.get(field).is_some_and(|value| !value.is_null()))
}

/// Reported cost in dollars of a reply: OpenRouter's `usage.cost`, plus the upstream's charge for
/// the user's own key.
fn reported_cost(body: &Value) -> Option<Money> {
    let amount = |pointer: &str| match body.pointer(pointer)? {
        Value::Number(number) => Money::rounded_up(&number.to_string()),
        _ => None,
    };
    let own_key = body.pointer("/usage/is_byok").and_then(Value::as_bool) == Some(true);
    let upstream = amount("/usage/cost_details/upstream_inference_cost").filter(|_| own_key);
    Some(amount("/usage/cost")? + upstream.unwrap_or_default())
}

/// `system_fingerprint` of the simulator's replies.
const SIMULATOR_FINGERPRINT: &str = "juror-simulator";

/// The input tokens that a body reports as written into the prompt cache; none if it reports none.
fn cache_write_tokens(body: &Value) -> Option<u64> {
    body.pointer("/usage/prompt_tokens_details/cache_write_tokens")?.as_u64()
}

/// The responding model's name and the fingerprint of its backend: behind an alias, another dated
/// model may answer under the same fingerprint, or under none.
fn fingerprint(model: Option<&str>, system: Option<String>) -> Option<String> {
    let names = model.into_iter().chain(system.as_deref());
    let parts: Vec<&str> = names.filter(|name| !name.trim().is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

fn finish(reason: Option<&str>) -> Finish {
    match reason {
        Some("stop") => Finish::Stop,
        Some("length") => Finish::Length,
        Some("content_filter") => Finish::ContentFilter,
        _ => Finish::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_types::usage::Usage;
    use serde_json::json;

    fn answer(body: &Value) -> CallEnd {
        read(body.to_string().as_bytes(), &HeaderMap::new(), false, str::to_owned)
    }

    #[test]
    fn reply_is_parsed_with_its_usage() {
        let end = answer(&json!({
            "choices": [{"message": {"content": "{}", "refusal": null}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1523, "completion_tokens": 212, "total_tokens": 1735,
                      "prompt_tokens_details": {"cached_tokens": 1024, "cache_write_tokens": 256}},
            "model": "gpt-4o-2024-08-06", "system_fingerprint": "fp_1", "service_tier": "flex",
            "anything": [1],
        }));
        let usage = Usage { input_tokens: 1_523, cached_input_tokens: 1_024, output_tokens: 212 };
        assert_eq!(
            end,
            CallEnd::Answered(Completion {
                content: Some("{}".to_owned()),
                refusal: None,
                finish: Finish::Stop,
                usage: Some(usage),
                cache_write_tokens: Some(256),
                fingerprint: Some("gpt-4o-2024-08-06 fp_1".to_owned()),
                model: Some("gpt-4o-2024-08-06".to_owned()),
                lane: Lane::Flex,
                dearer_tier: None,
                cost: None,
                simulated: false,
            })
        );
    }

    #[test]
    fn hidden_reasoning_tokens_are_billed() {
        let tokens = |total: Value| {
            let counts =
                json!({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": total});
            usage(&json!({"usage": counts})).map(|usage| usage.output_tokens)
        };
        assert_eq!(tokens(json!(900)), Some(800));
        assert_eq!(tokens(json!(120)), Some(20));
        assert_eq!(tokens(json!(50)), Some(20));
        assert_eq!(tokens(Value::Null), Some(20));
    }

    #[test]
    fn sparse_and_unusual_responses_are_accepted() {
        let first = |message: Value, finish: Value| match answer(
            &json!({"choices": [{"message": message, "finish_reason": finish}],
                                 "model": "m", "usage": {"prompt_tokens": "many"}}),
        ) {
            CallEnd::Answered(answer) => answer,
            other => panic!("{other:?}"),
        };
        let parts = json!({"content": [{"type": "text", "text": "a"}, {"x": 1}, {"text": "b"}]});
        assert_eq!(first(parts, Value::Null).content.as_deref(), Some("ab"));
        let refused = first(json!({"refusal": "no"}), json!("content_filter"));
        assert_eq!((refused.content, refused.refusal.as_deref()), (None, Some("no")));
        assert_eq!(refused.finish, Finish::ContentFilter);
        let cut = first(json!({"content": ""}), json!("length"));
        assert_eq!((cut.content, cut.finish, cut.usage), (None, Finish::Length, None));
        assert_eq!(cut.fingerprint.as_deref(), Some("m"));
        assert_eq!(fingerprint(Some(" "), Some(String::new())), None);
    }

    #[test]
    fn malformed_response_keeps_its_usage() {
        let billed = json!({"prompt_tokens": 5, "completion_tokens": 0});
        for body in [
            json!({"usage": billed}),
            json!({"choices": [], "usage": billed, "error": {"message": "upstream"}}),
            json!({"choices": [{"text": "old"}], "usage": billed}),
        ] {
            let CallEnd::BadAnswer { usage: Some(usage), .. } = answer(&body) else {
                panic!("{body}")
            };
            assert_eq!(usage.input_tokens, 5);
        }
    }

    #[test]
    fn unbilled_responses_are_distinguished_from_possibly_billed_ones() {
        let end = |raw: &str| read(raw.as_bytes(), &HeaderMap::new(), false, str::to_owned);
        for raw in ["", "{\"choices\":[{"] {
            assert!(matches!(end(raw), CallEnd::Lost(_)), "{raw}");
        }
        for raw in ["<html>", "null", "[]", "\"hello\"", r#"{"error":{"message":"m","code":502}}"#]
        {
            assert!(matches!(end(raw), CallEnd::NotCompletion(_)), "{raw}: {:?}", end(raw));
        }
        for raw in [
            "data: {\"choices\":[]}\n\n",
            r#"{"type":"message","content":[{"text":"{}"}],"usage":{"input_tokens":9}}"#,
            r#"{"candidates":[{}],"usageMetadata":{"promptTokenCount":9}}"#,
            r#"[{"candidates":[{}]}]"#,
            r#"{"object":"response","output":[]}"#,
            r#"{"model":"llama","message":{"content":"{}"},"done":true}"#,
        ] {
            assert!(matches!(end(raw), CallEnd::BadAnswer { usage: None, .. }), "{raw}");
        }
        let limited = r#"{"error":{"message":"slow down","code":429}}"#;
        assert!(matches!(end(limited), CallEnd::RateLimited { .. }));
        let funds = r#"{"error":{"message":"no","code":"insufficient_quota"}}"#;
        assert!(matches!(end(funds), CallEnd::Account { .. }));
    }

    #[test]
    fn upstream_error_beside_choices_is_classified_unless_it_may_be_billed() {
        let error = json!({"message": "slow down", "code": 429});
        let choice = |content: Value, reason: &str| {
            json!({"error": error, "finish_reason": reason, "message": {"content": content}})
        };
        let in_choice =
            |content: Value, reason: &str| json!({"model": "m", "choices": [choice(content, reason)]});
        for body in [
            json!({"model": "m", "choices": [], "error": error}),
            json!({"model": "m", "choices": null, "error": error}),
            in_choice(json!(""), "error"),
            in_choice(Value::Null, "error"),
        ] {
            assert!(matches!(answer(&body), CallEnd::RateLimited { .. }), "{body}");
        }
        let funds = json!({"choices": [], "error": {"message": "m", "code": "insufficient_quota"}});
        assert!(matches!(answer(&funds), CallEnd::Account { .. }));
        for body in [in_choice(json!("{"), "error"), in_choice(json!(""), "stop")] {
            assert!(matches!(answer(&body), CallEnd::Answered(_)), "{body}");
        }
        let mut billed = in_choice(json!(""), "error");
        billed["usage"] = json!({"prompt_tokens": 5, "completion_tokens": 1});
        assert!(matches!(answer(&billed), CallEnd::Answered(_)));
        let unclear = json!({"choices": [], "error": {"message": "upstream"}});
        assert!(matches!(answer(&unclear), CallEnd::BadAnswer { usage: None, .. }));
    }

    #[test]
    fn zero_counts_are_no_usage() {
        let counts = |input: u64, output: u64| {
            let end = answer(&json!({
                "choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": input, "completion_tokens": output},
            }));
            match end {
                CallEnd::Answered(answer) => answer.usage,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(counts(0, 0), None);
        assert_eq!(counts(0, 12), None);
        assert_eq!(counts(9, 0), None);
        assert_eq!(counts(9, 1).map(|usage| usage.output_tokens), Some(1));
    }

    #[test]
    fn reported_cost_is_exact_and_includes_upstream_cost_with_own_keys() {
        let cost = |usage: Value| reported_cost(&json!({"usage": usage})).map(Money::pico);
        assert_eq!(cost(json!({"cost": 0.00592755})), Some(5_927_550_000));
        let details = json!({"upstream_inference_cost": 0.01});
        let usage = |own: bool| json!({"cost": 0.0005, "is_byok": own, "cost_details": details});
        assert_eq!(
            (cost(usage(true)), cost(usage(false))),
            (Some(10_500_000_000), Some(500_000_000))
        );
        assert_eq!((cost(json!({})), cost(json!({"cost": "x"}))), (None, None));
        assert_eq!(cost(json!({"cost": -1})), None);
    }
}
