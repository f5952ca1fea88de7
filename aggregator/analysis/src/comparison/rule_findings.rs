//! Findings of the rules that decide a comparison, as sentences.

use super::{
    Decision, Difference, FallenItems, LostItems, MetricDifference, PassDifference,
    difference_format::{change, change_interval, change_unit, p_equals, size},
};
use crate::{
    format::{counted, figure, grouped},
    metrics::Unit,
};
use std::cmp::Ordering;

/// Finding of one rule: its name in the record, a headline and a clause.
pub(super) struct RuleFinding {
    pub(super) rule: String,
    pub(super) headline: String,
    pub(super) sentence: String,
}

/// The finding on a mean, whatever it is.
pub(super) fn mean_finding(mean: &MetricDifference, margin: f64) -> RuleFinding {
    RuleFinding {
        rule: mean.metric.clone(),
        headline: mean_headline(mean),
        sentence: mean_sentence(mean, margin),
    }
}

/// The finding on a rate.
pub(super) fn rate_finding(rate: &PassDifference) -> RuleFinding {
    let (base, head) = (figure(rate.base, Unit::Share), figure(rate.head, Unit::Share));
    let change = match rate.head.total_cmp(&rate.base) {
        Ordering::Less => format!("fell from {base} to {head}"),
        Ordering::Equal => format!("stayed at {base}"),
        Ordering::Greater => format!("rose from {base} to {head}"),
    };
    RuleFinding {
        rule: rate.metric.clone(),
        headline: format!("{} {base} → {head}", rate.title),
        sentence: format!(
            "{} {change} (passing in the base alone: {}, in the head alone: {}; exact McNemar \
             test, adjusted {})",
            rate.title,
            grouped(rate.table.only_base),
            grouped(rate.table.only_head),
            p_equals(rate.p_adjusted)
        ),
    }
}

/// The finding on items that fell far.
pub(super) fn fallen_finding(fallen: &FallenItems) -> RuleFinding {
    let by = size(fallen.by, Unit::Share);
    let counts = format!("{} of {} items", grouped(fallen.fell), grouped(fallen.pairs));
    let (fell, rose) = match fallen.by_stages {
        true => ("fail a stage that they passed".to_owned(), "pass one that they failed"),
        false => (format!("fell by more than {by} percentage points"), "rose as far"),
    };
    let rose = format!("{} {rose}", grouped(fallen.rose));
    RuleFinding {
        rule: "fallen_items".to_owned(),
        headline: format!("{counts} {fell}, {rose}"),
        sentence: format!(
            "{counts} {fell} and {rose} (one-sided sign test, {}; equal runs raise this alarm in at \
             most {} % of comparisons)",
            p_equals(fallen.p_value),
            fallen.false_alarm_rate * 100.0
        ),
    }
}

/// The finding on evidence that cannot be compared.
pub(super) fn renderer_finding() -> RuleFinding {
    RuleFinding {
        rule: "evidence".to_owned(),
        headline: "what was measured is not compared".to_owned(),
        sentence:
            "the code of both runs was not rendered by one renderer, so that what it looks like \
                   is not compared"
                .to_owned(),
    }
}

/// The finding on lost items.
pub(super) fn lost_finding(lost: &LostItems, max_lost: f64) -> RuleFinding {
    let count = grouped(lost.failing + lost.absent);
    let items = format!("{count} of {}", counted(lost.base, "item"));
    RuleFinding {
        rule: "lost_items".to_owned(),
        headline: match lost.metric.starts_with("semantic.") {
            true => format!("{items} lost"),
            false => format!("{} lost in {items}", lost.title),
        },
        sentence: lost_sentence(lost, max_lost),
    }
}

/// `Semantic Correctness 88.3% → 81.2%, −7.1 [−8.1, −5.9] percentage points`.
fn mean_headline(mean: &MetricDifference) -> String {
    let (difference, unit) = (&mean.difference, mean.unit());
    let (Some(base), Some(head), Some(moved)) =
        (difference.base, difference.head, difference.difference)
    else {
        return format!("{} is unknown", mean.title);
    };
    let interval = match (difference.low, difference.high) {
        (Some(low), Some(high)) => format!(" {}", change_interval(low, high, unit)),
        _ => String::new(),
    };
    format!(
        "{} {} → {}, {}{interval} {}",
        mean.title,
        figure(base, unit),
        figure(head, unit),
        change(moved, unit),
        change_unit(unit)
    )
}

fn mean_sentence(mean: &MetricDifference, margin: f64) -> String {
    let difference = &mean.difference;
    let (unit, title) = (mean.unit(), &mean.title);
    let (Some(low), Some(high)) = (difference.low, difference.high) else {
        return no_interval(difference, title);
    };
    let ends = change_interval(low, high, unit);
    let margin = margin * unit.width();
    let shown = size(margin, unit);
    let by_interval = Decision::for_difference(difference, margin);
    let place = match by_interval {
        Decision::Worse => format!("lies below −{shown}"),
        Decision::Better => format!("lies above +{shown}"),
        Decision::Same => format!("lies within ±{shown}"),
        Decision::Inconclusive => format!("reaches over a margin of ±{shown}"),
    };
    let unsure = match mean.decision == by_interval {
        true => String::new(),
        false => format!(
            ", but one of several tests is that far by chance (adjusted {})",
            p_equals(mean.p_adjusted)
        ),
    };
    format!("the 95 % interval of the change of {title}, {ends}, {place}{unsure}")
}

/// Reason why a change has no interval: too few items, or too few clusters of them.
fn no_interval(difference: &Difference, title: &str) -> String {
    let pairs = counted(difference.n, "paired item");
    match difference.groups {
        groups if groups == difference.n => {
            format!("{pairs} are too few for an interval of the change of {title}")
        }
        1 => format!(
            "{pairs} are all in one cluster and count as one observation, which is too few for an \
             interval of the change of {title}"
        ),
        groups => format!(
            "{pairs} count as {groups} observations, since the items of a cluster count as one, \
             which are too few for an interval of the change of {title}"
        ),
    }
}

/// `45 of the 60 items with Semantic Correctness in the base have none in the head (…)`.
fn lost_sentence(lost: &LostItems, max_lost: f64) -> String {
    let mut how = Vec::new();
    if lost.failing > 0 {
        how.push(format!("{} failed or without a result", grouped(lost.failing)));
    }
    if lost.absent > 0 {
        how.push(format!("{} not judged or missing", grouped(lost.absent)));
    }
    format!(
        "{} of the {} with {} in the base have none in the head ({}), more than the {} that \
         max_lost allows",
        grouped(lost.failing + lost.absent),
        counted(lost.base, "item"),
        lost.title,
        how.join(", "),
        figure(max_lost, Unit::Share)
    )
}
