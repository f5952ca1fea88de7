//! Validation of scale, weights, groups, grades, the success bound and metrics.

use super::Problems;
use crate::{
    rubric::{Criterion, Formula, MetricKind, Rubric, Success},
    toml_problem::key_path::PathStep::{Entry, Key},
};

/// Maximum top score and maximum weight.
const MAX: u32 = 1_000;
/// Minimum positive weight; with it, totals are exact beyond the stored decimals.
const MIN_WEIGHT: f64 = 0.001;
/// Names of a run's overall metrics in reports.
const OVERALL_METRICS: [&str; 3] = ["avg_semantic_correctness", "avg_percentage", "grades"];

pub(super) fn check(rubric: &Rubric, problems: &mut Problems<'_>) {
    check_scale(rubric, problems);
    if rubric.criteria.is_empty() {
        problems.add(&[Key("criteria")], "is empty; add at least one [[criteria]]");
    } else {
        match rubric.formula {
            Formula::SumOverMax => check_sum(rubric, problems),
            Formula::WeightedGroups => check_groups(rubric, problems),
        }
    }
    check_success(rubric, problems);
    check_grades(rubric, problems);
    check_metrics(rubric, problems);
}

fn check_scale(rubric: &Rubric, problems: &mut Problems<'_>) {
    let (min, max) = (rubric.scale.min, rubric.scale.max);
    if min >= max {
        let message = format!("{min} is not below the scale's max {max}; lower it or raise max");
        problems.add(&[Key("scale"), Key("min")], message);
    }
    if max > MAX {
        problems.add(&[Key("scale"), Key("max")], format!("{max} is above {MAX}; lower it"));
    }
}

fn check_sum(rubric: &Rubric, problems: &mut Problems<'_>) {
    if !rubric.groups.is_empty() {
        problems.add(
            &[Key("groups")],
            "formula sum_over_max has no groups; remove them, or use formula weighted_groups",
        );
    }
    for (position, criterion) in rubric.criteria.iter().enumerate() {
        if criterion.group.is_some() {
            problems.add(
                &[Key("criteria"), Entry(position, &criterion.key), Key("group")],
                "formula sum_over_max has no groups; remove it, or use formula weighted_groups",
            );
        }
    }
    let weights =
        rubric.criteria.iter().map(|criterion| (criterion.key.as_str(), criterion.weight));
    check_weights("criteria", weights, problems);
}

fn check_groups(rubric: &Rubric, problems: &mut Problems<'_>) {
    if rubric.groups.is_empty() {
        problems.add(
            &[Key("formula")],
            "weighted_groups needs at least one [[groups]] with key, title and weight",
        );
        return;
    }
    for (position, criterion) in rubric.criteria.iter().enumerate() {
        check_membership(rubric, position, criterion, problems);
    }
    for (position, group) in rubric.groups.iter().enumerate() {
        if rubric.criteria_of(&group.key).next().is_none() {
            problems.add(
                &[Key("groups"), Entry(position, &group.key)],
                "has no criterion; set `group` of one to its key, or remove it",
            );
        }
    }
    let weights = rubric.groups.iter().map(|group| (group.key.as_str(), group.weight));
    check_weights("groups", weights, problems);
}

fn check_membership(
    rubric: &Rubric,
    position: usize,
    criterion: &Criterion,
    problems: &mut Problems<'_>,
) {
    let place = |field| [Key("criteria"), Entry(position, &criterion.key), Key(field)];
    let groups: Vec<&str> = rubric.groups.iter().map(|group| group.key.as_str()).collect();
    match criterion.group.as_deref() {
        None => problems.add(
            &place("group"),
            format!("is missing, but formula weighted_groups needs it; use {}", any_of(&groups)),
        ),
        Some(group) if !groups.contains(&group) => problems.add(
            &place("group"),
            format!("no group has the key {group:?}; use {}", any_of(&groups)),
        ),
        Some(_) => {}
    }
    if criterion.weight != 1.0 {
        problems.add(
            &place("weight"),
            "formula weighted_groups weights groups, not criteria; remove `weight`, or set it to 1",
        );
    }
}

