//! The report as a comment on a pull request: the decision first, then figures, and short enough
//! for GitHub, which takes 65,536 characters.

mod blocks;
mod escape;

use super::agreement;
use crate::{
    document::Topic,
    phrasing::{
        SIMULATED, calls_text, cost_text, coverage_text, endpoint, error_example, estimate_text,
        grouping_text, has_stages, is_stage, month_text, provenance_text, rule_interval,
        rule_texts, selection_texts,
    },
    topics,
};
use blocks::{Extent, sign};
use escape::cut;
use juror_analysis::{
    calibration::known::{CalibrationStatus, RunCalibration},
    comparison::Comparison,
    gate::GateDecision,
    issues::StatementGroup,
    metrics::{Metric, Unit},
};
use juror_analysis::{
    format::{counted, decimals, figure, grouped, interval},
    item_row::ItemRow,
    run_report::Report,
};
use juror_types::{outcome::Outcome, verdict::Score};

/// So many common issues and strengths, and so many of the worst results, are listed.
const MAX_STATEMENTS: usize = 5;
const MAX_RESULTS: usize = 10;

/// A section that would lead beyond this is left out.
const MAX_COMMENT: usize = 60_000;

/// So many warnings, kinds of errors, rules of a gate and metrics, where a rubric has very many.
const MAX_LINES: usize = 30;

/// The whole comment.
pub(crate) fn render(report: &Report) -> String {
    let sections = [
        headline(report),
        changes(report),
        comparison(report),
        targets(report),
        metrics(report),
        measured(report),
        facts(report),
        statements(
            report,
            "Common issues",
            &report.common_issues,
            grouping_text(&report.common_issues),
        ),
        statements(report, "Common strengths", &report.common_strengths, None),
        worst(report),
    ];
    let (mut comment, mut left_out) = (String::new(), false);
    for section in sections.iter().filter(|section| !section.is_empty()) {
        if comment.chars().count() + section.chars().count() > MAX_COMMENT {
            left_out = true;
            continue;
        }
        if !comment.is_empty() {
            comment.push('\n');
        }
        comment.push_str(section);
    }
    if left_out {
        comment.push_str("\nSome of it is too long for a comment; the report has it.\n");
    }
    comment
}

fn headline(report: &Report) -> String {
    let coverage = &report.coverage;
    let decision = match &report.targets {
        Some(gate) => format!("{}: gate {}", decided(gate.decision), cut(&gate.gate)),
        None if coverage.scored == 0 => "❌ nothing was scored".to_owned(),
        None if coverage.is_complete() => "complete, no gate set".to_owned(),
        None => "⚠️ incomplete, no gate set".to_owned(),
    };
    let simulated = if report.run.simulated {
        format!(
            "\n> **{SIMULATED}**: every score below was made up by the simulator. None is a judgement.\n"
        )
    } else {
        String::new()
    };
    let run = &report.run;
    let judge = match &run.judge {
        Some(judge) => {
            let endpoint = endpoint(report).map(|url| format!(" at {}", cut(&url)));
            let (provider, endpoint) = (judge.provider.name(), endpoint.unwrap_or_default());
            format!("{provider} {}{endpoint}", cut(&judge.model))
        }
        None => "judge off".to_owned(),
    };
    let selection = selection_texts(&run.dataset);
    let selection: String = selection.iter().map(|text| format!(", {}", cut(text))).collect();
    format!(
        "## Juror: {decision}\n{simulated}\n{}. Run {}, {}@{}, {judge}{selection}.\n",
        coverage_text(coverage),
        cut(run.id.as_str()),
        cut(&run.rubric.id),
        run.rubric.version
    )
}

/// A comparison alone: its decision, and what changed.
pub(crate) fn render_comparison(comparison: &Comparison) -> String {
    let whole = blocks::topic(&topics::comparison::topic(comparison), Extent::File);
    let changes = &topics::changes::topic(comparison);
    format!("{whole}\n### {}\n\n{}", titled(changes), blocks::topic(changes, Extent::File))
}

