//! Results and reports for tests.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs,
    reason = "for tests, which may break off"
)]

pub mod calibrations;
pub mod comparisons;

pub use juror_journal::test_fixtures::*;

use crate::{
    compute_report::{ReportInput, compute_report},
    gate::Gate,
    metrics::AveragingPolicy,
    run_report::Report,
};
use juror_journal::journal::JournalWriter;
use juror_ledger::admission::{Budget, RunAccount};
use juror_types::{outcome::JobResult, run::RunRecord, usage::Money};

/// Report of a run with these results in this journal order.
pub fn report_of(
    record: &RunRecord,
    results: &[JobResult],
    gate: Option<&str>,
    ledger: Option<RunAccount>,
) -> (Report, JournalWriter, tempfile::TempDir) {
    let runs = tempfile::tempdir().unwrap();
    let mut writer = JournalWriter::create(runs.path(), record).unwrap();
    writer.append(results).unwrap();
    let rubric = rubric(&record.rubric_text);
    let gate = gate.map(|name| Gate::load(name, &rubric).unwrap());
    let input = ReportInput::new(&rubric, AveragingPolicy::default());
    let input = ReportInput { ledger, gate: gate.as_ref(), ..input };
    let report = compute_report(writer.files(), &input).unwrap();
    (report, writer, runs)
}

/// A ledger that agrees with these results.
pub fn ledger(results: &[JobResult], presumed: Money) -> RunAccount {
    RunAccount {
        budget: Budget::Cap("5".parse().unwrap()),
        committed: results.iter().map(|result| result.cost_usd).sum::<Money>() + presumed,
        presumed,
        unattributed_cost: Money::ZERO,
        outstanding: Money::ZERO,
        overrun: Money::ZERO,
        month: None,
    }
}
