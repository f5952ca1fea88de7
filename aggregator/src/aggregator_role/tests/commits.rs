//! Tests of committed and refused results.

use super::{
    super::{
        committer::{Committer, KnownRuns},
        incoming::Incoming,
    },
    *,
};
use crate::aggregator_role::{
    run_registry::RunRegistry,
    tracked_run::{ResultPlace, TrackedRun},
};
use crate::run_journal::RunJournal;
use juror_queue::{DeadLetters as _, Delivery};
use juror_types::{item::Item, outcome::ErrorKind};

#[tokio::test(start_paused = true)]
async fn results_go_to_the_journals_of_their_runs_and_are_acknowledged() {
    let fleet = Fleet::new();
    let runs = ["a", "b"].map(|name| fleet_record(name, 3));
    for record in &runs {
        fleet.backend.announce(record);
    }
    let [a, b] = runs.map(|record| record.run_id);
    let mixed =
        [scored(&a, "1"), scored(&b, "2"), scored(&a, "3"), scored(&b, "4"), scored(&a, "5")];
    fleet.publish(&mixed).await;
    let working = fleet.start().await;
    fleet.backend.until_results(&a, 3).await;
    fleet.backend.until_results(&b, 2).await;
    fleet.end(working).await.unwrap();
    assert_eq!(fleet.duplicates(), 0);
    assert_eq!(fleet.results.held(), 0);
    assert_eq!(
        (fleet.items(&a), fleet.items(&b)),
        (["1", "3", "5"].map(str::to_owned).to_vec(), ["2", "4"].map(str::to_owned).to_vec(),)
    );
    assert!(fleet.journal(&a).iter().all(|result| result.run_id == a));
    assert_eq!(
        RunFiles::open(fleet.runs_dir.path(), &a).unwrap().record().fleet.as_deref(),
        Some("juror")
    );
}

#[tokio::test(start_paused = true)]
async fn redelivered_results_are_counted_and_not_applied() {
    let (fleet, run) = Fleet::judging(2);
    let one = scored(&run, "1");
    fleet.publish(&[one.clone(), one.clone(), scored(&run, "2")]).await;
    let working = fleet.start().await;
    let progress = fleet.backend.until_results(&run, 2).await;
    fleet.publish(std::slice::from_ref(&one)).await;
    fleet.end(working).await.unwrap();
    assert_eq!(fleet.duplicates(), 2);
    let counted = fleet.metrics.render();
    for sample in ["duplicates_total{message=\"result\"} 2", "results_total{outcome=\"scored\"} 2"]
    {
        assert!(counted.contains(sample), "{sample} in {counted}");
    }
    assert_eq!(fleet.items(&run), ["1", "2"]);
    assert_eq!((progress.counts.scored, progress.cost_usd), (2, one.cost_usd + one.cost_usd));
}

#[tokio::test(start_paused = true)]
async fn result_of_an_unknown_run_is_dead_lettered_with_the_reason() {
    let (fleet, run) = Fleet::judging(1);
    let strange = RunId::new("strange");
    let results = [
        scored(&strange, "a"),
        scored(&RunId::new("../../elsewhere"), "b"),
        JobResult { schema: 7, ..scored(&run, "c") },
        scored(&run, "d"),
    ];
    fleet.publish(&results).await;
    let working = fleet.start().await;
    fleet.backend.until_results(&run, 1).await;
    fleet.end(working).await.unwrap();
    let aside = fleet.dead_letter().await;
    let reason = |item| {
        let found = aside.iter().find(|(name, _)| name == item);
        found.map(|(_, reason)| reason.as_str()).unwrap_or_default()
    };
    assert_eq!(aside.len(), 3, "{aside:?}");
    assert!(reason("a").contains("run strange is unknown to the fleet"), "{aside:?}");
    assert!(reason("b").contains("is invalid"), "{aside:?}");
    assert!(reason("c").contains("schema 7"), "{aside:?}");
    assert_eq!(fleet.items(&run), ["d"]);
    // Once announced, the run accepts later results.
    let again = Fleet { results: LocalQueue::new(10), dead: LocalQueue::new(10), ..fleet };
    again.backend.announce(&fleet_record("strange", 1));
    again.publish(&[scored(&strange, "a")]).await;
    let working = again.start().await;
    again.backend.until_results(&strange, 1).await;
    again.end(working).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn result_for_the_directory_of_another_run_is_dead_lettered() {
    let (fleet, run) = Fleet::judging(1);
    let other = RunRecord { repeat: 3, ..fleet_record(run.as_str(), 1) };
    drop(JournalWriter::create(fleet.runs_dir.path(), &other).unwrap());
    let local = RunRecord { fleet: None, ..fleet_record("local", 1) };
    drop(JournalWriter::create(fleet.runs_dir.path(), &local).unwrap());
    fleet.publish(&[scored(&run, "1"), scored(&local.run_id, "2")]).await;
    let working = fleet.start().await;
    fleet.end(working).await.unwrap();
    let aside = fleet.dead_letter().await;
    assert_eq!(aside.len(), 2);
    assert!(aside.iter().any(|(_, reason)| reason.contains("its repeat is 3")), "{aside:?}");
    assert!(aside.iter().any(|(_, reason)| reason.contains("one machine")), "{aside:?}");
    assert!(fleet.journal(&run).is_empty());
}

#[tokio::test(start_paused = true)]
async fn dead_lettered_job_becomes_poison_unless_its_round_has_a_result() {
    let (fleet, run) = Fleet::judging(2);
    let letter = |item: &str| {
        let Job { rubric, judge, .. } = a_job();
        let item = Item { id: item.to_owned(), tags: vec!["x".to_owned()], ..Item::default() };
        let message = Job::new(&run, item, 0, rubric, judge);
        let reason = "killed its workers".to_owned();
        DeadLetter { message, priority: Priority::Normal, reason, is_undelivered: false }
    };
    fleet.publish(&[scored(&run, "fine")]).await;
    let working = fleet.start().await;
    fleet.backend.until_results(&run, 1).await;
    for item in ["fine", "deadly", "deadly"] {
        fleet.dead.publish(letter(item), Priority::Normal).await.unwrap();
    }
    fleet.backend.close(&run, 2);
    let progress = fleet.backend.until_reported(&run, 2).await;
    assert_eq!((progress.counts.scored, progress.counts.failed), (1, 1));
    fleet.end(working).await.unwrap();
    assert_eq!((fleet.duplicates(), fleet.dead.held()), (0, 0));
    assert!(fleet.dead.list().await.unwrap().is_empty());
    let journal = fleet.journal(&run);
    assert_eq!(journal.len(), 2);
    let error = journal[1].error.as_ref().unwrap();
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Poison, "killed its workers"));
    assert_eq!(journal[1].semantic.as_ref().unwrap().correctness(), 0.0);
    assert_eq!(journal[1].item.tags, ["x"]);
    assert_eq!(fleet.report(&run)["coverage"]["errors"]["poison"], 1);
}

