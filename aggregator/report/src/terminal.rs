//! The report as text for a terminal.

mod blocks;
mod metrics;
mod page;
mod trend;
mod worst_results;

pub use trend::render_trend;

use crate::{
    document::{Block, Level, Topic},
    topics,
};
use juror_analysis::run_report::Report;
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
    worst_results::table(&mut page, report);
    page.finish()
}

/// Report of a run that is paused for this reason: complete, or without results only the known
/// facts.
pub fn render_paused(report: &Report, reason: &str, options: TerminalOptions) -> String {
    if report.metrics.iter().any(|metric| metric.value.is_some()) {
        return render(report, options);
    }
    let mut head = topics::head::topic(report);
    head.blocks.push(Block::Sentence(Level::Doubtful, "", format!("Paused: {reason}")));
    let known = [Some(head), Some(topics::coverage::topic(report)), topics::cost::topic(report)];
    render_topics(&known.into_iter().flatten().collect::<Vec<_>>(), options)
}

/// These topics alone.
pub fn render_topics(topics: &[Topic], options: TerminalOptions) -> String {
    let mut page = Page::new(options.width, options.color);
    for (number, topic) in topics.iter().enumerate() {
        match number {
            0 => blocks::topic(&mut page, topic),
            _ => blocks::section(&mut page, topic),
        }
    }
    page.finish()
}

#[cfg(test)]
mod tests;
