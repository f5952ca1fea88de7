//! The context of a process that judges one run of this machine.

use super::run_setup::RunSetup;
use crate::{
    cores::cores,
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
use std::sync::Arc;

pub fn for_run(
    setup: &RunSetup,
    backend: &Arc<SqliteLedger>,
    judge: Option<Arc<JudgeSetup>>,
    evidence: Arc<EvidenceResources>,
) -> Result<RunContext, AppError> {
    let settings = &setup.settings;
    let concurrency = match (settings.limits.max_concurrency, &judge) {
        (Some(limit), _) => Concurrency::fixed(limit),
        (None, Some(_)) => Concurrency::adaptive(),
        (None, None) => Concurrency::fixed(cores()),
    };
    let resources = WorkerResources {
        backend: Arc::clone(backend),
        waiting: Arc::new(AdmissionQueue::new()),
        max_wait: None,
        evidence,
        sources: sources(settings, &setup.environment, setup.data_roots())?,
        concurrency,
        isolation: Arc::default(),
        owner: OwnerId::random(),
        events: Events::silent(),
        metrics: Arc::new(Metrics::silent()),
    };
    Ok(resources.context(settings, setup.rubric.clone(), judge, Shutdown::new()))
}
