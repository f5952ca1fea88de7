//! New, gone, more and less frequent issues, over the items scored in both runs. Pure.

use crate::{
    comparison::item::ItemValues,
    issues::{IssueKey, StatementGroup},
    items::Items,
    metrics::round_stable,
};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

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
}

/// Issues of a run, with the items of their numbers.
#[derive(Clone, Copy)]
pub struct RunIssues<'a> {
    /// The issues.
    pub groups: &'a [StatementGroup],
    /// The items.
    pub items: &'a Items,
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

    /// Issues of such items, with their number.
    fn counted<'a>(&self, run: RunIssues<'a>) -> Vec<(&'a StatementGroup, u64)> {
        let counts = |item: &&u32| !self.by_one.contains(run.items.id(**item));
        let count =
            |group: &'a StatementGroup| (group, group.items.iter().filter(counts).count() as u64);
        run.groups.iter().map(count).filter(|(_, count)| *count > 0).collect()
    }
}

/// Compares the groups of two runs.
pub fn issue_changes(
    base: RunIssues<'_>,
    head: RunIssues<'_>,
    scored: &ScoredInBoth,
    margin: f64,
) -> IssueChanges {
    let (base, head) = (scored.counted(base), scored.counted(head));
    let mut unmatched: HashMap<_, u64> = HashMap::new();
    for (group, count) in &base {
        unmatched.entry(key(group)).or_insert(*count);
    }
    let share = |count: u64| round_stable(count as f64 / scored.count.max(1) as f64);
    let change = |label: &str, base_count: u64, head_count: u64| IssueChange {
        label: label.to_owned(),
        base_count,
        base_share: share(base_count),
        head_count,
        head_share: share(head_count),
    };
    let mut changes = IssueChanges::default();
    for (group, count) in head {
        let before = unmatched.remove(&key(group));
        let change = change(&group.label, before.unwrap_or_default(), count);
        let rise = round_stable(change.head_share - change.base_share);
        match before {
            None => changes.new.push(change),
            Some(_) if rise > margin => changes.more_frequent.push(change),
            Some(_) if rise < -margin => changes.less_frequent.push(change),
            Some(_) => {}
        }
    }
    // In the base's own order, independent of the map's order.
    for (group, _) in base {
        if let Some(count) = unmatched.remove(&key(group)) {
            changes.gone.push(change(&group.label, count, 0));
        }
    }
    let size = |change: &IssueChange| (change.head_share - change.base_share).abs();
    let lists = [&mut changes.more_frequent, &mut changes.less_frequent];
    for list in lists {
        list.sort_by(|left, right| size(right).total_cmp(&size(left)));
    }
    changes
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
    use crate::test_results::judged;

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

    /// Changes between runs that scored the same 100 items.
    fn changes(base: &[StatementGroup], head: &[StatementGroup], margin: f64) -> IssueChanges {
        let items = Items::default();
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
        let mut items = Items::new(1, 4);
        for id in ["a", "b", "c", "d"] {
            items.add(&judged(id, [9; 5], &[], &[]), 0);
        }
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
