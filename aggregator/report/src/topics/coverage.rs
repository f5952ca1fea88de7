//! Layout of how much of the dataset was scored, and why the rest was not.

use crate::{
    document::{Block, Topic},
    phrasing::coverage_text,
};
use juror_analysis::{format::counted, run_report::Report};
use juror_types::outcome::ErrorKind;

/// Lays out the coverage of a run.
pub fn topic(report: &Report) -> Topic {
    let coverage = &report.coverage;
    let parts = vec![
        ("scored", coverage.scored),
        ("no_output", coverage.no_output),
        ("unscorable", coverage.unscorable),
        ("failed", coverage.failed),
        ("skipped", coverage.skipped),
        ("pending", coverage.pending),
        ("unpublished", coverage.unpublished),
    ];
    let mut blocks = vec![Block::Parts(coverage_text(coverage), parts)];
    let errors: Vec<_> = coverage
        .errors
        .iter()
        .map(|(kind, count)| {
            let before = if *count > 1 { ", for example: " } else { ": " };
            let example = error_example(report, *kind).map(|text| format!("{before}{text}"));
            let text = format!("{}{}", counted(*count, "job"), example.unwrap_or_default());
            (format!("Not scored ({})", kind.name()), text)
        })
        .collect();
    if !errors.is_empty() {
        blocks.push(Block::Pairs(errors));
    }
    Topic::new("coverage", "Coverage", false, blocks)
}

/// Message of one of the worst results with an error of this kind.
fn error_example(report: &Report, kind: ErrorKind) -> Option<&str> {
    let mut errors = report.worst.iter().filter_map(|row| row.error.as_ref());
    errors.find(|error| error.kind == kind).map(|error| error.message.as_str())
}