fn check_weights<'rubric>(
    list: &str,
    weights: impl Iterator<Item = (&'rubric str, f64)>,
    problems: &mut Problems<'_>,
) {
    let mut all_zero = true;
    for (position, (name, weight)) in weights.enumerate() {
        all_zero &= weight == 0.0;
        if weight != 0.0 && !(MIN_WEIGHT..=f64::from(MAX)).contains(&weight) {
            let message = format!("{weight} is not a weight; use 0, or {MIN_WEIGHT} to {MAX}");
            problems.add(&[Key(list), Entry(position, name), Key("weight")], message);
        }
    }
    if all_zero {
        problems.add(&[Key(list)], "every weight is 0, so there is no total; set a positive one");
    }
}

fn check_success(rubric: &Rubric, problems: &mut Problems<'_>) {
    let (key, bound) = match rubric.success {
        Success::Above(bound) => ("above", bound),
        Success::AtLeast(bound) => ("at_least", bound),
    };
    let place = [Key("success"), Key(key)];
    if !(0.0..=1.0).contains(&bound) {
        let message = format!("{bound} is not from 0 to 1; use 0.85 for 85 %");
        problems.add(&place, message);
    } else if rubric.success == Success::Above(1.0) {
        problems.add(&place, "no correctness is above 1; use at_least, or a lower bound");
    }
}

fn check_grades(rubric: &Rubric, problems: &mut Problems<'_>) {
    if rubric.formula == Formula::SumOverMax && !rubric.grades.is_empty() {
        let message = "formula sum_over_max has no grades; remove them";
        problems.add(&[Key("grades")], message);
        return;
    }
    let mut better = f64::INFINITY;
    for (position, grade) in rubric.grades.iter().enumerate() {
        let place = [Key("grades"), Entry(position, &grade.name)];
        problems.check_filled(&place, &grade.name);
        if rubric.grades.iter().take(position).any(|earlier| earlier.name == grade.name) {
            problems.add(&place, "is the name of two grades; rename one");
        }
        if !(0.0..=100.0).contains(&grade.from) {
            problems.add(&place, format!("from {} is not a percentage of 0 to 100", grade.from));
        } else if grade.from >= better {
            let message = format!(
                "from {} is not below the grade before it; list the best first",
                grade.from
            );
            problems.add(&place, message);
        }
        better = grade.from;
    }
    if rubric.grades.last().is_some_and(|last| last.from != 0.0) {
        problems
            .add(&[Key("grades")], "the last one must be from 0, so that every item has a grade");
    }
}

fn check_metrics(rubric: &Rubric, problems: &mut Problems<'_>) {
    let names = rubric.metrics.iter().map(|metric| metric.name.as_str());
    problems.check_names(&[Key("metrics")], "name", names);
    for (position, metric) in rubric.metrics.iter().enumerate() {
        let place = |field| [Key("metrics"), Entry(position, &metric.name), Key(field)];
        if OVERALL_METRICS.contains(&metric.name.as_str()) {
            problems.add(&place("name"), "is the name of an overall metric; rename it");
        }
        let (what, known): (_, Vec<&str>) = match metric.kind {
            MetricKind::Mean | MetricKind::PerfectRate => {
                ("criterion", rubric.criteria.iter().map(|c| c.key.as_str()).collect())
            }
            MetricKind::GroupMean => {
                ("group", rubric.groups.iter().map(|group| group.key.as_str()).collect())
            }
        };
        if !known.contains(&metric.of.as_str()) {
            let message = format!("no {what} has the key {:?}; use {}", metric.of, any_of(&known));
            problems.add(&place("of"), message);
        }
    }
}

/// The choices of a message's remedy.
fn any_of(names: &[&str]) -> String {
    match names {
        [] => "another kind: there are no keys".to_owned(),
        [name] => (*name).to_owned(),
        names => format!("one of {}", names.join(", ")),
    }
}
