//! What a worker brings to its runs: its own settings, folders and bounds.

use crate::{exit::Failure, layers, session::Session};
use jiff::Timestamp;
use juror_common::{
    admission::{Admission, WaitingRoom},
    event::Events,
    files::Roots,
    id::OwnerId,
    rubric::{Rubric, Success},
    run::RunRecord,
    settings::Settings,
    shutdown::Shutdown,
    sqlite::LocalHome,
    stage::Thresholds,
    store::Store,
    telemetry::Metrics,
};
use juror_worker::{
    circuit_breaker::{BreakerSettings, CircuitBreaker},
    company::Company,
    concurrency::Concurrency,
    context::{Context, JudgeSetup},
    sources::Sources,
    stages::{StageSettings, command::CommandSettings},
};
use std::{path::PathBuf, sync::Arc, thread::available_parallelism, time::Duration};
use tokio::time::Instant;

/// What the contexts of all runs of one process share.
pub struct Workplace<Home> {
    /// Admission and store.
    pub home: Arc<Home>,
    /// Where calls wait.
    pub waiting: Arc<WaitingRoom>,
    /// How long a delivery may be held before its next call.
    pub patience: Option<Duration>,
    /// Where files may be read from.
    pub sources: Arc<Sources>,
    /// How many calls may be in flight.
    pub concurrency: Concurrency,
    /// Which jobs work side by side.
    pub company: Arc<Company>,
    /// This process.
    pub owner: OwnerId,
    /// Who listens.
    pub events: Events,
    /// What is counted.
    pub metrics: Arc<Metrics>,
}

impl<Home: Admission + Store + 'static> Workplace<Home> {
    /// The context of a run by this rubric and this judge.
    pub fn context(
        &self,
        settings: &Settings,
        rubric: Rubric,
        judge: Option<Arc<JudgeSetup>>,
        shutdown: Shutdown,
    ) -> Context {
        let own_bound = settings.stages.correctness.map(Success::Above);
        Context {
            admission: Arc::clone(&self.home) as Arc<dyn Admission>,
            waiting: Arc::clone(&self.waiting),
            patience: self.patience,
            store: Arc::clone(&self.home) as Arc<dyn Store>,
            success: own_bound.unwrap_or(rubric.success),
            rubric: Arc::new(rubric),
            thresholds: Thresholds { token_accuracy: settings.stages.token_accuracy },
            stages: stage_settings(settings),
            sources: Arc::clone(&self.sources),
            kept_inputs: None,
            judge,
            concurrency: self.concurrency.clone(),
            company: Arc::clone(&self.company),
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
    home: &Arc<LocalHome>,
    judge: Option<Arc<JudgeSetup>>,
) -> Result<Context, Failure> {
    let settings = &session.settings;
    let cores = available_parallelism().map_or(1, usize::from);
    let concurrency = match (settings.limits.max_concurrency, &judge) {
        (Some(limit), _) => Concurrency::fixed(limit),
        (None, Some(_)) => Concurrency::adaptive(),
        (None, None) => Concurrency::fixed(cores),
    };
    let workplace = Workplace {
        home: Arc::clone(home),
        waiting: Arc::new(WaitingRoom::new()),
        patience: None,
        sources: sources(settings, roots(session))?,
        concurrency,
        company: Arc::default(),
        owner: OwnerId::random(),
        events: Events::silent(),
        metrics: Arc::new(Metrics::silent()),
    };
    Ok(workplace.context(settings, session.rubric.clone(), judge, Shutdown::new()))
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

fn stage_settings(settings: &Settings) -> StageSettings {
    let stages = &settings.stages;
    StageSettings {
        compile_command: command(&stages.compile_command, stages.compile_timeout_seconds),
        pipeline_command: command(&stages.pipeline_command, stages.pipeline_timeout_seconds),
    }
}

fn command(words: &[String], timeout_seconds: u64) -> Option<CommandSettings> {
    let (program, arguments) = words.split_first()?;
    let timeout = Duration::from_secs(timeout_seconds);
    Some(CommandSettings { program: program.clone(), arguments: arguments.to_vec(), timeout })
}
