//! Tests of the start, progress and end of runs.

use super::*;
use juror_ledger::admission::RunAccount;
use juror_types::{outcome::OutcomeCounts, usage::Money};

#[tokio::test(start_paused = true)]
async fn announced_run_has_its_directory_before_its_first_result() {
    let (fleet, run) = Fleet::judging(2);
    let working = fleet.start().await;
    fleet.backend.until_results(&run, 0).await;
    assert!(fleet.journal(&run).is_empty());
    assert_eq!(RunFiles::open(fleet.runs_dir.path(), &run).unwrap().record().planned, 2);
    fleet.end(working).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_run_is_reported_when_every_job_has_its_result_in_every_round() {
    let (fleet, run) = Fleet::judging(2);
    let mut working = fleet.start().await;
    fleet.publish(&[scored(&run, "1"), ended(&run, "2", Outcome::Failed)]).await;
    fleet.backend.until_results(&run, 2).await;
    assert!(working.completed.try_recv().is_err(), "more jobs may come");
    fleet.backend.close(&run, 2);
    let progress = fleet.backend.until_reported(&run, 2).await;
    assert_eq!((progress.counts.scored, progress.counts.failed), (1, 1));
    assert_eq!(fleet.report(&run)["coverage"]["failed"], 1);
    // Another round for the failed job.
    fleet.backend.announce(&fleet_record("nightly", 2));
    fleet.backend.until_results(&run, 2).await;
    fleet.backend.close(&run, 3);
    fleet.publish(&[in_round(1, scored(&run, "2"))]).await;
    let progress = fleet.backend.until_reported(&run, 3).await;
    assert_eq!((progress.results, progress.counts.scored, progress.counts.failed), (3, 2, 0));
    let report = fleet.report(&run);
    assert_eq!(
        (&report["coverage"]["scored"], &report["coverage"]["planned"]),
        (&2.into(), &2.into())
    );
    // A round without jobs.
    fleet.backend.announce(&fleet_record("nightly", 2));
    fleet.backend.close(&run, 3);
    fleet.backend.until_reported(&run, 3).await;
    fleet.end(working).await.unwrap();
    assert_eq!(fleet.journal(&run).len(), 3);
}

#[tokio::test(start_paused = true)]
async fn complete_run_is_closed_and_reopened_for_late_results() {
    let (fleet, run) = Fleet::judging(1);
    let mut working = fleet.start().await;
    fleet.publish(&[scored(&run, "1")]).await;
    fleet.backend.close(&run, 1);
    let reported = working.completed.recv().await.unwrap();
    assert_eq!((reported.run, reported.coverage.scored), (run.clone(), 1));
    assert_eq!(reported.report, fleet.path(&run, "report.json"));
    let free = || JournalWriter::open(fleet.runs_dir.path(), &run).is_ok();
    let status_requests = fleet.backend.until_reported(&run, 1).await;
    // The run is closed once its report is recorded; its status is polled until then.
    let mut looks = 0;
    while !free() {
        looks += 1;
        fleet.backend.until(|state| state.status_requests > looks).await;
    }
    fleet.publish(&[scored(&run, "1")]).await;
    fleet.end(working).await.unwrap();
    assert_eq!(fleet.duplicates(), 1);
    assert_eq!(fleet.backend.until_reported(&run, 1).await, status_requests);
    assert_eq!(fleet.items(&run), ["1"]);
}

#[tokio::test(start_paused = true)]
async fn a_paused_run_is_not_complete() {
    let (fleet, run) = Fleet::judging(1);
    let mut working = fleet.start().await;
    fleet.backend.change(|state| {
        state.runs.get_mut(&run).unwrap().paused = Some("the key is not accepted".to_owned());
    });
    fleet.backend.close(&run, 1);
    fleet.publish(&[scored(&run, "1")]).await;
    fleet.backend.until_results(&run, 1).await;
    assert!(working.completed.try_recv().is_err());
    fleet.backend.change(|state| state.runs.get_mut(&run).unwrap().paused = None);
    fleet.backend.until_reported(&run, 1).await;
    fleet.end(working).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn each_published_job_of_a_cancelled_run_has_one_outcome_and_the_others_none() {
    let (fleet, run) = Fleet::judging(10);
    let working = fleet.start().await;
    fleet.publish(&[scored(&run, "1"), ended(&run, "2", Outcome::Failed)]).await;
    fleet.backend.until_results(&run, 2).await;
    fleet.backend.change(|state| {
        let status = state.runs.get_mut(&run).unwrap();
        (status.cancelled, status.expected) = (true, Some(4));
    });
    fleet.publish(&[ended(&run, "3", Outcome::Skipped), ended(&run, "4", Outcome::Skipped)]).await;
    fleet.backend.until_reported(&run, 4).await;
    let report = fleet.report(&run);
    let coverage = serde_json::json!(
        {"planned": 10, "scored": 1, "no_output": 0, "unscorable": 0, "failed": 1, "skipped": 2,
         "unpublished": 6}
    );
    assert_eq!(report["coverage"], coverage);
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("cancelled after 4 of its 10 jobs were published"), "{warnings}");
    let record = RunFiles::open(fleet.runs_dir.path(), &run).unwrap().record().clone();
    assert_eq!((record.planned, record.jobs()), (10, 4));
    // Once reopened, it has all its jobs again.
    fleet.backend.announce(&fleet_record("nightly", 10));
    let rest = ["5", "6", "7", "8", "9", "10"].map(|item| scored(&run, item));
    let again = ["2", "3", "4"].map(|item| in_round(1, scored(&run, item)));
    fleet.backend.close(&run, 13);
    fleet.publish(&[&rest[..], &again[..]].concat()).await;
    fleet.backend.until_reported(&run, 13).await;
    let coverage = &fleet.report(&run)["coverage"];
    assert_eq!((&coverage["planned"], &coverage["scored"]), (&10.into(), &10.into()));
    fleet.end(working).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn few_runs_are_open_at_once_and_every_result_finds_its_run() {
    let mut fleet = Fleet::new();
    fleet.options.open_runs = 2;
    fleet.options.batch = 4;
    let records: Vec<_> = (0..7).map(|n| fleet_record(&format!("run{n}"), 20)).collect();
    for record in &records {
        fleet.backend.announce(record);
    }
    let working = fleet.start().await;
    for item in 0..20 {
        for record in &records {
            fleet.publish(&[scored(&record.run_id, &item.to_string())]).await;
        }
    }
    for record in &records {
        fleet.backend.until_results(&record.run_id, 20).await;
    }
    let held =
        |record: &&RunRecord| JournalWriter::open(fleet.runs_dir.path(), &record.run_id).is_err();
    let open = records.iter().filter(held).count();
    assert!(open <= 2, "{open}");
    for record in &records {
        fleet.backend.close(&record.run_id, 20);
    }
    for record in &records {
        fleet.backend.until_reported(&record.run_id, 20).await;
        assert_eq!(fleet.report(&record.run_id)["coverage"]["scored"], 20);
        assert_eq!(fleet.journal(&record.run_id).len(), 20);
    }
    fleet.end(working).await.unwrap();
    assert_eq!(fleet.duplicates(), 0);
}

#[tokio::test(start_paused = true)]
async fn active_run_is_reported_periodically() {
    let (fleet, run) = Fleet::judging(3);
    let presumed = Money::from_pico(7);
    let results = [scored(&run, "1")];
    fleet.backend.change(|state| {
        state
            .ledgers
            .insert(run.clone(), juror_analysis::test_fixtures::ledger(&results, presumed));
    });
    let mut working = fleet.start().await;
    fleet.publish(&results).await;
    fleet.backend.until_results(&run, 1).await;
    let report = fleet.await_report(&run).await;
    assert_eq!(
        (&report["coverage"]["scored"], &report["coverage"]["pending"]),
        (&1.into(), &2.into())
    );
    assert_eq!(report["cost"]["presumed_usd"], presumed.to_string());
    assert!(working.completed.try_recv().is_err(), "it is not complete");
    fleet.end(working).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_leases_of_a_complete_run_end_before_its_last_report() {
    let (fleet, run) = Fleet::judging(1);
    let held = Money::from_pico(7);
    let results = [scored(&run, "1")];
    fleet.backend.change(|state| {
        let ledger = juror_analysis::test_fixtures::ledger(&results, Money::ZERO);
        state.ledgers.insert(run.clone(), RunAccount { outstanding: held, ..ledger });
    });
    let working = fleet.start().await;
    fleet.publish(&results).await;
    fleet.backend.until_results(&run, 1).await;
    assert_eq!(fleet.await_report(&run).await["coverage"]["scored"], 1);
    fleet.backend.until(|state| state.ledgers[&run].outstanding == held).await;
    fleet.backend.close(&run, 1);
    fleet.backend.until_reported(&run, 1).await;
    let ledger = fleet.backend.until(|_| true).await.ledgers[&run];
    assert_eq!((ledger.outstanding, ledger.presumed), (Money::ZERO, held));
    assert_eq!(fleet.report(&run)["cost"]["presumed_usd"], held.to_string());
    fleet.end(working).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn standby_continues_the_work_of_a_killed_aggregator() {
    let (fleet, run) = Fleet::judging(3);
    let working = fleet.start().await;
    fleet.publish(&[scored(&run, "1")]).await;
    fleet.backend.until_results(&run, 1).await;
    working.role.abort();
    assert!(working.role.await.unwrap_err().is_cancelled());
    let journal = fleet.path(&run, "results.jsonl");
    let torn = [std::fs::read(&journal).unwrap(), b"{\"schema\":1,\"run_".to_vec()].concat();
    std::fs::write(&journal, torn).unwrap();
    // The aggregator had committed the first, and died before its acknowledgement.
    fleet.publish(&[scored(&run, "1"), scored(&run, "2"), scored(&run, "3")]).await;
    fleet.backend.close(&run, 3);
    let spare = fleet.start().await;
    fleet.backend.until_reported(&run, 3).await;
    fleet.end(spare).await.unwrap();
    assert_eq!(fleet.duplicates(), 1);
    assert_eq!(fleet.items(&run), ["1", "2", "3"]);
}

#[tokio::test(start_paused = true)]
async fn run_reported_long_ago_is_not_reopened() {
    let (fleet, run) = Fleet::judging(1);
    fleet.backend.close(&run, 1);
    fleet.backend.change(|state| {
        let progress = juror_ledger::redis::RunProgress {
            results: 1,
            counts: OutcomeCounts { scored: 1, ..OutcomeCounts::default() },
            reported_at: Some(1),
            ..Default::default()
        };
        state.runs.get_mut(&run).unwrap().progress = Some(progress);
    });
    let working = fleet.start().await;
    fleet.backend.until(|state| state.status_requests > 3).await;
    fleet.end(working).await.unwrap();
    assert!(!fleet.path(&run, "run.json").exists(), "its directory was removed");
}
