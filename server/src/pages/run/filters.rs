//! Filters of a run's results, as the address states them.

use crate::{
    pages::{links, query::PageQuery},
    view::{EvidenceState, Order, RowQuery, RunView},
};
use juror_analysis::issues::StatementGroup;
use juror_types::{finding::Severity, outcome::Outcome};

/// The query that a table fulfils, as they were written: links keep them.
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
    /// Of an address.
    pub fn from_query(query: &PageQuery) -> Self {
        let pair = |name| Some((name, query.text(name)?.to_owned()));
        let pairs = NAMES.into_iter().filter_map(pair).collect();
        Self { pairs, page: query.value("page").unwrap_or(1) }
    }

    /// A wish as it was written.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// True if anything is left out.
    pub fn is_filtered(&self) -> bool {
        self.pairs.iter().any(|(name, _)| !["sort", "order"].contains(name))
    }

    /// The address's query with other query in place of some; an empty one takes it away. The
    /// first page comes first again.
    pub fn with(&self, changes: &[(&'static str, String)]) -> String {
        let changed = |name: &str| changes.iter().any(|(other, _)| *other == name);
        let kept = self.pairs.iter().filter(|(name, _)| !changed(name)).cloned();
        let changes = changes.iter().filter(|(_, value)| !value.is_empty()).cloned();
        links::query(kept.chain(changes))
    }

    /// Query of the filtered results. A tag that the run does not have selects none.
    pub fn query(&self, view: &RunView) -> RowQuery {
        let outcome = self.text("outcome");
        let share = |name| Some(self.text(name)?.parse::<f32>().ok()? / 100.0);
        // Scores are shown with one decimal: who asks for 88.5 means all that are shown so.
        let half_a_step = 0.0005;
        let tag = self.text("tag").map(|tag| {
            let place = view.tags().iter().position(|(known, _)| known == tag);
            place.and_then(|place| u16::try_from(place).ok()).unwrap_or(u16::MAX)
        });
        RowQuery {
            outcome: Outcome::ALL.into_iter().find(|known| outcome == Some(known.name())),
            tag,
            issue: self.place("issue", &view.report.common_issues),
            strength: self.place("strength", &view.report.common_strengths),
            repair: self.text("repair").map(|label| view.repair(label).unwrap_or(u32::MAX)),
            kind: self.text("kind").map(|key| view.kind_number(key).unwrap_or(u16::MAX)),
            severity: Severity::ALL
                .into_iter()
                .find(|known| self.text("severity") == Some(known.name())),
            contradictory: self.text("contradictory").and_then(|text| text.parse().ok()),
            evidence: self.text("evidence").and_then(EvidenceState::of_name),
            suspected_instructions: self
                .text("suspected_instructions")
                .and_then(|text| text.parse().ok()),
            min_score: share("from").map(|share| share - half_a_step),
            max_score: share("to").map(|share| share + half_a_step),
            text: self.text("q").map(str::to_owned),
            order: self.order(view),
            descending: self.text("order") == Some("desc"),
        }
    }

    /// Order of the table.
    pub fn order(&self, view: &RunView) -> Order {
        match self.text("sort") {
            None => Order::Urgency,
            Some(key) => order_of(view, key).unwrap_or_default(),
        }
    }

    /// The place of the statement with this label; one that the run does not have selects none.
    fn place(&self, name: &str, groups: &[StatementGroup]) -> Option<u32> {
        let label = self.text(name)?;
        let place = groups.iter().position(|group| group.label == label);
        Some(place.and_then(|place| u32::try_from(place).ok()).unwrap_or(u32::MAX))
    }
}

/// The order by a column of this key; none for one that cannot be sorted by.
pub fn order_of(view: &RunView, key: &str) -> Option<Order> {
    match key {
        "grade" => Some(Order::Score),
        key if Order::of_name(key).is_some() => Order::of_name(key),
        key => view.columns.iter().position(|column| column.key == key).map(Order::Column),
    }
}
