//! Requests for runs, and what is known of a run before it begins.

use juror_types::{evidence::EvidenceMode, id::RunId, run::RunRecord, usage::Money};

/// A run that somebody asks for. It names no endpoint, key or command: those are the settings of
/// the process that judges.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunSpecification {
    /// A path relative to one of the folders that datasets may be in.
    pub dataset: String,
    /// A built-in rubric; none for the one that is set.
    pub rubric: Option<String>,
    /// True if a vision model judges, which costs money.
    pub enable_llm_judge: bool,
    /// The vision model; none for the one that is set.
    pub model: Option<String>,
    /// The most that the run may cost; required with the judge on.
    pub budget_usd: Option<Money>,
    /// Only so many items at random, after the filters.
    pub sample: Option<u64>,
    /// Seed of the sample; none for 0.
    pub seed: Option<u64>,
    /// Only the first so many items, after the filters and the sample.
    pub limit: Option<u64>,
    /// Only items for which all of these hold, each `KEY=VALUE`.
    pub filters: Vec<String>,
    /// Judgements of each item; none for what is set.
    pub repeat: Option<u32>,
    /// Requests per minute at most.
    pub rpm: Option<u64>,
    /// Tokens per minute at most.
    pub tpm: Option<u64>,
    /// Calls in flight at most.
    pub max_concurrency: Option<usize>,
    /// True if what is judged is kept in the run directory; none for what is set.
    pub keep_inputs: Option<bool>,
    /// Mode of measured evidence; none for that of the settings.
    pub evidence: Option<EvidenceMode>,
    /// Run to compare with, by the name that it is blessed by or by its id; none for what is set.
    pub baseline: Option<String>,
    /// Name of the run; none for one that is made from date and time.
    pub run_id: Option<RunId>,
}

/// Values of the settings for what a request leaves out.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestDefaults {
    /// Name or path of the rubric.
    pub rubric: String,
    /// The vision model.
    pub model: String,
    /// Number of judgements of each item.
    pub repeat: u32,
    /// True if what is judged is kept.
    pub keep_inputs: bool,
    /// Mode of measured evidence.
    pub evidence: EvidenceMode,
    /// Run that runs are compared with, if one is set.
    pub baseline: Option<String>,
    /// The most that a run may ask for as its budget; none is unlimited.
    pub max_budget_usd: Option<Money>,
}

/// A field of a run request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is named as the field of the request is")]
pub enum RequestField {
    Dataset,
    Rubric,
    Model,
    BudgetUsd,
    Sample,
    Seed,
    Limit,
    Filters,
    Repeat,
    Rpm,
    Tpm,
    MaxConcurrency,
    KeepInputs,
    Evidence,
    Baseline,
    RunId,
}

impl RequestField {
    /// The field's name in the API and in the form.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dataset => "dataset",
            Self::Rubric => "rubric",
            Self::Model => "model",
            Self::BudgetUsd => "budget_usd",
            Self::Sample => "sample",
            Self::Seed => "seed",
            Self::Limit => "limit",
            Self::Filters => "filters",
            Self::Repeat => "repeat",
            Self::Rpm => "rpm",
            Self::Tpm => "tpm",
            Self::MaxConcurrency => "max_concurrency",
            Self::KeepInputs => "keep_inputs",
            Self::Evidence => "evidence",
            Self::Baseline => "baseline",
            Self::RunId => "run_id",
        }
    }
}

/// A run that a fleet has.
#[derive(Clone, Debug, PartialEq)]
pub struct QueuedRun {
    /// Its record.
    pub record: RunRecord,
    /// Jobs of it that have been published so far.
    pub published: u64,
}

/// Estimate of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEstimate {
    /// Items that would be judged.
    pub items: u64,
    /// Jobs that they make.
    pub jobs: u64,
    /// Calls that would go out; answers in the cache need none.
    pub calls: u64,
    /// Jobs whose answer is in the cache.
    pub cached: u64,
    /// Cost, probably, by what earlier runs have shown.
    pub expected_usd: Money,
    /// Cost at most, with every call that may be repeated.
    pub worst_case_usd: Money,
    /// Probable duration in seconds.
    pub expected_seconds: f64,
    /// Warnings for those who start it.
    pub warnings: Vec<String>,
}
