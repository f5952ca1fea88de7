//! A request as JSON, written once into the buffer that is sent.

use crate::vision::{Completion, Finish, Request, RequestImage};
use base64_simd::STANDARD;
use bytes::Bytes;
use juror_types::lane::Lane;
use serde::Serialize;
use serde_json::{Value, json};
use std::borrow::Cow;

/// Ways to request the reply's format, strictest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReplyFormat {
    /// The provider enforces the schema.
    Schema = 0,
    /// The provider enforces that it is JSON; the schema is part of the request.
    Json = 1,
    /// The provider enforces nothing; the schema is part of the request.
    Text = 2,
}

impl ReplyFormat {
    pub(super) fn from_number(number: u8) -> Self {
        match number {
            0 => Self::Schema,
            1 => Self::Json,
            _ => Self::Text,
        }
    }

    /// Next way if the server does not support this one.
    pub(super) fn looser(self) -> Option<Self> {
        match self {
            Self::Schema => Some(Self::Json),
            Self::Json => Some(Self::Text),
            Self::Text => None,
        }
    }

    /// Name of the format in messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Schema => "structured output by a JSON schema",
            Self::Json => "plain JSON output",
            Self::Text => "unenforced JSON in text",
        }
    }
}

/// Size in bytes of the body without images and texts.
const FRAME: usize = 1_024;

/// The body of a request for chat completions.
///
/// `keeps_instructions` asks the provider to cache the part of the prompt that is the same for
/// every item, and nothing else.
pub(super) fn write(request: &Request, format: ReplyFormat, keeps_instructions: bool) -> Bytes {
    let mut json = Vec::with_capacity(expected_length(request));
    json.extend_from_slice(b"{\"model\":");
    value(&mut json, &request.model);
    json.extend_from_slice(b",\"messages\":[{\"role\":\"system\",\"content\":");
    value(&mut json, &request.system);
    json.extend_from_slice(b"},{\"role\":\"user\",\"content\":[");
    let mut instructions = vec![Cow::Borrowed(&*request.task)];
    if format != ReplyFormat::Schema {
        instructions.push(schema_in_words(&request.schema).into());
    }
    let last = instructions.len() - 1;
    for (index, text) in instructions.iter().enumerate() {
        if index > 0 {
            json.push(b',');
        }
        let is_kept = keeps_instructions && index == last;
        text_part_with(&mut json, text, if is_kept { BREAKPOINT } else { "" });
    }
    for image in &request.images {
        json.push(b',');
        text_part(&mut json, &image.label);
        json.push(b',');
        image_part(&mut json, image, request.detail.name());
    }
    json.push(b',');
    text_part(&mut json, &request.item);
    json.extend_from_slice(b"]}]");
    settings(&mut json, request);
    if request.lane == Lane::Flex {
        json.extend_from_slice(b",\"service_tier\":\"flex\"");
    }
    if keeps_instructions {
        json.extend_from_slice(b",\"prompt_cache_options\":{\"mode\":\"explicit\"}");
    }
    response_format(&mut json, request, format);
    json.push(b'}');
    Bytes::from(json)
}

/// True if a complete reply contains the name of a property that the schema requires; `None` if
/// that cannot be determined.
pub(super) fn follows_schema(answer: &Completion, schema: &str) -> Option<bool> {
    let content = answer.content.as_deref().filter(|content| !content.trim().is_empty())?;
    let schema: Value = serde_json::from_str(schema).ok()?;
    let required = schema.get("required")?.as_array()?;
    let is_named = |name: &Value| content.contains(&name.to_string());
    (answer.finish == Finish::Stop).then(|| required.iter().any(is_named))
}

fn expected_length(request: &Request) -> usize {
    let Request { system, task, item, schema, .. } = request;
    let texts = system.len() + task.len() + item.len() + schema.len();
    let image_length = |image: &RequestImage| match &image.url {
        Some(url) => url.len(),
        None => STANDARD.encoded_length(image.bytes.len()),
    };
    let images: usize =
        request.images.iter().map(|image| image_length(image) + image.label.len() + 200).sum();
    // Line ends and quotes take two bytes each in JSON.
    FRAME + texts + texts / 4 + images
}

/// Further key of a part: the end of the prompt that the provider should cache.
const BREAKPOINT: &str = ",\"prompt_cache_breakpoint\":{\"mode\":\"explicit\"}";

