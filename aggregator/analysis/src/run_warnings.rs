//! Warnings about a run's coverage and cost.

use crate::{format::counted, metrics::AveragingPolicy, run_facts::Coverage};
use juror_types::{
    outcome::{CountAs, ErrorKind},
    run::RunRecord,
};

/// Warnings about jobs without a result, because the budget ended or the run was cancelled, and
/// about a missing ledger record.
pub fn coverage_warnings(record: &RunRecord, coverage: &Coverage, has_ledger: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(unjudged) = coverage.errors.get(&ErrorKind::Budget) {
        let judged = match coverage.scored {
            0 => "none was judged",
            _ => {
                "the judged ones are the first in the dataset's order, not a random sample (--sample N judges a random sample)"
            }
        };
        warnings.push(format!("the budget left {} unjudged: {judged}", counted(*unjudged, "job")));
    }
    if let Some(published) = record.published {
        warnings.push(format!(
            "the run was cancelled after {published} of its {} jobs were published; the others are not included",
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
