//! Outcome of a job, and its result.

mod batch_usage;
mod counts;
mod item_record;

pub use batch_usage::BatchUsage;
pub use counts::OutcomeCounts;
pub use item_record::{InputRecord, ItemRecord};

use crate::{
    SCHEMA,
    evidence::EvidenceOutcome,
    id::{JobId, RunId},
    job::{Job, Provider},
    lane::Lane,
    reference::shown,
    stage::{Generation, Retrieval, TokenExtraction},
    usage::{Money, Usage},
    verdict::Verdict,
};
use serde::{Deserialize, Serialize};

crate::serde_enum! {
    /// Outcome of a job.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    pub enum Outcome {
        /// Every requested stage that has data is done.
        Scored = "scored",
        /// The judge was requested, and there is nothing to judge: the pipeline made no code.
        NoOutput = "no_output",
        /// The judge's replies could not be used.
        Unscorable = "unscorable",
        /// The job could not be judged; see the kind of its error.
        Failed = "failed",
        /// The job was not tried: budget, deadline or cancellation.
        Skipped = "skipped",
    }
}

impl Outcome {
    /// The title in reports.
    pub fn label(self) -> &'static str {
        match self {
            Self::NoOutput => "no output",
            _ => self.name(),
        }
    }
}

/// Treatment of jobs without a verdict in a run's averages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CountAs {
    /// Such jobs are excluded from averages and shown in the coverage.
    #[default]
    Excluded,
    /// Such jobs count as zero.
    Zero,
}

crate::serde_enum! {
    /// Reason why a job is not scored, by the user's next step.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    pub enum ErrorKind {
        /// The vision API could not be reached or kept failing.
        Api = "api",
        /// The request is refused permanently: by the vision API, or before it is sent if it is too
        /// large.
        Request = "request",
        /// An image is missing, unreadable, or does not match the manifest's SHA-256.
        Image = "image",
        /// The item's code, tokens or other files could not be read.
        Input = "input",
        /// The user's pipeline command failed for this item.
        Pipeline = "pipeline",
        /// The user's pipeline made no code for this item.
        Output = "output",
        /// The job killed its workers repeatedly.
        Poison = "poison",
        /// The budget does not allow its call.
        Budget = "budget",
        /// The run's deadline came before its call.
        Deadline = "deadline",
        /// The run was cancelled before its turn.
        Cancelled = "cancelled",
        /// The judge's replies could not be used.
        Reply = "reply",
        /// The vision API refuses calls of this account (key, credit, permission, model).
        Account = "account",
    }
}

/// Failure of one job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobError {
    /// Kind of error.
    pub kind: ErrorKind,
    /// The problem, the place and the remedy.
    pub message: String,
}

/// The result of one job in one round: a line of `results.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobResult {
    /// Version of this record, [`SCHEMA`].
    pub schema: u32,
    /// Id of the run.
    pub run_id: RunId,
    /// Id of the job.
    pub job_id: JobId,
    /// The round in which it was judged.
    pub round: u32,
    /// The item's id.
    pub screenshot_id: String,
    /// Number of the item's repeat.
    pub repeat: u32,
    /// End of the job.
    pub outcome: Outcome,
    /// True if the item passed every stage with data; `None` if there was nothing to pass.
    pub pipeline_success: Option<bool>,
    /// Time from the job's start to its end, in milliseconds.
    pub total_latency_ms: u64,
    /// The item's data for grouping and searching.
    pub item: ItemRecord,
    /// Token extraction, if there was data.
    pub token_extraction: Option<TokenExtraction>,
    /// Retrieval, if there was data.
    pub retrieval: Option<Retrieval>,
    /// Generation, if there was data.
    pub generation: Option<Generation>,
    /// Measured evidence; `None` if it was not requested, and without code or a way to render it.
    pub evidence: Option<EvidenceOutcome>,
    /// Reason why evidence that was requested is missing although the item has code: a fault of
    /// this machine or a limit, not of the code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmeasured: Option<String>,
    /// The verdict; zero scores where the judge was requested and the job failed or had no output;
    /// none otherwise.
    pub semantic: Option<Verdict>,
    /// The judge; `None` with the judge off.
    pub judge: Option<JudgeRecord>,
    /// The judge's last reply, verbatim.
    pub reply: Option<String>,
    /// Tokens of all replies.
    pub usage: Usage,
    /// Cost of this job's calls in this round, without presumed spending.
    pub cost_usd: Money,
    /// Cost of the same calls by the price table; `None` unless a reply reported its own cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table_cost_usd: Option<Money>,
    /// Settled calls whose usage the provider did not report: they are booked at their maximum
    /// cost.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub unmetered_calls: u32,
    /// Usage of the batch that answered, where its provider's figure is not the sum of its rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_usage: Option<BatchUsage>,
    /// Expected cost of the first call; `None` if none was needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
    /// Number of calls, without rate-limited ones.
    pub attempts: u32,
    /// Lane of the call with the last reply.
    #[serde(default)]
    pub lane: Lane,
    /// True if the verdict came from the cache.
    pub cached: bool,
    /// The failure, for every outcome but `scored`.
    pub error: Option<JobError>,
}

