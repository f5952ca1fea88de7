//! Sentences on what a reader must know of a run beside its figures.

use crate::{format::counted, metrics::AveragingPolicy, run_facts::Coverage};
use juror_types::{
    outcome::{CountAs, ErrorKind},
    run::RunRecord,
};

/// Sentences on jobs that are not in the figures: the budget ended, or the run was cancelled; and
/// on money that no ledger tells of.
pub fn coverage_warnings(record: &RunRecord, coverage: &Coverage, has_ledger: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(unjudged) = coverage.errors.get(&ErrorKind::Budget) {
        let judged = match coverage.scored {
            0 => "none was judged",
            _ => {
                "those that were judged are the first in the dataset's order, not a random part (--sample N judges a random part)"
            }
        };
        warnings.push(format!("the budget left {} unjudged: {judged}", counted(*unjudged, "job")));
    }
    if let Some(published) = record.published {
        warnings.push(format!(
            "the run was cancelled when {published} of its {} jobs were published; the others are not in it",
            record.planned
        ));
    }
    if record.judge.is_some() && !has_ledger {
        warnings.push(
            "the ledger has no record of this run: what calls that died with their process may have cost is not in its cost".into(),
        );
    }
    warnings
}

/// Sentences on how the jobs of this coverage that have no verdict enter averages, where a
/// reader cannot tell from the coverage alone.
pub fn averaging_warnings(policy: AveragingPolicy, coverage: &Coverage) -> Vec<String> {
    let mut warnings = Vec::new();
    if coverage.no_output > 0 {
        let items = counted(coverage.no_output, "job");
        let (treatment, setting) = match policy.no_output {
            CountAs::Zero => ("count them as zero", "zero"),
            CountAs::Excluded => ("leave them out", "excluded"),
        };
        warnings.push(format!(
            "the pipeline made no code for {items}, so nothing was judged there; averages {treatment} (missing_output = \"{setting}\")"
        ));
    }
    if policy.failed == CountAs::Zero && coverage.failed > 0 {
        let jobs = counted(coverage.failed, "failed job");
        warnings.push(format!("averages count {jobs} as zero (failed_jobs = \"zero\")"));
    }
    warnings
}