fn changes(report: &Report) -> String {
    let Some(comparison) = &report.comparison else { return String::new() };
    let topic = topics::changes::topic(comparison);
    format!("**{}**\n\n{}", titled(&topic), blocks::topic(&topic, Extent::Comment))
}

/// `❌ Since the baseline: 2 new, 1 worse`
fn titled(topic: &Topic) -> String {
    let mark = if topic.simulated { format!(" {SIMULATED}") } else { String::new() };
    let (sign, status) = match &topic.status {
        Some((word, level)) => (sign(*level), format!(": {word}")),
        None => ("", String::new()),
    };
    format!("{sign}{}{status}{mark}", topic.title)
}

fn comparison(report: &Report) -> String {
    let topic = report.comparison.as_ref().map(topics::comparison::topic);
    topic.map_or_else(String::new, |topic| blocks::topic(&topic, Extent::Comment))
}

fn measured(report: &Report) -> String {
    let topic = topics::measured::topic(report);
    topic.map_or_else(String::new, |topic| blocks::topic(&topic, Extent::Comment))
}

fn targets(report: &Report) -> String {
    let Some(gate) = &report.targets else { return String::new() };
    let lines = gate.rules.iter().take(MAX_LINES).map(|rule| {
        let (title, value, bound) = rule_texts(report, rule);
        let decision = decided(rule.decision);
        let sure = rule_interval(report, rule);
        format!("| {} | {value} | {bound} | {sure} | {decision} |\n", cut(&title))
    });
    let lines: String = lines.collect();
    let mark = mark(report);
    format!("| Target{mark} | Figure | Must be | 95 % interval | |\n|---|--:|--:|---|---|\n{lines}")
}

fn metrics(report: &Report) -> String {
    let wanted = |metric: &&Metric| {
        let judged = metric.definition.is_semantic() && report.run.judge.is_some();
        judged || is_stage(metric) && metric.value.is_some()
    };
    let (judged, stages): (Vec<&Metric>, Vec<&Metric>) =
        report.metrics.iter().filter(wanted).partition(|metric| metric.definition.is_semantic());
    let lines = judged.into_iter().chain(stages).take(MAX_LINES).map(|metric| {
        let unit = metric.definition.unit;
        let value = metric.value.map_or_else(|| "no data".to_owned(), |value| figure(value, unit));
        let sure = interval(&metric.interval, unit);
        // Whether an item passed depends on its verdict too.
        let judged =
            metric.definition.is_semantic() || metric.definition.path == "pipeline_success_rate";
        let mark = if judged { mark(report) } else { String::new() };
        let origin = provenance_text(report, &metric.definition);
        format!("| {}{mark} | {origin} | {value} | {sure} |\n", cut(&metric.definition.title))
    });
    let lines: String = lines.collect();
    if lines.is_empty() || report.run.judge.is_none() && !has_stages(report) {
        return "No stage has any data.\n".to_owned();
    }
    format!(
        "| Metric | Measured or judged | Figure | 95 % interval |\n|---|---|--:|---|\n{lines}\n\
         Measured: computed by a program. Judged: the opinion of the vision model.\n"
    )
}

fn facts(report: &Report) -> String {
    let mut lines = Vec::new();
    if report.run.judge.is_some() {
        let estimate = estimate_text(report).map(|text| format!("; estimate {text}"));
        let estimate = estimate.unwrap_or_default();
        let month = month_text(&report.cost).map(|text| format!("; {text}")).unwrap_or_default();
        lines.push(format!("Cost: {}{month}{estimate}", cut(&cost_text(report))));
        lines.push(format!("Calls: {}", calls_text(&report.cost)));
    }
    lines.extend(report.calibration.as_ref().map(|known| calibrated(report, known)));
    for (kind, count) in report.coverage.errors.iter().take(MAX_LINES) {
        let example = error_example(report, *kind).map(|text| format!(": {}", cut(text)));
        let jobs = counted(*count, "job");
        lines.push(format!("Error {}, {jobs}{}", kind.name(), example.unwrap_or_default()));
    }
    lines.extend(report.warnings.iter().take(MAX_LINES).map(|text| format!("⚠️ {}", cut(text))));
    lines.into_iter().map(|line| format!("- {line}\n")).collect()
}

