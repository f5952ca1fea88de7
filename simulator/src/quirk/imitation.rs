//! Effect of quirks on one response.

use super::Quirk;
use crate::{
    deviation_share::Share,
    random::{self, Random},
};
use flate2::{Compression, write::GzEncoder};
use hyper::{HeaderMap, header::HeaderValue};
use juror_types::{lane::Lane, usage::Money};
use serde_json::{Value, json};
use std::io::Write as _;

/// The model that replies by a quirk, and its dated name.
pub(crate) const ANSWERING_MODEL: &str = "gpt-4o";
const ANSWERING_MODEL_DATED: &str = "gpt-4o-2024-08-06";

/// Quirks that affect one request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Imitation(Vec<Quirk>);

/// A response in place of a completion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SubstituteResponse {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) body: &'static str,
    /// True if the upstream did the work and bills it.
    pub(crate) billed: bool,
}

impl Imitation {
    /// Quirks that affect a request with this seed; `has_schema` is true if it has a schema.
    pub(crate) fn choose(rates: &[Share<Quirk>], seed: u64, has_schema: bool, lane: Lane) -> Self {
        let meets = |rate: &&Share<Quirk>| {
            (has_schema || rate.of != Quirk::IgnoredSchema)
                && (lane == Lane::Flex || rate.of != Quirk::FlexUnavailable)
                && Random::new(random::mix(seed, rate.of as u64)).unit() < rate.share
        };
        Self(rates.iter().filter(meets).map(|rate| rate.of).collect())
    }

    pub(crate) fn quirks(&self) -> &[Quirk] {
        &self.0
    }

    pub(crate) fn has(&self, quirk: Quirk) -> bool {
        self.0.contains(&quirk)
    }

    /// Model that replaces the requested one.
    pub(crate) fn reported_model(&self) -> Option<&'static str> {
        let other = self.has(Quirk::FallbackModel) || self.has(Quirk::DeploymentNames);
        other.then_some(ANSWERING_MODEL)
    }

    /// Bill of the call, given its cost by the price table.
    pub(crate) fn charged(&self, cost: Money) -> Money {
        if self.has(Quirk::UsageCost) || self.has(Quirk::CostHeader) {
            return cost + Money::from_pico(cost.pico() / 20);
        }
        cost
    }

    /// Response that replaces the completion, if a quirk has one. `has_schema` is true if the
    /// request has a schema, `first` if the request is new.
    pub(crate) fn substitute(&self, has_schema: bool, first: bool) -> Option<SubstituteResponse> {
        let applies = |quirk: &Quirk| match quirk {
            Quirk::GrammarFailed => has_schema,
            Quirk::JsonValidateFailed | Quirk::WaitInBody | Quirk::FlexUnavailable => first,
            _ => true,
        };
        self.0.iter().filter(|quirk| applies(quirk)).find_map(|quirk| substitute(*quirk))
    }

    /// Applies these quirks to a completion.
    pub(crate) fn alter(&self, completion: &mut Value, headers: &mut HeaderMap, cost: Money) {
        for quirk in &self.0 {
            match quirk {
                Quirk::FallbackModel | Quirk::DeploymentNames => {
                    set(completion, "/model", ANSWERING_MODEL_DATED.into());
                }
                Quirk::ZeroUsage => zero_numbers(completion.pointer_mut("/usage")),
                Quirk::NoUsage => set(completion, "/usage", Value::Null),
                Quirk::UsageCost => {
                    if let Some(Value::Object(usage)) = completion.pointer_mut("/usage") {
                        usage.insert("cost".to_owned(), number(cost));
                        usage.insert("is_byok".to_owned(), false.into());
                    }
                }
                Quirk::CostHeader => {
                    if let Ok(value) = HeaderValue::try_from(number(cost).to_string()) {
                        headers.insert("x-litellm-response-cost", value);
                    }
                }
                Quirk::Thinking => rewrite_content(completion, thinking),
                Quirk::IgnoredSchema => {
                    rewrite_content(completion, |_| "The code matches the screenshot well.".into());
                }
                Quirk::Drafts => rewrite_content(completion, drafts),
                _ => {}
            }
        }
    }

    /// The bytes that go over the wire.
    pub(crate) fn encode(&self, completion: &Value) -> Vec<u8> {
        let mut bytes = completion.to_string().into_bytes();
        if self.has(Quirk::ByteOrderMark) {
            bytes.splice(0..0, *b"\xEF\xBB\xBF");
        }
        if self.has(Quirk::Gzip) {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            // Writing to memory cannot fail.
            if encoder.write_all(&bytes).is_ok()
                && let Ok(compressed) = encoder.finish()
            {
                return compressed;
            }
        }
        bytes
    }
}

