//! A run that was paused before it found anything.

use super::{
    heading,
    page::{Page, Style},
    quality::{LABEL, coverage},
};
use crate::{phrasing::cost_text, sanitize::harmless};
use juror_analysis::run_report::Report;

/// Head, reason, coverage and cost of a paused run, in place of a report without a figure.
pub(super) fn section(page: &mut Page, report: &Report, reason: &str) {
    heading(page, report);
    page.wrapped(&format!("Paused: {}", harmless(reason)), 2, Style::Doubtful);
    page.blank();
    coverage(page, report);
    if report.run.judge.is_some() {
        page.labeled("Cost", LABEL, &cost_text(report));
    }
}
