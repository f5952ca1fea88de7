//! Tests of the prompt cache's reads, writes and charges.

use crate::client::{RunningSimulator, chat_request, png};
use juror_simulator::{Quirk, SimulatorConfig};
use serde_json::{Value, json};

const MODEL: &str = "gpt-5.6";

/// Request with instructions long enough for the cache, followed by this item.
fn cached_request(item: &str) -> Value {
    let mut request = chat_request(&[png(640, 480)], &"Compare them. ".repeat(600));
    request["model"] = json!(MODEL);
    request["max_completion_tokens"] = json!(1_000);
    for key in ["max_tokens", "temperature"] {
        request.as_object_mut().unwrap().remove(key);
    }
    let parts = request["messages"][1]["content"].as_array_mut().unwrap();
    parts.push(json!({"type": "text", "text": item}));
    request
}

fn explicit(item: &str) -> Value {
    let mut request = cached_request(item);
    request["prompt_cache_options"] = json!({"mode": "explicit"});
    request["messages"][1]["content"][0]["prompt_cache_breakpoint"] = json!({"mode": "explicit"});
    request
}

/// Tokens of the prompt, of cache reads and of cache writes.
async fn counts(simulator: &RunningSimulator, request: &Value) -> (u64, u64, u64) {
    let usage = simulator.complete(request).await.json()["usage"].clone();
    let details = &usage["prompt_tokens_details"];
    (
        usage["prompt_tokens"].as_u64().unwrap(),
        details["cached_tokens"].as_u64().unwrap(),
        details["cache_write_tokens"].as_u64().unwrap(),
    )
}

#[tokio::test]
async fn without_parameters_the_whole_prompt_is_cached() {
    let simulator = RunningSimulator::start(SimulatorConfig::default()).await;
    let (prompt, read, written) = counts(&simulator, &cached_request("first")).await;
    assert_eq!((read, written), (0, prompt));
    let (prompt, read, written) = counts(&simulator, &cached_request("second")).await;
    assert!(read > 1_024 && read + written == prompt, "{prompt} = {read} + {written}");
    simulator.stop().await;
}

#[tokio::test]
async fn breakpoint_caches_only_the_instructions_and_only_once() {
    let simulator = RunningSimulator::start(SimulatorConfig::default()).await;
    let (prompt, read, written) = counts(&simulator, &explicit("first")).await;
    assert!(read == 0 && written > 1_024 && written < prompt, "{written} of {prompt}");
    let instructions = written;
    for item in ["second", "third"] {
        let (_, read, written) = counts(&simulator, &explicit(item)).await;
        assert_eq!((read, written), (instructions, 0), "{item}");
    }
    simulator.stop().await;
}

#[tokio::test]
async fn models_without_cache_parameters_refuse_them() {
    let simulator = RunningSimulator::start(SimulatorConfig::default()).await;
    let mut older = explicit("item");
    older["model"] = json!("gpt-5.5");
    assert_eq!(simulator.complete(&older).await.status, 400);
    older.as_object_mut().unwrap().remove("prompt_cache_options");
    let usage = simulator.complete(&older).await.json()["usage"].clone();
    assert!(usage["prompt_tokens_details"].get("cache_write_tokens").is_none(), "{usage}");
    simulator.stop().await;

    let gateway =
        RunningSimulator::start(SimulatorConfig::with_quirks(&[Quirk::NoCacheOptions])).await;
    assert_eq!(
        gateway.complete(&explicit("item")).await.json()["error"]["code"],
        "unknown_parameter"
    );
    gateway.stop().await;
}
