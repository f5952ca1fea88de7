//! Contradictory verdicts of batches, for which the judge is called once more.

use super::BatchFixture;
use crate::{
    harness::pico,
    verdict_checks::{contradictory, write_rubric},
};
use juror_simulator::{BatchEnd, BatchSettings, HandwrittenVerdicts, SimulatorConfig};
use juror_types::usage::Money;
use serde_json::{Value, json};
use std::{fs, process::Command, sync::Arc};

/// Items whose every verdict contradicts itself, and a rubric that asks again.
fn fixture(items: u32, end: BatchEnd) -> BatchFixture {
    let mut book = HandwrittenVerdicts::new();
    book.insert(&[], None, serde_json::from_str(&contradictory()).unwrap());
    let batches = BatchSettings { end, ..BatchSettings::default() };
    let config = SimulatorConfig { batches, book: Arc::new(book), ..SimulatorConfig::default() };
    let fixture = BatchFixture::with(items, config);
    write_rubric(&fixture.harness);
    fixture
}

fn run(fixture: &BatchFixture, flags: &[&str]) {
    let rubric = ["--rubric", "rubric.toml"];
    let ended =
        fixture.harness.judge_run(&fixture.simulator, "night", &[&rubric[..], flags].concat());
    assert!([0, 3].contains(&ended.code), "{}", ended.stderr);
}

#[test]
fn first_verdict_of_a_batch_stands_if_no_budget_is_left_for_a_second() {
    let fixture = fixture(1, BatchEnd::default());
    let estimate =
        ["estimate", "manifest.jsonl", "--lane", "batch", "--rubric", "rubric.toml", "--json"];
    let printed = fixture.harness.juror(&estimate).exits(0).stdout;
    let estimate: Value = serde_json::from_str(&printed).unwrap();
    let one_call = Money::from_pico(pico(&estimate["models"][0]["worst_one_call_usd"]));
    run(&fixture, &["--lane", "batch", "--budget-usd", &one_call.to_string()]);
    assert_eq!(fixture.simulator.count("batches"), 1);
    let result = fixture.harness.result("night", "item_0000");
    assert_eq!(result["outcome"], "scored", "{result}");
    assert_eq!(result["semantic"]["total_score"], 40);
    fixture.assert_billed_plus_presumed(0);
}

#[test]
fn first_verdict_of_a_batch_stands_after_the_deadline() {
    let fixture = fixture(12, BatchEnd::OnRequest);
    run(&fixture, &["--lane", "batch", "--budget-usd", "1", "--deadline", "2s"]);
    let ran = fixture.simulator.count("billed_calls");
    assert!(ran > 0, "the batch did some of its rows");
    assert_eq!(fixture.count("scored", "") as u64, ran);
    fixture.assert_billed_plus_presumed(0);
}

#[test]
fn second_verdict_of_a_mixed_run_is_of_a_batch_that_knows_the_first() {
    let fixture = fixture(2, BatchEnd::default());
    run(&fixture, &["--lane", "mixed", "--budget-usd", "1"]);
    assert_eq!((fixture.simulator.count("batches"), fixture.simulator.requests()), (2, 0));
    assert_eq!(fixture.count("scored", ""), 2);
    fixture.assert_billed_plus_presumed(0);
}

const SETTINGS: &str = "[batch]\npoll_min = \"1ms\"\npoll_max = \"5ms\"\nmax_rows = 2\n\
                        [stages]\npipeline_command = [\"sh\", \"program.sh\"]\n";

/// A run of two items that was killed while their second batch was filled.
fn killed_while_the_second_batch_is_filled() -> BatchFixture {
    let fixture = fixture(2, BatchEnd::default());
    let harness = &fixture.harness;
    // The program tells when item 1 comes again, and then waits for the end of this run.
    let program = r#"
case "$(cat)" in *item_0001*)
    if [ -e judged ]; then echo > again; tail --pid=$PPID -f /dev/null; exit 1; fi
    [ -e resumed ] || touch judged ;;
esac
echo '{"quality_score": 1}'
"#;
    harness.write("program.sh", program);
    let again = harness.path("again");
    assert!(Command::new("mkfifo").arg(&again).status().unwrap().success());
    harness.write("juror.toml", SETTINGS);
    let flags = ["--lane", "batch", "--budget-usd", "1", "--rubric", "rubric.toml"];
    let running = harness.start_run(&fixture.simulator, "night", &flags);
    // Blocks until the program opens it.
    fs::read(&again).unwrap();
    running.kill();
    harness.write("resumed", "");
    fs::remove_file(harness.path("judged")).unwrap();
    fixture
}

fn assert_first_verdicts_stand(fixture: &BatchFixture, flags: &[&str]) {
    fixture.harness.resume("night", flags).exits(0).stdout_contains(&["2 of 2 scored"]);
    assert_eq!(fixture.simulator.count("billed_calls"), 2);
    let result = fixture.harness.result("night", "item_0000");
    assert_eq!((&result["attempts"], &result["semantic"]["total_score"]), (&json!(1), &json!(40)));
    assert!(result["estimate"].is_object() && result["generation"].is_object(), "{result}");
    fixture.assert_billed_plus_presumed(0);
}

#[test]
fn first_verdicts_stand_if_the_run_is_killed_and_resumed_after_its_deadline() {
    let fixture = killed_while_the_second_batch_is_filled();
    assert_first_verdicts_stand(&fixture, &["--deadline", "1ms"]);
}

#[test]
fn first_verdicts_stand_if_a_resumed_run_allows_no_request_of_their_size() {
    let fixture = killed_while_the_second_batch_is_filled();
    fixture.harness.write("juror.toml", SETTINGS.replace("max_rows = 2", "max_bytes = 1000"));
    assert_first_verdicts_stand(&fixture, &[]);
}
