use super::*;
use crate::config::SimulatorConfig;
use serde_json::json;

fn request(change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let image = "data:image/gif;base64,R0lGODlhEAAgAAAAAAA=";
    let mut request = json!({
        "model": "gpt-4o",
        "messages": [
            {"role": "system", "content": "You are strict."},
            {"role": "user", "content": [
                {"type": "text", "text": "Judge \"this\" as json"},
                {"type": "image_url", "image_url": {"url": image, "detail": "high"}},
            ]},
        ],
        "max_tokens": 100,
        "temperature": 0.1,
        "seed": 7,
    });
    change(&mut request);
    request.to_string().into_bytes()
}

fn refusal(change: impl FnOnce(&mut Value)) -> Refusal {
    ValidatedRequest::read(&request(change), &SimulatorConfig::default()).unwrap_err()
}

#[test]
fn request_is_parsed_without_copying_its_image() {
    let (body, config) = (request(|_| {}), SimulatorConfig::default());
    let question = ValidatedRequest::read(&body, &config).unwrap();
    assert_eq!(question.texts, ["You are strict.", "Judge \"this\" as json"]);
    assert_eq!((question.images[0].width, question.images[0].height), (16, 32));
    assert_eq!(question.output_limit, Some(100));
    assert_eq!(question.input_tokens(), 4 + 3 + 5 + 3 + 255);
    let image = format!("{:?}", question.images[0]);
    assert!(image.contains("data:image/gif"), "{image}");
}

#[test]
fn unsupported_parameters_are_named() {
    for (parameter, code, change) in [
        ("model", "model_not_found", json!({"model": "gpt-4p"})),
        ("stream", "unsupported_value", json!({"stream": true})),
        ("temperature", "unsupported_value", json!({"temperature": 3})),
        ("max_tokens", "invalid_value", json!({"max_tokens": 0})),
        ("max_tokens", "invalid_request", json!({"max_completion_tokens": 5})),
        ("max_tokens", "unsupported_parameter", json!({"model": "gpt-5", "temperature": null})),
        ("temperature", "unsupported_value", json!({"model": "gpt-5", "max_tokens": null})),
        ("messages", "invalid_request", json!({"messages": []})),
    ] {
        let refused = refusal(|request| {
            for (key, value) in change.as_object().unwrap() {
                request[key] = value.clone();
            }
        });
        assert_eq!((refused.parameter, refused.code), (Some(parameter), code), "{change}");
    }
}

#[test]
fn malformed_body_is_refused() {
    for body in ["", "{}", "[]", "{\"model\": 1}", "\u{1F98A}"] {
        let config = SimulatorConfig::default();
        let refused = ValidatedRequest::read(body.as_bytes(), &config).unwrap_err();
        assert_eq!(refused.code, "invalid_request", "{body}");
    }
    let part = refusal(|request| request["messages"][1]["content"][0]["type"] = json!("audio"));
    assert_eq!(part.code, "invalid_request");
}

#[test]
fn response_formats_are_accepted_where_supported() {
    let schema =
        json!({"type": "json_schema", "json_schema": {"name": "verdict", "schema": {"a": 1}}});
    let object = json!({"type": "json_object"});
    let ask = |format: &Value, taken| {
        let body = request(|request| request["response_format"] = format.clone());
        let config = SimulatorConfig { response_formats: taken, ..SimulatorConfig::default() };
        ValidatedRequest::read(&body, &config).map(|question| question.schema)
    };
    assert_eq!(ask(&schema, ResponseFormats::All).unwrap(), Some(json!({"a": 1})));
    assert_eq!(ask(&object, ResponseFormats::JsonObject).unwrap(), None);
    for (format, taken) in [
        (&schema, ResponseFormats::JsonObject),
        (&schema, ResponseFormats::TextOnly),
        (&object, ResponseFormats::TextOnly),
    ] {
        let refused = ask(format, taken).unwrap_err();
        assert_eq!(refused.parameter, Some("response_format"));
        assert!(refused.message.contains("response_format"));
    }
    let silent = refusal(|request| {
        request["response_format"] = object.clone();
        request["messages"][1]["content"] = json!("Judge this");
    });
    assert!(silent.message.contains("json"));
}
