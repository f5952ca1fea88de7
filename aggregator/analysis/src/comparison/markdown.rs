//! A comparison as Markdown, for the comment of a pull request: the decision first.

use super::{
    Comparison, Decision, IssueChange, ItemChange, MetricDifference, PassDifference,
    detectable_words, failure_words,
    figures::{change, distinct_size, p_value, size},
    item_counts, settling_words,
};
use crate::{format::figure, metrics::Unit};
use std::fmt::Write as _;

/// So many of each list are shown; the JSON has them all.
const MAX: usize = 20;

/// The whole comparison.
pub fn render(comparison: &Comparison) -> String {
    let (word, rest) = comparison.headline.split_once(": ").unwrap_or((&comparison.headline, ""));
    let colon = if rest.is_empty() { "" } else { ": " };
    let mut text = format!("## {word}{colon}{}\n\n", plain(rest));
    for line in cautions(comparison) {
        let _ = writeln!(text, "> {line}  ");
    }
    let (base, head) = (&comparison.base, &comparison.head);
    let _ = write!(
        text,
        "\n{}: {}.\n\nBase **{}**, head **{}**, {} paired items, margin {} percentage points{}.\n\n",
        comparison.decision.name(),
        plain(&comparison.reason),
        plain(base.run.as_str()),
        plain(head.run.as_str()),
        comparison.paired,
        size(comparison.margin, Unit::Share),
        if comparison.strict { ", strict" } else { "" }
    );
    means(&mut text, comparison);
    passes(&mut text, &comparison.passes);
    if let Some(words) = detectable_words(comparison) {
        let _ = writeln!(text, "{words}\n");
    }
    if let Some(settling) = &comparison.settling {
        let _ = writeln!(text, "{}\n", settling_words(settling));
    }
    items(&mut text, comparison);
    issues(&mut text, comparison);
    text
}

fn cautions(comparison: &Comparison) -> Vec<String> {
    let mut lines = Vec::new();
    if comparison.simulated {
        lines.push("**SIMULATED**: scores were made up by the simulator.".to_owned());
    }
    let judges = comparison.judge_differences.iter();
    lines.extend(judges.map(|difference| format!("**Another judge**: {}", plain(difference))));
    lines.extend(comparison.warnings.iter().map(|warning| plain(warning)));
    lines
}

fn means(text: &mut String, comparison: &Comparison) {
    text.push_str(
        "| | Base | Head | Change | 95 % interval | n | d_z | p | Detectable | |\n\
         |---|--:|--:|--:|:-:|--:|--:|--:|--:|---|\n",
    );
    for each in comparison.means() {
        let mark = if each == &comparison.decisive { "**" } else { "" };
        mean(text, each, mark);
    }
    text.push_str(
        "\nHead − base, in percentage points, points or ms. p of criteria and of \
         deterministic metrics is adjusted (Holm). Detectable: the smallest true change that this \
         many items reveal 4 times in 5.\n\n",
    );
}

fn mean(text: &mut String, metric: &MetricDifference, mark: &str) {
    let unit = metric.unit();
    let all = &metric.difference;
    let none = || "–".to_owned();
    let shown = |value: Option<f64>| value.map_or_else(none, |value| figure(value, unit));
    let moved = |value: Option<f64>| value.map_or_else(none, |value| change(value, unit));
    let _ = writeln!(
        text,
        "| {mark}{}{mark} | {} | {} | {} | {} to {} | {} | {} | {} | {} | {} |",
        plain(&metric.title),
        shown(all.base),
        shown(all.head),
        moved(all.difference),
        moved(all.low),
        moved(all.high),
        all.n,
        all.effect_size_dz.map_or_else(none, |value| change(value, Unit::Score)),
        p_value(metric.p_adjusted.or(all.p_value)),
        all.detectable.map_or_else(none, |value| distinct_size(value, unit)),
        metric.decision.name()
    );
}

