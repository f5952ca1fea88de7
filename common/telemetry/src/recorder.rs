//! Recording of metrics by the roles.

use super::{
    metric_definitions::MetricFamilies,
    metric_labels::{
        BudgetScope, CallCost, CallResult, EvidenceFinding, FirstNames, MessageKind, ShardEvent,
    },
};
use juror_types::{
    outcome::{JobResult, Outcome},
    usage::Money,
    wait_reason::WaitReason,
};
use prometheus::{IntGauge, TextEncoder};
use std::time::Duration;

/// The metrics of one process, shared by its roles. The default is silent: it records nothing and
/// costs next to nothing.
#[derive(Debug, Default)]
pub struct Metrics(Option<Recording>);

/// An operation in progress, counted until this is dropped.
#[derive(Debug)]
#[must_use = "the operation counts as finished when this is dropped"]
pub struct Ongoing(Option<IntGauge>);

impl Metrics {
    /// Recorded metrics, all at zero.
    #[expect(
        clippy::expect_used,
        reason = "names and labels are constants, which a test registers"
    )]
    pub fn recording() -> Self {
        let families = MetricFamilies::register().expect("valid names");
        Self(Some(Recording { families, models: FirstNames::default() }))
    }

    /// Metrics that are not recorded.
    pub fn silent() -> Self {
        Self::default()
    }

    /// Records that a worker starts a job.
    pub fn job_in_progress(&self) -> Ongoing {
        Ongoing::begin(self.families().map(|families| &families.jobs_in_progress))
    }

    /// Records that a worker stored a job's result.
    pub fn job_finished(&self, result: &JobResult) {
        let Some(families) = self.families() else { return };
        let outcome = result.outcome.name();
        let error = result.error.as_ref().map_or("none", |error| error.kind.name());
        families.jobs.with_label_values(&[outcome, error]).inc();
        let took = Duration::from_millis(result.total_latency_ms);
        families.job_seconds.with_label_values(&[outcome]).observe(took.as_secs_f64());
    }

    /// Records the start of a call.
    pub fn call_in_flight(&self) -> Ongoing {
        Ongoing::begin(self.families().map(|families| &families.calls_in_flight))
    }

    /// Records the end of a call of this model.
    pub fn call_ended(&self, model: &str, result: CallResult, latency: Duration, cost: CallCost) {
        let Some(Recording { families, models }) = &self.0 else { return };
        let model = models.label(model);
        let result = result.name();
        families.calls.with_label_values(&[model, result]).inc();
        families.call_seconds.with_label_values(&[model, result]).observe(latency.as_secs_f64());
        count_cost(families, model, cost);
    }

    /// Records the end of a row of a batch; no result if it never ran.
    pub fn row_ended(&self, model: &str, result: Option<CallResult>, cost: CallCost) {
        let Some(Recording { families, models }) = &self.0 else { return };
        let model = models.label(model);
        let end = result.map_or("not_run", CallResult::name);
        families.batch_rows.with_label_values(&[model, end]).inc();
        count_cost(families, model, cost);
    }

    /// Records an event of a shard.
    pub fn shard(&self, event: ShardEvent) {
        let Some(families) = self.families() else { return };
        families.batch_shards.with_label_values(&[event.name()]).inc();
    }

    /// Records that a call starts to wait for admission.
    pub fn admission_waiting(&self) -> Ongoing {
        Ongoing::begin(self.families().map(|families| &families.admission_waiting))
    }

    /// Records the admission of a call after this wait; `reason` is its last reason to wait.
    pub fn admission_waited(&self, reason: Option<WaitReason>, waited: Duration) {
        let Some(families) = self.families() else { return };
        // Without a reason, the call was admitted at its first request.
        let reason = reason.map_or("turn", WaitReason::name);
        families.admission_wait.with_label_values(&[reason]).observe(waited.as_secs_f64());
    }

    /// Records the end of an item's measurement.
    pub fn evidence_ended(&self, finding: EvidenceFinding, took: Duration) {
        let Some(families) = self.families() else { return };
        families.evidence_seconds.with_label_values(&[finding.name()]).observe(took.as_secs_f64());
    }

    /// Records that an aggregator committed a result to a journal.
    pub fn result_committed(&self, outcome: Outcome) {
        let Some(families) = self.families() else { return };
        families.results.with_label_values(&[outcome.name()]).inc();
    }

    /// Records a redelivered message.
    pub fn redelivered(&self, kind: MessageKind) {
        let Some(families) = self.families() else { return };
        families.redeliveries.with_label_values(&[kind.name()]).inc();
    }

    /// Records a duplicate message.
    pub fn duplicate(&self, kind: MessageKind) {
        let Some(families) = self.families() else { return };
        families.duplicates.with_label_values(&[kind.name()]).inc();
    }

    /// Sets the ready messages of each queue, by its name without the namespace. Empty while the
    /// broker is unreachable.
    pub fn set_queue_depths(&self, depths: &[(&'static str, u32)]) {
        let Some(families) = self.families() else { return };
        if depths.is_empty() {
            families.queue_depth.reset();
        }
        for (queue, ready) in depths {
            families.queue_depth.with_label_values(&[queue]).set(i64::from(*ready));
        }
    }

    /// Sets the remaining budget of a scope; none where there is no cap.
    pub fn set_budget_remaining(&self, scope: BudgetScope, left: Option<Money>) {
        let Some(families) = self.families() else { return };
        match left {
            Some(left) => {
                let dollars = left.approximate_dollars();
                families.budget_left.with_label_values(&[scope.name()]).set(dollars);
            }
            // An error means that it was absent.
            None => drop(families.budget_left.remove_label_values(&[scope.name()])),
        }
    }

    /// All metrics in Prometheus's text format.
    pub fn render(&self) -> String {
        let Some(families) = self.families() else { return String::new() };
        let mut text = String::new();
        if let Err(error) = TextEncoder::new().encode_utf8(&families.registry.gather(), &mut text) {
            tracing::error!(%error, "metrics cannot be encoded");
        }
        text
    }

    fn families(&self) -> Option<&MetricFamilies> {
        self.0.as_ref().map(|recording| &recording.families)
    }
}

impl Ongoing {
    fn begin(gauge: Option<&IntGauge>) -> Self {
        Self(gauge.inspect(|gauge| gauge.inc()).cloned())
    }
}

impl Drop for Ongoing {
    fn drop(&mut self) {
        if let Some(gauge) = &self.0 {
            gauge.dec();
        }
    }
}

#[derive(Debug)]
struct Recording {
    families: MetricFamilies,
    models: FirstNames,
}

/// Records the cost of a call.
fn count_cost(families: &MetricFamilies, model: &str, cost: CallCost) {
    let spent = |certainty: &str, amount: Money| {
        let dollars = amount.approximate_dollars().max(0.0);
        families.cost.with_label_values(&[model, certainty]).inc_by(dollars);
    };
    match cost {
        CallCost::Nothing => {}
        CallCost::Presumed(worst) => spent("presumed", worst),
        CallCost::Billed(usage, amount) => {
            spent("billed", amount);
            for (kind, tokens) in [
                ("input", usage.input_tokens),
                ("cached_input", usage.cached_input_tokens),
                ("output", usage.output_tokens),
            ] {
                families.tokens.with_label_values(&[model, kind]).inc_by(tokens);
            }
        }
    }
}
