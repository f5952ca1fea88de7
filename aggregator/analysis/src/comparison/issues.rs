//! New, gone, more and less frequent issues, over the items scored in both runs. Pure.

use super::{holm::holm, item::ItemValues, sign_test::Directions};
use crate::{
    issues::{IssueKey, StatementGroup},
    item_index::ItemIndex,
    metrics::round_stable,
};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// Adjusted p-value up to which a change is more than noise.
const SIGNIFICANCE: f64 = 0.05;

/// Issues by their change, largest change of their share first.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct IssueChanges {
    /// Issues of the head only.
    pub new: Vec<IssueChange>,
    /// Issues of the base only.
    pub gone: Vec<IssueChange>,
    /// Issues whose share rose by more than the margin.
    pub more_frequent: Vec<IssueChange>,
    /// Issues whose share fell by more than the margin.
    pub less_frequent: Vec<IssueChange>,
}

/// An issue in both runs: its items and their share of the items scored in both runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IssueChange {
    /// Label of the head, or else of the base.
    pub label: String,
    /// Items of the base.
    pub base_count: u64,
    /// Their share.
    pub base_share: f64,
    /// Items of the head.
    pub head_count: u64,
    /// Their share.
    pub head_share: f64,
    /// Exact two-sided p-value of the items that have the issue in only one run, adjusted over all
    /// issues of both runs (Holm); `None` in records of earlier versions, and for issues of one
    /// run.
    #[serde(default)]
    pub p_value: Option<f64>,
}

impl IssueChange {
    /// True if the change is more than noise: the adjusted p-value is at most 5 %.
    pub(super) fn is_significant(&self) -> bool {
        self.p_value.is_some_and(|p_value| p_value <= SIGNIFICANCE)
    }
}

/// Issues of a run, with the items of their numbers.
#[derive(Clone, Copy)]
pub struct RunIssues<'a> {
    /// Groups of statements with one meaning.
    pub groups: &'a [StatementGroup],
    /// Index of the ids of items.
    pub items: &'a ItemIndex,
}

/// Items scored in both of two runs. Issues of other items are not compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScoredInBoth {
    /// Number of items.
    pub count: u64,
    /// Ids of the items scored in only one run.
    pub by_one: HashSet<String>,
}

impl ScoredInBoth {
    /// Adds an item of either run, or of both.
    pub(crate) fn note(&mut self, base: Option<&ItemValues>, head: Option<&ItemValues>) {
        let scored = |item: Option<&ItemValues>| item.is_some_and(|item| item.scored > 0);
        match (scored(base), scored(head)) {
            (true, true) => self.count += 1,
            (false, false) => {}
            _ => self.by_one.extend(base.or(head).map(|item| item.id.clone())),
        }
    }

    /// Issues of such items, with the items' ids.
    fn issues_of<'a>(&self, run: RunIssues<'a>) -> Vec<(&'a StatementGroup, HashSet<&'a str>)> {
        let scored_in_both = |group: &'a StatementGroup| {
            let ids = group.items.iter().map(|item| run.items.id(*item));
            (group, ids.filter(|id| !self.by_one.contains(*id)).collect::<HashSet<_>>())
        };
        run.groups.iter().map(scored_in_both).filter(|(_, items)| !items.is_empty()).collect()
    }
}

/// Compares the groups of two runs.
pub fn issue_changes(
    base: RunIssues<'_>,
    head: RunIssues<'_>,
    scored: &ScoredInBoth,
    margin: f64,
) -> IssueChanges {
    let (base, head) = (scored.issues_of(base), scored.issues_of(head));
    let mut unmatched: HashMap<_, &HashSet<&str>> = HashMap::new();
    for (group, items) in &base {
        unmatched.entry(key(group)).or_insert(items);
    }
    let share = |count: usize| round_stable(count as f64 / scored.count.max(1) as f64);
    let change = |label: &str, base_count: usize, head_count: usize| IssueChange {
        label: label.to_owned(),
        base_count: base_count as u64,
        base_share: share(base_count),
        head_count: head_count as u64,
        head_share: share(head_count),
        p_value: None,
    };
    let mut changes = IssueChanges::default();
    let mut in_both = Vec::new();
    for (group, items) in &head {
        match unmatched.remove(&key(group)) {
            None => changes.new.push(change(&group.label, 0, items.len())),
            Some(before) => in_both.push((
                change(&group.label, before.len(), items.len()),
                Some(sign_test_p_value(before, items)),
            )),
        }
    }
    // In the base's own order, independent of the map's order.
    for (group, items) in &base {
        if unmatched.remove(&key(group)).is_some() {
            changes.gone.push(change(&group.label, items.len(), 0));
        }
    }
    let (in_both, p_values): (Vec<_>, Vec<_>) = in_both.into_iter().unzip();
    for (issue, p_value) in in_both.into_iter().zip(holm(&p_values)) {
        let issue = IssueChange { p_value: p_value.map(round_stable), ..issue };
        match round_stable(issue.head_share - issue.base_share) {
            rise if rise > margin => changes.more_frequent.push(issue),
            rise if rise < -margin => changes.less_frequent.push(issue),
            _ => {}
        }
    }
    let size = |change: &IssueChange| (change.head_share - change.base_share).abs();
    for list in [&mut changes.more_frequent, &mut changes.less_frequent] {
        list.sort_by(|left, right| size(right).total_cmp(&size(left)));
    }
    changes
}

