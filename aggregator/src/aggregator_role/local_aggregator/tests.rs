use super::*;
use async_trait::async_trait;
use juror_analysis::{
    fold::Fold,
    test_fixtures::{SEMANTIC, bare, judged, record},
};
use juror_journal::journal::JournalWriter;
use juror_queue::{AdapterDelivery, Delivery, Disposition, Priority, QueueError};
use juror_types::{event::Event, id::RunId, outcome::Outcome};
use parking_lot::Mutex;
use std::{collections::VecDeque, sync::Arc};

/// End of each delivery, by its item.
type Log = Arc<Mutex<Vec<(String, Disposition)>>>;

/// Delivers its messages, then closes or, if `open`, waits forever.
struct Script {
    results: VecDeque<JobResult>,
    log: Log,
    open: bool,
}

struct Note(String, Log);

#[async_trait]
impl AdapterDelivery for Note {
    async fn end(self: Box<Self>, disposition: Disposition) -> Result<(), QueueError> {
        let mut log = self.1.lock();
        log.push((self.0.clone(), disposition));
        Ok(())
    }
}

#[async_trait]
impl Subscription<JobResult> for Script {
    async fn next(&mut self) -> Result<Option<Delivery<JobResult>>, QueueError> {
        let Some(result) = self.results.pop_front() else {
            if self.open {
                std::future::pending::<()>().await;
            }
            return Ok(None);
        };
        let note = Note(result.screenshot_id.clone(), self.log.clone());
        Ok(Some(Delivery::new(Arc::new(result), Priority::Normal, false, Box::new(note))))
    }

    async fn close(self: Box<Self>) {}
}

struct Setup {
    resources: LocalRunResources,
    log: Log,
    _runs: tempfile::TempDir,
}

fn setup(results: Vec<JobResult>, open: bool, events: Events) -> Setup {
    let runs = tempfile::tempdir().unwrap();
    let writer = JournalWriter::create(runs.path(), &record(SEMANTIC, 3)).unwrap();
    let log = Log::default();
    let script = Script { results: results.into(), log: log.clone(), open };
    let resources = LocalRunResources {
        results: Box::new(script),
        journal: RunJournal::read(writer, &CancellationToken::new()).unwrap(),
        events,
        metrics: Arc::default(),
    };
    Setup { resources, log, _runs: runs }
}

#[tokio::test]
async fn results_are_committed_then_acknowledged_and_reported_once() {
    let (events, mut heard) = Events::channel(100);
    let one = judged("a", [9; 5], &[], &[]);
    let results = vec![one.clone(), one.clone(), judged("b", [8; 5], &[], &[]), one];
    let Setup { mut resources, log, _runs } = setup(results, false, events);
    let metrics = Arc::new(Metrics::recording());
    resources.metrics = Arc::clone(&metrics);
    let journal = run(resources, Shutdown::new()).await.unwrap();
    let counted = metrics.render();
    for sample in ["duplicates_total{message=\"result\"} 2", "results_total{outcome=\"scored\"} 2"]
    {
        assert!(counted.contains(sample), "{sample} in {counted}");
    }
    assert_eq!(journal.fold().len(), 2);
    assert_eq!(log.lock().len(), 4);
    assert!(log.lock().iter().all(|(_, end)| *end == Disposition::Acknowledge));
    let mut finished = 0;
    while let Some(event) = heard.recv().await {
        finished += u32::from(matches!(event, Event::Finished(_)));
    }
    assert_eq!(finished, 2);
    let again = Fold::from_journal(journal.files()).unwrap();
    assert_eq!(again.spent(), journal.fold().spent());
    let offset = journal.fold().latest(&bare("b", Outcome::Scored).job_id).unwrap().offset;
    let mut stored = journal.files().results().unwrap();
    assert_eq!(stored.at(offset).unwrap().screenshot_id, "b");
}

#[tokio::test]
async fn foreign_result_is_dead_lettered() {
    let mut stray = bare("stray", Outcome::Scored);
    stray.run_id = RunId::new("other");
    let Setup { resources, log, _runs } = setup(vec![stray], false, Events::silent());
    let journal = run(resources, Shutdown::new()).await.unwrap();
    assert!(journal.fold().is_empty());
    assert!(matches!(&log.lock()[..], [(_, Disposition::DeadLetter(_))]));
}

#[tokio::test]
async fn a_hard_stop_ends_the_wait_and_a_soft_one_does_not() {
    let results = vec![bare("a", Outcome::Scored)];
    let (events, mut heard) = Events::channel(10);
    let Setup { resources, log, _runs } = setup(results, true, events);
    let shutdown = Shutdown::new();
    shutdown.escalate();
    let stop = async {
        assert!(
            matches!(heard.recv().await, Some(Event::Finished(_))),
            "it continues after a graceful stop"
        );
        shutdown.escalate();
    };
    let (aggregated, ()) = tokio::join!(run(resources, shutdown.clone()), stop);
    assert_eq!(aggregated.unwrap().fold().len(), 1);
    assert_eq!(log.lock().len(), 1);
}

#[tokio::test]
async fn run_whose_folder_is_removed_ends() {
    let Setup { resources, log, _runs } =
        setup(vec![bare("a", Outcome::Scored)], true, Events::silent());
    std::fs::remove_dir_all(resources.journal.files().directory()).unwrap();
    let error = run(resources, Shutdown::new()).await.unwrap_err();
    assert!(matches!(error, AggregatorError::Journal(JournalError::Removed { .. })), "{error}");
    assert!(log.lock().is_empty());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn uncommitted_results_are_not_acknowledged() {
    let results = vec![bare("a", Outcome::Scored)];
    let Setup { mut resources, log, _runs } = setup(results, true, Events::silent());
    resources.journal.simulate_full_disk().unwrap();
    let error = run(resources, Shutdown::new()).await.unwrap_err();
    assert!(matches!(error, AggregatorError::Journal(JournalError::Full { .. })), "{error}");
    assert!(log.lock().is_empty());
}
