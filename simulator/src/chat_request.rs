//! Chat completion requests, parsed without copying their images and validated as strictly as a
//! real server does.

use crate::{
    config::{ResponseFormats, SimulatorConfig},
    image_part::ImagePart,
    quirk::{ANSWERING_MODEL, Quirk},
    refusal::{INVALID, Refusal},
};
use juror_types::{
    lane::Lane,
    model::{ModelCapabilities, OutputLimit, PriceEntry, PromptCache},
};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;
use std::borrow::Cow;

/// Valid chat request.
#[derive(Debug)]
pub(crate) struct ValidatedRequest<'a> {
    pub(crate) facts: &'a ModelCapabilities,
    pub(crate) price: &'a PriceEntry,
    pub(crate) model: Cow<'a, str>,
    /// Every text, of the system's message too.
    pub(crate) texts: Vec<Cow<'a, str>>,
    /// Lane of the call.
    pub(crate) lane: Lane,
    /// Part of the prompt to be cached.
    pub(crate) cache_scope: CacheScope,
    pub(crate) images: Vec<ImagePart<'a>>,
    /// Most output tokens; `None` if the request has no limit.
    pub(crate) output_limit: Option<u64>,
    /// The strict schema of the reply.
    pub(crate) schema: Option<Value>,
}

impl<'a> ValidatedRequest<'a> {
    /// Reads and checks a request's body.
    pub(crate) fn read(body: &'a [u8], config: &'a SimulatorConfig) -> Result<Self, Refusal> {
        let request: ChatRequest<'a> = serde_json::from_slice(body).map_err(|error| {
            let message = format!("the body is no chat completion request: {error}");
            Refusal::new(400, INVALID, "invalid_request", message)
        })?;
        let model = request.model;
        let is_deployment = config.has_quirk(Quirk::DeploymentNames);
        let known_as = if is_deployment { ANSWERING_MODEL } else { &*model };
        let price = config.prices.find(known_as).ok_or_else(|| no_such_model(&model))?;
        let facts = config.models.facts(known_as);
        let lane = lane(request.service_tier.as_deref(), price, config)?;
        if request.stream == Some(true) || request.n.is_some_and(|n| n != 1) {
            let message = "this server supports neither n > 1 nor streaming";
            return Err(Refusal::parameter("stream", "unsupported_value", message));
        }
        check_temperature(request.temperature, facts)?;
        let output_limit = output_limit(request.max_tokens, request.max_completion_tokens, facts)?;
        let Contents { texts, images, breakpoint } = contents(request.messages)?;
        let refuses = config.has_quirk(Quirk::NoCacheOptions);
        let cache_scope = match (request.prompt_cache_options, facts.prompt_cache) {
            (Some(_), prompt_cache) if refuses || prompt_cache != PromptCache::Explicit => {
                let (name, message) =
                    ("prompt_cache_options", "Unknown parameter: 'prompt_cache_options'.");
                return Err(Refusal::parameter(name, "unknown_parameter", message));
            }
            (None, PromptCache::Automatic | PromptCache::Marked) => CacheScope::Nothing,
            (Some(options), _) if options.mode == "explicit" => {
                CacheScope::FirstTexts(breakpoint.unwrap_or(0))
            }
            _ => CacheScope::Everything,
        };
        let schema = response_schema(request.response_format, config.response_formats, &texts)?;
        Ok(Self { facts, price, model, texts, lane, cache_scope, images, output_limit, schema })
    }

    /// Input tokens as they are billed: the images by their formula, a token for four bytes of
    /// text, and three for each text's framing.
    pub(crate) fn input_tokens(&self) -> u64 {
        let image = |image: &ImagePart<'_>| {
            self.facts.image.tokens(image.width, image.height, image.detail)
        };
        self.texts.iter().map(|text| text_tokens(text)).chain(self.images.iter().map(image)).sum()
    }
}

/// Part of the prompt that a request marks for the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CacheScope {
    /// The model has no such cache.
    Nothing,
    /// The whole input.
    Everything,
    /// The first texts, this many.
    FirstTexts(usize),
}

/// Tokens of a text: one for four bytes, and three for its framing.
pub(crate) fn text_tokens(text: &str) -> u64 {
    (text.len() as u64).div_ceil(4) + 3
}

/// Default output limit of a request.
pub(crate) const DEFAULT_OUTPUT_LIMIT: u64 = 16_384;

#[derive(Deserialize)]
struct ChatRequest<'a> {
    #[serde(borrow)]
    model: Cow<'a, str>,
    #[serde(borrow)]
    messages: Vec<Message<'a>>,
    max_tokens: Option<u64>,
    max_completion_tokens: Option<u64>,
    temperature: Option<f64>,
    response_format: Option<ResponseFormat>,
    prompt_cache_options: Option<CacheOptions>,
    #[serde(borrow)]
    service_tier: Option<Cow<'a, str>>,
    stream: Option<bool>,
    n: Option<u64>,
}

#[derive(Deserialize)]
struct CacheOptions {
    #[serde(default)]
    mode: String,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow)]
    content: Content<'a>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(#[serde(borrow)] Cow<'a, str>),
    Parts(#[serde(borrow)] Vec<Part<'a>>),
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    Text {
        #[serde(borrow)]
        text: Cow<'a, str>,
        prompt_cache_breakpoint: Option<IgnoredAny>,
    },
    ImageUrl {
        #[serde(borrow)]
        image_url: ImageUrl<'a>,
    },
}