fn substitute(quirk: Quirk) -> Option<SubstituteResponse> {
    let billed = |status, content_type, body| {
        Some(SubstituteResponse { status, content_type, body, billed: true })
    };
    let free = |status, content_type, body| {
        Some(SubstituteResponse { status, content_type, body, billed: false })
    };
    match quirk {
        Quirk::GatewayTimeout => billed(504, HTML, NGINX_TIMEOUT),
        Quirk::CloudflareTimeout => billed(524, "text/plain; charset=UTF-8", "error code: 524"),
        Quirk::EmptyTimeout => billed(408, "text/plain", ""),
        Quirk::LitellmTimeout => billed(408, JSON, LITELLM_TIMEOUT),
        Quirk::LoginPage => free(200, HTML, LOGIN_PAGE),
        Quirk::ErrorIn200 => free(200, JSON, UPSTREAM_ERROR),
        Quirk::JsonValidateFailed => billed(400, JSON, JSON_VALIDATE_FAILED),
        Quirk::GrammarFailed => free(400, JSON, GRAMMAR_FAILED),
        Quirk::FlexUnavailable => free(429, JSON, FLEX_UNAVAILABLE),
        Quirk::Moderation => free(403, JSON, MODERATION),
        Quirk::BudgetExceeded => free(400, JSON, BUDGET_EXCEEDED),
        Quirk::InvalidModel => free(400, JSON, INVALID_MODEL),
        Quirk::KeyNotValid => free(400, JSON, KEY_NOT_VALID),
        Quirk::NoCredit => free(422, JSON, NO_CREDIT),
        Quirk::WrappedQuota => free(429, JSON, WRAPPED_QUOTA),
        Quirk::GeminiDayLimit => free(429, JSON, GEMINI_DAY_LIMIT),
        Quirk::WaitInBody => free(429, JSON, WAIT_IN_BODY),
        Quirk::OpenrouterDayLimit => free(429, JSON, OPENROUTER_DAY_LIMIT),
        Quirk::NoImageEndpoints => free(404, JSON, NO_IMAGE_ENDPOINTS),
        _ => None,
    }
}

const WRAPPED_QUOTA: &str = r#"{"error":{"message":"litellm.RateLimitError: RateLimitError: OpenAIException - You exceeded your current quota. insufficient_quota","type":"throttling_error","param":null,"code":"429"}}"#;
const GEMINI_DAY_LIMIT: &str = r#"[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier","quotaValue":"250"}]}]}}]"#;
const WAIT_IN_BODY: &str = r#"[{"error":{"code":429,"message":"Quota exceeded for requests per minute. Please retry in 50ms.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"0.05s"}]}}]"#;
const OPENROUTER_DAY_LIMIT: &str = r#"{"error":{"message":"Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day","code":429,"metadata":{"headers":{"X-RateLimit-Limit":"50","X-RateLimit-Remaining":"0"}}}}"#;
const NO_IMAGE_ENDPOINTS: &str =
    r#"{"error":{"message":"No endpoints found that support image input","code":404}}"#;
