//! Item pages: judged files and the judge's prompt.

use super::{Fixture, judged};
use crate::harness::{ApiServer, CommandHarness, Recorder, completion, verdict};
use serde_json::{Value, json};
use std::fs;

#[test]
fn item_page_shows_tokens_code_and_image_until_they_change() {
    let fixture = Fixture::of(2, &[]);
    fixture.gate.open();
    fixture.api.post("/api/v1/runs", &judged("shown")).has_status(202);
    fixture.api.await_end("shown");
    let path = "/api/v1/runs/shown/items/item_0001";
    let item = fixture.api.get(path).has_status(200).json();
    assert_eq!(item["missing"], json!([]));
    assert_eq!(
        item["tokens"],
        json!([{"name": "color.primary", "expected": "#1D4ED8",
                "extracted": "rgb(29, 78, 216)", "equal": true}])
    );
    assert!(item["code"]["text"].as_str().unwrap().contains("Number 1"), "{item}");
    let url = item["images"][0]["url"].as_str().unwrap();
    let image = fixture.api.get(url).has_status(200);
    let shot = fixture.harness.path("shots/0001.png");
    assert_eq!(image.body, fs::read(&shot).unwrap());
    fs::write(&shot, "something else").unwrap();
    assert!(fixture.api.get(url).status >= 400, "only judged images are shown");
    fixture
        .harness
        .write("manifest.jsonl", "{\"id\":\"other\",\"screenshot\":\"shots/0001.png\"}\n");
    let item = fixture.api.get(path).has_status(200).json();
    assert!(item["missing"].to_string().contains("has changed"), "{item}");
    assert_eq!(item["result"]["screenshot_id"], "item_0001", "the result is still there");
}

#[test]
fn screenshot_of_an_unjudged_run_is_the_current_file() {
    let harness = CommandHarness::with_items(2);
    let broken = "{\"id\": \"broken\", \"screenshot\": \"shots/broken.png\"}\n";
    let manifest = fs::read_to_string(harness.path("manifest.jsonl")).unwrap() + broken;
    harness.write("manifest.jsonl", manifest);
    harness.write("shots/broken.png", "no picture");
    let api = ApiServer::open(&harness, &[]);
    api.post("/api/v1/runs", &json!({"dataset": "manifest.jsonl", "run_id": "free"}))
        .has_status(202);
    api.await_end("free");
    let item = api.get("/api/v1/runs/free/items/item_0001").has_status(200).json();
    let url = item["images"][0]["url"].as_str().unwrap();
    let shot = harness.path("shots/0001.png");
    assert_eq!(api.get(url).has_status(200).body, fs::read(&shot).unwrap());
    let page = api.get("/runs/free/items/item_0001").has_status(200);
    page.body_contains(&[&url.replace('&', "&amp;"), "current file: it was not judged"]);
    // Bytes are served by digest, and only for the item that has them.
    let (digest, item) = url.split_once('?').unwrap();
    assert!(api.get(digest).status == 404);
    assert!(api.get(&format!("{digest}?{}", item.replace("0001", "0000"))).status == 404);
    fs::write(&shot, "something else").unwrap();
    assert_eq!(api.get(url).status, 404);
    let item = api.get("/api/v1/runs/free/items/broken").has_status(200).json();
    assert_eq!(item["images"][0]["url"], Value::Null, "{item}");
    api.get("/runs/free/items/broken").has_status(200).body_contains(&["cannot be shown"]);
}

#[test]
fn shown_prompt_equals_the_sent_one() {
    let harness = CommandHarness::with_items(1);
    let recorder = Recorder::start(vec![completion(&verdict(9), 1_000, 100)]);
    let api = ApiServer::open(&harness, &["--base-url", &recorder.base_url()]);
    api.post("/api/v1/runs", &judged("asked")).has_status(202);
    api.await_end("asked");
    let item = api.get("/api/v1/runs/asked/items/item_0000").has_status(200).json();
    let shown: Vec<&str> = item["prompt"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part["text"].as_str().unwrap())
        .collect();
    let sent = &recorder.requests()[0];
    let messages = &sent["messages"];
    assert_eq!(messages[0]["content"], Value::from(shown[0]));
    let texts: Vec<&str> = messages[1]["content"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|part| part["text"].as_str())
        .collect();
    assert_eq!(texts.first(), Some(&shown[1]));
    assert_eq!(texts.last(), shown.last());
    assert!(shown[2].starts_with(texts[1]), "{} {}", shown[2], texts[1]);
    assert!(shown[2].contains("SHA-256"));
}
