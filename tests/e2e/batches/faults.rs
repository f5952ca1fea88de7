//! Faults of batches: outcomes, report and bill.

use super::BatchFixture;
use crate::harness::pico;
use juror_simulator::{BatchFault, BatchSettings, Share};
use serde_json::json;

const ITEMS: u32 = 12;

fn share(fault: BatchFault, share: f64) -> Share<BatchFault> {
    Share { of: fault, share }
}

#[test]
fn rows_cost_half_and_report_their_lane() {
    let fixture = BatchFixture::faulty(ITEMS, &[]);
    fixture.run(&[]).exits(0).stdout_contains(&["12 of 12 scored"]);
    assert_eq!(fixture.simulator.count("requests"), 0, "no ordinary call");
    assert_eq!(
        (fixture.simulator.count("batches"), fixture.simulator.count("billed_calls")),
        (1, 12)
    );
    fixture.assert_billed_plus_presumed(0);
    let journal = fixture.harness.journal("night");
    assert!(journal.iter().all(|result| result["lane"] == "batch"));

    fixture.harness.judge_run(&fixture.simulator, "dear", &["--no-cache"]).exits(0);
    let dear = pico(&fixture.harness.report("dear")["cost"]["total_usd"]);
    assert_eq!(pico(&fixture.report()["cost"]["total_usd"]) * 2, dear);
    assert!(!fixture.harness.path("runs/night/batches").exists(), "no file is left behind");
}

#[test]
fn limits_of_rows_and_bytes_bound_shards() {
    let fixture = BatchFixture::faulty(ITEMS, &[]);
    let limits = "[batch]\npoll_min = \"1ms\"\nmax_rows = 5\n";
    fixture.harness.write("juror.toml", limits);
    fixture.run(&[]).exits(0).stdout_contains(&["12 of 12 scored"]);
    assert_eq!(fixture.simulator.count("batches"), 3);
    fixture.assert_billed_plus_presumed(0);
}

#[test]
fn request_larger_than_a_batch_costs_the_full_price_only_in_a_mixed_run() {
    let fixture = BatchFixture::faulty(3, &[]);
    let manifest = std::fs::read_to_string(fixture.harness.path("manifest.jsonl")).unwrap();
    let long = format!("Number 1{}<", " and a word".repeat(4_000));
    fixture.harness.write("manifest.jsonl", manifest.replace("Number 1<", &long));
    let settings = |max_bytes: u32| {
        let text = format!("[batch]\npoll_min = \"1ms\"\nmax_bytes = {max_bytes}\n");
        fixture.harness.write("juror.toml", text);
    };
    settings(40_000);
    fixture.run(&[]).exits(3).stdout_contains(&["2 of 3 scored"]);
    assert_eq!((fixture.count("failed", "request"), fixture.simulator.requests()), (1, 0));
    let message = fixture.harness.result("night", "item_0001")["error"]["message"].clone();
    for part in ["the request of item item_0001 has ", "(batch.max_bytes)", "--lane mixed"] {
        assert!(message.as_str().unwrap().contains(part), "no {part:?} in {message}");
    }
    fixture.assert_billed_plus_presumed(0);

    let mixed = ["--lane", "mixed", "--budget-usd", "1", "--no-cache"];
    let ended = fixture.harness.judge_run(&fixture.simulator, "mixed", &mixed).exits(0);
    ended.stderr_contains(&[
        "the request of item item_0001 has ",
        "at the full price",
        "raise batch.",
    ]);
    assert_eq!(fixture.simulator.requests(), 1);

    settings(200_000_000);
    fixture.harness.juror(&["retry", "night"]).exits(0).stdout_contains(&["3 of 3 scored"]);
    assert_eq!(fixture.simulator.requests(), 1, "the retry is a batch");
}

