//! Rules on changes since a baseline: a maximum number of new, worse or flaky items or issues.

use super::{Bound, GateDecision, RuleReport};
use crate::comparison::Comparison;

/// A maximum number of entries of a list of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeRule {
    /// List whose length is bounded.
    pub list: ChangeList,
    /// Maximum number of entries.
    pub at_most: u32,
}

juror_types::named_enum! {
    /// List of `comparison` in `report.json`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ChangeList {
        /// Items that passed in the baseline and fail now, or are not scored.
        NewItems = "changes.new.items",
        /// Common issues of this run only.
        NewIssues = "changes.new.issues",
        /// Items whose score fell by more than noise.
        WorseItems = "changes.worse.items",
        /// Common issues that are more frequent.
        WorseIssues = "changes.worse.issues",
        /// Items whose outcome alternated over the last runs.
        Flaky = "changes.flaky",
    }
}

impl ChangeList {
    /// The list of this path; `None` for any other text.
    pub fn from_path(path: &str) -> Option<Self> {
        Self::from_name(path)
    }

    /// Title in reports.
    pub fn title(self) -> &'static str {
        match self {
            Self::NewItems => "New Items",
            Self::NewIssues => "New Issues",
            Self::WorseItems => "Worse Items",
            Self::WorseIssues => "Worse Issues",
            Self::Flaky => "Flaky Items",
        }
    }

    fn len(self, comparison: &Comparison) -> usize {
        let changes = &comparison.changes;
        match self {
            Self::NewItems => changes.new.items.len(),
            Self::NewIssues => changes.new.issues.len(),
            Self::WorseItems => changes.worse.items.len(),
            Self::WorseIssues => changes.worse.issues.len(),
            Self::Flaky => changes.flaky.len(),
        }
    }
}

impl ChangeRule {
    /// Evaluates the rule; undecided without a comparison, and within the bound if jobs of the
    /// head have no result; missed by a comparison without pairs or with too few of them.
    pub(super) fn evaluate(self, comparison: Option<&Comparison>) -> RuleReport {
        let bound = Bound::AtMost(f64::from(self.at_most));
        let is_enough =
            |comparison: &&Comparison| comparison.comparable() > 0 && !comparison.has_too_few_pairs;
        let compared = comparison.filter(is_enough);
        let value = compared.map(|comparison| self.list.len(comparison) as f64);
        let is_within = value.is_some_and(|value| bound.holds(value));
        let decision = match comparison {
            None => GateDecision::Undecided,
            Some(comparison) if is_within && comparison.head.coverage.without_result() > 0 => {
                GateDecision::Undecided
            }
            Some(_) => GateDecision::met_if(is_within),
        };
        let n = comparison.map_or(0, Comparison::comparable);
        RuleReport::new(self.list.name(), value, n, decision).bounded(bound)
    }
}
