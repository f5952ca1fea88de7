//! Tests of replies, bills and statistics of the simulator.

use crate::client::{RunningSimulator, chat_request, png};
use juror_simulator::{HandwrittenVerdicts, ResponseFormats, SimulatorConfig, item_text_digest};
use juror_types::{
    id::Digest,
    model::Prices,
    usage::{Money, Usage},
};
use serde_json::{Value, json};
use std::sync::Arc;

#[tokio::test]
async fn equal_requests_have_equal_replies_marked_as_simulated() {
    let simulator = RunningSimulator::start(SimulatorConfig::default()).await;
    let request = chat_request(&[png(1440, 900)], "Judge this");
    let first = simulator.complete(&request).await;
    assert_eq!(first.status, 200, "{}", first.body);
    assert_eq!(first.headers["x-juror-simulator"], "1");
    assert!(first.headers["x-request-id"].starts_with("req_"));
    assert_eq!(first.json()["system_fingerprint"], "juror-simulator");
    assert_eq!(first.json()["choices"][0]["finish_reason"], "stop");
    let verdict: Value = serde_json::from_str(&first.content()).unwrap();
    let score = verdict["scores"]["visual_similarity"].as_u64().unwrap();
    assert!(score <= 10 && verdict["scores"].as_object().unwrap().len() == 2);
    assert_eq!(simulator.complete(&request).await.content(), first.content());

    let mut others = Vec::new();
    for width in 1..20 {
        others.push(
            simulator.complete(&chat_request(&[png(width, 900)], "Judge this")).await.content(),
        );
    }
    assert!(others.iter().any(|other| *other != first.content()));
    simulator.stop().await;
}

#[tokio::test]
async fn bill_equals_the_sum_of_reported_usage() {
    let config = SimulatorConfig { cached_input_tokens: 100, ..SimulatorConfig::default() };
    let simulator = RunningSimulator::start(config).await;
    let price = Prices::builtin().find("gpt-4o").unwrap().price;
    let (mut cost, mut total) = (Money::ZERO, Usage::default());
    for (width, height, tokens) in [(1440, 900, 1105), (390, 844, 425), (128, 64, 255)] {
        let answer =
            simulator.complete(&chat_request(&[png(width, height)], "12345678")).await.json();
        let count = |pointer: &str| answer["usage"].pointer(pointer).unwrap().as_u64().unwrap();
        let usage = Usage {
            input_tokens: count("/prompt_tokens"),
            cached_input_tokens: count("/prompt_tokens_details/cached_tokens"),
            output_tokens: count("/completion_tokens"),
        };
        assert_eq!(usage.input_tokens, tokens + 2 + 3 + 4 + 3);
        assert_eq!(usage.cached_input_tokens, 100);
        cost += price.cost(&usage, None);
        total += usage;
    }
    let stats = simulator.get("/stats", "").await.json();
    assert_eq!(stats["billed_usd"], cost.to_string());
    let stats = simulator.stop().await;
    assert_eq!((stats.billed_usd, stats.usage, stats.billed_calls), (cost, total, 3));
    assert_eq!((stats.requests, stats.answers, stats.in_flight), (3, 3, 0));
}

#[tokio::test]
async fn recorded_requests_receive_recorded_verdicts() {
    let mut book = HandwrittenVerdicts::new();
    let image = png(10, 20);
    let digest = Digest::from_content(&image);
    let reply = |issue: &str| {
        let scores = json!({"visual_similarity": 9, "layout_accuracy": 10});
        json!({"scores": scores, "issues": [issue], "strengths": []})
    };
    book.insert(&[digest], Some(item_text_digest("<a/>")), reply("by code"));
    book.insert(&[digest], None, reply("by image"));
    let config = SimulatorConfig { book: Arc::new(book), ..SimulatorConfig::default() };
    let simulator = RunningSimulator::start(config).await;
    let images = [image];
    for (images, text, answer) in [
        (&images[..], "code:\n<<<M\n<a/>\nM>>>\n", "by code"),
        (&images[..], "code:\n<<<M\n<b/>\nM>>>\n", "by image"),
        (&images[..], "no code", "by image"),
    ] {
        let content = simulator.complete(&chat_request(images, text)).await.content();
        assert_eq!(content, reply(answer).to_string(), "{text}");
    }
    let unknown = simulator.complete(&chat_request(&[png(11, 20)], "no code")).await.content();
    assert!(unknown.contains("scores") && !unknown.contains("by image"), "{unknown}");
    let mut of_another_rubric = chat_request(&images, "no code");
    let scale = "/response_format/json_schema/schema/properties/scores/properties";
    *of_another_rubric.pointer_mut(scale).unwrap() = json!({"depth": {"type": "integer"}});
    let drawn = simulator.complete(&of_another_rubric).await.content();
    assert!(drawn.contains("depth"), "{drawn}");
    simulator.stop().await;
}

#[tokio::test]
async fn server_without_schemas_reads_the_form_from_the_prompt() {
    let config = SimulatorConfig {
        response_formats: ResponseFormats::TextOnly,
        ..SimulatorConfig::default()
    };
    let simulator = RunningSimulator::start(config).await;
    let mut request = chat_request(&[png(10, 20)], "Score visual_similarity and token_adherence");
    let refused = simulator.complete(&request).await;
    assert_eq!(refused.status, 400);
    assert_eq!(refused.json()["error"]["param"], "response_format");
    request["response_format"] = Value::Null;
    let verdict: Value =
        serde_json::from_str(&simulator.complete(&request).await.content()).unwrap();
    assert!(verdict["scores"]["token_adherence"].is_u64(), "{verdict}");
    assert_eq!(simulator.stop().await.refusals["unsupported_parameter"], 1);
}

#[tokio::test]
async fn key_is_checked_if_configured() {
    let config = SimulatorConfig { key: Some("sk-simulated".into()), ..SimulatorConfig::default() };
    let simulator = RunningSimulator::start(config).await;
    let right = "authorization: Bearer sk-simulated\r\n";
    let wrong = "authorization: Bearer sk-other\r\n";
    let models = simulator.get("/v1/models", right).await.json();
    let known = models["data"].as_array().unwrap().iter().any(|model| model["id"] == "gpt-4o");
    assert!(known, "{models}");
    assert_eq!(simulator.get("/v1/models", wrong).await.status, 401);
    assert_eq!(simulator.get("/v1/models", "").await.json()["error"]["code"], "invalid_api_key");
    let body = chat_request(&[], "Judge this").to_string();
    for (key, status) in [(right, 200), (wrong, 401)] {
        let answer = simulator.send("POST", "/any/base/chat/completions", key, &body).await;
        assert_eq!(answer.status, status);
    }
    assert_eq!(simulator.get("/elsewhere", right).await.status, 404);
    assert_eq!(simulator.stop().await.billed_calls, 1);
}

#[tokio::test]
async fn reply_ends_at_its_output_limit() {
    let simulator = RunningSimulator::start(SimulatorConfig::default()).await;
    let mut request = chat_request(&[], "Judge this");
    request["max_tokens"] = json!(5);
    let answer = simulator.complete(&request).await.json();
    assert_eq!(answer["choices"][0]["finish_reason"], "length");
    assert_eq!(answer["usage"]["completion_tokens"], 5);
    simulator.stop().await;
}
