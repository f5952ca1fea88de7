//! Batches with an unknown outcome.

use super::BatchFixture;
use crate::harness::pico;
use juror_simulator::{BatchEnd, BatchFault, BatchSettings, Share};
use rustix::process::Signal;

const ITEMS: u32 = 12;

fn share(fault: BatchFault, share: f64) -> Share<BatchFault> {
    Share { of: fault, share }
}

fn counts(fixture: &BatchFixture) -> [u64; 2] {
    ["batches", "billed_calls"].map(|name| fixture.simulator.count(name))
}

#[test]
fn truncated_file_is_fetched_again() {
    let fixture = BatchFixture::faulty(ITEMS, &[BatchFault::CutOnce.into()]);
    fixture.run(&[]).exits(0).stdout_contains(&["12 of 12 scored"]);
    assert_eq!(counts(&fixture), [1, 12]);
    fixture.assert_billed_plus_presumed(0);
}

#[test]
fn unreadable_batch_output_pauses_the_run_and_is_presumed_spent_in_another_lane() {
    for fault in [BatchFault::EmptyFiles, BatchFault::Forgotten] {
        let fixture = BatchFixture::faulty(4, &[fault.into()]);
        for _ in 0..2 {
            let ended = match fixture.harness.path("runs/night").exists() {
                false => fixture.run(&[]),
                true => fixture.harness.resume("night", &[]),
            };
            ended.exits(1).stderr_contains(&["stays held", "--lane realtime"]);
            assert_eq!(counts(&fixture), [1, 4], "{fault:?}");
        }
        fixture.harness.resume("night", &["--lane", "realtime"]).exits(0);
        assert_eq!(fixture.count("scored", ""), 4, "{fault:?}");
        assert_eq!(counts(&fixture), [1, 8], "{fault:?}");
        let cost = &fixture.report()["cost"];
        assert!(pico(&cost["presumed_usd"]) > 0, "{cost}");
        assert!(pico(&cost["total_usd"]) >= fixture.simulator.bill(), "{cost}");
    }
}

#[test]
fn batch_creation_without_a_response_is_found_by_its_file() {
    let faults = [BatchFault::CreationsLost.into(), BatchFault::UnmarkedList.into()];
    let fixture = BatchFixture::faulty(ITEMS, &faults);
    fixture.run(&[]).exits(0).stdout_contains(&["12 of 12 scored"]);
    assert_eq!(counts(&fixture), [1, 12]);
    fixture.assert_billed_plus_presumed(0);
}

#[test]
fn creations_without_a_response_are_retried_a_bounded_number_of_times() {
    let faults = [BatchFault::CreationsLost.into(), BatchFault::Unlisted.into()];
    let fixture = BatchFixture::faulty(ITEMS, &faults);
    let worst = fixture.worst_batch();
    fixture.run(&[]).exits(1).stderr_contains(&["2 creations of a batch", "had no answer"]);
    assert_eq!(fixture.simulator.count("batches"), 2);
    let held = fixture.harness.juror(&["runs", "show", "night"]).exits(0);
    held.stdout_contains(&[" more in flight"]);
    // Neither a resumed run nor its cancelling believes a list without those batches.
    let again = fixture.harness.resume("night", &[]).exits(1);
    again.stderr_contains(&["had no answer", "stays held", "--lane realtime"]);
    let cancelled = fixture.harness.juror(&["cancel", "night"]).exits(1);
    cancelled.stderr_contains(&["cannot be cancelled", "had no answer"]);
    fixture.harness.resume("night", &["--lane", "realtime"]).exits(0);
    assert_eq!(fixture.simulator.count("batches"), 2);
    // Both batches may have run.
    fixture.assert_presumed(2 * worst);
}

#[test]
fn second_creation_is_made_only_if_the_budget_covers_both_batches() {
    let faults = [BatchFault::CreationsLost.into(), BatchFault::Unlisted.into()];
    let fixture = BatchFixture::faulty(ITEMS, &faults);
    let worst = fixture.worst_batch();
    let dollars = |pico: i64| juror_types::usage::Money::from_pico(pico).to_string();
    for (flags, batches, reason) in [
        (
            ["--budget-usd", &dollars(2 * worst - 1_000)],
            1,
            "the budget does not cover a second one",
        ),
        (["--budget-usd", &dollars(2 * worst)], 2, "2 creations of a batch"),
    ] {
        let ended = match fixture.harness.path("runs/night").exists() {
            false => fixture.harness.judge_run(
                &fixture.simulator,
                "night",
                &[&["--lane", "batch"], &flags[..]].concat(),
            ),
            true => fixture.harness.resume("night", &flags),
        };
        ended.exits(1).stderr_contains(&[reason, "stays held"]);
        assert_eq!(fixture.simulator.count("batches"), batches);
    }
}

