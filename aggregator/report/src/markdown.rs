//! The report as a comment on a pull request: the decision first, then figures, and short enough
//! for GitHub, which takes 65,536 characters.

mod blocks;
mod escape;

use crate::{
    document::{Block, Topic},
    phrasing::SIMULATED,
    topics::{
        self,
        results::{ResultColumn, first_issue, item_name, totals},
    },
};
use blocks::{Extent, sign};
use escape::cut;
use juror_analysis::{comparison::Comparison, format::grouped, run_report::Report};
use juror_types::outcome::JobResult;

/// Longest first issue, in characters.
const MAX_ISSUE: usize = 150;

/// Maximum number of the worst results that are listed.
const MAX_RESULTS: usize = 10;

/// A section that would lead beyond this is left out.
const MAX_COMMENT: usize = 60_000;

/// The whole comment.
pub(crate) fn render(report: &Report) -> String {
    let head = blocks::topic(&topics::head::topic(report), Extent::Comment);
    let mut comment = format!("## Juror: {}", head.trim_start_matches("### "));
    let topics = topics::behind_head(report).into_iter();
    let sections = topics.map(|topic| section(&topic, Extent::Comment)).chain(worst(report));
    let mut left_out = false;
    for section in sections {
        if comment.chars().count() + section.chars().count() > MAX_COMMENT {
            left_out = true;
            continue;
        }
        comment.push('\n');
        comment.push_str(&section);
    }
    if left_out {
        comment.push_str("\nTruncated to the comment limit; see the full report.\n");
    }
    comment
}

/// A comparison alone: its decision, and what changed.
pub(crate) fn render_comparison(comparison: &Comparison) -> String {
    topics::comparison::topics(comparison).map(|topic| section(&topic, Extent::File)).join("\n")
}

/// A topic under its title: `❌ Since the baseline: 2 new, 1 worse`.
fn section(topic: &Topic, extent: Extent) -> String {
    let mark = if topic.simulated { format!(" {SIMULATED}") } else { String::new() };
    let (sign, status) = match &topic.status {
        Some((word, level)) => (sign(*level), format!(": {word}")),
        None => ("", String::new()),
    };
    let title = format!("{} {}", topic.title, topic.name);
    let title = format!("{sign}{}{status}{mark}", cut(title.trim_end()));
    let blocks = blocks::topic(topic, extent);
    match extent {
        _ if matches!(topic.blocks.first(), Some(Block::Decision { .. })) => blocks,
        Extent::File => format!("### {title}\n\n{blocks}"),
        Extent::Comment => format!("**{title}**\n\n{blocks}"),
    }
}

/// The results to look at first; `None` without results.
fn worst(report: &Report) -> Option<String> {
    let shown = report.worst.get(..MAX_RESULTS).unwrap_or(&report.worst);
    if shown.is_empty() {
        return None;
    }
    let mut scores = totals(&report.rubric);
    scores.retain(|column| !column.is_part());
    let lines = shown.iter().map(|row| {
        let (name, issue) = (item_name(report, row), first_issue(row, MAX_ISSUE));
        format!("| {} | {} | {} |\n", cut(&name), cut(&score(&scores, row)), cut(&issue))
    });
    let lines: String = lines.collect();
    let more = match report.items.results().saturating_sub(shown.len()) {
        0 => String::new(),
        more => format!("… and {} more in the report.\n\n", grouped(more as u64)),
    };
    Some(format!(
        "<details><summary>Look at these first</summary>\n\n| Item | Score | First issue |\n\
         |---|--:|---|\n{lines}\n{more}</details>\n"
    ))
}

/// `82% A`, or the outcome where nothing was scored.
fn score(columns: &[ResultColumn], row: &JobResult) -> String {
    let known = columns.iter().filter_map(|column| Some(column.cell(row)?.text()));
    let mut words: Vec<String> = known.collect();
    if words.is_empty() {
        return row.outcome.label().to_owned();
    }
    words.extend(row.is_simulated().then(|| SIMULATED.to_owned()));
    words.join(" ")
}

#[cfg(test)]
mod tests;
