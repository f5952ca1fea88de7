//! Which issues are new, gone, more or less frequent. Pure.

use crate::{
    issues::{IssueKey, StatementGroup},
    metrics::tidy,
};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Issues by what became of them, the largest change of their share first.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct IssueChanges {
    /// Of the head alone.
    pub new: Vec<IssueChange>,
    /// Of the base alone.
    pub gone: Vec<IssueChange>,
    /// Their share rose by more than the margin.
    pub more_frequent: Vec<IssueChange>,
    /// Their share fell by more than the margin.
    pub less_frequent: Vec<IssueChange>,
}

/// An issue in both runs: items that it was said of, and their share of the judged items.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IssueChange {
    /// The issue, as the head has it, or else the base.
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

/// Lays the groups of two runs side by side.
pub fn issue_changes(
    base: &[StatementGroup],
    head: &[StatementGroup],
    margin: f64,
) -> IssueChanges {
    let mut unmatched: HashMap<_, &StatementGroup> = HashMap::new();
    for group in base {
        unmatched.entry(key(group)).or_insert(group);
    }
    let mut changes = IssueChanges::default();
    for group in head {
        let before = unmatched.remove(&key(group));
        let change = change(before, Some(group), &group.label);
        let rise = tidy(change.head_share - change.base_share);
        match before {
            None => changes.new.push(change),
            Some(_) if rise > margin => changes.more_frequent.push(change),
            Some(_) if rise < -margin => changes.less_frequent.push(change),
            Some(_) => {}
        }
    }
    // In the base's own order, so that nothing depends on how a map is laid out.
    let is_left = |group: &&StatementGroup| {
        unmatched.get(&key(group)).is_some_and(|left| std::ptr::eq(*left, *group))
    };
    let left = base.iter().filter(is_left);
    changes.gone = left.map(|group| change(Some(group), None, &group.label)).collect();
    let size = |change: &IssueChange| (change.head_share - change.base_share).abs();
    let lists = [&mut changes.more_frequent, &mut changes.less_frequent];
    for list in lists {
        list.sort_by(|left, right| size(right).total_cmp(&size(left)));
    }
    changes
}

/// Key by which groups of two runs are one: their own, or where they are of shared words, their
/// labels, but for case and space.
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

fn change(
    base: Option<&StatementGroup>,
    head: Option<&StatementGroup>,
    label: &str,
) -> IssueChange {
    let counted =
        |group: Option<&StatementGroup>| group.map_or((0, 0.0), |group| (group.count, group.share));
    let ((base_count, base_share), (head_count, head_share)) = (counted(base), counted(head));
    IssueChange { label: label.to_owned(), base_count, base_share, head_count, head_share }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(label: &str, count: u64) -> StatementGroup {
        StatementGroup {
            label: label.into(),
            count,
            share: count as f64 / 100.0,
            key: IssueKey::Words,
            items: Vec::new(),
            worst: Vec::new(),
            examples: Vec::new(),
        }
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
        let changes = issue_changes(&base, &head, 0.01);
        let labels = |list: &[IssueChange]| -> Vec<String> {
            list.iter().map(|change| change.label.clone()).collect()
        };
        assert_eq!(labels(&changes.new), ["New"]);
        assert_eq!(labels(&changes.gone), ["Old"]);
        assert_eq!(labels(&changes.more_frequent), ["missing  icon"]);
        assert_eq!(labels(&changes.less_frequent), ["Wrong color"]);
        let more = &changes.more_frequent[0];
        assert_eq!((more.base_count, more.head_count), (20, 40));
        assert_eq!(issue_changes(&base, &base, 0.0), IssueChanges::default());
    }

    #[test]
    fn what_is_of_one_kind_is_one_issue_however_it_is_worded() {
        let of_kind = |label, count| StatementGroup {
            key: IssueKey::Topic("icon".into()),
            ..group(label, count)
        };
        let changes = issue_changes(
            &[of_kind("The icon is missing", 4), group("No icon", 1)],
            &[of_kind("No icon", 9)],
            0.01,
        );
        assert_eq!((changes.new.len(), changes.more_frequent.len()), (0, 1));
        assert_eq!(changes.gone[0].label, "No icon");
    }
}
