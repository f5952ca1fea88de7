//! Orders of the table of runs, one for each column.

use crate::pages::query::PageQuery;
use juror_analysis::{history::PastMetric, metrics::Unit};
use juror_app::run_catalog::ListedRun;
use juror_types::usage::Money;
use std::cmp::Ordering;

/// Sort key of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunOrder {
    pub column: RunColumn,
    /// True if the order is descending.
    pub descends: bool,
}

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunColumn {
    Run,
    State,
    Created,
    Dataset,
    Rubric,
    Judge,
    Score,
    Scored,
    Cost,
}

/// Columns: name in queries, head, and true for numbers.
pub const COLUMNS: [(RunColumn, &str, &str, bool); 9] = [
    (RunColumn::Run, "run", "Run", false),
    (RunColumn::State, "state", "State", false),
    (RunColumn::Created, "created", "Created", false),
    (RunColumn::Dataset, "dataset", "Dataset", false),
    (RunColumn::Rubric, "rubric", "Rubric", false),
    (RunColumn::Judge, "judge", "Judge", false),
    (RunColumn::Score, "score", "Score", true),
    (RunColumn::Scored, "scored", "Scored", true),
    (RunColumn::Cost, "cost", "Cost", true),
];

impl RunOrder {
    /// The order of a query; default: newest first.
    pub fn from_query(query: &PageQuery) -> Self {
        let named = query.text("sort");
        let column = COLUMNS.iter().find(|(_, name, ..)| Some(*name) == named);
        match column {
            Some((column, ..)) => {
                Self { column: *column, descends: query.text("order") == Some("desc") }
            }
            None => Self { column: RunColumn::Created, descends: true },
        }
    }

    /// Sorts runs, which are newest first; those without a figure come last in both directions.
    pub fn sort(self, runs: &mut [ListedRun]) {
        runs.sort_by(|one, other| {
            let order = self.compare(one, other);
            let is_missing = |run: &ListedRun| match self.column {
                RunColumn::Score => score_of(run).is_none(),
                RunColumn::Cost => run.figures.is_none(),
                _ => false,
            };
            match (is_missing(one), is_missing(other)) {
                (false, false) if self.descends => order.reverse(),
                (false, false) => order,
                (one, other) => one.cmp(&other),
            }
        });
    }

    fn compare(self, one: &ListedRun, other: &ListedRun) -> Ordering {
        let by_text = |key: fn(&ListedRun) -> String| key(one).cmp(&key(other));
        match self.column {
            RunColumn::Run => by_text(|run| run.record.run_id.to_string()),
            RunColumn::State => by_text(|run| format!("{:?}", run.state)),
            RunColumn::Created => by_text(|run| run.record.created_at.clone()),
            RunColumn::Dataset => by_text(|run| run.record.dataset.path.clone()),
            RunColumn::Rubric => by_text(ListedRun::rubric_name),
            RunColumn::Judge => by_text(judge_of),
            RunColumn::Score => share_of(one).total_cmp(&share_of(other)),
            RunColumn::Scored => scored_of(one).cmp(&scored_of(other)),
            RunColumn::Cost => cost_of(one).cmp(&cost_of(other)),
        }
    }

    /// Name of its column in queries.
    pub fn name(self) -> &'static str {
        let column = COLUMNS.iter().find(|(column, ..)| *column == self.column);
        column.map_or("created", |(_, name, ..)| *name)
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

fn scored_of(run: &ListedRun) -> u64 {
    run.figures.as_ref().map_or(0, |figures| figures.scored)
}

fn cost_of(run: &ListedRun) -> Option<Money> {
    run.figures.as_ref().map(|figures| figures.cost_usd)
}

/// The score as a share of its scale.
fn share_of(run: &ListedRun) -> f64 {
    match score_of(run) {
        Some((metric, Unit::Percent, _)) => metric.value / 100.0,
        Some((metric, ..)) => metric.value,
        None => 0.0,
    }
}