const HTML: &str = "text/html; charset=utf-8";
const JSON: &str = "application/json";
const NGINX_TIMEOUT: &str = "<html>\r\n<head><title>504 Gateway Time-out</title></head>\r\n<body>\r\n<center><h1>504 Gateway Time-out</h1></center>\r\n<hr><center>nginx/1.27.3</center>\r\n</body>\r\n</html>\r\n";
const LITELLM_TIMEOUT: &str = r#"{"error":{"message":"litellm.Timeout: APITimeoutError - Request timed out. Error_str: Request timed out.","type":null,"param":null,"code":"408"}}"#;
const LOGIN_PAGE: &str = "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Sign in to go on</body></html>";
const UPSTREAM_ERROR: &str = r#"{"error":{"message":"Provider returned error","code":502,"metadata":{"provider_name":"Example"}}}"#;
const JSON_VALIDATE_FAILED: &str = r#"{"error":{"message":"Failed to generate JSON. Please adjust your prompt. See 'failed_generation' for more details.","type":"invalid_request_error","code":"json_validate_failed","failed_generation":"{\"scores\": {"}}"#;
const GRAMMAR_FAILED: &str =
    r#"{"error":{"code":400,"message":"failed to parse grammar","type":"invalid_request_error"}}"#;
const FLEX_UNAVAILABLE: &str = r#"{"error":{"message":"Resource Unavailable","type":"resource_unavailable","param":null,"code":"resource_unavailable"}}"#;
const MODERATION: &str = r#"{"error":{"code":403,"message":"Input was flagged by moderation","metadata":{"reasons":["violence"],"flagged_input":"a screenshot","provider_name":"OpenAI","model_slug":"openai/gpt-4o"}}}"#;
const BUDGET_EXCEEDED: &str = r#"{"error":{"message":"Budget has been exceeded! Current cost: 0.51, Max budget: 0.5","type":"budget_exceeded","param":null,"code":"400"}}"#;
const INVALID_MODEL: &str = r#"{"error":{"message":"/chat/completions: Invalid model name passed in model=gpt-4o. Call `/v1/models` to view available models for your key.","type":"None","param":"None","code":"400"}}"#;
const KEY_NOT_VALID: &str = r#"[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}]"#;
const NO_CREDIT: &str =
    r#"{"error":{"message":"Insufficient credits to run this request","type":"invalid_request"}}"#;

/// An amount as a JSON number.
fn number(amount: Money) -> Value {
    serde_json::from_str(&amount.exact()).unwrap_or(Value::Null)
}

fn set(value: &mut Value, pointer: &str, new: Value) {
    if let Some(place) = value.pointer_mut(pointer) {
        *place = new;
    }
}

fn zero_numbers(value: Option<&mut Value>) {
    match value {
        Some(Value::Object(parts)) => parts.values_mut().for_each(|part| zero_numbers(Some(part))),
        Some(number @ Value::Number(_)) => *number = 0.into(),
        _ => {}
    }
}

fn rewrite_content(completion: &mut Value, rewrite: fn(&str) -> String) {
    if let Some(Value::String(content)) = completion.pointer_mut("/choices/0/message/content") {
        *content = rewrite(content);
    }
}

/// The verdict with every score at 0.
fn draft(verdict: &str) -> String {
    let mut draft: Value = serde_json::from_str(verdict).unwrap_or_else(|_| json!({}));
    zero_numbers(Some(&mut draft));
    draft.to_string()
}

fn thinking(verdict: &str) -> String {
    let draft = draft(verdict);
    format!(
        "<think>\nThe code sets .button {{ color: red }} and the schema wants {{\"scores\": …}}. A \
         first draft:\n{draft}\nNo, the button is there after all.\n</think>\n\n```json\n{verdict}\n```"
    )
}

fn drafts(verdict: &str) -> String {
    let draft = draft(verdict);
    format!("A draft: {draft}\nBetter:\n```json\n{draft}\n```\nMy final verdict:\n{verdict}")
}
