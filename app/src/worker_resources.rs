//! A worker's part of the contexts of runs: settings, folders and limits.

use crate::{
    cores::cores,
    credentials::credentials,
    environment::Environment,
    error::AppError,
    rendering::{rendering, renders},
    settings::Settings,
};
use juror_files::data_roots::Roots;
use juror_ledger::{
    admission::{Admission, AdmissionQueue},
    job_store::JobStore,
};
use juror_telemetry::Metrics;
use juror_types::{
    event::Events,
    id::OwnerId,
    rubric::{Rubric, Success},
    shutdown::Shutdown,
};
use juror_worker::{
    circuit_breaker::{BreakerSettings, CircuitBreaker},
    concurrency::Concurrency,
    evidence_resources::{EvidenceResources, EvidenceWarnings},
    poison_job::IsolationGate,
    run_context::{JudgeSetup, RunContext},
    run_deadline::RunDeadline,
    sources::Sources,
    stages::{StageRules, command::CommandSettings},
};
use std::{path::PathBuf, sync::Arc, time::Duration};

/// Resources that the contexts of all runs of a process share.
pub struct WorkerResources<Backend> {
    /// Ledger: admission and store.
    pub backend: Arc<Backend>,
    /// Queue of calls that wait for admission.
    pub waiting: Arc<AdmissionQueue>,
    /// Maximum time that a job may wait for its next call.
    pub max_wait: Option<Duration>,
    /// Resources for measuring evidence.
    pub evidence: Arc<EvidenceResources>,
    /// Sources of files.
    pub sources: Arc<Sources>,
    /// Limit on calls in flight.
    pub concurrency: Concurrency,
    /// Gate that isolates suspect jobs.
    pub isolation: Arc<IsolationGate>,
    /// Id of this process.
    pub owner: OwnerId,
    /// Receiver of warnings.
    pub events: Events,
    /// Metrics of the process.
    pub metrics: Arc<Metrics>,
}

impl<Backend: Admission + JobStore + 'static> WorkerResources<Backend> {
    /// The context of a run by this rubric and this judge.
    pub fn context(
        &self,
        settings: &Settings,
        rubric: Rubric,
        judge: Option<Arc<JudgeSetup>>,
        shutdown: Shutdown,
    ) -> RunContext {
        let own_bound = settings.stages.min_correctness.map(Success::Above);
        RunContext {
            admission: Arc::clone(&self.backend) as Arc<dyn Admission>,
            waiting: Arc::clone(&self.waiting),
            max_wait: self.max_wait,
            store: Arc::clone(&self.backend) as Arc<dyn JobStore>,
            success: own_bound.unwrap_or(rubric.success),
            rubric: Arc::new(rubric),
            token_accuracy: settings.stages.token_accuracy,
            stages: stage_settings(settings),
            evidence: Arc::clone(&self.evidence),
            evidence_warnings: EvidenceWarnings::default(),
            sources: Arc::clone(&self.sources),
            kept_inputs: None,
            judge,
            batches: None,
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
            run_deadline: RunDeadline::default(),
        }
    }
}

/// Resources for measuring evidence: a thread for each core, and the store of renderings.
pub fn evidence(settings: &Settings) -> Arc<EvidenceResources> {
    Arc::new(EvidenceResources::new(cores(), renders(settings), rendering(settings)))
}

/// Sources of files: these folders, and the hosts and buckets of the settings.
pub fn sources(
    settings: &Settings,
    environment: &Environment,
    roots: Vec<PathBuf>,
) -> Result<Arc<Sources>, AppError> {
    let files = &settings.files;
    let credentials = credentials(files, environment, !files.buckets.is_empty())?;
    let sources = Sources::open(Roots::new(roots), files, credentials);
    sources.map(Arc::new).map_err(AppError::invalid)
}

fn stage_settings(settings: &Settings) -> StageRules {
    let stages = &settings.stages;
    StageRules {
        compile_command: command(&stages.compile_command, stages.compile_timeout_seconds),
        pipeline_command: command(&stages.pipeline_command, stages.pipeline_timeout_seconds),
        render_command: command(&stages.render_command, stages.render_timeout_seconds),
    }
}

fn command(words: &[String], timeout_seconds: u64) -> Option<CommandSettings> {
    let (program, arguments) = words.split_first()?;
    let timeout = Duration::from_secs(timeout_seconds);
    Some(CommandSettings { program: program.clone(), arguments: arguments.to_vec(), timeout })
}
