//! The report as a comment on a pull request: the decision first, then figures, and short enough
//! for GitHub, which takes 65,536 characters.

mod blocks;
mod escape;

use crate::{
    document::{Block, Topic},
    phrasing::SIMULATED,
    topics,
};
use blocks::{Extent, sign};
use escape::cut;
use juror_analysis::{
    comparison::Comparison,
    format::{decimals, figure, grouped},
    item_row::ItemRow,
    metrics::Unit,
    run_report::Report,
};
use juror_types::{outcome::Outcome, verdict::Score};

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
        comment.push_str("\nSome of it is too long for a comment; the report has it.\n");
    }
    comment
}

/// A comparison alone: its decision, and what changed.
pub(crate) fn render_comparison(comparison: &Comparison) -> String {
    let topics = [topics::comparison::topic(comparison), topics::changes::topic(comparison)];
    topics.map(|topic| section(&topic, Extent::File)).join("\n")
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

/// The results to look at first; none without results.
fn worst(report: &Report) -> Option<String> {
    let shown = report.worst.get(..MAX_RESULTS).unwrap_or(&report.worst);
    if shown.is_empty() {
        return None;
    }
    let lines = shown.iter().map(|row| {
        let repeat = match report.run.repeat {
            1 => String::new(),
            _ => format!(" ·{}", row.repeat + 1),
        };
        let id = cut(&row.screenshot_id);
        format!("| {id}{repeat} | {} | {} |\n", score(row), cut(&first_words(row)))
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

fn score(row: &ItemRow) -> String {
    let verdict = row.semantic.as_ref().filter(|_| row.outcome == Outcome::Scored);
    let mark = if row.simulated { format!(" {SIMULATED}") } else { String::new() };
    match verdict.map(|verdict| &verdict.score) {
        None => row.outcome.label().to_owned(),
        Some(Score::Sum { semantic_correctness, .. }) => {
            format!("{}{mark}", figure(*semantic_correctness, Unit::Share))
        }
        Some(Score::Groups { percentage, grade, .. }) => {
            format!("{}% {}{mark}", decimals(*percentage, 1), cut(grade))
        }
    }
}

fn first_words(row: &ItemRow) -> String {
    let error = row.error.as_ref().map(|error| format!("{}: {}", error.kind.name(), error.message));
    let issue = || row.semantic.as_ref().and_then(|verdict| verdict.issues.first().cloned());
    let compiler = || row.generation.as_ref().and_then(|stage| stage.error.clone());
    error.or_else(issue).or_else(compiler).unwrap_or_default()
}

#[cfg(test)]
mod tests;