#[tokio::test(start_paused = true)]
async fn dead_lettered_job_that_never_started_is_republished() {
    let (fleet, run) = Fleet::judging(1);
    let job = a_job();
    fleet.backend.change(|state| state.unstarted.extend([job.job_id.clone()]));
    let working = fleet.start().await;
    fleet.backend.until_results(&run, 0).await;
    let letter = DeadLetter {
        message: job.clone(),
        priority: Priority::High,
        reason: "often".to_owned(),
        is_undelivered: true,
    };
    fleet.dead.publish(letter.clone(), Priority::Normal).await.unwrap();
    let mut jobs = fleet.jobs.subscribe(1).await.unwrap();
    let delivery = jobs.next().await.unwrap().unwrap();
    assert_eq!((&*delivery.message, delivery.priority), (&job, Priority::High));
    delivery.acknowledge().await.unwrap();
    assert!(fleet.journal(&run).is_empty(), "it has no result yet");
    // It died again, and is no longer recorded as never started.
    fleet.dead.publish(letter, Priority::Normal).await.unwrap();
    fleet.backend.until_results(&run, 1).await;
    fleet.end(working).await.unwrap();
    assert_eq!(fleet.journal(&run)[0].error.as_ref().unwrap().kind, ErrorKind::Poison);
}

fn a_job() -> Job {
    let record = fleet_record("nightly", 1);
    Job::new(&record.run_id, Item::default(), 0, record.rubric, record.judge)
}

#[tokio::test(start_paused = true)]
async fn unopenable_journal_stops_the_role_without_acknowledgements() {
    let (fleet, run) = Fleet::judging(1);
    drop(JournalWriter::create(fleet.runs_dir.path(), &fleet_record("nightly", 1)).unwrap());
    let journal = fleet.path(&run, "results.jsonl");
    std::fs::remove_file(&journal).unwrap();
    std::fs::create_dir(&journal).unwrap();
    fleet.publish(&[scored(&run, "1")]).await;
    let working = fleet.start().await;
    let error = working.role.await.unwrap().unwrap_err().to_string();
    assert!(error.contains("results.jsonl") && error.contains("not acknowledged"), "{error}");
    assert_eq!(fleet.results.held(), 1);
    assert!(fleet.results.subscribe(1).await.unwrap().next().await.unwrap().unwrap().redelivered);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn full_disk_acknowledges_nothing_of_a_batch() {
    let fleet = Fleet::new();
    let runs = ["a", "b"].map(|name| fleet_record(name, 1));
    let mut known = KnownRuns::default();
    for (number, record) in runs.iter().enumerate() {
        let mut open =
            RunJournal::create(fleet.runs_dir.path(), record, &CancellationToken::new()).unwrap();
        if number == 1 {
            open.simulate_full_disk().unwrap();
        }
        let opened = TrackedRun { open: Some(open), ..TrackedRun::at(ResultPlace::Directory) };
        known.insert(record.run_id.clone(), opened);
    }
    let [a, b] = runs.map(|record| record.run_id);
    fleet.publish(&[scored(&a, "1"), scored(&b, "2")]).await;
    let mut subscription = fleet.results.subscribe(2).await.unwrap();
    let (sender, incoming) = mpsc::channel(2);
    for _ in 0..2 {
        let delivery: Delivery<JobResult> = subscription.next().await.unwrap().unwrap();
        sender.send(Incoming::Result(delivery)).await.unwrap();
    }
    let (ending, mut to_end) = mpsc::channel(2);
    let committer = Committer {
        runs_dir: fleet.runs_dir.path().to_owned(),
        options: AggregatorOptions::default(),
        events: Events::silent(),
        finished: Events::silent(),
        metrics: Arc::default(),
        registry: RunRegistry::default(),
        ending,
        reports: None,
        stop: CancellationToken::new(),
        runs: known,
    };
    let error = committer.run(Inputs::for_local_run(incoming)).await.err().unwrap();
    assert!(matches!(&error, AggregatorError::Journal(JournalError::Full { .. })), "{error}");
    assert!(to_end.recv().await.is_none(), "nothing is to be acknowledged, of either run");
    assert_eq!(fleet.results.held(), 2);
    assert_eq!(fleet.items(&a), ["1"], "it comes again, and is a duplicate then");
}