/// The exact two-sided p-value of the items that have an issue in only one of two runs.
fn sign_test_p_value(base: &HashSet<&str>, head: &HashSet<&str>) -> f64 {
    let mut directions = Directions::default();
    base.difference(head).for_each(|_| directions.add(true, None));
    head.difference(base).for_each(|_| directions.add(false, None));
    directions.p_value()
}

/// Key by which groups of two runs match: their own, or for groups of shared words, their labels
/// ignoring case and white space.
fn key(group: &StatementGroup) -> (&IssueKey, String) {
    let label = |group: &StatementGroup| {
        let words: Vec<String> = group.label.split_whitespace().map(str::to_lowercase).collect();
        words.join(" ")
    };
    match &group.key {
        IssueKey::Words => (&group.key, label(group)),
        key => (key, String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_fixtures::judged;

    fn group(label: &str, count: u64) -> StatementGroup {
        StatementGroup {
            label: label.into(),
            count,
            share: count as f64 / 100.0,
            key: IssueKey::Words,
            items: (0..count as u32).collect(),
            worst: Vec::new(),
            examples: Vec::new(),
        }
    }

    fn items_of_run(ids: impl IntoIterator<Item = impl AsRef<str>>) -> ItemIndex {
        let mut items = ItemIndex::new(1, 100);
        for id in ids {
            items.add(&judged(id.as_ref(), [9; 5], &[], &[]), 0);
        }
        items
    }

    /// Changes between runs that scored the same 100 items.
    fn changes(base: &[StatementGroup], head: &[StatementGroup], margin: f64) -> IssueChanges {
        let items = items_of_run((0..100).map(|number| format!("item_{number}")));
        let issues = |groups| RunIssues { groups, items: &items };
        let scored = ScoredInBoth { count: 100, by_one: HashSet::new() };
        issue_changes(issues(base), issues(head), &scored, margin)
    }

    #[test]
    fn issues_are_new_gone_more_or_less_frequent() {
        let base = [
            group("Missing icon", 20),
            group("Wrong color", 10),
            group("Old", 5),
            group("Even", 3),
        ];
        let head = [
            group("missing  icon", 40),
            group("Wrong color", 2),
            group("New", 7),
            group("Even", 4),
        ];
        let found = changes(&base, &head, 0.01);
        let labels = |list: &[IssueChange]| -> Vec<String> {
            list.iter().map(|change| change.label.clone()).collect()
        };
        assert_eq!(labels(&found.new), ["New"]);
        assert_eq!(labels(&found.gone), ["Old"]);
        assert_eq!(labels(&found.more_frequent), ["missing  icon"]);
        assert_eq!(labels(&found.less_frequent), ["Wrong color"]);
        let more = &found.more_frequent[0];
        assert_eq!((more.base_count, more.head_count), (20, 40));
        assert_eq!(changes(&base, &base, 0.0), IssueChanges::default());
    }

    #[test]
    fn p_value_is_exact_and_adjusted_over_the_issues_of_both_runs() {
        let rise = |before, after| {
            let base = [group("Missing icon", before), group("Steady", 5)];
            let head = [group("Missing icon", after), group("Steady", 5)];
            let found = changes(&base, &head, 0.0);
            (found.more_frequent[0].p_value.unwrap(), found.more_frequent[0].is_significant())
        };
        // 2 · (1/2)^n for n items that gained it, times the two issues.
        assert_eq!(rise(20, 21), (1.0, false));
        assert_eq!(rise(20, 26), (round_stable(2.0 * 2.0 / 64.0), false));
        assert_eq!(rise(20, 27), (round_stable(2.0 * 2.0 / 128.0), true));
        let head = [group("New", 9)];
        assert_eq!(changes(&[], &head, 0.0).new[0].p_value, None);
    }

    #[test]
    fn one_kind_is_one_issue_regardless_of_wording() {
        let of_kind = |label, count| StatementGroup {
            key: IssueKey::Topic("icon".into()),
            ..group(label, count)
        };
        let found = changes(
            &[of_kind("The icon is missing", 4), group("No icon", 1)],
            &[of_kind("No icon", 9)],
            0.01,
        );
        assert_eq!((found.new.len(), found.more_frequent.len()), (0, 1));
        assert_eq!(found.gone[0].label, "No icon");
    }

    #[test]
    fn only_items_that_both_runs_scored_count() {
        let items = items_of_run(["a", "b", "c", "d"]);
        let by_one = ["c".to_owned(), "d".to_owned()].into();
        let scored = ScoredInBoth { count: 2, by_one };
        let only = |items: &[u32], label| StatementGroup { items: items.into(), ..group(label, 0) };
        let base = [group("Wrong color", 4), only(&[2, 3], "Missing icon")];
        let head = [group("Wrong color", 2)];
        let issues = |groups| RunIssues { groups, items: &items };
        let found = issue_changes(issues(&base), issues(&head), &scored, 0.01);
        assert_eq!(found, IssueChanges::default());
    }
}
