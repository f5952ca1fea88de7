//! What became of a run since another one.

use super::page::{INDENT, Page, Style, fit, padded, right_aligned};
use crate::{phrasing::SIMULATED, sanitize::harmless};
use juror_analysis::format::{counted, figure, grouped};
use juror_analysis::{
    comparison::{
        Comparison, Decision, IssueChange, ItemChange, MetricDifference, PassDifference, change,
        detectable_words, failure_words, item_counts, p_value, settling_words,
    },
    metrics::Unit,
};

/// So many of each list are shown; the files have them all.
const MAX: usize = 5;
/// Columns of figures: base, head, change, interval, effect size, p.
const WIDTHS: [usize; 6] = [8, 8, 8, 17, 7, 8];

/// The section, at the end of a report or alone.
pub(super) fn section(page: &mut Page, comparison: &Comparison) {
    let mark = mark(comparison);
    let decision = comparison.decision;
    let word = decision.name().to_uppercase();
    page.heading(&format!("COMPARISON{mark}"), &[(&word, style_of(decision))]);
    let (base, head) = (&comparison.base, &comparison.head);
    let facts = format!(
        "base {} · head {} · {} · margin {}{}",
        harmless(base.run.as_str()),
        harmless(head.run.as_str()),
        counted(comparison.paired, "paired item"),
        figure(comparison.margin, Unit::Share),
        if comparison.strict { " · strict" } else { "" }
    );
    page.wrapped(&facts, 0, Style::Faint);
    for difference in &comparison.judge_differences {
        page.wrapped(&format!("ANOTHER JUDGE: {}", harmless(difference)), 2, Style::Bad);
    }
    page.blank();
    page.wrapped(&format!("{}{mark}", comparison.headline), 0, style_of(decision));
    page.wrapped(&format!("since {}.", comparison.reason), 0, Style::Plain);
    if let Some(words) = detectable_words(comparison) {
        page.wrapped(&words, 0, Style::Plain);
    }
    if let Some(settling) = &comparison.settling {
        page.wrapped(&settling_words(settling), 0, Style::Plain);
    }
    if comparison.paired > 0 {
        tables(page, comparison);
    }
    items(page, comparison);
    issues(page, comparison);
    if !comparison.warnings.is_empty() {
        page.blank();
    }
    for warning in &comparison.warnings {
        page.wrapped(&format!("!\u{2007}{}", harmless(warning)), 2, Style::Doubtful);
    }
}

/// Stands in every heading of what the simulator had a part in.
fn mark(comparison: &Comparison) -> String {
    if comparison.simulated { format!("  {SIMULATED}") } else { String::new() }
}

fn tables(page: &mut Page, comparison: &Comparison) {
    page.blank();
    let heads = ["Base", "Head", "Change", "95 %", "d_z", "p"];
    let mark = mark(comparison);
    heading(page, &format!("MEANS{mark}"), heads.map(str::to_owned));
    for metric in comparison.means() {
        mean(page, metric);
    }
    page.wrapped("p of criteria and of deterministic metrics is adjusted (Holm)", 0, Style::Faint);
    if comparison.passes.is_empty() {
        return;
    }
    page.blank();
    let heads = ["Base", "Head", "", "only base / head", "n", "p"];
    heading(page, &format!("PASSES{mark}"), heads.map(str::to_owned));
    for pass in &comparison.passes {
        let style = match pass.decision {
            Some(decision @ (Decision::Worse | Decision::Better)) => style_of(decision),
            _ => Style::Plain,
        };
        line(page, &pass.title, &pass_cells(pass), style);
    }
    page.wrapped(
        "p by the exact McNemar test, adjusted (Holm) where the rate decides",
        0,
        Style::Faint,
    );
}

fn heading(page: &mut Page, title: &str, heads: [String; 6]) {
    page.heading(title, &[(&columns(&heads), Style::Faint)]);
}