fn text_part(json: &mut Vec<u8>, text: &str) {
    text_part_with(json, text, "");
}

fn text_part_with(json: &mut Vec<u8>, text: &str, further_keys: &str) {
    json.extend_from_slice(b"{\"type\":\"text\",\"text\":");
    value(json, text);
    json.extend_from_slice(further_keys.as_bytes());
    json.push(b'}');
}

fn image_part(json: &mut Vec<u8>, image: &RequestImage, detail: &str) {
    json.extend_from_slice(b"{\"type\":\"image_url\",\"image_url\":{\"url\":");
    match &image.url {
        Some(url) => value(json, url),
        None => {
            json.extend_from_slice(b"\"data:");
            json.extend_from_slice(image.media_type.as_bytes());
            json.extend_from_slice(b";base64,");
            STANDARD.encode_append(&image.bytes, json);
            json.push(b'"');
        }
    }
    json.extend_from_slice(b",\"detail\":\"");
    json.extend_from_slice(detail.as_bytes());
    json.extend_from_slice(b"\"}}");
}

fn settings(json: &mut Vec<u8>, request: &Request) {
    if let Some(temperature) = request.temperature {
        json.extend_from_slice(b",\"temperature\":");
        value(json, &temperature);
    }
    json.extend_from_slice(b",\"");
    json.extend_from_slice(request.output_parameter.name().as_bytes());
    json.extend_from_slice(b"\":");
    value(json, &request.max_output_tokens);
}

fn response_format(json: &mut Vec<u8>, request: &Request, format: ReplyFormat) {
    match format {
        ReplyFormat::Schema => {
            json.extend_from_slice(
                b",\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":",
            );
            value(json, &request.schema_name);
            json.extend_from_slice(b",\"strict\":true,\"schema\":");
            json.extend_from_slice(request.schema.as_bytes());
            json.extend_from_slice(b"}}");
        }
        ReplyFormat::Json => {
            json.extend_from_slice(b",\"response_format\":");
            value(json, &json!({ "type": "json_object" }));
        }
        ReplyFormat::Text => {}
    }
}

fn schema_in_words(schema: &str) -> String {
    format!("Reply with one JSON object and nothing else. It must fit this JSON Schema:\n{schema}")
}

