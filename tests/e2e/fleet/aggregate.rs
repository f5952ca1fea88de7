//! `juror aggregate`: results of many runs in journals and reports, across process failures.

use super::servers::{ACTIVE, Servers};
use crate::harness::CommandHarness;
use juror_types::{
    id::JobId,
    item::Item,
    job::Job,
    outcome::{ErrorKind, JobError, JobResult, Outcome},
    rubric::{Rubric, builtin},
    run::RunRecord,
    test_record::{self, judge_record, semantic_score},
    usage::Money,
    verdict::{Score, Verdict},
};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::Write as _;

pub(super) const COST: i64 = 5_000_000_000;

fn semantic() -> (Rubric, &'static str) {
    let rubric = builtin().iter().find(|rubric| rubric.id == "semantic").unwrap();
    (rubric.parse().unwrap(), rubric.text)
}

pub(super) fn record(servers: &Servers, run: &str, planned: u64) -> RunRecord {
    let (rubric, text) = semantic();
    RunRecord {
        rubric: rubric.reference(),
        rubric_text: text.to_owned(),
        planned,
        fleet: Some(servers.redis.namespace.clone()),
        ..test_record::record(run)
    }
}

fn job(record: &RunRecord, number: u32) -> Job {
    let item = Item { id: format!("item_{number:04}"), ..Item::default() };
    Job::new(&record.run_id, item, 0, record.rubric.clone(), record.judge.clone())
}

pub(super) fn scored(record: &RunRecord, number: u32) -> JobResult {
    let mut result = JobResult::empty(&job(record, number), Outcome::Scored);
    let score = 5 + number % 5;
    result.pipeline_success = Some(score == 9);
    let issues = vec![format!("The padding is {number}px too wide")];
    let verdict = Verdict::new("semantic@1", semantic_score([score; 5]));
    result.semantic = Some(Verdict { issues, ..verdict });
    result.judge = Some(judge_record());
    result.cost_usd = Money::from_pico(COST);
    result.attempts = 1;
    result
}

fn failed(record: &RunRecord, number: u32) -> JobResult {
    let error = JobError { kind: ErrorKind::Api, message: "it answered 503".to_owned() };
    let mut result = JobResult::empty(&job(record, number), Outcome::Failed);
    result.error = Some(error);
    result.pipeline_success = Some(false);
    result
}

/// A report without its times and the length of its journal, which has the run's name in each line.
fn comparable_report(harness: &CommandHarness, run: &str) -> Value {
    let mut report = harness.report(run);
    report["run"]["finished_at"] = Value::Null;
    report["run"]["judging"] = Value::Null;
    report["run"]["journal_bytes"] = Value::Null;
    report
}

#[test]
fn results_of_two_runs_reach_two_journals_and_two_reports() {
    let (harness, servers) = (CommandHarness::new(), Servers::shared());
    let aggregator = servers.start_aggregator(&harness);
    let [day, night] = ["day", "night"].map(|run| record(&servers, run, 30));
    servers.announce(&day);
    servers.announce(&night);
    for number in 0..30 {
        servers.publish(&[scored(&day, number), scored(&night, number), scored(&day, number)]);
    }
    let strange = record(&servers, "strange", 1);
    servers.publish(&[scored(&strange, 7)]);
    servers.close(&day.run_id, 30);
    servers.close(&night.run_id, 31);
    let progress = servers.await_report(&day.run_id, 30);
    assert_eq!((progress.counts.scored, progress.cost_usd), (30, Money::from_pico(30 * COST)));
    let aside = servers.await_results_aside(1);
    assert_eq!(aside[0].0, "item_0007");
    assert!(aside[0].1.contains("run strange is unknown to the fleet"), "{aside:?}");
    // One job of the second run failed: the run is complete only after its retry.
    servers.publish(&[JobResult { round: 1, ..failed(&night, 0) }]);
    let progress = servers.await_report(&night.run_id, 31);
    assert_eq!((progress.results, progress.counts.scored, progress.counts.failed), (31, 29, 1));
    aggregator.signal(Signal::TERM);
    let ended = aggregator.finish().exits(0).stderr_contains(&["stopping"]);
    ended.stdout_contains(&[
        "run day: 30 of 30 scored; $0.1500; runs/day/report.json",
        "run night: 29 of 30 scored (96.7%), 1 failed",
    ]);
    assert_eq!((harness.journal("day").len(), harness.journal("night").len()), (30, 31));
    let record: Value =
        serde_json::from_slice(&std::fs::read(harness.path("runs/day/run.json")).unwrap()).unwrap();
    assert_eq!(record["fleet"], servers.redis.namespace);
    harness.juror(&["runs"]).exits(0).stdout_contains(&["30/30", "29/30"]);
}

#[test]
fn standby_replaces_a_killed_aggregator_and_writes_the_same_report() {
    let (harness, servers) = (CommandHarness::new(), Servers::shared());
    let [calm, shaken] = ["calm", "shaken"].map(|run| record(&servers, run, 40));
    let first = servers.start_aggregator(&harness);
    let mut spare = servers.start(&harness, &["aggregate"]);
    spare.await_stderr("standby: another aggregator is active");
    for record in [&calm, &shaken] {
        servers.announce(record);
    }
    let results = |record: &RunRecord| (0..40).map(|n| scored(record, n)).collect::<Vec<_>>();
    servers.publish(&results(&calm));
    servers.close(&calm.run_id, 40);
    servers.publish(&results(&shaken)[..25]);
    servers.await_report(&calm.run_id, 40);
    servers.await_progress(&shaken.run_id, |progress| progress.results == 25);
    first.kill();
    servers.publish(&results(&shaken)[20..]);
    servers.close(&shaken.run_id, 40);
    spare.await_stderr(ACTIVE);
    servers.await_report(&shaken.run_id, 40);
    spare.stop();
    assert_eq!(harness.journal("shaken").len(), 40);
    let (mut calm, shaken) =
        (comparable_report(&harness, "calm"), comparable_report(&harness, "shaken"));
    calm["run"]["id"] = json!("shaken");
    assert_eq!(calm, shaken);
}

