//! Every metric: its name, its labels, what it tells. The table in `docs/metrics.md` says the same.

use prometheus::{
    CounterVec, GaugeVec, HistogramOpts, HistogramVec, IntCounterVec, IntGauge, IntGaugeVec, Opts,
    Registry, core::Collector,
};

/// Name and help of a metric. Values of labels are bounded sets.
pub(super) struct Description {
    pub(super) name: &'static str,
    pub(super) labels: &'static [&'static str],
    pub(super) meaning: &'static str,
}

macro_rules! describe {
    ($($constant:ident = $name:literal $labels:expr, $meaning:literal;)*) => {
        $(const $constant: Description =
            Description { name: $name, labels: &$labels, meaning: $meaning };)*
        /// All of them.
        #[cfg(test)]
        pub(super) const DESCRIPTIONS: &[Description] = &[$($constant),*];
    };
}

describe! {
    JOBS = "juror_jobs_total" ["outcome", "error"],
        "Jobs that this worker finished, by outcome and kind of error.";
    JOB_SECONDS = "juror_job_duration_seconds" ["outcome"],
        "How long this worker had a job, from claim to outcome.";
    JOBS_IN_PROGRESS = "juror_jobs_in_progress" [],
        "Jobs that this worker holds now.";
    CALLS = "juror_calls_total" ["model", "result"],
        "Calls to the vision API, by how they ended.";
    CALL_SECONDS = "juror_call_seconds" ["model", "result"],
        "How long calls took.";
    CALLS_IN_FLIGHT = "juror_calls_in_flight" [],
        "Calls under way now.";
    BATCH_SHARDS = "juror_batch_shards_total" ["event"],
        "Shards of calls that are bought in batches, by what became of them in this process.";
    BATCH_ROWS = "juror_batch_rows_total" ["model", "end"],
        "Calls that were bought in batches, by how they ended.";
    TOKENS = "juror_tokens_total" ["model", "kind"],
        "Tokens that were billed: input (cached ones included), cached_input, output.";
    COST = "juror_cost_usd_total" ["model", "certainty"],
        "US dollars: billed, or presumed spent at worst case on calls whose answer was lost.";
    ADMISSION_WAIT = "juror_admission_wait_seconds" ["reason"],
        "How long admitted calls had waited, by what stood in their way last.";
    ADMISSION_WAITING = "juror_admission_waiting" [],
        "Calls that wait for admission now.";
    EVIDENCE_SECONDS = "juror_evidence_seconds" ["found"],
        "How long items took to be rendered and measured, waiting included, by what was found.";
    RESULTS = "juror_results_total" ["outcome"],
        "Results that this aggregator committed to a journal.";
    REDELIVERIES = "juror_redeliveries_total" ["message"],
        "Messages that came although they had been delivered before.";
    DUPLICATES = "juror_duplicates_total" ["message"],
        "Messages that told nothing new: jobs that were finished, results that were committed.";
    QUEUE_DEPTH = "juror_queue_depth" ["queue"],
        "Messages that are ready in a queue; absent while the broker is away.";
    BUDGET_LEFT = "juror_budget_remaining_usd" ["scope"],
        "US dollars that may still be promised to calls; absent where there is no cap.";
}

/// Upper bounds in seconds, from a stage on a warm cache to a slow model's timeout.
const SECONDS: [f64; 12] = [0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0];
/// Upper bounds in seconds, from an admission at once to an hour, at which a run is paused.
const WAITS: [f64; 10] = [0.01, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3_600.0];

/// The metrics of one process.
#[derive(Debug)]
pub(super) struct Families {
    pub(super) registry: Registry,
    pub(super) jobs: IntCounterVec,
    pub(super) job_seconds: HistogramVec,
    pub(super) jobs_in_progress: IntGauge,
    pub(super) calls: IntCounterVec,
    pub(super) call_seconds: HistogramVec,
    pub(super) calls_in_flight: IntGauge,
    pub(super) batch_shards: IntCounterVec,
    pub(super) batch_rows: IntCounterVec,
    pub(super) tokens: IntCounterVec,
    pub(super) cost: CounterVec,
    pub(super) admission_wait: HistogramVec,
    pub(super) admission_waiting: IntGauge,
    pub(super) evidence_seconds: HistogramVec,
    pub(super) results: IntCounterVec,
    pub(super) redeliveries: IntCounterVec,
    pub(super) duplicates: IntCounterVec,
    pub(super) queue_depth: IntGaugeVec,
    pub(super) budget_left: GaugeVec,
}

impl Families {
    /// Registers all of them.
    pub(super) fn register() -> prometheus::Result<Self> {
        let all = Registry::new();
        Ok(Self {
            jobs: add(&all, IntCounterVec::new(JOBS.options(), JOBS.labels))?,
            job_seconds: add(&all, JOB_SECONDS.histogram(&SECONDS))?,
            jobs_in_progress: add(&all, IntGauge::with_opts(JOBS_IN_PROGRESS.options()))?,
            calls: add(&all, IntCounterVec::new(CALLS.options(), CALLS.labels))?,
            call_seconds: add(&all, CALL_SECONDS.histogram(&SECONDS))?,
            calls_in_flight: add(&all, IntGauge::with_opts(CALLS_IN_FLIGHT.options()))?,
            batch_shards: add(
                &all,
                IntCounterVec::new(BATCH_SHARDS.options(), BATCH_SHARDS.labels),
            )?,
            batch_rows: add(&all, IntCounterVec::new(BATCH_ROWS.options(), BATCH_ROWS.labels))?,
            tokens: add(&all, IntCounterVec::new(TOKENS.options(), TOKENS.labels))?,
            cost: add(&all, CounterVec::new(COST.options(), COST.labels))?,
            admission_wait: add(&all, ADMISSION_WAIT.histogram(&WAITS))?,
            admission_waiting: add(&all, IntGauge::with_opts(ADMISSION_WAITING.options()))?,
            evidence_seconds: add(&all, EVIDENCE_SECONDS.histogram(&SECONDS))?,
            results: add(&all, IntCounterVec::new(RESULTS.options(), RESULTS.labels))?,
            redeliveries: add(
                &all,
                IntCounterVec::new(REDELIVERIES.options(), REDELIVERIES.labels),
            )?,
            duplicates: add(&all, IntCounterVec::new(DUPLICATES.options(), DUPLICATES.labels))?,
            queue_depth: add(&all, IntGaugeVec::new(QUEUE_DEPTH.options(), QUEUE_DEPTH.labels))?,
            budget_left: add(&all, GaugeVec::new(BUDGET_LEFT.options(), BUDGET_LEFT.labels))?,
            registry: all,
        })
    }
}

impl Description {
    fn options(&self) -> Opts {
        Opts::new(self.name, self.meaning)
    }

    fn histogram(&self, bounds: &[f64]) -> prometheus::Result<HistogramVec> {
        let options = HistogramOpts::new(self.name, self.meaning).buckets(bounds.to_vec());
        HistogramVec::new(options, self.labels)
    }
}

fn add<C: Collector + Clone + 'static>(
    registry: &Registry,
    collector: prometheus::Result<C>,
) -> prometheus::Result<C> {
    let collector = collector?;
    registry.register(Box::new(collector.clone()))?;
    Ok(collector)
}
