//! Later runs, which a calibration describes as long as the judge is the same.

use super::*;
use crate::{
    formats,
    harness::{repository, scripted_judge},
};

#[test]
fn later_run_of_the_same_judge_is_calibrated_and_of_another_is_not() {
    let harness = judged();
    assert!(harness.report("base").get("calibration").is_none(), "it is not calibrated yet");
    calibrate(&harness, &["--labels", "labels.csv"]).exits(0);
    let same = harness.scripted_run("same", &JUDGED, &["--repeat", "2"]).exits(0);
    same.stdout_contains(&["JUDGE AND PEOPLE", "NOT ENOUGH", "12 labeled items · run base"]);
    let known = &harness.report("same")["calibration"];
    assert_eq!((&known["status"], &known["n"]), (&json!("not_enough"), &json!(12)));
    let shortfall = known["shortfall"].as_str().unwrap();
    assert!(
        shortfall.contains("12 items have a score and a label, and 20 are needed"),
        "{shortfall}"
    );
    assert_eq!(known["file"], "runs/base/calibration.json");
    assert_eq!(known["changed"], json!([]));
    assert_eq!(known["figures"].as_array().unwrap().len(), 2);
    assert_eq!(known["figures"][0]["key"], "semantic_correctness");
    let found = calibration(&harness, "base");
    assert_eq!(known["figures"][0]["bias"], found["score"]["agreement"]["bias"]);
    assert!(
        known["notes"][0].as_str().unwrap().contains("the judge's endpoint changed from"),
        "{known}"
    );
    harness.juror(&["report", "base"]).exits(0).stdout_contains(&["NOT ENOUGH"]);

    harness.write("runs/torn/calibration.json", "{");
    let warned = harness.juror(&["report", "base"]).exits(0);
    warned.stdout_contains(&["NOT ENOUGH", "runs/torn/calibration.json is not a calibration"]);

    let hot = harness.scripted_run("other", &JUDGED, &["--model", "gpt-4.1"]).exits(0);
    hot.stdout_contains(&[
        "UNCALIBRATED",
        "CHANGED: judge: openai gpt-4o at calibration, openai gpt-4.1 now",
    ]);
    let known = &harness.report("other")["calibration"];
    assert_eq!((&known["status"], &known["figures"]), (&json!("uncalibrated"), &json!([])));
    assert_eq!(known["changed"].as_array().unwrap().len(), 1);

    let rubric = fs::read_to_string(repository("config/rubrics/semantic.toml")).unwrap();
    harness.write("own.toml", format!("# changed\n{rubric}"));
    harness.write("juror.toml", "[judge]\ntemperature = 0.7\n[image]\nmax_side = 640\n");
    let all = harness.scripted_run("all", &JUDGED, &["--rubric", "own.toml"]).exits(0);
    all.stdout_contains(&[
        "CHANGED: temperature: 0.1 at calibration, 0.7 now",
        "CHANGED: rubric: semantic@2 (",
        "640",
    ]);
    let reports =
        ["base", "same", "other"].map(|run| harness.path(format!("runs/{run}/report.json")));
    formats::holds(&formats::check("report", &reports));
}

#[test]
fn chosen_calibration_file_is_validated_first() {
    let harness = judged();
    calibrate(&harness, &["--labels", "labels.csv", "-o", "kept.json"]).exits(0);
    fs::remove_file(harness.path("runs/base/calibration.json")).unwrap();
    harness.juror(&["report", "base"]).exits(0);
    assert!(harness.report("base").get("calibration").is_none());
    harness.juror(&["report", "base", "--calibration", "kept.json"]).exits(0);
    assert_eq!(harness.report("base")["calibration"]["file"], "kept.json");
    harness.write("juror.toml", "[run]\ncalibration = \"kept.json\"\n");
    harness.juror(&["report", "base"]).exits(0).stdout_contains(&["NOT ENOUGH"]);

    let kept = fs::read_to_string(harness.path("kept.json")).unwrap();
    harness.write("changed.json", kept.replace("gpt-4o", "gpt-4.1"));
    harness.write("future.json", kept.replace("\"schema\": 1", "\"schema\": 7"));
    let judge = scripted_judge(&[9]);
    for (file, words) in [
        ("none.json", "the calibration none.json cannot be read"),
        ("changed.json", "its digest does not match its judge"),
        ("future.json", "has schema 7, but this program reads schema 1"),
        ("labels.csv", "labels.csv is not a calibration"),
    ] {
        let flags = ["--calibration", file];
        harness
            .judge(&judge.base_url(), "manifest.jsonl", &flags)
            .exits(2)
            .stderr_contains(&[words]);
    }
    assert_eq!(judge.requests().len(), 0, "nothing was spent");
    let enqueue = ["enqueue", "manifest.jsonl", "--calibration", "kept.json"];
    harness.juror(&enqueue).exits(2).stderr_contains(&["--calibration", "--wait"]);
}

#[test]
fn simulated_calibration_is_marked_and_applies_to_no_judge() {
    let harness = CommandHarness::with_items(12);
    labels(&harness);
    let simulator = TestSimulator::new();
    harness.judge_run(&simulator, "base", &[]).exits(0);
    let reported = calibrate(&harness, &["--labels", "labels.csv"]).exits(0);
    reported.stdout_contains(&[
        "CALIBRATION  SIMULATED",
        "AGREEMENT  SIMULATED",
        "none is a judgment",
    ]);
    assert_eq!(calibration(&harness, "base")["binding"]["simulated"], true);
    harness
        .judge_run(&simulator, "again", &[])
        .exits(0)
        .stdout_contains(&["JUDGE AND PEOPLE  SIMULATED"]);
    assert_eq!(harness.report("again")["calibration"]["simulated"], true);

    harness.scripted_run("real", &JUDGED, &[]).exits(0);
    assert!(harness.report("real").get("calibration").is_none());
    let file = "runs/base/calibration.json";
    let forced = harness.scripted_run("forced", &JUDGED, &["--calibration", file]).exits(0);
    forced.stdout_contains(&[
        "UNCALIBRATED",
        "scores: the simulator's at calibration, a judge's now",
    ]);
}
