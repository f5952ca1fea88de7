//! Warnings about a run's coverage, its gate and the versions of its model.

use crate::{
    distinct_names::DistinctNames, format::counted, gate::Gate, metrics::AveragingPolicy,
    run_facts::Coverage, stability::ItemStability,
};
use juror_types::{
    outcome::{CountAs, ErrorKind},
    run::RunRecord,
};

/// Warnings about jobs without a result, because the budget ended or the run was cancelled, and
/// about a missing ledger record.
pub fn coverage_warnings(record: &RunRecord, coverage: &Coverage, has_ledger: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(unjudged) = coverage.errors.get(&ErrorKind::Budget) {
        let judged = match (coverage.scored, record.dataset.sample) {
            (0, _) => "none was judged",
            (_, None) => {
                "those judged before it ended are no random sample (--sample N judges one)"
            }
            (_, Some(_)) => "those judged before it ended are a part of the sample",
        };
        warnings.push(format!("the budget left {} unjudged: {judged}", counted(*unjudged, "job")));
    }
    if let Some(published) = record.published {
        warnings.push(format!(
            "the run was cancelled after {published} of its {} jobs were published; the others have no outcome",
            record.planned
        ));
    }
    if record.judge.is_some() && !has_ledger {
        warnings.push(
            "the ledger has no record of this run: its cost excludes calls that were interrupted with their process".into(),
        );
    }
    warnings
}

/// Warnings about the treatment of jobs without a verdict in averages, where the coverage does not
/// show it.
pub fn averaging_warnings(policy: AveragingPolicy, coverage: &Coverage) -> Vec<String> {
    let mut warnings = Vec::new();
    if coverage.no_output > 0 {
        let items = counted(coverage.no_output, "job");
        let (treatment, setting) = match policy.no_output {
            CountAs::Zero => ("count them as zero", "zero"),
            CountAs::Excluded => ("leave them out", "excluded"),
        };
        warnings.push(format!(
            "the pipeline made no code for {items}, so they were not judged; averages {treatment} (missing_output = \"{setting}\")"
        ));
    }
    if policy.failed == CountAs::Zero && coverage.failed > 0 {
        let jobs = counted(coverage.failed, "failed job");
        warnings.push(format!("averages count {jobs} as zero (failed_jobs = \"zero\")"));
    }
    warnings
}

/// Warning about a gate that is evaluated without the flaky items.
pub fn steady_gate_warning(gate: &Gate, stability: &ItemStability) -> String {
    let flaky = counted(stability.flaky.len() as u64, "flaky item");
    format!("gate {} is evaluated without {flaky}", gate.name)
}

/// Warning about verdicts of several endpoints.
pub fn endpoint_warning(endpoints: &DistinctNames) -> Option<String> {
    (endpoints.len() > 1).then(|| {
        format!(
            "verdicts are of {} endpoints ({}): the same model name may mean another model at each",
            endpoints.len(),
            endpoints.listed()
        )
    })
}

/// Warning about several versions of the model, by their fingerprints.
pub fn fingerprint_warning(fingerprints: &DistinctNames) -> Option<String> {
    (fingerprints.len() > 1).then(|| {
        format!(
            "several versions of the model replied (fingerprints {}): its scores may differ \
             between them",
            fingerprints.listed()
        )
    })
}