fn passes(text: &mut String, passes: &[PassDifference]) {
    if passes.is_empty() {
        return;
    }
    text.push_str(
        "| Pass or fail | Base | Head | Only in base | Only in head | n | p (McNemar) | |\n\
         |---|--:|--:|--:|--:|--:|--:|---|\n",
    );
    for each in passes {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            plain(&each.title),
            figure(each.base, Unit::Share),
            figure(each.head, Unit::Share),
            each.table.only_base,
            each.table.only_head,
            each.table.total(),
            p_value(each.p_adjusted.or(each.p_value)),
            each.decision.map_or("", Decision::name)
        );
    }
    text.push('\n');
}

fn items(text: &mut String, comparison: &Comparison) {
    let lists = &comparison.items;
    let changes = |list: &[ItemChange]| -> Vec<String> {
        let line = |change_: &ItemChange| {
            let ends = (figure(change_.base, Unit::Share), figure(change_.head, Unit::Share));
            format!("{}: {} → {}", plain(&change_.id), ends.0, ends.1)
        };
        list.iter().take(MAX).map(line).collect()
    };
    let ids = |list: &[String]| list.iter().take(MAX).map(|id| plain(id)).collect();
    let failing = lists.newly_failing.iter().take(MAX).map(|each| {
        let how = failure_words(each);
        format!("{}: {how}", plain(&each.id))
    });
    let _ = write!(text, "<details><summary>Items: {}</summary>\n\n", item_counts(comparison));
    list(text, "Regressed", lists.regressed.len(), changes(&lists.regressed));
    list(text, "Improved", lists.improved.len(), changes(&lists.improved));
    list(text, "Newly failing", lists.newly_failing.len(), failing.collect());
    list(text, "Another input, not paired", lists.changed_input.len(), ids(&lists.changed_input));
    list(text, "New", lists.new.len(), ids(&lists.new));
    list(text, "Gone", lists.gone.len(), ids(&lists.gone));
    text.push_str("</details>\n\n");
}

fn issues(text: &mut String, comparison: &Comparison) {
    let issues = &comparison.issues;
    let lists = [
        ("New", &issues.new),
        ("Gone", &issues.gone),
        ("More frequent", &issues.more_frequent),
        ("Less frequent", &issues.less_frequent),
    ];
    let counts = lists.map(|(title, list)| format!("{} {}", list.len(), title.to_lowercase()));
    let _ = write!(text, "<details><summary>Issues: {}</summary>\n\n", counts.join(", "));
    for (title, changes) in lists {
        let line = |issue: &IssueChange| {
            let share = |share: f64| figure(share, Unit::Share);
            let (before, after) = (share(issue.base_share), share(issue.head_share));
            format!("{}: {before} → {after}", plain(&issue.label))
        };
        list(text, title, changes.len(), changes.iter().take(MAX).map(line).collect());
    }
    text.push_str("</details>\n");
}

fn list(text: &mut String, title: &str, count: usize, lines: Vec<String>) {
    if lines.is_empty() {
        return;
    }
    let _ = write!(text, "**{title}** ({count})\n\n");
    for line in &lines {
        let _ = writeln!(text, "- {line}");
    }
    if count > lines.len() {
        let _ = writeln!(text, "- … {} more", count - lines.len());
    }
    text.push('\n');
}

/// Text of others that Markdown takes for nothing but text: no markup, no link, no mention.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            character if character.is_control() => plain.push(' '),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '#' | '!' | '|' | '~'
            | '@' | '&' | ':' => {
                let _ = write!(plain, "&#{};", u32::from(character));
            }
            character => plain.push(character),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_judge_wrote_is_text_and_nothing_else() {
        let evil = "| a | @all <img src=x> [x](http://y) `c`\n# head";
        let text = plain(evil);
        assert!(!text.contains(['|', '@', '<', '[', '`', '\n', ':']), "{text}");
        assert_eq!(plain("Padding is 12px, not 16px"), "Padding is 12px, not 16px");
    }
}
