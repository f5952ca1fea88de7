//! Filters of a run's results, as the address states them.

use crate::{
    pages::{PageQuery, links},
    view::{EvidenceState, Order, RowQuery, RunView},
};
use juror_types::{finding::Severity, outcome::Outcome};

/// Query parameters of the table of results, which links preserve.
const NAMES: [&str; 15] = [
    "outcome",
    "tag",
    "issue",
    "strength",
    "repair",
    "kind",
    "severity",
    "contradictory",
    "evidence",
    "suspected_instructions",
    "from",
    "to",
    "q",
    "sort",
    "order",
];

/// Filters of a run's table.
#[derive(Clone, Debug)]
pub struct ItemFilters {
    pairs: Vec<(&'static str, String)>,
    /// The page, from 1.
    pub page: usize,
}

impl ItemFilters {
    /// Parses the filters of a query.
    pub fn from_query(query: &PageQuery) -> Self {
        let pair = |name| Some((name, query.text(name)?.to_owned()));
        let pairs = NAMES.into_iter().filter_map(pair).collect();
        Self { pairs, page: query.value("page").unwrap_or(1) }
    }

    /// The value of a parameter as it was written.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// True if anything is left out.
    pub fn is_filtered(&self) -> bool {
        self.pairs.iter().any(|(name, _)| !["sort", "order"].contains(name))
    }

    /// The query string with these parameters replaced; an empty value removes one. The page number
    /// is dropped.
    pub fn with(&self, changes: &[(&'static str, String)]) -> String {
        let changed = |name: &str| changes.iter().any(|(other, _)| *other == name);
        let kept = self.pairs.iter().filter(|(name, _)| !changed(name)).cloned();
        let changes = changes.iter().filter(|(_, value)| !value.is_empty()).cloned();
        links::query(kept.chain(changes))
    }

    /// Query of the filtered results. A tag or a label that the run does not have selects none, and
    /// so does a value that cannot be read.
    pub fn query(&self, view: &RunView) -> RowQuery {
        let query = self.readable(view);
        let are_read = [
            ("outcome", query.outcome.is_some()),
            ("severity", query.severity.is_some()),
            ("contradictory", query.contradictory.is_some()),
            ("evidence", query.evidence.is_some()),
            ("suspected_instructions", query.suspected_instructions.is_some()),
            ("from", query.min_score.is_some()),
            ("to", query.max_score.is_some()),
        ];
        let selects_none =
            are_read.iter().any(|(name, is_read)| self.text(name).is_some() && !is_read);
        RowQuery { selects_none, ..query }
    }

    fn readable(&self, view: &RunView) -> RowQuery {
        let share = |name| Some(self.text(name)?.parse::<f32>().ok()? / 100.0);
        // Scores are shown with one decimal, so 88.5 matches every score that is rounded to it.
        let half_a_step = 0.0005;
        RowQuery {
            outcome: self.text("outcome").and_then(Outcome::from_name),
            tag: self.text("tag").map(|tag| view.tag(tag)),
            issue: self.text("issue").map(|label| view.issue(label)),
            strength: self.text("strength").map(|label| view.strength(label)),
            repair: self.text("repair").map(|label| view.repair(label)),
            kind: self.text("kind").map(|key| view.kind(key)),
            severity: self.text("severity").and_then(Severity::from_name),
            contradictory: self.text("contradictory").and_then(|text| text.parse().ok()),
            evidence: self.text("evidence").and_then(EvidenceState::from_name),
            suspected_instructions: self
                .text("suspected_instructions")
                .and_then(|text| text.parse().ok()),
            min_score: share("from").map(|share| share - half_a_step),
            max_score: share("to").map(|share| share + half_a_step),
            text: self.text("q").map(str::to_owned),
            selects_none: false,
            order: self.order(view),
            descending: self.text("order") == Some("desc"),
        }
    }

    /// Order of the table.
    pub fn order(&self, view: &RunView) -> Order {
        match self.text("sort") {
            None => Order::Urgency,
            Some(key) => Order::from_name(key, view).unwrap_or_default(),
        }
    }
}
