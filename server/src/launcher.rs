//! The trait by which the server starts runs: in this process, or in a fleet.

use async_trait::async_trait;
use juror_types::{id::RunId, run::RunRecord, usage::Money};

/// After so many seconds it is worth asking again for what is not available now.
const AWAY_FOR: u64 = 10;

/// Estimates, begins, continues and cancels runs.
#[async_trait]
pub trait RunLauncher: Send + Sync {
    /// What a run of this would take. Asks no judge and costs nothing.
    async fn estimate(&self, asked: &RunSpecification) -> Result<RunEstimate, LaunchRefusal>;

    /// Begins a run, which goes on by itself; answers its name as soon as it has one and everything
    /// that can be checked without spending is checked.
    async fn start(&self, asked: &RunSpecification) -> Result<RunId, LaunchRefusal>;

    /// Goes on with a run that has jobs left to score, in a new round; a budget takes the place of
    /// the one that it has.
    async fn resume(&self, run: &RunId, budget_usd: Option<Money>) -> Result<(), LaunchRefusal>;

    /// Asks a run to stop and returns at once: calls in flight are finished, nothing new is begun.
    /// It can be resumed.
    async fn cancel(&self, run: &RunId) -> Result<(), LaunchRefusal>;

    /// Whether a running run was asked to stop here.
    fn is_cancelling(&self, run: &RunId) -> bool;

    /// Values that a request need not name.
    fn defaults(&self) -> RequestDefaults;

    /// What a fleet knows of a run of which nothing is in the runs directory yet; none if it knows
    /// none, or cannot be asked now.
    async fn awaited(&self, run: &RunId) -> Option<QueuedRun>;

    /// Datasets that may be named, each as [`RunSpecification::dataset`] names it, in order; at most some
    /// hundred of them.
    fn datasets(&self) -> Vec<String>;
}

/// A run that somebody asks for. It names no endpoint, key or command: those are the settings of
/// the process that judges.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunSpecification {
    /// A path relative to one of the folders that datasets may be in.
    pub dataset: String,
    /// A built-in rubric; none for the one that is set.
    pub rubric: Option<String>,
    /// Whether a vision model judges, which costs money.
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
    /// How many times each item is judged; none for what is set.
    pub repeat: Option<u32>,
    /// Requests per minute at most.
    pub rpm: Option<u64>,
    /// Tokens per minute at most.
    pub tpm: Option<u64>,
    /// Calls in flight at most.
    pub max_concurrency: Option<usize>,
    /// Whether what is judged is kept in the run directory; none for what is set.
    pub keep_inputs: Option<bool>,
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
    /// Whether what is judged is kept.
    pub keep_inputs: bool,
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
            Self::RunId => "run_id",
        }
    }
}

/// A run that a fleet has.
#[derive(Clone, Debug, PartialEq)]
pub struct QueuedRun {
    /// What it is.
    pub record: RunRecord,
    /// How many of its jobs have been published so far.
    pub published: u64,
}

/// What a run would take.
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
    /// How long it takes, probably, in seconds.
    pub expected_seconds: f64,
    /// What whoever starts it should know.
    pub warnings: Vec<String>,
}

/// Why something was not begun, by what whoever asked can do next.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LaunchRefusal {
    /// What was asked for cannot be had; the message says what to change.
    #[error("{0}")]
    Unusable(String),
    /// One field cannot be used; the message says what to change and does not name the field.
    #[error("{}: {message}", field.name())]
    Field {
        /// The field.
        field: RequestField,
        /// Description of the problem.
        message: String,
    },
    /// There is a run of this name.
    #[error("there is a run {0} already: take another run_id, or resume it")]
    NameTaken(RunId),
    /// There is no such run or dataset.
    #[error("{0}")]
    Unknown(String),
    /// It does not fit how things stand: the run goes on already, or is complete.
    #[error("{0}")]
    Conflict(String),
    /// Something that is needed is away; the same may work later.
    #[error("{0}")]
    Unavailable(String),
    /// An error of this process; the message is for its operator.
    #[error("{0}")]
    Broken(String),
}

impl LaunchRefusal {
    /// A refusal of one field.
    pub fn of_field(field: RequestField, message: impl Into<String>) -> Self {
        Self::Field { field, message: message.into() }
    }

    /// After how many seconds the same may work; none if it will not work by waiting.
    pub fn retry_after(&self) -> Option<u64> {
        matches!(self, Self::Unavailable(_)).then_some(AWAY_FOR)
    }
}
