//! Filters and order of results in a table.

use super::{
    EvidenceState, RunView,
    rows::{Row, Rows},
};
use juror_analysis::run_report::Report;
use juror_report::topics::results::ResultColumnKind;
use juror_types::{finding::Severity, outcome::Outcome};
use std::cmp::Reverse;

/// Query of results: conditions that must all hold, and an order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowQuery {
    pub outcome: Option<Outcome>,
    /// Tag, by its position among the tags.
    pub tag: Option<u16>,
    /// Common issue, by its position in the report.
    pub issue: Option<u32>,
    /// Common strength, by its position in the report.
    pub strength: Option<u32>,
    /// Repair, by its position in the report.
    pub repair: Option<u32>,
    /// Kind of a finding, by its position in the rubric's vocabulary.
    pub kind: Option<u16>,
    /// Severity of a finding; with `kind`, of the same finding.
    pub severity: Option<Severity>,
    /// True for verdicts that contradict themselves, false for those that do not.
    pub contradictory: Option<bool>,
    pub evidence: Option<EvidenceState>,
    /// True for verdicts that report attempts to instruct the judge, false for those that do not.
    pub suspected_instructions: Option<bool>,
    /// Minimum score, from 0 to 1.
    pub min_score: Option<f32>,
    /// Maximum score, from 0 to 1.
    pub max_score: Option<f32>,
    /// Text in the id, tags or common issues, in any case.
    pub text: Option<String>,
    /// True if no result matches, whatever the other conditions are.
    pub selects_none: bool,
    pub order: Order,
    /// True if the order is reversed.
    pub descending: bool,
}

/// Order of results. Results without a value come last in both directions; ties are ordered by id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Verdicts that contradict the measured evidence first, then results without a score, then the
    /// lowest scores.
    #[default]
    Urgency,
    Id,
    /// By the column at a position.
    Column(usize),
}

impl Order {
    /// The name of the default order; the others are the keys of columns.
    pub const URGENCY: &str = "urgency";

    /// The order of this name; `None` if the run lacks it.
    pub fn from_name(name: &str, view: &RunView) -> Option<Self> {
        if name == Self::URGENCY {
            return Some(Self::Urgency);
        }
        let place = view.columns.iter().position(|column| column.key == name)?;
        let is_item = view.columns.get(place)?.kind == ResultColumnKind::Item;
        Some(if is_item { Self::Id } else { Self::Column(place) })
    }
}

impl RowQuery {
    /// Positions of the selected rows.
    pub(super) fn select(&self, report: &Report, rows: &Rows) -> Vec<u32> {
        let text = self.text.as_deref().filter(|text| !text.is_empty());
        let text = text.map(|text| SearchedText::new(text, report, rows));
        let mut chosen: Vec<(u32, &Row)> = rows
            .iter()
            .filter(|(_, row)| self.matches(row))
            .filter(|(place, row)| text.as_ref().is_none_or(|text| text.is_in(report, *place, row)))
            .collect();
        // Places are in the order of ids, so a stable sort leaves ties in it.
        match self.order {
            Order::Id if self.descending => chosen.reverse(),
            Order::Id => {}
            Order::Urgency if self.descending => {
                chosen.sort_by_key(|(_, row)| Reverse(row.urgency));
            }
            Order::Urgency => chosen.sort_by_key(|(_, row)| row.urgency),
            Order::Column(column) => {
                let value =
                    |row: &Row| row.values.get(column).copied().filter(|value| !value.is_nan());
                chosen.sort_by(|(_, one), (_, other)| match (value(one), value(other)) {
                    (Some(one), Some(other)) if self.descending => other.total_cmp(&one),
                    (Some(one), Some(other)) => one.total_cmp(&other),
                    (one, other) => one.is_none().cmp(&other.is_none()),
                });
            }
        }
        chosen.into_iter().map(|(place, _)| place).collect()
    }

    fn matches(&self, row: &Row) -> bool {
        let within = |score: f32| {
            self.min_score.is_none_or(|least| score >= least)
                && self.max_score.is_none_or(|most| score <= most)
        };
        let has = |(kind, severity): &(u16, Severity)| {
            self.kind.is_none_or(|wanted| wanted == *kind)
                && self.severity.is_none_or(|wanted| wanted == *severity)
        };
        // A result without a verdict matches neither value.
        let has_value = |wanted: Option<bool>, is: bool| {
            wanted.is_none_or(|wanted| row.score.is_some() && wanted == is)
        };
        let bounded = self.min_score.is_some() || self.max_score.is_some();
        !self.selects_none
            && self.outcome.is_none_or(|outcome| row.outcome == outcome)
            && self.tag.is_none_or(|tag| row.tags.contains(&tag))
            && self.issue.is_none_or(|issue| row.issues.contains(&issue))
            && self.strength.is_none_or(|strength| row.strengths.contains(&strength))
            && self.repair.is_none_or(|repair| row.repairs.contains(&repair))
            && (self.kind.is_none() && self.severity.is_none() || row.findings.iter().any(has))
            && has_value(self.contradictory, row.contradictory)
            && self.evidence.is_none_or(|wanted| {
                EvidenceState::ALL
                    .iter()
                    .zip(row.evidence)
                    .any(|((state, ..), holds)| holds && *state == wanted)
            })
            && has_value(self.suspected_instructions, row.suspected_instructions)
            && (!bounded || row.score.is_some_and(within))
    }
}

/// A searched text, and the tags and common issues that contain it: those are few, and rows many.
struct SearchedText {
    text: String,
    tags: Vec<bool>,
    issues: Vec<bool>,
}

impl SearchedText {
    fn new(text: &str, report: &Report, rows: &Rows) -> Self {
        let text = text.to_lowercase();
        let tags = rows.tags.iter().map(|(tag, _)| contains(tag, &text)).collect();
        let groups = report.common_issues.iter();
        let issues = groups.map(|group| contains(&group.label, &text)).collect();
        Self { text, tags, issues }
    }

    fn is_in(&self, report: &Report, place: u32, row: &Row) -> bool {
        let holds = |found: &[bool], number: usize| found.get(number).copied().unwrap_or(false);
        let id = report.items.number_at(place).map_or("", |item| report.items.id(item));
        row.tags.iter().any(|tag| holds(&self.tags, usize::from(*tag)))
            || row.issues.iter().any(|issue| holds(&self.issues, *issue as usize))
            || contains(id, &self.text)
    }
}

/// True if a text contains another, which is in lower case.
fn contains(text: &str, lowercase: &str) -> bool {
    text.to_lowercase().contains(lowercase)
}