#[test]
fn rows_hold_the_worst_case_of_the_estimate() {
    let fixture = BatchFixture::faulty(ITEMS, &[]);
    let estimate = ["estimate", "manifest.jsonl", "--json", "--lane"];
    let worst = |lane| {
        let printed = fixture.harness.juror(&[&estimate[..], &[lane]].concat()).exits(0).stdout;
        let estimate: serde_json::Value = serde_json::from_str(&printed).unwrap();
        ["worst_one_call_usd", "worst_case_usd"].map(|field| pico(&estimate["models"][0][field]))
    };
    let [one_call, job] = worst("batch");
    assert_eq!(worst("realtime"), [2 * one_call, 2 * job]);
    assert_eq!(worst("mixed"), [2 * one_call, 2 * job]);
    // With a nano-dollar less, the last row waits for the money of a batch that has ended. Others may
    // wait too: a shard is planned while a row waits, however many rows it has by then.
    for (run, less, batches) in [("enough", 0, 1..=1), ("less", 1_000, 3..=ITEMS.into())] {
        let budget = juror_types::usage::Money::from_pico(one_call - less).to_string();
        let flags = ["--lane", "batch", "--no-cache", "--budget-usd", &budget];
        fixture.harness.judge_run(&fixture.simulator, run, &flags).exits(0);
        let count = fixture.simulator.count("batches");
        assert!(batches.contains(&count), "{run}: {count}");
    }
}

#[test]
fn rows_count_once_in_any_order_and_if_duplicated() {
    let faults = [BatchFault::Shuffled.into(), BatchFault::Doubled.into()];
    let fixture = BatchFixture::faulty(ITEMS, &faults);
    fixture.run(&[]).exits(0).stderr_contains(&["12 rows came twice and count once"]);
    assert_eq!(fixture.harness.journal("night").len(), 12);
    fixture.assert_billed_plus_presumed(0);
}

#[test]
fn missing_rows_are_presumed_spent_and_retried_once() {
    let fixture = BatchFixture::faulty(24, &[share(BatchFault::Missing, 0.6)]);
    fixture.never_pause();
    let ended = fixture.run(&[]).exits(3);
    ended.stderr_contains(&["it reports ", "the rows' tokens are booked"]);
    let (scored, failed) = (fixture.count("scored", ""), fixture.count("failed", "api"));
    assert!(scored > 3 && failed > 0 && scored + failed == 24, "{scored} {failed}");
    assert!(fixture.simulator.count("batches") > 1);
    let cost = &fixture.report()["cost"];
    let presumed = pico(&cost["presumed_usd"]);
    assert!(presumed > 0 && pico(&cost["total_usd"]) >= fixture.simulator.bill(), "{cost}");
}

#[test]
fn expired_rows_are_skipped_and_free() {
    let fixture = BatchFixture::faulty(40, &[share(BatchFault::Expired, 0.5)]);
    fixture.run(&[]).exits(3);
    let (scored, skipped) = (fixture.count("scored", ""), fixture.count("skipped", "deadline"));
    assert!(scored > 5 && skipped > 5 && scored + skipped == 40, "{scored} {skipped}");
    assert_eq!(fixture.simulator.count("billed_calls"), scored as u64);
    fixture.assert_billed_plus_presumed(0);
}

#[test]
fn expired_rows_of_a_mixed_run_become_realtime_calls() {
    let fixture = BatchFixture::faulty(20, &[share(BatchFault::Expired, 0.5)]);
    let run = ["--lane", "mixed", "--budget-usd", "1"];
    fixture
        .harness
        .judge_run(&fixture.simulator, "night", &run)
        .exits(0)
        .stdout_contains(&["20 of 20 scored"]);
    let journal = fixture.harness.journal("night");
    let in_batch = journal.iter().filter(|result| result["lane"] == "batch").count();
    assert!((3..18).contains(&in_batch), "{in_batch}");
    assert_eq!(fixture.simulator.requests(), 20 - in_batch as u64);
    fixture.assert_billed_plus_presumed(0);
}

#[test]
fn rows_with_either_error_shape_are_retried() {
    let faults = [share(BatchFault::FailedRow, 0.3), share(BatchFault::RefusedRow, 0.3)];
    let fixture = BatchFixture::faulty(20, &faults);
    let ended = fixture.run(&[]);
    assert!([0, 3].contains(&ended.code), "{}", ended.stderr);
    assert!(fixture.simulator.count("batches") > 1);
    assert_eq!(fixture.count("scored", "") + fixture.count("failed", "api"), 20);
    assert!(fixture.count("scored", "") > 10);
    fixture.assert_billed_plus_presumed(0);
}

