//! The report as text for a terminal.

mod blocks;
mod metrics;
mod page;
mod screenshots;
mod trend;

pub use trend::render_trend;

use crate::{
    document::{Block, Level},
    topics,
};
use juror_analysis::run_report::Report;
use juror_analysis::{calibration::Calibration, comparison::Comparison};
use page::Page;

/// Width and colors of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalOptions {
    /// Columns; between 74 and 160 are used.
    pub width: usize,
    /// True if to color with ANSI sequences; without, the text is plain.
    pub color: bool,
}

/// The whole report.
pub fn render(report: &Report, options: TerminalOptions) -> String {
    let mut page = Page::new(options.width, options.color);
    blocks::topic(&mut page, &topics::head::topic(report));
    topics::behind_head(report).iter().for_each(|topic| blocks::section(&mut page, topic));
    screenshots::table(&mut page, report);
    page.finish()
}

/// A run that is paused for this reason. Where nothing was found yet, only what is known; else the
/// whole report.
pub fn render_paused(report: &Report, reason: &str, options: TerminalOptions) -> String {
    if report.metrics.iter().any(|metric| metric.value.is_some()) {
        return render(report, options);
    }
    let mut page = Page::new(options.width, options.color);
    let mut head = topics::head::topic(report);
    head.blocks.push(Block::Sentence(Level::Doubtful, "", format!("Paused: {reason}")));
    blocks::topic(&mut page, &head);
    blocks::section(&mut page, &topics::coverage::topic(report));
    topics::cost::topic(report).iter().for_each(|topic| blocks::section(&mut page, topic));
    page.finish()
}

/// A comparison alone.
pub fn render_comparison(comparison: &Comparison, options: TerminalOptions) -> String {
    let mut page = Page::new(options.width, options.color);
    blocks::topic(&mut page, &topics::comparison::topic(comparison));
    blocks::section(&mut page, &topics::changes::topic(comparison));
    page.finish()
}

/// A calibration alone.
pub fn render_calibration(calibration: &Calibration, options: TerminalOptions) -> String {
    let mut page = Page::new(options.width, options.color);
    blocks::topic(&mut page, &topics::calibration_file::topic(calibration));
    page.finish()
}

#[cfg(test)]
mod tests;
