//! Context of a run's jobs: settings and services that the jobs themselves do not carry.

use crate::{
    batch_lane::BatchLane,
    call_bill::CallPricing,
    circuit_breaker::CircuitBreaker,
    concurrency::Concurrency,
    cost_bounds::ModelTerms,
    evidence_resources::{EvidenceResources, EvidenceWarnings},
    interruption::Interruption,
    per_second_limiter::PerSecondLimiter,
    poison_job::IsolationGate,
    prompt::Instructions,
    run_deadline::RunDeadline,
    sources::Sources,
    stages::StageRules,
    token_count::TokenCounter,
    token_count_scale::TokenScale,
    vision::{BatchProvider, VisionClient},
};
use juror_files::kept_inputs::KeptInputs;
use juror_image::{ImageRules, PreparationPool};
use juror_ledger::{
    admission::{Admission, AdmissionQueue, AdmissionRequest, TokenCounting},
    batches::ROWS_OWNER,
    job_store::JobStore,
};
use juror_telemetry::Metrics;
use juror_types::{
    event::{Event, Events},
    id::{LeaseId, OwnerId, RunId},
    job::Job,
    rubric::{Rubric, Success},
    shutdown::Shutdown,
    usage::Money,
};
use std::{sync::Arc, time::Duration};

/// Context shared by all jobs of one run. Rubric, judge and signals belong to the run; the rest
/// belongs to the worker and is shared by the contexts of all its runs.
pub struct RunContext {
    /// Admission of calls.
    pub admission: Arc<dyn Admission>,
    /// Queue of calls that wait for admission.
    pub waiting: Arc<AdmissionQueue>,
    /// Time that a delivery may be held before its next call; after that, the job is requeued and
    /// tried later. `None` for no limit.
    pub max_wait: Option<Duration>,
    /// Store of claims, finished jobs and cached replies.
    pub store: Arc<dyn JobStore>,
    /// The rubric of the run.
    pub rubric: Arc<Rubric>,
    /// Conditions under which an item passes the judge.
    pub success: Success,
    /// Exclusive minimum of token accuracy for an item to pass the deterministic stages.
    pub token_accuracy: f64,
    /// Rules of the deterministic stages.
    pub stages: StageRules,
    /// Resources for measuring that runs share, with the place of kept renders.
    pub evidence: Arc<EvidenceResources>,
    /// Warnings of the run that items are not measured.
    pub evidence_warnings: EvidenceWarnings,
    /// Sources that files may be read from.
    pub sources: Arc<Sources>,
    /// Folder of kept inputs; `None` if the run keeps none.
    pub kept_inputs: Option<KeptInputs>,
    /// The judge; `None` if it is off.
    pub judge: Option<Arc<JudgeSetup>>,
    /// Terms on which calls are bought in batches; `None` if they are not.
    pub batches: Option<Arc<BatchLane>>,
    /// Limit on jobs in progress.
    pub concurrency: Concurrency,
    /// Gate that isolates jobs which may have killed their worker.
    pub isolation: Arc<IsolationGate>,
    /// Stop signal of this run's jobs; a pause triggers `drain`, so that no other job meets the
    /// same refusal.
    pub shutdown: Shutdown,
    /// This process, as holder of claims and leases.
    pub owner: OwnerId,
    /// Sender of events.
    pub events: Events,
    /// Counters of jobs and calls.
    pub metrics: Arc<Metrics>,
    /// Circuit breaker of the run's calls.
    pub breaker: CircuitBreaker,
    /// Time after which no call of this run begins.
    pub run_deadline: RunDeadline,
}

impl RunContext {
    /// Emits a warning about the run's evidence, unless the run had it before.
    pub(crate) async fn warn_of_evidence(&self, warning: String) {
        if self.evidence_warnings.is_new(&warning) {
            self.events.emit(Event::Warning(warning)).await;
        }
    }

    /// The judge of a run that has batches.
    pub(crate) fn judge_of_batches(&self) -> Result<&JudgeSetup, Interruption> {
        let missing = || Interruption::UnknownRun("batches need a judge".to_owned());
        self.judge.as_deref().ok_or_else(missing)
    }

    /// True for a job past its run's deadline, which is skipped: that needs no renderer.
    pub(crate) fn is_overdue(&self, job: &Job) -> bool {
        job.judge.is_some() && self.run_deadline.has_passed()
    }

    /// True for a job of a fleet whose code this process can no longer render.
    pub(crate) fn leaves_rendering_to_others(&self, job: &Job) -> bool {
        let is_of_fleet = self.max_wait.is_some();
        is_of_fleet
            && job.needs_rendering()
            && self.evidence.is_renderer_broken()
            && !self.is_overdue(job)
    }
}

/// This worker's access to the judge: endpoint, key and limits come from the worker's settings,
/// never from a job.
pub struct JudgeSetup {
    /// The vision API.
    pub client: Arc<dyn VisionClient>,
    /// Batches of the API; `None` if it has none.
    pub batches: Option<Arc<dyn BatchProvider>>,
    /// Key under which calls count against rate limits: provider, base URL and model.
    pub endpoint: String,
    /// The address without its key; part of a request's identity.
    pub base_url: String,
    /// Facts about the model.
    pub terms: ModelTerms,
    /// Prices of calls.
    pub pricing: CallPricing,
    /// True if a reply of another model than the requested one pauses the run.
    pub refuse_other_model: bool,
    /// Ratio of the provider's count of input tokens to the expected one, learned from bills.
    pub token_scale: TokenScale,
    /// Rule by which the provider counts a request's tokens against its limit.
    pub token_count: TokenCounter,
    /// The rubric's instructions, part of every request.
    pub instructions: Instructions,
    /// Image preparation, off the async threads.
    pub image_preparation: PreparationPool,
    /// The provider's rules for images.
    pub rules: ImageRules,
    /// True if equal requests use cached replies.
    pub cache: bool,
    /// This process's own ceiling on calls per second.
    pub ceiling: Arc<PerSecondLimiter>,
}

impl JudgeSetup {
    /// Request for the money of rows in a batch. Batches have separate limits, which the provider
    /// reports when one is created, so rows count under a key of their own and for no tokens.
    pub(crate) fn row_admission(
        &self,
        run: &RunId,
        lease: LeaseId,
        worst_cost: Money,
    ) -> AdmissionRequest {
        AdmissionRequest {
            lease,
            owner: OwnerId::new(ROWS_OWNER),
            run: run.clone(),
            endpoint: format!("{} (batches)", self.endpoint),
            input_tokens: 0,
            max_output_tokens: 0,
            worst_cost,
        }
    }

    /// Adopts the rules of counting tokens that other processes have learned.
    pub fn apply_shared(&self, counting: TokenCounting) {
        self.token_count.apply_shared(counting);
        if let Some(scale) = counting.input_scale {
            self.token_scale.apply_shared(scale);
        }
    }
}
