//! What a worker works with: everything that a job does not carry.

use crate::{
    bounds::ModelTerms, ceiling::Ceiling, company::Company, concurrency::Concurrency, files::Roots,
    image::Preparer, image::Rules, stages::StageSettings, token_scale::TokenScale,
    vision::VisionClient,
};
use juror_common::{
    admission::{Admission, WaitingRoom},
    event::Events,
    id::OwnerId,
    job::Job,
    outcome::JobResult,
    queue::Queue,
    rubric::{Rubric, Success},
    stage::Thresholds,
    store::Store,
};
use std::sync::Arc;

/// The worker's resources, shared by all of its jobs.
pub struct Context {
    /// Where jobs come from.
    pub jobs: Arc<dyn Queue<Job>>,
    /// Where results go.
    pub results: Arc<dyn Queue<JobResult>>,
    /// Who decides whether a call may go out.
    pub admission: Arc<dyn Admission>,
    /// Where calls wait until they are admitted.
    pub waiting: WaitingRoom,
    /// Claims, finished jobs and cached replies.
    pub store: Arc<dyn Store>,
    /// The rubric of the run.
    pub rubric: Arc<Rubric>,
    /// When an item passes the judge.
    pub success: Success,
    /// When an item passes the deterministic stages.
    pub thresholds: Thresholds,
    /// How the deterministic stages run.
    pub stages: StageSettings,
    /// Which files may be opened.
    pub roots: Roots,
    /// The judge; none where it is off.
    pub judge: Option<Arc<JudgeSetup>>,
    /// How many jobs are in hand at once.
    pub concurrency: Concurrency,
    /// Keeps jobs alone that may have killed their worker.
    pub company: Company,
    /// This process, as holder of claims and leases.
    pub owner: OwnerId,
    /// Who listens.
    pub events: Events,
}

/// How this worker asks the judge: endpoint, key and limits are its own, never a job's.
pub struct JudgeSetup {
    /// The vision API.
    pub client: Arc<dyn VisionClient>,
    /// Whose rate limits calls count against: provider, base URL and model.
    pub endpoint: String,
    /// The address without its key; part of a question's identity.
    pub base_url: String,
    /// What is known of the model.
    pub terms: ModelTerms,
    /// How the provider counts input tokens, as far as its bills have told.
    pub token_scale: TokenScale,
    /// The strict JSON Schema of the reply, as JSON.
    pub schema: Arc<str>,
    /// Prepares images off the async threads.
    pub preparer: Preparer,
    /// What the provider takes of images.
    pub rules: Rules,
    /// Whether questions that were asked before are answered from the cache.
    pub cache: bool,
    /// This process's own ceiling on calls per second.
    pub ceiling: Ceiling,
}