#[test]
fn invalid_batch_fails_its_jobs_with_line_and_message() {
    let fixture = BatchFixture::faulty(3, &[BatchFault::ValidationFailed.into()]);
    fixture.run(&[]).exits(3);
    assert_eq!(fixture.count("failed", "request"), 3);
    let message = fixture.harness.result("night", "item_0001")["error"]["message"].clone();
    assert!(message.as_str().unwrap().contains("line 1: Invalid type"), "{message}");
    assert_eq!(fixture.report()["cost"]["total_usd"], json!("0.000000000"));
}

#[test]
fn batch_creation_without_a_response_is_not_repeated() {
    let lost = BatchFault::CreationLost.into();
    for faults in [&[lost][..], &[lost, BatchFault::LateListing.into()]] {
        let fixture = BatchFixture::faulty(ITEMS, faults);
        fixture.run(&[]).exits(0).stdout_contains(&["12 of 12 scored"]);
        let counts = ["batches", "billed_calls"].map(|name| fixture.simulator.count(name));
        assert_eq!(counts, [1, 12], "{faults:?}");
        fixture.assert_billed_plus_presumed(0);
    }
}

#[test]
fn batch_creation_rate_limit_is_waited_for() {
    let fixture = BatchFixture::faulty(ITEMS, &[BatchFault::CreationLimit.into()]);
    fixture.run(&[]).exits(0).stderr_contains(&["too many batches were created"]);
    assert_eq!(fixture.simulator.count("batches"), 1);
}

#[test]
fn batch_beyond_the_token_limit_is_split() {
    for late in [false, true] {
        let faults: Vec<_> =
            late.then_some(BatchFault::LateTokenLimit.into()).into_iter().collect();
        // A row takes about 1,400 tokens, so five fit.
        let batches =
            BatchSettings { faults, enqueued_tokens: Some(8_000), ..BatchSettings::default() };
        let fixture = BatchFixture::new(ITEMS, batches);
        fixture.run(&[]).exits(0).stdout_contains(&["12 of 12 scored"]);
        assert_eq!(fixture.simulator.count("billed_calls"), 12);
        fixture.assert_billed_plus_presumed(0);
    }
}

#[test]
fn batch_usage_mismatch_is_reported() {
    let fixture = BatchFixture::faulty(3, &[BatchFault::WrongUsage.into()]);
    fixture.run(&[]).exits(0).stderr_contains(&[
        "it reports ",
        "output tokens, its rows",
        "the rows' tokens are booked",
    ]);
    let warnings = fixture.report()["warnings"].to_string();
    assert!(warnings.contains("reports another usage of 1 batch than"), "{warnings}");
    let usage = &fixture.harness.result("night", "item_0000")["batch_usage"];
    let tokens = |of: &str| usage[of]["input_tokens"].as_u64().unwrap();
    assert_eq!(tokens("reported"), 2 * tokens("rows"));
    fixture.assert_billed_plus_presumed(0);
}

#[test]
fn budget_covers_batch_rows() {
    let fixture = BatchFixture::faulty(ITEMS, &[]);
    let run = ["--lane", "batch", "--budget-usd", "0.03"];
    fixture.harness.judge_run(&fixture.simulator, "night", &run).exits(3);
    let (scored, skipped) = (fixture.count("scored", ""), fixture.count("skipped", "budget"));
    assert!(scored > 0 && skipped > 0 && scored + skipped == 12, "{scored} {skipped}");
    assert!(fixture.simulator.bill() <= 30_000_000_000);
    fixture.assert_billed_plus_presumed(0);
}

#[test]
fn provider_without_batches_pauses_the_run_with_the_remedy() {
    let fixture = BatchFixture::faulty(3, &[]);
    let elsewhere = format!("http://{}/elsewhere", fixture.simulator.address);
    let flags = ["--lane", "batch", "--budget-usd", "1"];
    let ended = fixture.harness.judge(&elsewhere, "manifest.jsonl", &flags).exits(1);
    ended.stderr_contains(&["batches cannot continue", "--lane realtime", "juror retry first"]);
    assert_eq!(fixture.harness.report("first")["coverage"]["pending"], 3);
}
