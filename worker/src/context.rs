//! Context of a run's jobs: everything that they need and do not carry themselves.

use crate::{
    batch_lane::BatchLane,
    billing::CallPricing,
    ceiling::Ceiling,
    circuit_breaker::CircuitBreaker,
    concurrency::Concurrency,
    cost_bounds::ModelTerms,
    evidence_resources::EvidenceResources,
    image::{ImageRules, Preparer},
    isolation::IsolationGate,
    prompt::Instructions,
    sources::Sources,
    stages::StageRules,
    token_count::TokenCounter,
    token_scale::TokenScale,
    vision::{BatchProvider, VisionClient},
};
use juror_files::kept_inputs::KeptInputs;
use juror_ledger::{
    admission::{Admission, AdmissionQueue, TokenCounting},
    store::Store,
};
use juror_telemetry::Metrics;
use juror_types::{
    event::Events,
    id::OwnerId,
    rubric::{Rubric, Success},
    shutdown::Shutdown,
    stage::Thresholds,
};
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;

/// Context that all jobs of one run share. Rubric, judge and signals are the run's own; the rest is
/// the worker's, and shared by the contexts of all of its runs.
pub struct Context {
    /// Admission of calls.
    pub admission: Arc<dyn Admission>,
    /// Where calls wait until they are admitted.
    pub waiting: Arc<AdmissionQueue>,
    /// Time that a delivery may be held before its next call: a job that has waited for so long is
    /// put back, to be tried again later. None: for as long as it takes.
    pub max_wait: Option<Duration>,
    /// Claims, finished jobs and cached replies.
    pub store: Arc<dyn Store>,
    /// The rubric of the run.
    pub rubric: Arc<Rubric>,
    /// When an item passes the judge.
    pub success: Success,
    /// When an item passes the deterministic stages.
    pub thresholds: Thresholds,
    /// Rules of the deterministic stages.
    pub stages: StageRules,
    /// Resources of measuring that runs share, with the place of kept renders.
    pub evidence: Arc<EvidenceResources>,
    /// Where files may be read from.
    pub sources: Arc<Sources>,
    /// Where the run keeps what is judged; none if it keeps nothing.
    pub kept_inputs: Option<KeptInputs>,
    /// The judge; none where it is off.
    pub judge: Option<Arc<JudgeSetup>>,
    /// Terms on which calls are bought in batches; none where they are not.
    pub batches: Option<Arc<BatchLane>>,
    /// Number of jobs in hand at once.
    pub concurrency: Concurrency,
    /// Keeps jobs alone that may have killed their worker.
    pub isolation: Arc<IsolationGate>,
    /// Asks this run's jobs to stop; a pause gives `drain`, so that nobody else meets the same
    /// refusal.
    pub shutdown: Shutdown,
    /// This process, as holder of claims and leases.
    pub owner: OwnerId,
    /// Listeners.
    pub events: Events,
    /// Counters of jobs and calls.
    pub metrics: Arc<Metrics>,
    /// Decides when calls of this run come to nothing.
    pub breaker: CircuitBreaker,
    /// No call of this run begins after it; none if the run has no deadline.
    pub run_deadline: Option<Instant>,
}

impl Context {
    /// Whether the run's deadline has come.
    pub fn deadline_passed(&self) -> bool {
        self.run_deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// This worker's way to ask the judge: endpoint, key and limits are its own, never a job's.
pub struct JudgeSetup {
    /// The vision API.
    pub client: Arc<dyn VisionClient>,
    /// Its batches; none where it has none.
    pub batches: Option<Arc<dyn BatchProvider>>,
    /// Whose rate limits calls count against: provider, base URL and model.
    pub endpoint: String,
    /// The address without its key; part of a question's identity.
    pub base_url: String,
    /// Facts about the model.
    pub terms: ModelTerms,
    /// Prices of calls.
    pub pricing: CallPricing,
    /// Whether a run pauses as soon as another model answers than the one that was asked for.
    pub refuse_other_model: bool,
    /// The provider's count of input tokens, as far as its bills have told.
    pub token_scale: TokenScale,
    /// Which tokens of a request it counts against its limit.
    pub token_count: TokenCounter,
    /// The rubric's text for the judge at every question.
    pub instructions: Instructions,
    /// Prepares images off the async threads.
    pub preparer: Preparer,
    /// The provider's rules for images.
    pub rules: ImageRules,
    /// Whether questions that were asked before are answered from the cache.
    pub cache: bool,
    /// This process's own ceiling on calls per second.
    pub ceiling: Arc<Ceiling>,
}

impl JudgeSetup {
    /// Counts tokens as other processes have learned.
    pub fn adopt(&self, counting: TokenCounting) {
        self.token_count.adopt(counting);
        if let Some(scale) = counting.input_scale {
            self.token_scale.adopt(scale);
        }
    }
}
