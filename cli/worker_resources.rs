//! What a worker brings to its runs: its own settings, folders and bounds.

use crate::{exit::Failure, session::Session, settings_sources as layers};
use jiff::Timestamp;
use juror_app::settings::Settings;
use juror_files::local::Roots;
use juror_ledger::{
    admission::{Admission, AdmissionQueue},
    sqlite::SqliteLedger,
    store::Store,
};
use juror_telemetry::Metrics;
use juror_types::{
    event::Events,
    id::OwnerId,
    rubric::{Rubric, Success},
    run::RunRecord,
    shutdown::Shutdown,
    stage::Thresholds,
};
use juror_worker::{
    circuit_breaker::{BreakerSettings, CircuitBreaker},
    concurrency::Concurrency,
    context::{Context, JudgeSetup},
    isolation::IsolationGate,
    sources::Sources,
    stages::{StageRules, command::CommandSettings},
};
use std::{path::PathBuf, sync::Arc, thread::available_parallelism, time::Duration};
use tokio::time::Instant;

/// What the contexts of all runs of one process share.
pub struct WorkerResources<Backend> {
    /// Admission and store.
    pub backend: Arc<Backend>,
    /// Where calls wait.
    pub waiting: Arc<AdmissionQueue>,
    /// How long a delivery may be held before its next call.
    pub max_wait: Option<Duration>,
    /// Where files may be read from.
    pub sources: Arc<Sources>,
    /// How many calls may be in flight.
    pub concurrency: Concurrency,
    /// Which jobs work side by side.
    pub isolation: Arc<IsolationGate>,
    /// This process.
    pub owner: OwnerId,
    /// Who listens.
    pub events: Events,
    /// What is counted.
    pub metrics: Arc<Metrics>,
}

impl<Backend: Admission + Store + 'static> WorkerResources<Backend> {
    /// The context of a run by this rubric and this judge.
    pub fn context(
        &self,
        settings: &Settings,
        rubric: Rubric,
        judge: Option<Arc<JudgeSetup>>,
        shutdown: Shutdown,
    ) -> Context {
        let own_bound = settings.stages.min_correctness.map(Success::Above);
        Context {
            admission: Arc::clone(&self.backend) as Arc<dyn Admission>,
            waiting: Arc::clone(&self.waiting),
            max_wait: self.max_wait,
            store: Arc::clone(&self.backend) as Arc<dyn Store>,
            success: own_bound.unwrap_or(rubric.success),
            rubric: Arc::new(rubric),
            thresholds: Thresholds { token_accuracy: settings.stages.token_accuracy },
            stages: stage_settings(settings),
            sources: Arc::clone(&self.sources),
            kept_inputs: None,
            judge,
            concurrency: self.concurrency.clone(),
            isolation: Arc::clone(&self.isolation),
            shutdown,
            owner: self.owner.clone(),
            events: self.events.clone(),
            metrics: Arc::clone(&self.metrics),
            breaker: CircuitBreaker::new(BreakerSettings {
                max_unusable_in_a_row: settings.judge.max_unusable_in_a_row,
                max_refusal_time: Duration::from_secs(settings.judge.max_refusal_minutes * 60),
            }),
            run_deadline: None,
        }
    }
}

/// The context of a process that knows one run alone, but for what its own wiring adds.
pub fn of_one_run(
    session: &Session,
    backend: &Arc<SqliteLedger>,
    judge: Option<Arc<JudgeSetup>>,
) -> Result<Context, Failure> {
    let settings = &session.settings;
    let cores = available_parallelism().map_or(1, usize::from);
    let concurrency = match (settings.limits.max_concurrency, &judge) {
        (Some(limit), _) => Concurrency::fixed(limit),
        (None, Some(_)) => Concurrency::adaptive(),
        (None, None) => Concurrency::fixed(cores),
    };
    let resources = WorkerResources {
        backend: Arc::clone(backend),
        waiting: Arc::new(AdmissionQueue::new()),
        max_wait: None,
        sources: sources(settings, roots(session))?,
        concurrency,
        isolation: Arc::default(),
        owner: OwnerId::random(),
        events: Events::silent(),
        metrics: Arc::new(Metrics::silent()),
    };
    Ok(resources.context(settings, session.rubric.clone(), judge, Shutdown::new()))
}

/// The moment after which no call of a run begins; none without a deadline.
pub fn run_deadline(record: &RunRecord) -> Option<Instant> {
    let left = record.deadline?.duration_since(Timestamp::now());
    // A deadline beyond the clock's reach is none.
    Instant::now().checked_add(Duration::try_from(left).unwrap_or_default())
}

/// The folders that files of a session's dataset are read in.
pub fn roots(session: &Session) -> Vec<PathBuf> {
    let folder = session.dataset.folder().to_owned();
    [folder].into_iter().chain(session.settings.files.data_roots.iter().cloned()).collect()
}

/// These folders, and what else the settings allow to read from.
pub fn sources(settings: &Settings, roots: Vec<PathBuf>) -> Result<Arc<Sources>, Failure> {
    let files = &settings.files;
    let credentials = layers::credentials(files, !files.buckets.is_empty())?;
    let sources = Sources::open(Roots::new(roots), files, credentials);
    sources.map(Arc::new).map_err(Failure::usage)
}

fn stage_settings(settings: &Settings) -> StageRules {
    let stages = &settings.stages;
    StageRules {
        compile_command: command(&stages.compile_command, stages.compile_timeout_seconds),
        pipeline_command: command(&stages.pipeline_command, stages.pipeline_timeout_seconds),
    }
}

fn command(words: &[String], timeout_seconds: u64) -> Option<CommandSettings> {
    let (program, arguments) = words.split_first()?;
    let timeout = Duration::from_secs(timeout_seconds);
    Some(CommandSettings { program: program.clone(), arguments: arguments.to_vec(), timeout })
}
