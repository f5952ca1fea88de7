//! Definitions of all metrics: names, labels and help texts, as in the table of `docs/metrics.md`.

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
        /// All metrics.
        #[cfg(test)]
        pub(super) const DESCRIPTIONS: &[Description] = &[$($constant),*];
    };
}

describe! {
    JOBS = "juror_jobs_total" ["outcome", "error"],
        "Jobs that this worker finished, by outcome and kind of error.";
    JOB_SECONDS = "juror_job_duration_seconds" ["outcome"],
        "Duration of jobs on this worker, from claim to outcome.";
    JOBS_IN_PROGRESS = "juror_jobs_in_progress" [],
        "Jobs in progress on this worker.";
    CALLS = "juror_calls_total" ["model", "result"],
        "Calls to the vision API, by result.";
    CALL_SECONDS = "juror_call_seconds" ["model", "result"],
        "Duration of calls.";
    CALLS_IN_FLIGHT = "juror_calls_in_flight" [],
        "Calls in flight.";
    BATCH_SHARDS = "juror_batch_shards_total" ["event"],
        "Shards of batched calls, by event in this process.";
    BATCH_ROWS = "juror_batch_rows_total" ["model", "end"],
        "Calls that were bought in batches, by result.";
    TOKENS = "juror_tokens_total" ["model", "kind"],
        "Tokens that were billed: input (including cached ones), cached_input, output.";
    COST = "juror_cost_usd_total" ["model", "certainty"],
        "US dollars: billed, or presumed spent at worst case on calls whose reply was lost.";
    ADMISSION_WAIT = "juror_admission_wait_seconds" ["reason"],
        "Waiting time of admitted calls, by the last reason to wait.";
    ADMISSION_WAITING = "juror_admission_waiting" [],
        "Calls that wait for admission.";
    EVIDENCE_SECONDS = "juror_evidence_seconds" ["found"],
        "Duration of rendering and measuring items, including waiting, by finding.";
    RESULTS = "juror_results_total" ["outcome"],
        "Results that this aggregator committed to a journal.";
    REDELIVERIES = "juror_redeliveries_total" ["message"],
        "Redelivered messages.";
    DUPLICATES = "juror_duplicates_total" ["message"],
        "Duplicate messages: jobs already finished, results already committed.";
    QUEUE_DEPTH = "juror_queue_depth" ["queue"],
        "Ready messages in a queue; absent while the broker is unreachable.";
    BUDGET_LEFT = "juror_budget_remaining_usd" ["scope"],
        "Remaining budget in US dollars; absent without a cap.";
}

/// Bucket bounds of durations in seconds, from a cached stage to a slow model's timeout.
const SECONDS: [f64; 12] = [0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0];
/// Bucket bounds of waits in seconds, from immediate admission to an hour, at which a run is
/// paused.
const WAITS: [f64; 10] = [0.01, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3_600.0];

/// The metrics of one process.
#[derive(Debug)]
pub(super) struct MetricFamilies {
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

impl MetricFamilies {
    /// Registers all metrics.
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
