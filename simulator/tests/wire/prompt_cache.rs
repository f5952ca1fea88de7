//! Tests of the prompt cache's reads, writes and charges.

use crate::client::{RunningSimulator, png, question};
use juror_simulator::{Quirk, SimulatorConfig};
use serde_json::{Value, json};

const MODEL: &str = "gpt-5.6";

/// Instructions long enough to be kept, then an item of its own.
fn asked(item: &str) -> Value {
    let mut asked = question(&[png(640, 480)], &"Compare them. ".repeat(600));
    asked["model"] = json!(MODEL);
    asked["max_completion_tokens"] = json!(1_000);
    for key in ["max_tokens", "temperature"] {
        asked.as_object_mut().unwrap().remove(key);
    }
    let parts = asked["messages"][1]["content"].as_array_mut().unwrap();
    parts.push(json!({"type": "text", "text": item}));
    asked
}

fn explicit(item: &str) -> Value {
    let mut asked = asked(item);
    asked["prompt_cache_options"] = json!({"mode": "explicit"});
    asked["messages"][1]["content"][0]["prompt_cache_breakpoint"] = json!({"mode": "explicit"});
    asked
}

/// Tokens of the whole prompt, those read from the cache, those written into it.
async fn counts(simulator: &RunningSimulator, asked: &Value) -> (u64, u64, u64) {
    let usage = simulator.ask(asked).await.json()["usage"].clone();
    let details = &usage["prompt_tokens_details"];
    (
        usage["prompt_tokens"].as_u64().unwrap(),
        details["cached_tokens"].as_u64().unwrap(),
        details["cache_write_tokens"].as_u64().unwrap(),
    )
}

#[tokio::test]
async fn without_a_word_everything_is_written() {
    let simulator = RunningSimulator::start(SimulatorConfig::default()).await;
    let (prompt, read, written) = counts(&simulator, &asked("first")).await;
    assert_eq!((read, written), (0, prompt));
    let (prompt, read, written) = counts(&simulator, &asked("second")).await;
    assert!(read > 1_024 && read + written == prompt, "{prompt} = {read} + {written}");
    simulator.stop().await;
}

#[tokio::test]
async fn with_a_breakpoint_only_the_instructions_are_written_and_only_once() {
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
async fn models_without_these_parameters_refuse_them() {
    let simulator = RunningSimulator::start(SimulatorConfig::default()).await;
    let mut older = explicit("item");
    older["model"] = json!("gpt-5.5");
    assert_eq!(simulator.ask(&older).await.status, 400);
    older.as_object_mut().unwrap().remove("prompt_cache_options");
    let usage = simulator.ask(&older).await.json()["usage"].clone();
    assert!(usage["prompt_tokens_details"].get("cache_write_tokens").is_none(), "{usage}");
    simulator.stop().await;

    let gateway =
        RunningSimulator::start(SimulatorConfig::with_quirks(&[Quirk::NoCacheOptions])).await;
    assert_eq!(gateway.ask(&explicit("item")).await.json()["error"]["code"], "unknown_parameter");
    gateway.stop().await;
}
