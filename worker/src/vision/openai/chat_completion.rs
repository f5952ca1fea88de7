//! Content of a reply of status 200: the reply in its envelope. Pure.

use super::{
    classify_error,
    decode::{Undecodable, beginning_of, decode, not_completion},
    usage::usage,
};
use crate::vision::{CallEnd, Completion, Finish, response_headers};
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
            return CallEnd::UnusableReply { message: show(&message), usage: None };
        }
        Err(Undecodable::Damaged(message)) => return CallEnd::Lost(show(&message)),
    };
    let usage = usage(&value);
    let bad = |message: String| CallEnd::UnusableReply { message, usage };
    if usage.is_none()
        && let Some(failed) = error_without_reply(&value)
        && let Some(end) = classify_error::in_ok_response(failed, headers, &show)
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
    CallEnd::Completed(Completion {
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
        cost: reported_cost(&value).or_else(|| response_headers::reported_cost(headers)),
        simulated,
    })
}

/// The names in a list of models; `None` if it is no such list.
pub(super) fn model_names(content: &[u8]) -> Option<Vec<String>> {
    let list: Value = serde_json::from_slice(content).ok()?;
    let name = |model: &Value| Some(model.get("id")?.as_str()?.to_owned());
    list.get("data")?.as_array()?.iter().map(name).collect()
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
/// the user's own key. `None` if that charge is not stated: the cost would be OpenRouter's fee
/// alone.
fn reported_cost(body: &Value) -> Option<Money> {
    let amount = |pointer: &str| match body.pointer(pointer)? {
        Value::Number(number) => Money::rounded_up(&number.to_string()),
        _ => None,
    };
    let own_key = body.pointer("/usage/is_byok").and_then(Value::as_bool) == Some(true);
    let cost = amount("/usage/cost")?;
    if !own_key {
        return Some(cost);
    }
    let upstream = amount("/usage/cost_details/upstream_inference_cost");
    Some(cost + upstream.filter(|upstream| *upstream > Money::ZERO)?)
}

/// `system_fingerprint` of the simulator's replies.
const SIMULATOR_FINGERPRINT: &str = "juror-simulator";

/// The input tokens that a body reports as written into the prompt cache; `None` if it reports
/// none. LiteLLM has Anthropic's name for them, with a zero also where it does not know.
fn cache_write_tokens(body: &Value) -> Option<u64> {
    let usage = body.get("usage")?;
    let tokens = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64);
    tokens("/prompt_tokens_details/cache_write_tokens")
        .or_else(|| tokens("/cache_creation_input_tokens").filter(|written| *written > 0))
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
mod tests;
