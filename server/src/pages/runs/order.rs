//! Orders of the table of runs, one for each column.

use crate::pages::PageQuery;
use juror_analysis::{history::PastMetric, metrics::Unit};
use juror_app::run_catalog::ListedRun;
use juror_types::usage::Money;
use std::cmp::Ordering;

/// A column of the table: name in queries, head, true for numbers, and the value of a run that it
/// sorts by, if the run has one.
pub type RunColumn = (&'static str, &'static str, bool, fn(&ListedRun) -> Option<SortKey>);

/// Value of a run that the table is sorted by.
#[derive(Debug, PartialEq, PartialOrd)]
pub enum SortKey {
    Text(String),
    Count(u64),
    /// Share of a scale, which is a number.
    Share(f64),
    Amount(Money),
}

/// Order of the table by one of its columns.
#[derive(Clone, Copy)]
pub struct RunOrder {
    column: RunColumn,
    /// True if the order is descending.
    pub descends: bool,
}

const CREATED: RunColumn =
    ("created", "Created", false, |run| Some(SortKey::Text(run.record.created_at.clone())));

pub const COLUMNS: [RunColumn; 9] = [
    ("run", "Run", false, |run| Some(SortKey::Text(run.record.run_id.to_string()))),
    ("state", "State", false, |run| Some(SortKey::Text(format!("{:?}", run.state)))),
    CREATED,
    ("dataset", "Dataset", false, |run| Some(SortKey::Text(run.record.dataset.path.clone()))),
    ("rubric", "Rubric", false, |run| Some(SortKey::Text(run.rubric_name()))),
    ("judge", "Judge", false, |run| Some(SortKey::Text(judge_of(run)))),
    ("score", "Score", true, |run| share_of(run).map(SortKey::Share)),
    ("scored", "Scored", true, |run| {
        Some(SortKey::Count(run.figures.as_ref().map_or(0, |figures| figures.scored)))
    }),
    ("cost", "Cost", true, |run| Some(SortKey::Amount(run.figures.as_ref()?.cost_usd))),
];

impl RunOrder {
    /// The order of a query; default: newest first.
    pub fn from_query(query: &PageQuery) -> Self {
        let named = COLUMNS.into_iter().find(|(name, ..)| Some(*name) == query.text("sort"));
        let descends = named.is_none() || query.text("order") == Some("desc");
        Self { column: named.unwrap_or(CREATED), descends }
    }

    /// Sorts runs, which are newest first; those without a value come last in both directions.
    pub fn sort(self, runs: &mut [ListedRun]) {
        let (.., key) = self.column;
        runs.sort_by(|one, other| match (key(one), key(other)) {
            (Some(one), Some(other)) => {
                let order = one.partial_cmp(&other).unwrap_or(Ordering::Equal);
                if self.descends { order.reverse() } else { order }
            }
            (one, other) => one.is_none().cmp(&other.is_none()),
        });
    }

    /// Name of its column in queries.
    pub fn name(self) -> &'static str {
        self.column.0
    }

    /// Query parameters of the order.
    pub fn pairs(self) -> [(&'static str, String); 2] {
        let order = if self.descends { "desc" } else { "asc" };
        [("sort", self.name().to_owned()), ("order", order.to_owned())]
    }
}

/// The judge's model, or `off`.
pub fn judge_of(run: &ListedRun) -> String {
    run.record.judge.as_ref().map_or_else(|| "off".to_owned(), |judge| judge.model.clone())
}

/// The run's main metric: the judge's score, else the share of items that passed.
pub fn score_of(run: &ListedRun) -> Option<(PastMetric, Unit, &'static str)> {
    let metric = |path: &str| run.figures.as_ref()?.metrics.get(path).copied();
    let found = [
        ("semantic.avg_semantic_correctness", Unit::Share, ""),
        ("semantic.avg_percentage", Unit::Percent, ""),
        ("pipeline_success_rate", Unit::Share, " passed"),
    ];
    found.into_iter().find_map(|(path, unit, word)| Some((metric(path)?, unit, word)))
}

/// The score as a share of its scale.
fn share_of(run: &ListedRun) -> Option<f64> {
    let (metric, unit, _) = score_of(run)?;
    let value = if unit == Unit::Percent { metric.value / 100.0 } else { metric.value };
    Some(value).filter(|value| value.is_finite())
}
