//! Runs that end before their batches.

use super::{BatchFixture, end_batches};
use rustix::process::Signal;

#[test]
fn interrupt_leaves_batches_running_and_resume_collects_them() {
    let (fixture, running) = BatchFixture::submitted();
    running.signal(Signal::INT);
    let ended = running.finish().exits(3);
    let reported =
        ["batch 1 of run night: 0 of 6 rows are done", "1 batch continues at the provider"];
    ended.stderr_contains(&reported).stderr_contains(&["juror run --resume night"]);

    end_batches(&fixture.simulator);
    fixture.harness.resume("night", &[]).exits(0).stdout_contains(&["6 of 6 scored"]);
    assert_eq!(
        (fixture.simulator.count("batches"), fixture.simulator.count("billed_calls")),
        (1, 6)
    );
    fixture.assert_billed_plus_presumed(0);
}

#[test]
fn deadline_cancels_batches_and_books_finished_rows() {
    let fixture = BatchFixture::held(6);
    fixture.run(&["--deadline", "5s"]).exits(3);
    assert_eq!((fixture.count("scored", ""), fixture.count("skipped", "deadline")), (3, 3));
    assert_eq!(fixture.simulator.count("billed_calls"), 3);
    fixture.assert_billed_plus_presumed(0);
}

#[test]
fn mixed_run_calls_for_rows_that_are_late() {
    let fixture = BatchFixture::held(6);
    let settings = "[batch]\npoll_min = \"1ms\"\npoll_max = \"5ms\"\nrealtime_reserve = \"1h\"\n";
    fixture.harness.write("juror.toml", settings);
    let run = ["--lane", "mixed", "--budget-usd", "1", "--deadline", "3605s"];
    fixture
        .harness
        .judge_run(&fixture.simulator, "night", &run)
        .exits(0)
        .stdout_contains(&["6 of 6 scored"]);
    let journal = fixture.harness.journal("night");
    assert_eq!(journal.iter().filter(|result| result["lane"] == "batch").count(), 3);
    assert_eq!(fixture.simulator.requests(), 3);
    fixture.assert_billed_plus_presumed(0);
}

#[test]
fn cancelled_batches_are_billed_for_finished_rows() {
    let (fixture, running) = BatchFixture::submitted();
    running.kill();
    let cancelled = fixture.harness.juror(&["cancel", "night"]).exits(0);
    cancelled.stdout_contains(&["1 batch is cancelled", "juror run --resume night"]);
    fixture.harness.resume("night", &[]).exits(3).stdout_contains(&["3 of 6 scored"]);
    assert_eq!((fixture.count("scored", ""), fixture.count("skipped", "cancelled")), (3, 3));
    assert_eq!(fixture.simulator.count("billed_calls"), 3);
    fixture.assert_billed_plus_presumed(0);
    fixture.harness.juror(&["cancel", "night"]).exits(0).stdout_contains(&["nothing to cancel"]);
}

#[test]
fn run_resumed_in_another_lane_bills_no_row_twice() {
    let (fixture, running) = BatchFixture::submitted();
    running.kill();
    let held = fixture.harness.juror(&["runs", "show", "night"]).exits(0);
    held.stdout_contains(&["$0.00 of a budget of $1.00; up to $0.", " more in flight"]);
    let listed = fixture.harness.juror(&["runs", "list"]).exits(0);
    listed.stdout_contains(&["$0.00+", "batches in progress may add to it"]);
    fixture
        .harness
        .resume("night", &["--lane", "realtime"])
        .exits(0)
        .stdout_contains(&["6 of 6 scored"]);
    assert_eq!(fixture.simulator.requests(), 3, "half of the batch was done");
    assert_eq!(fixture.simulator.count("billed_calls"), 6);
    fixture.assert_billed_plus_presumed(0);
}