#[test]
fn torn_line_is_truncated_and_its_result_redelivered() {
    let (harness, servers) = (CommandHarness::new(), Servers::shared());
    let torn = record(&servers, "torn", 3);
    servers.announce(&torn);
    servers.publish(&[scored(&torn, 0)]);
    let aggregator = servers.start_aggregator(&harness);
    servers.await_progress(&torn.run_id, |progress| progress.results == 1);
    aggregator.kill();
    let journal = harness.path("runs/torn/results.jsonl");
    let mut journal = std::fs::OpenOptions::new().append(true).open(journal).unwrap();
    journal.write_all(b"{\"schema\":1,\"run_id\":\"torn\",\"job").unwrap();
    // Unacknowledged results are redelivered with the new ones.
    servers.publish(&[scored(&torn, 0), scored(&torn, 1), scored(&torn, 2)]);
    servers.close(&torn.run_id, 3);
    let aggregator = servers.start_aggregator(&harness);
    servers.await_report(&torn.run_id, 3);
    aggregator.stop();
    assert_eq!(harness.journal("torn").len(), 3);
    assert_eq!(harness.report("torn")["coverage"]["scored"], 3);
}

#[test]
fn poison_job_completes_its_run() {
    let (harness, servers) = (CommandHarness::new(), Servers::shared());
    let record = record(&servers, "deadly", 3);
    servers.announce(&record);
    servers.publish(&[scored(&record, 0), failed(&record, 1)]);
    // The worker that dead-lettered this job had published a result too, the other had not.
    servers.poison(job(&record, 1), "it killed five workers");
    servers.poison(job(&record, 2), "it killed five workers");
    servers.close(&record.run_id, 3);
    let aggregator = servers.start_aggregator(&harness);
    let progress = servers.await_report(&record.run_id, 3);
    assert_eq!((progress.counts.scored, progress.counts.failed), (1, 2));
    aggregator.stop().stdout_contains(&["1 of 3 scored (33.3%), 2 failed"]);
    assert_eq!(harness.journal("deadly").len(), 3);
    let poisoned = harness.result("deadly", "item_0002");
    assert_eq!(poisoned["error"], json!({"kind": "poison", "message": "it killed five workers"}));
    assert_eq!(poisoned["semantic"]["total_score"], 0);
}

#[test]
fn cancelled_run_is_reported_with_the_jobs_that_were_not_published() {
    let (harness, servers) = (CommandHarness::new(), Servers::shared());
    let record = record(&servers, "cut", 100);
    servers.announce(&record);
    let aggregator = servers.start_aggregator(&harness);
    let skipped = JobResult { outcome: Outcome::Skipped, ..failed(&record, 2) };
    servers.publish(&[scored(&record, 0), scored(&record, 1), skipped]);
    servers.run(servers.backend.record_published(&record.run_id, 3)).unwrap();
    servers.run(servers.backend.cancel_run(&record.run_id)).unwrap();
    servers.await_report(&record.run_id, 3);
    aggregator.signal(Signal::TERM);
    let coverage = "run cut: 2 of 100 scored (2%), 1 skipped, 97 not published";
    aggregator.finish().exits(0).stdout_contains(&[coverage]);
    // The report can be regenerated without the fleet.
    harness.juror(&["report", "cut"]).exits(3).stdout_contains(&["2 of 100 scored"]);
}

#[test]
fn foreign_messages_are_no_jobs() {
    let (harness, servers) = (CommandHarness::new(), Servers::shared());
    let record = record(&servers, "own", 1);
    servers.announce(&record);
    let mut strange = scored(&record, 1);
    strange.job_id = JobId::new("f".repeat(32));
    let mut too_good = scored(&record, 2);
    if let Some(Score::Sum { semantic_correctness, .. }) =
        too_good.semantic.as_mut().map(|verdict| &mut verdict.score)
    {
        *semantic_correctness = 5e300;
    }
    let late = JobResult { round: u32::MAX, ..scored(&record, 3) };
    servers.publish(&[strange, too_good, late, scored(&record, 0)]);
    // A dead letter produces no result either.
    servers.poison(Job { job_id: JobId::new("e".repeat(32)), ..job(&record, 4) }, "not planned");
    servers.close(&record.run_id, 1);
    let aggregator = servers.start_aggregator(&harness);
    let aside = servers.await_results_aside(3);
    servers.await_report(&record.run_id, 1);
    for (item, reason) in [
        ("item_0001", "its job id is not the one of item"),
        ("item_0002", "semantic_correctness is out of range"),
        ("item_0003", "round 4294967295 exceeds the maximum of 10000"),
    ] {
        let letter = aside.iter().find(|letter| letter.0 == item).unwrap();
        assert!(letter.1.contains(reason), "{letter:?}");
    }
    aggregator.stop().stdout_contains(&["run own: 1 of 1 scored"]);
    assert_eq!(harness.journal("own").len(), 1);
    assert_eq!(servers.jobs_aside().len(), 1, "the dead job is kept for a person");
}

#[test]
fn aggregator_without_servers_names_the_missing_setting() {
    let harness = CommandHarness::new();
    harness.juror(&["aggregate"]).exits(2).stderr_contains(&["fleet.redis", "JUROR_FLEET_REDIS"]);
}
