//! Common issues and strengths.

use super::page::{Page, Style};
use crate::{
    phrasing::{SIMULATED, grouping_text},
    sanitize::harmless,
};
use juror_analysis::{
    format::{counted, figure, grouped},
    issues::StatementGroup,
    metrics::Unit,
    run_report::Report,
};

/// So many are shown of each; report.json has them all.
const MAX: usize = 5;

pub(super) fn common(page: &mut Page, report: &Report) {
    let mark = if report.run.simulated { format!("  {SIMULATED}") } else { String::new() };
    list(
        page,
        &format!("Common Issues:{mark}"),
        &report.common_issues,
        grouping_text(&report.common_issues),
    );
    list(page, &format!("Common Strengths:{mark}"), &report.common_strengths, None);
}

fn list(page: &mut Page, title: &str, groups: &[StatementGroup], grouping: Option<&str>) {
    if groups.is_empty() {
        return;
    }
    page.blank();
    page.wrapped(title, 0, Style::Heading);
    if let Some(text) = grouping {
        page.wrapped(text, 2, Style::Faint);
    }
    for group in groups.iter().take(MAX) {
        let share = figure(group.share, Unit::Share);
        let label = harmless(&group.label);
        let count = counted(group.count, "item").replace(' ', "\u{2007}");
        page.wrapped(&format!("-\u{2007}{label} ({count},\u{2007}{share})"), 2, Style::Plain);
    }
    let more = groups.len().saturating_sub(MAX) as u64;
    if more > 0 {
        page.wrapped(&format!("… {} more", grouped(more)), 2, Style::Faint);
    }
}
