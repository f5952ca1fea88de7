//! Content of the log, and its secrets.

use crate::harness::{CommandHarness, Finished, Recorder, completion, png, verdict};
use serde_json::{Value, json};

const KEY: &str = "sk-test-6f1d0c9b";
const CODE: &str = "ThisComponentIsNobodysBusiness";
const REMARK: &str = "a remark of the judge that is nobody's business";
/// Maximum verbosity of our own crates.
const LEVEL: &str = "warn,juror=trace,juror_app=trace,juror_ledger=trace,juror_queue=trace,juror_producer=trace,juror_worker=trace,\
                     juror_aggregator=trace";

/// Each line of standard error, all of which are JSON.
fn lines(finished: &Finished) -> Vec<Value> {
    let line = |line: &str| {
        let read = serde_json::from_str(line);
        assert!(read.is_ok(), "no JSON: {line}");
        read.unwrap()
    };
    finished.stderr.lines().map(line).collect()
}

fn with_message<'a>(lines: &'a [Value], message: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["message"] == message).collect()
}

/// Longer texts of a request.
fn texts(question: &Value, found: &mut Vec<String>) {
    match question {
        Value::String(text) if text.len() > 24 => found.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| texts(value, found)),
        Value::Object(values) => values.values().for_each(|value| texts(value, found)),
        _ => {}
    }
}

#[test]
fn log_mentions_jobs_without_their_content() {
    let refusal = |status| {
        let message = format!("key {KEY} may not ask about {CODE}");
        (status, json!({"error": {"message": message, "type": "some_error"}}))
    };
    let mut remark: Value = serde_json::from_str(&verdict(9)).unwrap();
    remark["issues"] = json!([REMARK]);
    let recorder = Recorder::start(vec![
        refusal(500),
        completion(&format!("{REMARK}: {CODE}"), 1_000, 100),
        completion(&remark.to_string(), 1_000, 100),
        refusal(400),
        refusal(401),
    ]);
    let harness = CommandHarness::new();
    harness.write("shot.png", png(1, 64, 32));
    let items = ["scored", "refused", "kept"].map(|id| {
        json!({"id": id, "screenshot": "shot.png", "language": "tsx",
               "generated_code": format!("const {CODE} = () => <p>{id}</p>;")})
    });
    harness.write("manifest.jsonl", items.map(|item| format!("{item}\n")).concat());

    let (url, flags) = (recorder.base_url(), ["--log-format", "json", "-j", "1"]);
    let mut command = harness.judging(&url, "manifest.jsonl", &flags);
    let run: Finished =
        command.env("OPENAI_API_KEY", KEY).env("JUROR_LOG_LEVEL", LEVEL).output().unwrap().into();
    let run = run.exits(1);

    let (lines, journal) = (lines(&run), harness.journal("first"));
    let finished = with_message(&lines, "job finished");
    assert_eq!(finished.len(), 2, "{}", run.stderr);
    for result in &journal {
        let line = finished.iter().find(|line| line["span"]["job"] == result["job_id"]).unwrap();
        assert_eq!(line["span"]["run"], "first");
        for field in ["outcome", "attempts", "cost_usd", "cached"] {
            assert_eq!(line[field], result[field], "{field}");
        }
        assert_eq!(line.get("error"), result["error"].get("kind"));
    }
    let ended = with_message(&lines, "call ended");
    let results: Vec<_> = ended.iter().map(|line| line["result"].as_str().unwrap()).collect();
    assert_eq!(results, ["unavailable", "unusable", "answered", "refused", "account"]);
    assert!(ended.iter().all(|line| line["span"]["job"].is_string()));
    let pauses = with_message(&lines, "the run is paused");
    assert_eq!((pauses.len(), &pauses[0]["level"]), (1, &json!("INFO")));
    assert_eq!(with_message(&lines, "retrying").len(), 1);
    let committed = with_message(&lines, "results committed");
    assert!(!committed.is_empty() && committed.iter().all(|line| line["span"]["run"] == "first"));

    let mut secrets = vec![KEY.to_owned(), CODE.to_owned(), REMARK.to_owned()];
    recorder.requests().iter().for_each(|question| texts(question, &mut secrets));
    assert!(secrets.len() > 10, "prompt and image are among them: {secrets:?}");
    // The final message repeats the provider's reason for the pause.
    let logged = lines.iter().filter(|line| line["target"] != "juror::notice");
    for line in logged.map(Value::to_string) {
        for secret in &secrets {
            assert!(!line.contains(secret.as_str()), "{secret:?} in {line}");
        }
    }
    assert!(!run.stderr.contains(KEY));
}

#[test]
fn user_messages_are_json_if_the_log_is() {
    let harness = CommandHarness::new();
    let run = harness.juror(&["run", "nowhere.jsonl", "--log-format", "json"]).exits(2);
    let lines = lines(&run);
    assert_eq!((lines.len(), &lines[0]["level"]), (1, &json!("ERROR")));
    assert!(lines[0]["message"].as_str().unwrap().contains("nowhere.jsonl"));
    harness.juror(&["runs", "--log-format", "xml"]).exits(2).stderr_contains(&["text, json"]);
    harness.write("juror.toml", "[log]\nformat = \"xml\"\n");
    harness.juror(&["runs"]).exits(2).stderr_contains(&["xml"]);
}
