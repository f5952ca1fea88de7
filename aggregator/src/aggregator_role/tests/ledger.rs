//! Backends that are unavailable, restarted, or emptied.

use super::*;
use juror_queue::Disposition;
use juror_types::{budget_label::BudgetLabel, item::Item, usage::Money};
use tokio::time::Instant;

#[tokio::test(start_paused = true)]
async fn known_runs_continue_and_new_ones_wait_while_the_backend_is_unavailable() {
    let (fleet, old) = Fleet::judging(2);
    let working = fleet.start().await;
    fleet.publish(&[scored(&old, "1")]).await;
    fleet.backend.until_results(&old, 1).await;
    let new = fleet_record("new", 1);
    fleet.backend.change(|state| state.away = true);
    fleet.backend.announce(&new);
    fleet.publish(&[scored(&new.run_id, "a"), scored(&old, "2")]).await;
    while fleet.items(&old).len() < 2 || fleet.results.held() > 1 {
        tokio::task::yield_now().await;
    }
    assert_eq!(fleet.results.held(), 1, "the new run's result is kept");
    assert!(!fleet.path(&new.run_id, "run.json").exists());
    fleet.backend.change(|state| state.away = false);
    fleet.backend.until_results(&new.run_id, 1).await;
    fleet.backend.until_results(&old, 2).await;
    fleet.end(working).await.unwrap();
    assert!(fleet.dead_letter().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn aggregator_started_without_backend_commits_to_existing_directories() {
    let (fleet, run) = Fleet::judging(2);
    let record = fleet_record("nightly", 2);
    drop(JournalWriter::create(fleet.runs_dir.path(), &record).unwrap());
    fleet.backend.change(|state| state.away = true);
    fleet.publish(&[scored(&run, "1")]).await;
    let working = fleet.start().await;
    while fleet.results.held() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(fleet.items(&run), ["1"]);
    fleet.end(working).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn run_missing_from_the_backend_keeps_its_journal() {
    let (fleet, run) = Fleet::judging(2);
    let working = fleet.start().await;
    let first = scored(&run, "1");
    fleet.publish(std::slice::from_ref(&first)).await;
    fleet.backend.until_results(&run, 1).await;
    fleet.backend.change(|state| state.runs.clear());
    fleet.publish(&[scored(&run, "2")]).await;
    while fleet.results.held() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(fleet.items(&run), ["1", "2"]);
    // Announced again, the run has its costs recorded, and is complete.
    fleet.backend.change(|state| state.reconciled.clear());
    fleet.backend.announce(&fleet_record("nightly", 2));
    let costs = vec![(run.clone(), Some(first.cost_usd + first.cost_usd))];
    fleet.backend.until(|state| state.reconciled.contains(&costs)).await;
    fleet.backend.close(&run, 2);
    fleet.backend.until_reported(&run, 2).await;
    fleet.end(working).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn ledger_receives_every_run_after_a_restart_until_it_is_active() {
    let (fleet, going) = Fleet::judging(2);
    let old = fleet_record("old", 1);
    let (one, other) = (scored(&old.run_id, "1"), scored(&going, "2"));
    let mut writer = JournalWriter::create(fleet.runs_dir.path(), &old).unwrap();
    writer.append(std::slice::from_ref(&one)).unwrap();
    drop(writer);
    fleet.backend.announce(&old);
    fleet.backend.close(&old.run_id, 1);
    fleet.backend.change(|state| {
        let progress = juror_ledger::redis::RunProgress {
            results: 1,
            reported_at: Some(1),
            ..Default::default()
        };
        state.runs.get_mut(&old.run_id).unwrap().progress = Some(progress);
    });
    let working = fleet.start().await;
    fleet.publish(&[JobResult { cost_usd: Money::from_pico(5), ..other }]).await;
    fleet.backend.until_results(&going, 1).await;
    fleet.backend.change(|state| {
        state.reconciled.clear();
        state.paused = Some(2);
    });
    let state = fleet.backend.until(|state| state.paused.is_none()).await;
    let reported = vec![(going, Some(Money::from_pico(5))), (old.run_id, Some(one.cost_usd))];
    assert_eq!(state.reconciled, [reported.clone(), reported.clone(), reported]);
    assert!(state.sweeps > 0);
    fleet.end(working).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn emptied_backend_receives_unannounced_runs_and_their_results() {
    let fleet = Fleet::new();
    let labels: Vec<BudgetLabel> = vec!["tag:checkout".parse().unwrap()];
    let record = |run| RunRecord { budget_labels: labels.clone(), ..fleet_record(run, 2) };
    for run in ["going", "forgotten"] {
        let record = record(run);
        let mut writer = JournalWriter::create(fleet.runs_dir.path(), &record).unwrap();
        writer.append(&[scored(&record.run_id, "1")]).unwrap();
    }
    let going = record("going");
    fleet.backend.announce(&going);
    fleet.backend.change(|state| (state.paused, state.is_empty) = (Some(0), true));
    std::fs::write(fleet.runs_dir.path().join(".juror-ledger"), "").unwrap();
    let working = fleet.start().await;
    // Queued results are recorded too when the ledger is emptied.
    fleet.publish(&[scored(&going.run_id, "2")]).await;
    let state = fleet.backend.until(|state| state.paused.is_none()).await;
    let each = scored(&going.run_id, "1").cost_usd;
    let forgotten = RunId::new("forgotten");
    let costs = [(forgotten.clone(), Some(each)), (going.run_id.clone(), Some(each + each))];
    assert_eq!(state.reconciled, [costs]);
    let dated = [forgotten, going.run_id.clone()].map(|run| (run, labels.clone()));
    assert_eq!(state.dated, dated.into());
    assert!(state.used_before && !state.is_new);
    let restored = ["1", "2"].map(|item| (going.run_id.clone(), item.to_owned()));
    assert_eq!(state.restored, restored.into());
    fleet.end(working).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn ledger_of_a_new_fleet_is_accepted_immediately() {
    let fleet = Fleet::new();
    fleet.backend.change(|state| (state.paused, state.is_empty) = (Some(0), true));
    let working = fleet.start().await;
    let state = fleet.backend.until(|state| state.paused.is_none()).await;
    assert!(state.is_new);
    fleet.backend.until(|state| state.used_before).await;
    fleet.end(working).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn held_jobs_continue_once_the_ledger_is_reconciled() {
    let (fleet, run) = Fleet::judging(2);
    let hold = Duration::from_secs(10 * 60);
    let mut jobs = fleet.jobs.subscribe(1).await.unwrap();
    let job = |item: &str| {
        let RunRecord { rubric, judge, .. } = fleet_record("nightly", 2);
        Job::new(&run, Item { id: item.to_owned(), ..Item::default() }, 0, rubric, judge)
    };
    fleet.jobs.publish(job("before"), Priority::Normal).await.unwrap();
    let before = jobs.next().await.unwrap().unwrap();
    before.end(Disposition::RetryAfter(hold)).await.unwrap();
    fleet.backend.change(|state| state.paused = Some(1));
    let working = fleet.start().await;
    let began = Instant::now();
    let released = jobs.next().await.unwrap().unwrap();
    assert!(fleet.backend.until(|_| true).await.paused.is_none());
    // A worker that requested admission before the reconciliation has it held after it.
    released.end(Disposition::RetryAfter(hold)).await.unwrap();
    assert_eq!(jobs.next().await.unwrap().unwrap().message.item.id, "before");
    assert!(began.elapsed() < hold / 10, "{:?}", began.elapsed());
    fleet.end(working).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn damaged_run_does_not_suspend_calls_of_other_runs_after_a_restart() {
    let (fleet, run) = Fleet::judging(1);
    drop(JournalWriter::create(fleet.runs_dir.path(), &fleet_record("nightly", 1)).unwrap());
    std::fs::write(fleet.path(&run, "run.json"), b"{\"schema\":1,\"run_").unwrap();
    fleet.backend.change(|state| state.paused = Some(1));
    let working = fleet.start().await;
    let state = fleet.backend.until(|state| state.paused.is_none()).await;
    let reported = vec![(run, None)];
    assert_eq!(state.reconciled, [reported.clone(), reported], "its cost is unknown");
    fleet.end(working).await.unwrap();
}
