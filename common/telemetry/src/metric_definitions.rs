//! Definitions of all metrics: names, labels and help texts, as in the table of `docs/metrics.md`.

use prometheus::{
    CounterVec, GaugeVec, HistogramOpts, HistogramVec, IntCounterVec, IntGauge, IntGaugeVec, Opts,
    Registry,
};

/// Bucket bounds of durations in seconds, from a cached stage to a slow model's timeout.
const SECONDS: [f64; 12] = [0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0];
/// Bucket bounds of waits in seconds, from immediate admission to an hour, at which a run is
/// paused.
const WAITS: [f64; 10] = [0.01, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3_600.0];

macro_rules! metric_families {
    ($(
        $field:ident: $kind:ident $(($bounds:ident))? = $name:literal $labels:expr,
            $meaning:literal;
    )*) => {
        /// The metrics of one process. Values of labels are bounded sets.
        #[derive(Debug)]
        pub(super) struct MetricFamilies {
            pub(super) registry: Registry,
            $(pub(super) $field: $kind,)*
        }

        impl MetricFamilies {
            /// Registers all metrics.
            pub(super) fn register() -> prometheus::Result<Self> {
                let registry = Registry::new();
                $(
                    let options = Opts::new($name, $meaning);
                    let $field = metric_families!(@$kind $($bounds)?, options, &$labels)?;
                    registry.register(Box::new($field.clone()))?;
                )*
                Ok(Self { registry, $($field),* })
            }
        }

        /// Names and labels of all metrics.
        #[cfg(test)]
        pub(super) const NAMES: &[(&str, &[&str])] = &[$(($name, &$labels)),*];
    };
    (@IntGauge, $options:expr, $labels:expr) => {
        IntGauge::with_opts($options)
    };
    (@HistogramVec $bounds:ident, $options:expr, $labels:expr) => {
        HistogramVec::new(HistogramOpts::from($options).buckets($bounds.to_vec()), $labels)
    };
    (@$kind:ident, $options:expr, $labels:expr) => {
        $kind::new($options, $labels)
    };
}

metric_families! {
    jobs: IntCounterVec = "juror_jobs_total" ["outcome", "error"],
        "Jobs that this worker finished, by outcome and kind of error.";
    job_seconds: HistogramVec(SECONDS) = "juror_job_duration_seconds" ["outcome"],
        "Duration of jobs on this worker, from claim to outcome.";
    jobs_in_progress: IntGauge = "juror_jobs_in_progress" [],
        "Jobs in progress on this worker.";
    calls: IntCounterVec = "juror_calls_total" ["model", "result"],
        "Calls to the vision API, by result.";
    call_seconds: HistogramVec(SECONDS) = "juror_call_seconds" ["model", "result"],
        "Duration of calls.";
    calls_in_flight: IntGauge = "juror_calls_in_flight" [],
        "Calls in flight.";
    batch_shards: IntCounterVec = "juror_batch_shards_total" ["event"],
        "Shards of batched calls, by event in this process.";
    batch_rows: IntCounterVec = "juror_batch_rows_total" ["model", "end"],
        "Calls that were bought in batches, by result.";
    tokens: IntCounterVec = "juror_tokens_total" ["model", "kind"],
        "Tokens that were billed: input (including cached ones), cached_input, output.";
    cost: CounterVec = "juror_cost_usd_total" ["model", "certainty"],
        "US dollars: billed, or presumed spent at worst case on calls whose reply was lost.";
    admission_wait: HistogramVec(WAITS) = "juror_admission_wait_seconds" ["reason"],
        "Waiting time of admitted calls, by the last reason to wait.";
    admission_waiting: IntGauge = "juror_admission_waiting" [],
        "Calls that wait for admission.";
    evidence_seconds: HistogramVec(SECONDS) = "juror_evidence_seconds" ["found"],
        "Duration of rendering and measuring items, including waiting, by finding.";
    results: IntCounterVec = "juror_results_total" ["outcome"],
        "Results that this aggregator committed to a journal.";
    redeliveries: IntCounterVec = "juror_redeliveries_total" ["message"],
        "Redelivered messages.";
    duplicates: IntCounterVec = "juror_duplicates_total" ["message"],
        "Duplicate messages: jobs already finished, results already committed.";
    queue_depth: IntGaugeVec = "juror_queue_depth" ["queue"],
        "Ready messages in a queue; absent while the broker is unreachable.";
    budget_left: GaugeVec = "juror_budget_remaining_usd" ["scope"],
        "Remaining budget in US dollars; absent without a cap.";
}