#[test]
fn first_creation_counts_as_spent_where_the_list_shows_no_batch() {
    let faults = [BatchFault::CreationLost.into(), BatchFault::Unlisted.into()];
    let fixture = BatchFixture::faulty(ITEMS, &faults);
    let worst = fixture.worst_batch();
    fixture.run(&[]).exits(0).stdout_contains(&["12 of 12 scored"]);
    assert_eq!(fixture.simulator.count("batches"), 2);
    fixture.assert_presumed(worst);
}

#[test]
fn second_creation_that_was_refused_holds_nothing_after_the_deadline() {
    let faults = [BatchFault::CreationLost, BatchFault::LaterCreationLimit, BatchFault::Unlisted];
    let fixture = BatchFixture::faulty(ITEMS, &faults.map(Share::from));
    let worst = fixture.worst_batch();
    fixture.run(&["--deadline", "10s"]).exits(3);
    assert_eq!(fixture.simulator.count("batches"), 1);
    fixture.assert_presumed(worst);
}

#[test]
fn incomplete_search_for_a_batch_pauses_the_run_and_creates_none() {
    let faults = [BatchFault::CreationsLost.into(), BatchFault::TruncatedList.into()];
    let fixture = BatchFixture::faulty(4, &faults);
    let ended = fixture.run(&[]).exits(1);
    ended.stderr_contains(&["cannot be looked for", "stays held", "--lane realtime"]);
    fixture.harness.resume("night", &[]).exits(1).stderr_contains(&["cannot be looked for"]);
    assert_eq!(fixture.simulator.count("batches"), 1);
    let cancelled = fixture.harness.juror(&["cancel", "night"]).exits(1);
    cancelled.stderr_contains(&["cannot be cancelled", "cannot be looked for"]);
    fixture.harness.resume("night", &["--lane", "realtime"]).exits(0);
    assert_eq!(fixture.count("scored", ""), 4);
    assert_eq!(fixture.simulator.count("batches"), 1);
    let cost = &fixture.report()["cost"];
    assert!(pico(&cost["presumed_usd"]) > 0, "{cost}");
    assert!(pico(&cost["total_usd"]) >= fixture.simulator.bill(), "{cost}");
}

#[test]
fn unreported_rows_of_an_expired_batch_are_presumed_spent() {
    for fault in [BatchFault::Missing, BatchFault::OtherIds] {
        let fixture =
            BatchFixture::faulty(40, &[share(BatchFault::Expired, 0.4), share(fault, 0.5)]);
        fixture.never_pause();
        let ended = fixture.run(&[]).exits(3);
        if fault == BatchFault::OtherIds {
            ended.stderr_contains(&["rows are of no job of this batch"]);
        }
        let cost = &fixture.report()["cost"];
        assert!(pico(&cost["presumed_usd"]) > 0, "{fault:?}: {cost}");
        assert!(pico(&cost["total_usd"]) >= fixture.simulator.bill(), "{fault:?}: {cost}");
    }
}

#[test]
fn uncancellable_batch_does_not_keep_the_process_alive() {
    let faults = vec![BatchFault::CancelRefused.into()];
    let held = BatchSettings { end: BatchEnd::OnRequest, faults, ..BatchSettings::default() };
    let fixture = BatchFixture::new(6, held);
    let flags = ["--lane", "batch", "--budget-usd", "1", "--deadline", "1s"];
    let running = fixture.harness.start_run(&fixture.simulator, "night", &flags);
    fixture.simulator.await_count("batch_cancels", 1);
    running.signal(Signal::INT);
    running.finish().exits(3).stderr_contains(&["1 batch continues at the provider"]);
}

#[test]
fn creation_that_may_run_counts_once_however_often_the_token_limit_fails_later_ones() {
    let faults = [BatchFault::CreationLost, BatchFault::Unlisted, BatchFault::LateTokenLimit];
    let faults = faults.map(Share::from).to_vec();
    // A row takes about 1,400 tokens, and the first batch never ends.
    let batches =
        BatchSettings { faults, enqueued_tokens: Some(2_000), ..BatchSettings::default() };
    let fixture = BatchFixture::new(1, batches);
    let worst = fixture.worst_batch();
    fixture.run(&["--deadline", "3s"]).exits(3);
    assert!(fixture.simulator.count("batches") > 2);
    fixture.assert_presumed(worst);
}