/// Judge of a verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgeRecord {
    /// Provider whose API was called.
    pub provider: Provider,
    /// The requested model.
    pub model: String,
    /// The responding model and the fingerprint of its backend, as named in the reply.
    pub fingerprint: Option<String>,
    /// The model that replied in place of the requested one, by its own name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<String>,
    /// Base URL of the endpoint, without any key; `None` in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// True for the simulator.
    pub simulated: bool,
}

/// Expected cost of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Estimate {
    /// Expected cost.
    pub expected_usd: Money,
    /// Maximum cost.
    pub worst_case_usd: Money,
    /// Maximum cost of the job with all repeated calls.
    pub worst_job_usd: Money,
}

impl JobResult {
    /// Verdict of a scored job; `None` otherwise, since a failed job's zeros are placeholders.
    pub fn verdict(&self) -> Option<&Verdict> {
        self.semantic.as_ref().filter(|_| self.outcome == Outcome::Scored)
    }

    /// True if the simulator made up its verdict.
    pub fn is_simulated(&self) -> bool {
        self.judge.as_ref().is_some_and(|judge| judge.simulated)
    }

    /// True if the judge's reply could be used. `None` if the judge was not called, or where a
    /// refusal concerns this item only.
    pub fn has_usable_reply(&self) -> Option<bool> {
        if self.attempts == 0 || self.cached {
            return None;
        }
        match (self.outcome, self.error.as_ref().map(|error| error.kind)) {
            (Outcome::Scored, _) => Some(true),
            (Outcome::Unscorable, _) | (Outcome::Failed, Some(ErrorKind::Api)) => Some(false),
            _ => None,
        }
    }

    /// An otherwise empty result of this job with this outcome.
    pub fn empty(job: &Job, outcome: Outcome) -> Self {
        let images = job.item.images.iter();
        let images = images.map(|(name, image)| InputRecord::unread(name, shown(&image.reference)));
        let texts = InputRecord::TEXTS.into_iter().zip(job.item.text_paths());
        let texts = texts.filter_map(|(name, path)| {
            Some(InputRecord::unread(name, path?.map_or(InputRecord::INLINE.into(), shown)))
        });
        Self {
            schema: SCHEMA,
            run_id: job.run_id.clone(),
            job_id: job.job_id.clone(),
            round: job.round,
            screenshot_id: job.item.id.clone(),
            repeat: job.repeat,
            outcome,
            pipeline_success: None,
            total_latency_ms: 0,
            item: ItemRecord {
                tags: job.item.tags.clone(),
                cluster: job.item.cluster.clone(),
                labels: job.item.labels.clone(),
                metadata: job.item.metadata.clone(),
                style: job.item.style.clone(),
                language: None,
                expected_pattern: job.item.expected_pattern.clone(),
                inputs: images.chain(texts).collect(),
            },
            token_extraction: None,
            retrieval: None,
            generation: None,
            evidence: None,
            unmeasured: None,
            semantic: None,
            judge: None,
            reply: None,
            usage: Usage::default(),
            cost_usd: Money::ZERO,
            table_cost_usd: None,
            unmetered_calls: 0,
            batch_usage: None,
            estimate: None,
            attempts: 0,
            lane: Lane::Realtime,
            cached: false,
            error: None,
        }
    }
}