#[derive(Deserialize)]
struct ImageUrl<'a> {
    #[serde(borrow)]
    url: Cow<'a, str>,
    detail: Option<String>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ResponseFormat {
    Text,
    JsonObject,
    JsonSchema { json_schema: JsonSchema },
}

#[derive(Deserialize)]
struct JsonSchema {
    name: String,
    schema: Value,
}

struct Contents<'a> {
    texts: Vec<Cow<'a, str>>,
    images: Vec<ImagePart<'a>>,
    /// The number of texts up to the last breakpoint of the prompt cache.
    breakpoint: Option<usize>,
}

/// Lane of a request.
fn lane(
    service_tier: Option<&str>,
    price: &PriceEntry,
    config: &SimulatorConfig,
) -> Result<Lane, Refusal> {
    match service_tier {
        None | Some("auto" | "default") => Ok(Lane::Realtime),
        Some("flex") if config.has_quirk(Quirk::IgnoredTier) => Ok(Lane::Realtime),
        Some("flex") if price.flex.is_some() => Ok(Lane::Flex),
        Some(tier) => {
            let message =
                format!("Invalid service_tier argument: {tier} is not available for this model");
            Err(Refusal::parameter("service_tier", "invalid_value", message))
        }
    }
}

fn no_such_model(model: &str) -> Refusal {
    let message = format!("the model {model:?} does not exist, or the key may not use it");
    let refusal = Refusal::new(404, INVALID, "model_not_found", message);
    Refusal { parameter: Some("model"), ..refusal }
}

fn check_temperature(temperature: Option<f64>, facts: &ModelCapabilities) -> Result<(), Refusal> {
    let refused = match temperature {
        Some(value) if !(0.0..=2.0).contains(&value) => "temperature must be from 0 to 2",
        Some(value) if !facts.temperature && value != 1.0 => {
            "this model takes no temperature but the default, 1"
        }
        _ => return Ok(()),
    };
    Err(Refusal::parameter("temperature", "unsupported_value", refused))
}

fn output_limit(
    max_tokens: Option<u64>,
    max_completion_tokens: Option<u64>,
    facts: &ModelCapabilities,
) -> Result<Option<u64>, Refusal> {
    if max_tokens.is_some() && max_completion_tokens.is_some() {
        let message = "set one of max_tokens and max_completion_tokens";
        return Err(Refusal::parameter("max_tokens", "invalid_request", message));
    }
    if max_tokens.is_some() && facts.output_limit == OutputLimit::MaxCompletionTokens {
        let message = "this model takes max_completion_tokens instead of max_tokens";
        return Err(Refusal::parameter("max_tokens", "unsupported_parameter", message));
    }
    let limit = max_completion_tokens.or(max_tokens);
    if limit == Some(0) {
        let message = "an answer has at least one token";
        return Err(Refusal::parameter("max_tokens", "invalid_value", message));
    }
    Ok(limit)
}

fn contents(messages: Vec<Message<'_>>) -> Result<Contents<'_>, Refusal> {
    let mut contents = Contents { texts: Vec::new(), images: Vec::new(), breakpoint: None };
    let mut has_user_message = false;
    for message in messages {
        has_user_message |= message.role == "user";
        match message.content {
            Content::Text(text) => contents.texts.push(text),
            Content::Parts(parts) => {
                for part in parts {
                    match part {
                        Part::Text { text, prompt_cache_breakpoint } => {
                            contents.texts.push(text);
                            if prompt_cache_breakpoint.is_some() {
                                contents.breakpoint = Some(contents.texts.len());
                            }
                        }
                        Part::ImageUrl { image_url: ImageUrl { url, detail } } => {
                            contents.images.push(ImagePart::read(url, detail.as_deref())?);
                        }
                    }
                }
            }
        }
    }
    if has_user_message {
        return Ok(contents);
    }
    let message = "a message of the role user is required";
    Err(Refusal::parameter("messages", "invalid_request", message))
}

fn response_schema(
    format: Option<ResponseFormat>,
    taken: ResponseFormats,
    texts: &[Cow<'_, str>],
) -> Result<Option<Value>, Refusal> {
    let refuse = |name: &str| {
        let message = format!("response_format of type {name} is not supported by this server");
        Err(Refusal::parameter("response_format", "unsupported_parameter", message))
    };
    match format {
        None | Some(ResponseFormat::Text) => Ok(None),
        Some(ResponseFormat::JsonObject) if taken == ResponseFormats::TextOnly => {
            refuse("json_object")
        }
        Some(ResponseFormat::JsonObject) if !texts.iter().any(|text| names_json(text)) => {
            let message = "the messages have to name json where response_format is json_object";
            Err(Refusal::parameter("messages", "invalid_request", message))
        }
        Some(ResponseFormat::JsonObject) => Ok(None),
        Some(ResponseFormat::JsonSchema { .. }) if taken != ResponseFormats::All => {
            refuse("json_schema")
        }
        Some(ResponseFormat::JsonSchema { json_schema: JsonSchema { name, schema } }) => {
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
            if name.is_empty() || name.len() > 64 || !name.bytes().all(fits) {
                let message = "the schema's name takes 1 to 64 letters, digits, _ and -";
                return Err(Refusal::parameter("response_format", "invalid_value", message));
            }
            Ok(Some(schema))
        }
    }
}

fn names_json(text: &str) -> bool {
    text.as_bytes().windows(4).any(|word| word.eq_ignore_ascii_case(b"json"))
}

#[cfg(test)]
mod tests;