fn mean(page: &mut Page, metric: &MetricDifference) {
    let unit = metric.unit();
    let all = &metric.difference;
    let none = || "–".to_owned();
    let short = |value: f64| figure(value, unit).split('/').next().unwrap_or_default().to_owned();
    let shown = |value: Option<f64>| value.map_or_else(none, short);
    let interval = match (all.low, all.high) {
        (Some(low), Some(high)) => format!("[{}, {}]", change(low, unit), change(high, unit)),
        _ => none(),
    };
    let cells = [
        shown(all.base),
        shown(all.head),
        all.difference.map_or_else(none, |value| change(value, unit)),
        interval,
        all.effect_size_dz.map_or_else(none, |value| change(value, Unit::Score)),
        p_value(metric.p_adjusted.or(all.p_value)),
    ];
    let style = match metric.decision {
        Decision::Same | Decision::Inconclusive => Style::Plain,
        decision => style_of(decision),
    };
    line(page, &metric.title, &cells, style);
}

fn pass_cells(pass: &PassDifference) -> [String; 6] {
    let table = &pass.table;
    [
        figure(pass.base, Unit::Share),
        figure(pass.head, Unit::Share),
        String::new(),
        format!("{} / {}", grouped(table.only_base), grouped(table.only_head)),
        grouped(table.total()),
        p_value(pass.p_adjusted.or(pass.p_value)),
    ]
}

fn columns(cells: &[String; 6]) -> String {
    let cells = cells.iter().zip(WIDTHS).map(|(cell, width)| right_aligned(cell, width));
    cells.collect()
}

fn line(page: &mut Page, title: &str, cells: &[String; 6], style: Style) {
    let cells = columns(cells);
    let room = page.width.saturating_sub(INDENT + WIDTHS.iter().sum::<usize>());
    let title = padded(&fit(&harmless(title), room.saturating_sub(1)), room);
    let indent = " ".repeat(INDENT);
    page.line(&[(&indent, Style::Plain), (&title, Style::Plain), (&cells, style)]);
}

fn items(page: &mut Page, comparison: &Comparison) {
    page.blank();
    page.heading(&format!("ITEMS{}", mark(comparison)), &[]);
    let lists = &comparison.items;
    page.wrapped(&item_counts(comparison), 0, Style::Plain);
    let changed = |item: &ItemChange| {
        let (base, head) = (figure(item.base, Unit::Share), figure(item.head, Unit::Share));
        format!("{}: {base} → {head}", harmless(&item.id))
    };
    list(page, "Regressed", &lists.regressed, changed);
    list(page, "Improved", &lists.improved, changed);
    list(page, "Newly failing", &lists.newly_failing, |item| {
        let how = failure_words(item);
        format!("{}: {how}", harmless(&item.id))
    });
    for (title, ids) in [
        ("Another input, not paired", &lists.changed_input),
        ("New", &lists.new),
        ("Gone", &lists.gone),
    ] {
        list(page, title, ids, |id| harmless(id));
    }
}

fn issues(page: &mut Page, comparison: &Comparison) {
    let issues = &comparison.issues;
    let lists = [
        ("New", &issues.new),
        ("Gone", &issues.gone),
        ("More frequent", &issues.more_frequent),
        ("Less frequent", &issues.less_frequent),
    ];
    if lists.iter().all(|(_, list)| list.is_empty()) {
        return;
    }
    page.blank();
    page.heading(&format!("ISSUES{}", mark(comparison)), &[]);
    for (title, changes) in lists {
        list(page, title, changes, |issue: &IssueChange| {
            let share = |share: f64| figure(share, Unit::Share);
            let (base, head) = (share(issue.base_share), share(issue.head_share));
            format!("{}: {base} → {head}", harmless(&issue.label))
        });
    }
}

fn list<T>(page: &mut Page, title: &str, all: &[T], words: impl Fn(&T) -> String) {
    if all.is_empty() {
        return;
    }
    page.wrapped(&format!("{title}:"), 0, Style::Heading);
    for each in all.iter().take(MAX) {
        page.wrapped(&format!("-\u{2007}{}", words(each)), 2, Style::Plain);
    }
    let more = all.len().saturating_sub(MAX) as u64;
    if more > 0 {
        page.wrapped(&format!("… {} more", grouped(more)), 2, Style::Faint);
    }
}

fn style_of(decision: Decision) -> Style {
    match decision {
        Decision::Same | Decision::Better => Style::Good,
        Decision::Inconclusive => Style::Doubtful,
        Decision::Worse => Style::Bad,
    }
}
