//! Limit of enqueued tokens, which all batches of an organization share.

use super::BatchFixture;
use juror_simulator::{BatchEnd, BatchSettings};
use rustix::process::Signal;

/// Message of the provider.
const LIMIT_REACHED: &str = "Enqueued token limit reached";

#[test]
fn shard_waits_for_the_batch_of_another_run_instead_of_a_split() {
    // A row takes about 3,200 tokens, so the twelve of one run fit.
    let (end, enqueued_tokens) = (BatchEnd::AfterPolls(1), Some(40_000));
    let fixture =
        BatchFixture::new(12, BatchSettings { end, enqueued_tokens, ..BatchSettings::default() });
    let flags = ["--lane", "batch", "--budget-usd", "1"];
    let poll_every = |pause: &str| {
        let settings = format!("[batch]\npoll_min = \"{pause}\"\npoll_max = \"{pause}\"\n");
        fixture.harness.write("juror.toml", settings);
    };
    poll_every("1h");
    let other = fixture.harness.start_run(&fixture.simulator, "day", &flags);
    fixture.simulator.await_count("batch_polls", 1);
    other.signal(Signal::INT);
    other.finish().exits(3).stderr_contains(&["1 batch continues at the provider"]);

    poll_every("500ms");
    let mut running = fixture.harness.start_run(&fixture.simulator, "night", &flags);
    running.await_stderr(LIMIT_REACHED);
    // The second poll ends it.
    fixture.simulator.get("/v1/batches/batch_simulated00000001");
    running.finish().exits(0).stdout_contains(&["12 of 12 scored"]);
    assert_eq!(fixture.simulator.count("batches"), 2, "the shard is one batch");
}
