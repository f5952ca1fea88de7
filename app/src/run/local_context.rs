//! The context of a process that judges one run of this machine.

use super::run_setup::RunSetup;
use crate::{
    error::AppError,
    worker_resources::{WorkerResources, sources},
};
use juror_ledger::{admission::AdmissionQueue, sqlite::SqliteLedger};
use juror_telemetry::Metrics;
use juror_types::{event::Events, id::OwnerId, shutdown::Shutdown};
use juror_worker::{
    concurrency::Concurrency,
    evidence_resources::EvidenceResources,
    run_context::{JudgeSetup, RunContext},
};
use std::{path::PathBuf, sync::Arc, thread::available_parallelism};

/// The context of a process that judges a single run.
pub fn for_run(
    setup: &RunSetup,
    backend: &Arc<SqliteLedger>,
    judge: Option<Arc<JudgeSetup>>,
    evidence: Arc<EvidenceResources>,
) -> Result<RunContext, AppError> {
    let settings = &setup.settings;
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
        evidence,
        sources: sources(settings, &setup.environment, roots(setup))?,
        concurrency,
        isolation: Arc::default(),
        owner: OwnerId::random(),
        events: Events::silent(),
        metrics: Arc::new(Metrics::silent()),
    };
    Ok(resources.context(settings, setup.rubric.clone(), judge, Shutdown::new()))
}

/// The folders that files of a setup's dataset are read in.
pub fn roots(setup: &RunSetup) -> Vec<PathBuf> {
    let folder = setup.dataset.folder().to_owned();
    [folder].into_iter().chain(setup.settings.files.data_roots.iter().cloned()).collect()
}