fn calibrated(report: &Report, known: &RunCalibration) -> String {
    let mark = if known.simulated { format!(" {SIMULATED}") } else { String::new() };
    let over = format!("run {}, {}", cut(known.run.as_str()), counted(known.n, "labeled item"));
    match (known.status, known.figures.first()) {
        (CalibrationStatus::Calibrated, Some(whole)) => {
            let [kappa, off, bias] = agreement::cells(report, whole);
            format!(
                "Judge and people{mark}: calibrated ({over}). {}: kappa {kappa}, off by {off}, bias {bias}",
                cut(&whole.title)
            )
        }
        (CalibrationStatus::Calibrated, None) => {
            format!("Judge and people{mark}: calibrated ({over})")
        }
        (CalibrationStatus::NotEnough, _) => {
            let reason = known.shortfall.as_deref().map(cut).unwrap_or_default();
            format!(
                "⚠️ Judge and people{mark}: not enough to call the judge calibrated ({over}): {reason}"
            )
        }
        (CalibrationStatus::Uncalibrated, _) => {
            let changed: Vec<String> =
                known.changed.iter().take(MAX_LINES).map(|text| cut(text)).collect();
            format!("⚠️ Judge and people{mark}: uncalibrated since {over}: {}", changed.join("; "))
        }
    }
}

fn statements(
    report: &Report,
    title: &str,
    groups: &[StatementGroup],
    grouping: Option<&str>,
) -> String {
    if groups.is_empty() {
        return String::new();
    }
    let lines = groups.iter().take(MAX_STATEMENTS).map(|group| {
        let share = figure(group.share, Unit::Share);
        format!("- {} ({}, {share})\n", cut(&group.label), counted(group.count, "item"))
    });
    let lines: String = lines.collect();
    let grouping = grouping.map(|text| format!(" ({text})")).unwrap_or_default();
    format!(
        "**{title}**{}{grouping}\n\n{lines}{}",
        mark(report),
        more(groups.len(), MAX_STATEMENTS)
    )
}

fn worst(report: &Report) -> String {
    let shown: Vec<&ItemRow> = report.worst.iter().take(MAX_RESULTS).collect();
    if shown.is_empty() {
        return String::new();
    }
    let lines = shown.iter().map(|row| {
        let repeat = match report.run.repeat {
            1 => String::new(),
            _ => format!(" ·{}", row.repeat + 1),
        };
        let id = cut(&row.screenshot_id);
        format!("| {id}{repeat} | {} | {} |\n", score(report, row), cut(&first_words(row)))
    });
    let lines: String = lines.collect();
    format!(
        "<details><summary>Look at these first</summary>\n\n| Item | Score | First issue |\n\
         |---|--:|---|\n{lines}\n{}\n</details>\n",
        more(report.items.results(), shown.len())
    )
}

fn score(report: &Report, row: &ItemRow) -> String {
    let verdict = row.semantic.as_ref().filter(|_| row.outcome == Outcome::Scored);
    let mark = if row.simulated { mark(report) } else { String::new() };
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

fn more(all: usize, shown: usize) -> String {
    match all.saturating_sub(shown) {
        0 => String::new(),
        more => format!("\n… and {} more in the report.\n", grouped(more as u64)),
    }
}

fn mark(report: &Report) -> String {
    if report.run.simulated { format!(" {SIMULATED}") } else { String::new() }
}

fn decided(decision: GateDecision) -> &'static str {
    match decision {
        GateDecision::Met => "✅ met",
        GateDecision::Undecided => "⚠️ undecided",
        GateDecision::Missed => "❌ missed",
    }
}

#[cfg(test)]
mod tests;
