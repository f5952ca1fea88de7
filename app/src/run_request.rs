//! Requests for runs by the API and the dashboard, and estimates of runs.

use juror_types::{evidence::EvidenceMode, id::RunId, lane::Lane, run::RunRecord, usage::Money};

/// Parameters of a run that the API or the dashboard requests. Endpoint, key and commands are not
/// among them: they come from the settings of the process that judges.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunRequest {
    /// Path of the dataset, relative to one of the data roots.
    pub dataset: String,
    /// Built-in rubric; `None` for that of the settings.
    pub rubric: Option<String>,
    /// True if a vision model judges, which costs money.
    pub enable_llm_judge: bool,
    /// Vision model; `None` for that of the settings.
    pub model: Option<String>,
    /// Lane of the calls; `None` for that of the settings.
    pub lane: Option<Lane>,
    /// Maximum cost of the run; required with the judge on.
    pub budget_usd: Option<Money>,
    /// Number of items in a random sample, after the filters.
    pub sample: Option<u64>,
    /// Seed of the sample; `None` for 0.
    pub seed: Option<u64>,
    /// Number of first items, after the filters and the sample.
    pub limit: Option<u64>,
    /// Conditions that items must all meet, each `KEY=VALUE`.
    pub filters: Vec<String>,
    /// Number of judgments of each item; `None` for that of the settings.
    pub repeat: Option<u32>,
    /// Maximum number of requests per minute.
    pub rpm: Option<u64>,
    /// Maximum number of tokens per minute.
    pub tpm: Option<u64>,
    /// Maximum number of calls in flight.
    pub max_concurrency: Option<usize>,
    /// True if the judged inputs are copied into the run directory; `None` for the setting.
    pub keep_inputs: Option<bool>,
    /// Mode of measured evidence; `None` for that of the settings.
    pub evidence: Option<EvidenceMode>,
    /// Run to compare with, by its id or blessed name; `None` for that of the settings.
    pub baseline: Option<String>,
    /// Id of the run; `None` for one made from date and time.
    pub run_id: Option<RunId>,
}

/// Values of the settings for omitted fields of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestDefaults {
    /// Name or path of the rubric.
    pub rubric: String,
    /// The vision model.
    pub model: String,
    /// Lane of the calls.
    pub lane: Lane,
    /// Number of judgments of each item.
    pub repeat: u32,
    /// True if the judged inputs are kept.
    pub keep_inputs: bool,
    /// Mode of measured evidence.
    pub evidence: EvidenceMode,
    /// Baseline, if one is set.
    pub baseline: Option<String>,
    /// Maximum budget of a run; none is unlimited.
    pub max_budget_usd: Option<Money>,
}

juror_types::named_enum! {
    /// A field of a run request.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[expect(missing_docs, reason = "each has the name of its field")]
    pub enum RequestField {
        Dataset = "dataset",
        Rubric = "rubric",
        EnableLlmJudge = "enable_llm_judge",
        Model = "model",
        Lane = "lane",
        BudgetUsd = "budget_usd",
        Sample = "sample",
        Seed = "seed",
        Limit = "limit",
        Filters = "filters",
        Repeat = "repeat",
        Rpm = "rpm",
        Tpm = "tpm",
        MaxConcurrency = "max_concurrency",
        KeepInputs = "keep_inputs",
        Evidence = "evidence",
        Baseline = "baseline",
        RunId = "run_id",
    }
}

/// A run of a fleet without a run directory yet.
#[derive(Clone, Debug, PartialEq)]
pub struct QueuedRun {
    /// Record of the run.
    pub record: RunRecord,
    /// Number of jobs that are published so far.
    pub published: u64,
}

/// Estimate of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunEstimate {
    /// Number of items.
    pub items: u64,
    /// Number of jobs.
    pub jobs: u64,
    /// Number of calls, without those whose reply is cached.
    pub calls: u64,
    /// Number of jobs whose reply is cached.
    pub cached: u64,
    /// Expected cost, based on earlier runs.
    pub expected_usd: Money,
    /// Maximum cost, with every possible retry.
    pub worst_case_usd: Money,
    /// Expected duration in seconds.
    pub expected_seconds: f64,
    /// Warnings to show before the start.
    pub warnings: Vec<String>,
}
