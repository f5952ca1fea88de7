//! What became of the run since another one, short enough for a comment.

use super::{MAX_LINES, MAX_LIST, MAX_STATEMENTS, Report, SIMULATED, escaped};
use juror_analysis::{
    comparison::{
        Comparison, Decision, IssueChange, ItemChange, MetricDifference, change, detectable_words,
        failure_words, item_counts, p_value, settling_words,
    },
    format::{counted, figure},
    metrics::Unit,
};

/// The section; nothing without a comparison.
pub(super) fn section(report: &Report) -> String {
    let Some(comparison) = &report.comparison else { return String::new() };
    let mark = if comparison.simulated { format!(" {SIMULATED}") } else { String::new() };
    let sign = match comparison.decision {
        Decision::Same | Decision::Better => "✅",
        Decision::Inconclusive => "⚠️",
        Decision::Worse => "❌",
    };
    let mut text = format!(
        "**{sign} {}**{mark}\n\nSince run {}: {}. {}, margin {}.\n\n",
        escaped(&comparison.headline),
        escaped(comparison.base.run.as_str()),
        escaped(&comparison.reason),
        counted(comparison.paired, "paired item"),
        figure(comparison.margin, Unit::Share)
    );
    for difference in &comparison.judge_differences {
        text.push_str(&format!("- ⚠️ Another judge: {}\n", escaped(difference)));
    }
    for warning in comparison.warnings.iter().take(MAX_LINES) {
        text.push_str(&format!("- ⚠️ {}\n", escaped(warning)));
    }
    if let Some(words) = detectable_words(comparison) {
        text.push_str(&format!("- {words}\n"));
    }
    if let Some(settling) = &comparison.settling {
        text.push_str(&format!("- {}\n", settling_words(settling)));
    }
    if comparison.paired > 0 {
        text.push_str(&format!(
            "\n| Mean{mark} | Base | Head | Change | 95 % interval | p | |\n|---|--:|--:|--:|:-:|--:|---|\n"
        ));
        text.extend(comparison.means().take(MAX_LINES).map(mean));
    }
    text.push_str(&lists(comparison));
    text
}

fn mean(metric: &MetricDifference) -> String {
    let (unit, all) = (metric.unit(), &metric.difference);
    let none = || "–".to_owned();
    let shown = |value: Option<f64>| value.map_or_else(none, |value| figure(value, unit));
    let moved = |value: Option<f64>| value.map_or_else(none, |value| change(value, unit));
    format!(
        "| {} | {} | {} | {} | {} to {} | {} | {} |\n",
        escaped(&metric.title),
        shown(all.base),
        shown(all.head),
        moved(all.difference),
        moved(all.low),
        moved(all.high),
        p_value(metric.p_adjusted.or(all.p_value)),
        metric.decision.name()
    )
}

fn lists(comparison: &Comparison) -> String {
    let (items, issues) = (&comparison.items, &comparison.issues);
    let share = |value: f64| figure(value, Unit::Share);
    let moved = |item: &ItemChange| {
        format!("{} {} → {}", escaped(&item.id), share(item.base), share(item.head))
    };
    let issue = |issue: &IssueChange| {
        format!(
            "{} {} → {}",
            escaped(&issue.label),
            share(issue.base_share),
            share(issue.head_share)
        )
    };
    let lists = [
        list("Regressed", MAX_LIST, &items.regressed, moved),
        list("Newly failing", MAX_LIST, &items.newly_failing, |item| {
            let how = failure_words(item);
            format!("{} ({how})", escaped(&item.id))
        }),
        list("Improved", MAX_LIST, &items.improved, moved),
        list("New issues", MAX_STATEMENTS, &issues.new, issue),
        list("Issues gone", MAX_STATEMENTS, &issues.gone, issue),
    ];
    format!("\nItems: {}.\n\n{}", item_counts(comparison), lists.concat())
}

fn list<T>(title: &str, most: usize, all: &[T], words: impl Fn(&T) -> String) -> String {
    if all.is_empty() {
        return String::new();
    }
    let shown: Vec<String> = all.iter().take(most).map(words).collect();
    let more = match all.len().saturating_sub(most) {
        0 => String::new(),
        more => format!("; … {more} more"),
    };
    format!("- {title} ({}): {}{more}\n", all.len(), shown.join("; "))
}
