//! Calibration of the judge against human labels, and its validity for later runs.

mod later_runs;

use crate::harness::{CommandHarness, Finished, Manual, TestSimulator, write_items};
use juror_simulator::SimulatorConfig;
use serde_json::{Value, json};
use std::fs;

const JUDGED: [u64; 12] = [9, 8, 9, 10, 4, 7, 6, 8, 3, 9, 5, 8];
const RATED: [u64; 12] = [8, 8, 7, 9, 3, 7, 5, 6, 4, 9, 3, 7];

/// Labels of two raters, the second one point higher on every third item.
fn labels(harness: &CommandHarness) {
    let mut table = "id,rater,visual_similarity,layout_accuracy,semantic_correctness\n".to_owned();
    for (number, rating) in RATED.into_iter().enumerate() {
        let other = rating + u64::from(number % 3 == 0);
        table.push_str(&format!("item_{number:04},anna,{rating},,0.{rating}\n"));
        table.push_str(&format!("item_{number:04},ben,{other},,\n"));
    }
    harness.write("labels.csv", table);
}

/// Run `base` of twelve items, with the labels of two raters.
fn judged() -> CommandHarness {
    let harness = CommandHarness::with_items(12);
    harness.scripted_run("base", &JUDGED, &[]).exits(0);
    labels(&harness);
    harness
}

fn calibrate(harness: &CommandHarness, flags: &[&str]) -> Finished {
    harness.juror(&[&["calibrate", "base"], flags].concat())
}

fn calibration(harness: &CommandHarness, run: &str) -> Value {
    let path = harness.path("runs").join(run).join("calibration.json");
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn judge_is_calibrated_against_human_labels() {
    let harness = judged();
    calibrate(&harness, &["--labels", "labels.csv"]).exits(0).stdout_contains(&[
        "CALIBRATION",
        "12 labeled items",
        "labels.csv",
        "12 of 12 scored items have labels",
        "Semantic Correctness",
        "PEOPLE ↓  JUDGE →",
        "NOT TOLD: ",
        "Layout Accuracy",
    ]);
    let found = calibration(&harness, "base");
    let printed = calibrate(&harness, &["--labels", "labels.csv", "--json", "-o", "own.json"]);
    let mut printed = printed.exits(0).json();
    let file = fs::read(harness.path("own.json")).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&file).unwrap(), printed);
    printed["created_at"] = found["created_at"].clone();
    assert_eq!(printed, found, "the same labels give the same intervals");

    let visual = &found["criteria"][0];
    let agreement = &visual["agreement"];
    assert_eq!((&visual["key"], &agreement["n"]), (&json!("visual_similarity"), &json!(12)));
    // From the ratings above:
    let bias = agreement["bias"]["value"].as_f64().unwrap();
    assert!((bias - 8.0 / 12.0).abs() < 1e-8, "{bias}");
    for key in ["pearson", "spearman", "kendall_tau_b", "weighted_kappa", "exact", "adjacent"] {
        let figure = &agreement[key];
        let end = |end: &str| figure[end].as_f64().unwrap();
        assert!(end("low") < end("value") && end("value") < end("high"), "{key}: {figure}");
    }
    assert_eq!(visual["people"]["items"], 12);
    assert!(visual["people"]["alpha"]["value"].as_f64().unwrap() > 0.8);
    assert_eq!(found["criteria"][4]["agreement"]["n"], 0);
    assert_eq!(found["score"]["people"]["raters"], 1);
    assert_eq!(found["binding"]["simulated"], false);
    assert_eq!(found["binding"]["preparation"]["version"], 1);
}

#[test]
fn invalid_labels_are_refused_and_write_nothing() {
    let harness = judged();
    let refused = |name: &str, text: &str, words: &[&str]| {
        harness.write(name, text);
        calibrate(&harness, &["--labels", name]).exits(2).stderr_contains(words);
    };
    refused(
        "off.jsonl",
        "{\"id\":\"item_0000\",\"visual_similarity\":9}\n{\"id\":\"item_0001\",\"visual_similarity\":11}\n",
        &["off.jsonl, line 2, field \"visual_similarity\": 11 is not on the scale of 0 to 10"],
    );
    refused(
        "typo.csv",
        "id,visual\nitem_0000,9\n",
        &["line 1, field \"visual\"", "visual_similarity"],
    );
    refused(
        "twice.csv",
        "id,visual_similarity\nitem_0000,9\nitem_0000,8\n",
        &["line 3", "in line 2"],
    );
    refused(
        "strangers.csv",
        "id,visual_similarity\nx,9\ny,8\n",
        &["of 2 labeled items, 2 not in the run (\"x\", \"y\", …)"],
    );
    refused(
        "unrated.jsonl",
        "{\"id\":\"item_0000\",\"rater\":\"anna\"}\n",
        &["no item has both a rating and a score", "of 1 labeled item, 1 without a rating"],
    );
    refused("empty.csv", "id,visual_similarity\n", &["empty.csv: no line"]);
    refused("labels.xlsx", "", &["use .jsonl or .csv"]);
    calibrate(&harness, &["--labels", "gone.csv"])
        .exits(2)
        .stderr_contains(&["gone.csv cannot be read"]);
    calibrate(&harness, &[])
        .exits(2)
        .stderr_contains(&["no item of run base has a label", "--labels FILE"]);
    let strange = ["--labels", "labels.csv", "-o", "calibration.csv"];
    calibrate(&harness, &strange).exits(2).stderr_contains(&["is written as .json"]);
    harness.juror(&["calibrate", "nobody"]).exits(2).stderr_contains(&["no run \"nobody\""]);
    assert!(!harness.path("runs/base/calibration.json").exists());
    harness.juror(&["run", "manifest.jsonl", "--run-id", "off"]).exits(0);
    let off = harness.juror(&["calibrate", "off", "--labels", "labels.csv"]);
    off.exits(2).stderr_contains(&["run off has no judge"]);
}