fn value(json: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    let written = serde_json::to_writer(json, value);
    debug_assert!(written.is_ok(), "memory takes every text and number");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vision::openai::tests::question;
    use juror_types::model::OutputLimit;

    fn written(request: &Request, format: ReplyFormat) -> Value {
        serde_json::from_slice(&write(request, format, false)).unwrap()
    }

    #[test]
    fn static_text_precedes_the_item() {
        let body = written(&question(), ReplyFormat::Schema);
        assert_eq!(
            body,
            json!({
                "model": "gpt-4o",
                "messages": [
                    {"role": "system", "content": "You judge.\n\"Strictly\"."},
                    {"role": "user", "content": [
                        {"type": "text", "text": "Compare."},
                        {"type": "text", "text": "Original:"},
                        {"type": "image_url", "image_url":
                            {"url": "data:image/png;base64,AAEC/w==", "detail": "high"}},
                        {"type": "text", "text": "Restyled:"},
                        {"type": "image_url", "image_url":
                            {"url": "data:image/jpeg;base64,", "detail": "high"}},
                        {"type": "text", "text": "<b>ü\u{1}</b>"},
                    ]},
                ],
                "temperature": 0.1,
                "max_tokens": 1000,
                "response_format": {"type": "json_schema", "json_schema":
                    {"name": "verdict", "strict": true, "schema": {"type": "object"}}},
            })
        );
    }

    #[test]
    fn provider_fetched_image_is_sent_as_its_url() {
        let mut request = question();
        request.images[0].url = Some("https://host/a%20b.png".to_owned());
        let parts = &written(&request, ReplyFormat::Schema)["messages"][1]["content"];
        let url = |part: usize| parts[part]["image_url"]["url"].as_str().unwrap().to_owned();
        assert_eq!(url(2), "https://host/a%20b.png");
        assert!(url(4).starts_with("data:image/jpeg;base64,"));
        assert_eq!(parts[2]["image_url"]["detail"], "high");
    }

    #[test]
    fn only_instructions_are_in_the_prompt_cache() {
        for (format, last) in [(ReplyFormat::Schema, 0), (ReplyFormat::Json, 1)] {
            let body = write(&question(), format, true);
            let body: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(body["prompt_cache_options"], json!({"mode": "explicit"}));
            let parts = body["messages"][1]["content"].as_array().unwrap();
            let ends = |part: &Value| part.get("prompt_cache_breakpoint").is_some();
            let breakpoints: Vec<usize> =
                parts.iter().enumerate().filter(|(_, part)| ends(part)).map(|(i, _)| i).collect();
            assert_eq!(breakpoints, [last], "{format:?}");
        }
        let plain = String::from_utf8(write(&question(), ReplyFormat::Schema, false).to_vec());
        assert!(!plain.unwrap().contains("prompt_cache"));
    }

    #[test]
    fn requests_have_only_parameters_that_the_model_supports() {
        let request = Request {
            temperature: None,
            output_parameter: OutputLimit::MaxCompletionTokens,
            ..question()
        };
        let body = written(&request, ReplyFormat::Schema);
        assert_eq!(body["max_completion_tokens"], 1000);
        assert!(body.get("max_tokens").is_none() && body.get("temperature").is_none());
    }

    #[test]
    fn flex_lane_sets_the_service_tier() {
        let request = Request { lane: Lane::Flex, ..question() };
        assert_eq!(written(&request, ReplyFormat::Schema)["service_tier"], "flex");
        assert!(written(&question(), ReplyFormat::Schema).get("service_tier").is_none());
    }

    #[test]
    fn unenforced_schema_is_part_of_the_prompt() {
        for (format, expected) in
            [(ReplyFormat::Json, json!({"type": "json_object"})), (ReplyFormat::Text, Value::Null)]
        {
            let body = written(&question(), format);
            assert_eq!(body["response_format"], expected);
            let words = body["messages"][1]["content"][1]["text"].as_str().unwrap();
            assert!(words.contains("JSON") && words.ends_with("{\"type\":\"object\"}"), "{words}");
        }
    }

    /// A judge writes in the order of the schema: a map that sorts its keys would put scores before
    /// their evidence, unnoticed.
    #[test]
    fn schema_keeps_the_order_of_writing() {
        let rubric = juror_types::rubric::builtin_named("semantic").unwrap().parse().unwrap();
        let schema = juror_types::rubric::reply_schema(&rubric).to_string();
        let request = Request { schema: schema.as_str().into(), ..question() };
        for format in [ReplyFormat::Schema, ReplyFormat::Json] {
            let body = String::from_utf8(write(&request, format, false).to_vec()).unwrap();
            let body = body.replace("\\\"", "\"");
            let (_, properties) = body.rsplit_once("\"properties\":{\"findings\"").unwrap();
            let places = [
                "\"kind\":",
                "\"statement\":",
                "\"suspected_instructions\":",
                "\"scores\":",
                "\"why\":",
                "\"score\":",
                "\"strengths\":",
            ]
            .map(|key| properties.find(key).unwrap());
            assert!(places.is_sorted(), "{places:?}");
        }
    }

    #[test]
    fn reply_matches_a_schema_if_it_has_the_required_keys() {
        let schema = r#"{"type":"object","required":["scores","issues"]}"#;
        let answer = |content: &str| Completion {
            content: Some(content.to_owned()),
            finish: Finish::Stop,
            ..Completion::default()
        };
        for (content, expected) in [
            (r#"{"scores":{}}"#, Some(true)),
            (r#"Here it is: {"issues": []} and more"#, Some(true)),
            (r#"{"rating": 7}"#, Some(false)),
            ("All of it looks fine to me.", Some(false)),
            (" ", None),
        ] {
            assert_eq!(follows_schema(&answer(content), schema), expected, "{content}");
        }
        let cut = Completion { finish: Finish::Length, ..answer("{") };
        assert_eq!(follows_schema(&cut, schema), None);
        assert_eq!(follows_schema(&answer("x"), r#"{"type":"object"}"#), None);
    }

    #[test]
    fn large_image_is_encoded_without_reallocation() {
        let mut request = question();
        request.images[0].bytes = Bytes::from(vec![7; 200_000]);
        let expected = expected_length(&request);
        assert!(write(&request, ReplyFormat::Schema, true).len() <= expected);
    }
}
