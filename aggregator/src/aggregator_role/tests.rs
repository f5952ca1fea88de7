//! Tests of the role with in-memory queues and backend. The clock is paused: it advances when all
//! tasks are idle.

mod backend;
mod commits;
mod ledger;
mod plain_reports;
mod runs;
mod stops;

use super::*;
use backend::MemoryBackend;
use juror_analysis::test_fixtures::{SEMANTIC, bare, judged, record};
use juror_journal::journal::{JournalWriter, RunFiles};
use juror_queue::{Priority, local::LocalQueue};
use juror_types::{id::RunId, outcome::Outcome, run::RunRecord};
use plain_reports::PlainReports;
use serde_json::Value;
use std::path::PathBuf;
use tokio::{sync::watch, task::JoinHandle, time::interval};

/// Queues, backend and directories of an aggregator.
struct Fleet {
    runs_dir: tempfile::TempDir,
    results: LocalQueue<JobResult>,
    dead: LocalQueue<DeadLetter<Job>>,
    jobs: LocalQueue<Job>,
    backend: Arc<MemoryBackend>,
    shutdown: Shutdown,
    options: AggregatorOptions,
    metrics: Arc<Metrics>,
}

/// Running aggregator.
struct Working {
    role: JoinHandle<Result<(), AggregatorError>>,
    completed: mpsc::Receiver<CompletedRun>,
}

impl Fleet {
    fn new() -> Self {
        Self {
            runs_dir: tempfile::tempdir().unwrap(),
            results: LocalQueue::new(1_000),
            dead: LocalQueue::new(1_000),
            jobs: LocalQueue::new(1_000),
            backend: Arc::default(),
            shutdown: Shutdown::new(),
            options: AggregatorOptions::default(),
            metrics: Arc::new(Metrics::recording()),
        }
    }

    /// Fleet with one announced run of this many jobs.
    fn judging(jobs: u64) -> (Self, RunId) {
        let fleet = Self::new();
        let record = fleet_record("nightly", jobs);
        fleet.backend.announce(&record);
        (fleet, record.run_id)
    }

    /// Starts an aggregator once no other one is active.
    async fn start(&self) -> Working {
        let (completed, complete) = mpsc::channel(100);
        let resources = FleetResources { completed, ..self.resources().await };
        let role = tokio::spawn(run(resources, self.shutdown.clone()));
        Working { role, completed: complete }
    }

    /// Resources of an aggregator, once no other one is active.
    async fn resources(&self) -> FleetResources {
        let (role, _) = watch::channel(LockRole::default());
        let (runs_dir, interval) = (self.runs_dir.path(), Duration::from_secs(1));
        let lock = RunsLock::wait(runs_dir, interval, &self.shutdown, &role).await;
        let lock = lock.unwrap().unwrap();
        let directory = identify(&lock, "here".to_owned()).unwrap();
        let prefetch = self.options.prefetch();
        FleetResources {
            lock,
            directory,
            results: self.results.subscribe(prefetch).await.unwrap(),
            dead: self.dead.subscribe(prefetch).await.unwrap(),
            jobs: Arc::new(self.jobs.clone()),
            dead_letters: Arc::new(self.jobs.clone()),
            held: Arc::new(self.jobs.clone()),
            backend: Arc::clone(&self.backend) as Arc<dyn FleetBackend>,
            events: Events::silent(),
            completed: mpsc::channel(1).0,
            metrics: Arc::clone(&self.metrics),
            reports: Arc::new(PlainReports),
            options: self.options.clone(),
        }
    }

    async fn publish(&self, results: &[JobResult]) {
        for result in results {
            self.results.publish(result.clone(), Priority::Normal).await.unwrap();
        }
    }

    /// Closes both queues and waits for the end of the aggregator.
    async fn end(&self, working: Working) -> Result<(), AggregatorError> {
        self.results.close();
        self.dead.close();
        working.role.await.unwrap()
    }

    /// Number of counted duplicate results.
    fn duplicates(&self) -> u64 {
        let counted = self.metrics.render();
        let sample = "juror_duplicates_total{message=\"result\"} ";
        let number = counted.lines().find_map(|line| line.strip_prefix(sample));
        number.map_or(0, |number| number.parse().unwrap())
    }

    fn path(&self, run: &RunId, file: &str) -> PathBuf {
        self.runs_dir.path().join(run.as_str()).join(file)
    }

    fn report(&self, run: &RunId) -> Value {
        serde_json::from_slice(&std::fs::read(self.path(run, "report.json")).unwrap()).unwrap()
    }

    /// Advances the paused clock until there is a report.
    async fn await_report(&self, run: &RunId) -> Value {
        let mut looks = interval(self.options.report / 4);
        for _ in 0..100 {
            if self.path(run, "report.json").exists() {
                return self.report(run);
            }
            looks.tick().await;
        }
        panic!("no report of {run}")
    }

    /// Results in a run's journal.
    fn journal(&self, run: &RunId) -> Vec<JobResult> {
        let files = RunFiles::open(self.runs_dir.path(), run).unwrap();
        files.results().unwrap().map(|read| read.unwrap().1).collect()
    }

    fn items(&self, run: &RunId) -> Vec<String> {
        self.journal(run).into_iter().map(|result| result.screenshot_id).collect()
    }

    /// Reasons of dead-lettered results by item.
    async fn dead_letter(&self) -> Vec<(String, String)> {
        use juror_queue::DeadLetters as _;
        let letters = self.results.list().await.unwrap();
        letters.into_iter().map(|letter| (letter.message.screenshot_id, letter.reason)).collect()
    }
}

fn fleet_record(run: &str, planned: u64) -> RunRecord {
    let fleet = Some("juror".to_owned());
    RunRecord { run_id: RunId::new(run), fleet, base_url: None, ..record(SEMANTIC, planned) }
}

/// Result of this run, distinct from those of others.
fn of_run(run: &RunId, result: JobResult) -> JobResult {
    let job_id = juror_types::id::JobId::for_item(run, &result.screenshot_id, result.repeat);
    JobResult { run_id: run.clone(), job_id, ..result }
}

fn scored(run: &RunId, item: &str) -> JobResult {
    of_run(run, judged(item, [9; 5], &[], &[]))
}

fn ended(run: &RunId, item: &str, outcome: Outcome) -> JobResult {
    of_run(run, bare(item, outcome))
}

fn in_round(round: u32, result: JobResult) -> JobResult {
    JobResult { round, ..result }
}
