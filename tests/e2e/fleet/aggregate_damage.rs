//! Damaged files of one run delay no other run and lose no data.

use super::{
    aggregate::{record, scored},
    servers::Servers,
};
use crate::harness::CommandHarness;
use juror_types::run::RunRecord;
use std::fs;

#[test]
fn damaged_run_is_quarantined_and_continues_after_repair() {
    let (harness, servers) = (CommandHarness::new(), Servers::shared());
    let runs = ["no_record", "no_journal", "fine"].map(|run| record(&servers, run, 3));
    let [no_record, no_journal, fine] = &runs;
    let aggregator = servers.start_aggregator(&harness);
    for run in &runs {
        servers.announce(run);
        servers.publish(&[scored(run, 0), scored(run, 1)]);
        servers.await_progress(&run.run_id, |progress| progress.results == 2);
    }
    aggregator.stop();
    let broken_record = harness.path("runs/no_record/run.json");
    let whole = fs::read(&broken_record).unwrap();
    fs::write(&broken_record, &whole[..whole.len() / 2]).unwrap();
    let broken_journal = harness.path("runs/no_journal/results.jsonl");
    let journal = fs::read(&broken_journal).unwrap();
    let damaged = [b"no result of ours\n", &journal[..]].concat();
    fs::write(&broken_journal, &damaged).unwrap();

    let mut aggregator = servers.start_aggregator(&harness);
    aggregator.await_stderr("run no_journal is quarantined");
    for run in &runs {
        servers.publish(&[scored(run, 2)]);
        servers.close(&run.run_id, 3);
    }
    servers.await_report(&fine.run_id, 3);
    let aside = servers.await_results_aside(2);
    let reasons: Vec<&str> = aside.iter().map(|(_, reason)| reason.as_str()).collect();
    for file in ["runs/no_record/run.json, line", "runs/no_journal/results.jsonl, line 1"] {
        assert!(reasons.iter().any(|reason| reason.contains(file)), "{file} in {reasons:?}");
    }
    aggregator.stop().stderr_contains(&[
        "run no_record is quarantined: runs/no_record/run.json",
        "juror dead-letters replay --all --run no_record",
        "remove the line",
    ]);
    assert_eq!(fs::read(&broken_journal).unwrap(), damaged, "nothing is lost");

    // As the warnings recommend.
    fs::remove_file(&broken_record).unwrap();
    fs::write(&broken_journal, &journal).unwrap();
    let aggregator = servers.start_aggregator(&harness);
    for RunRecord { run_id, .. } in [no_record, no_journal] {
        let arguments = ["dead-letters", "replay", "--all", "--run", run_id.as_str()];
        servers.juror(&harness, &arguments).exits(0).stdout_contains(&["1 replayed"]);
        servers.await_report(run_id, 3);
        assert_eq!(harness.journal(run_id.as_str()).len(), 3);
        assert_eq!(harness.report(run_id.as_str())["coverage"]["scored"], 3);
    }
    aggregator.stop();
}

#[test]
fn run_with_a_damaged_journal_can_be_cancelled() {
    let (harness, servers) = (CommandHarness::new(), Servers::shared());
    let run = record(&servers, "damaged", 3);
    let aggregator = servers.start_aggregator(&harness);
    servers.announce(&run);
    servers.publish(&[scored(&run, 0), scored(&run, 1)]);
    servers.await_progress(&run.run_id, |progress| progress.results == 2);
    aggregator.stop();
    fs::write(harness.path("runs/damaged/results.jsonl"), "no result of ours\n").unwrap();
    let cancelled = servers.juror(&harness, &["cancel", "damaged"]).exits(0);
    cancelled.stdout_contains(&["run damaged is cancelled", "2 have a result"]);
    assert!(servers.status(&run.run_id).unwrap().cancelled);
}