#[test]
fn sufficient_calibration_is_not_replaced_by_a_smaller_one() {
    let harness = CommandHarness::with_items(24);
    let scores: Vec<u64> = (0..24).map(|number| number % 10).collect();
    harness.scripted_run("base", &scores, &[]).exits(0);
    let mut table = "id,visual_similarity\n".to_owned();
    for (number, score) in scores.iter().enumerate() {
        table.push_str(&format!("item_{number:04},{score}\n"));
    }
    harness.write("labels.csv", table);
    harness.write("one.csv", "id,visual_similarity\nitem_0000,9\n");
    calibrate(&harness, &["--labels", "labels.csv"]).exits(0);
    let whole = calibration(&harness, "base");
    let refused = calibrate(&harness, &["--labels", "one.csv", "-o", "one.json"]).exits(2);
    refused.stderr_contains(&[
        "rests on 24 labeled items",
        "calibration of 1 labeled item",
        "remove",
    ]);
    assert_eq!(calibration(&harness, "base"), whole);
    assert!(!harness.path("one.json").exists());
    harness
        .juror(&["report", "base"])
        .exits(0)
        .stdout_contains(&["JUDGE AND PEOPLE", " CALIBRATED"]);
    fs::remove_file(harness.path("runs/base/calibration.json")).unwrap();
    calibrate(&harness, &["--labels", "one.csv"]).exits(0);
}

#[test]
fn items_carry_their_own_labels_and_few_labels_report_undefined_figures() {
    let harness = CommandHarness::new();
    let manifest = write_items(&harness, 2);
    let text = fs::read_to_string(&manifest).unwrap();
    let labeled = text.replace(
        "\"language\"",
        "\"labels\":{\"visual_similarity\":8,\"source\":\"figma\"},\"language\"",
    );
    fs::write(&manifest, labeled).unwrap();
    harness.scripted_run("base", &[9, 8], &[]).exits(0);
    let reported = calibrate(&harness, &[]).exits(0);
    reported.stdout_contains(&[
        "the items' labels",
        "it needs 3 items, and there are 2",
        "no item has both",
    ]);
    let found = calibration(&harness, "base");
    let visual = &found["criteria"][0]["agreement"];
    assert_eq!((&visual["n"], &visual["bias"]["value"]), (&json!(2), &json!(0.5)));
    assert_eq!(visual["spearman"]["value"], Value::Null);
    assert_eq!(found["labels"]["file"], Value::Null);
}

#[test]
fn run_is_not_resumed_with_different_image_preparation() {
    let harness = judged();
    let path = harness.path("runs/base/run.json");
    let record = fs::read_to_string(&path).unwrap();
    assert!(record.contains("\"version\": 1"));
    fs::write(&path, record.replace("\"max_bytes\": ", "\"max_bytes\": 9")).unwrap();
    harness
        .resume("base", &[])
        .exits(2)
        .stderr_contains(&["its image preparation is version 1, up to 9"]);
    fs::write(&path, record).unwrap();
    harness.resume("base", &[]).exits(0);
}

#[test]
fn documented_commands_run() {
    let harness = CommandHarness::new();
    let manifest = write_items(&harness, 12);
    fs::rename(manifest, harness.path("shots.jsonl")).unwrap();
    labels(&harness);
    let simulator =
        TestSimulator::start(SimulatorConfig { noise: 0.3, ..SimulatorConfig::default() });
    let judge = simulator.base_url();
    let manual = Manual::page("calibrate");
    manual.run(&harness, &[("JUROR_JUDGE_BASE_URL", &judge)]);
    assert!(harness.path("calibration.json").is_file());

    // The documented label examples parse.
    let examples =
        [("example.jsonl", manual.blocks("json")), ("example.csv", manual.blocks("csv"))];
    for (name, blocks) in examples {
        let [text] = blocks[..] else { panic!("{name}: {blocks:?}") };
        let text = text.replace("button_primary", "item_0000").replace("card_profile", "item_0001");
        harness.write(name, text);
        harness.juror(&["calibrate", "labeled", "--labels", name]).exits(0);
    }
}
