//! What is read of a 200: the answer in its envelope. Pure.

use crate::vision::{Answer, CallEnd, Finish};
use juror_common::usage::Usage;
use serde::Deserialize;
use serde_json::Value;

/// Reads an answer. What is not needed may be missing or of any shape.
pub(super) fn read(content: &[u8], simulated: bool, show: impl Fn(&str) -> String) -> CallEnd {
    let value: Value = match serde_json::from_slice(content) {
        Ok(value) => value,
        Err(error) => {
            let message = format!("the answer is not JSON ({error})");
            return CallEnd::BadAnswer { message, usage: None };
        }
    };
    let usage = usage(&value);
    let bad = |message: String| CallEnd::BadAnswer { message, usage };
    let envelope = match Envelope::deserialize(&value) {
        Ok(envelope) => envelope,
        Err(error) => return bad(show(&format!("the answer is not a chat completion ({error})"))),
    };
    let Some(choice) = envelope.choices.into_iter().next() else {
        let said = value.pointer("/error/message").and_then(Value::as_str);
        return bad(show(said.unwrap_or("the answer holds no choice")));
    };
    CallEnd::Answered(Answer {
        content: choice.message.content.and_then(Content::text),
        refusal: choice.message.refusal.filter(|refusal| !refusal.is_empty()),
        finish: finish(choice.finish_reason.as_deref()),
        usage,
        fingerprint: envelope.system_fingerprint.or(envelope.model),
        simulated,
    })
}

/// No model reads or writes anywhere near so many tokens at once. A server that claims more does
/// not count, and booking its figure would use up the budgets of a whole month.
const MOST_TOKENS: u64 = 100_000_000;

/// The tokens that a body says were billed; none if it does not say, or nothing that can be true.
/// Some servers count reasoning in the total alone.
pub(super) fn usage(body: &Value) -> Option<Usage> {
    let wire = WireUsage::deserialize(body.get("usage")?).ok()?;
    let claims = [wire.prompt_tokens, wire.completion_tokens, wire.total_tokens.unwrap_or(0)];
    if claims.iter().any(|claim| *claim > MOST_TOKENS) {
        return None;
    }
    let beyond_the_prompt =
        wire.total_tokens.and_then(|total| total.checked_sub(wire.prompt_tokens));
    Some(Usage {
        input_tokens: wire.prompt_tokens,
        cached_input_tokens: wire.prompt_tokens_details.and_then(|d| d.cached_tokens).unwrap_or(0),
        output_tokens: wire.completion_tokens.max(beyond_the_prompt.unwrap_or(0)),
    })
}

/// The names in a list of models; none if it is no such list.
pub(super) fn model_names(content: &[u8]) -> Option<Vec<String>> {
    let list: ModelList = serde_json::from_slice(content).ok()?;
    Some(list.data.into_iter().map(|model| model.id).collect())
}

fn finish(reason: Option<&str>) -> Finish {
    match reason {
        Some("stop") => Finish::Stop,
        Some("length") => Finish::Length,
        Some("content_filter") => Finish::ContentFilter,
        _ => Finish::Other,
    }
}

#[derive(Deserialize)]
struct Envelope {
    #[serde(default)]
    choices: Vec<Choice>,
    system_fingerprint: Option<String>,
    model: Option<String>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    content: Option<Content>,
    refusal: Option<String>,
}

/// Most servers give a text; some give it in parts.
#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Deserialize)]
struct Part {
    text: Option<String>,
}

impl Content {
    fn text(self) -> Option<String> {
        let text = match self {
            Self::Text(text) => text,
            Self::Parts(parts) => parts.into_iter().filter_map(|part| part.text).collect(),
        };
        (!text.is_empty()).then_some(text)
    }
}

#[derive(Deserialize)]
struct WireUsage {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetails>,
}

#[derive(Deserialize)]
struct PromptDetails {
    cached_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct ModelList {
    data: Vec<Model>,
}

#[derive(Deserialize)]
struct Model {
    id: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn answer(body: &Value) -> CallEnd {
        read(body.to_string().as_bytes(), false, str::to_owned)
    }

    #[test]
    fn an_answer_is_read_with_its_bill() {
        let end = answer(&json!({
            "choices": [{"message": {"content": "{}", "refusal": null}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1523, "completion_tokens": 212, "total_tokens": 1735,
                      "prompt_tokens_details": {"cached_tokens": 1024}},
            "model": "gpt-4o-2024-08-06", "system_fingerprint": "fp_1", "anything": [1],
        }));
        let usage = Usage { input_tokens: 1_523, cached_input_tokens: 1_024, output_tokens: 212 };
        assert_eq!(
            end,
            CallEnd::Answered(Answer {
                content: Some("{}".to_owned()),
                refusal: None,
                finish: Finish::Stop,
                usage: Some(usage),
                fingerprint: Some("fp_1".to_owned()),
                simulated: false,
            })
        );
    }

    #[test]
    fn reasoning_that_stands_in_the_total_alone_is_billed() {
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
    fn sparse_and_odd_answers_are_answers() {
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
    }

    #[test]
    fn a_broken_envelope_keeps_its_bill() {
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
        for raw in ["", "{\"choices\":[{", "<html>", "null", "[]"] {
            let end = read(raw.as_bytes(), false, str::to_owned);
            assert!(matches!(end, CallEnd::BadAnswer { usage: None, .. }), "{raw}: {end:?}");
        }
    }
}
