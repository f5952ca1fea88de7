//! What two runs say together: the record of a comparison.

use super::{
    Decision, Difference, IssueChanges, ItemLists, Pairs, PassTable, Settling, comparable::width_of,
};
use crate::{
    metrics::{MetricDefinition, Unit, tidy},
    report::{Coverage, Report},
};
use juror_common::{id::RunId, job::Judge};
use serde::Serialize;

/// What two runs say together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Version of this record.
    pub schema: u32,
    /// What became of the decisive metric from base to head.
    pub decision: Decision,
    /// Why.
    pub reason: String,
    /// A change that does not matter, as a share.
    pub margin: f64,
    /// Whether criteria decide too.
    pub strict: bool,
    /// Whether any verdict of either run is the simulator's.
    pub simulated: bool,
    /// How the judges differ; empty for one and the same judge.
    pub judge_differences: Vec<String>,
    /// What else a reader must know.
    pub warnings: Vec<String>,
    /// What is compared against.
    pub base: ComparedRun,
    /// What is compared.
    pub head: ComparedRun,
    /// Items that are paired.
    pub paired: u64,
    /// The rubric's one number as a share.
    pub decisive: MetricDifference,
    /// The score of each criterion; p-values are adjusted over them.
    pub criteria: Vec<MetricDifference>,
    /// Further means.
    pub metrics: Vec<MetricDifference>,
    /// What items pass or fail.
    pub passes: Vec<PassDifference>,
    /// What would settle it; only where it is inconclusive.
    pub settling: Option<Settling>,
    /// Items by what became of them.
    pub items: ItemLists,
    /// Issues by what became of them.
    pub issues: IssueChanges,
}

/// One of the two runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedRun {
    /// Its id.
    pub run: RunId,
    /// When it was created, RFC 3339 in UTC.
    pub created_at: String,
    /// Its judge; none with the judge off.
    pub judge: Option<Judge>,
    /// Whether any verdict is the simulator's.
    pub simulated: bool,
    /// How many times each item is judged.
    pub repeat: u32,
    /// How much of its dataset was judged.
    pub coverage: Coverage,
}

/// A mean in both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricDifference {
    /// Its path, as in `overall` where it stands there.
    pub metric: String,
    /// Its name for people.
    pub title: String,
    /// What the pairs say; a share, points of the scale, or milliseconds.
    #[serde(flatten)]
    pub difference: Difference,
    /// The p-value after Holm's adjustment over the criteria; none for other metrics.
    pub p_adjusted: Option<f64>,
    /// What became of it by the margin (that share of its scale); milliseconds have no margin, so
    /// any sure change counts.
    pub decision: Decision,
    #[serde(skip)]
    definition: MetricDefinition,
}

/// A rate in both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PassDifference {
    /// Its path in `overall`.
    pub metric: String,
    /// Its name for people.
    pub title: String,
    /// Share of the pairs that pass in the base.
    pub base: f64,
    /// In the head.
    pub head: f64,
    /// How the pairs are spread.
    #[serde(flatten)]
    pub table: PassTable,
    /// Of no change, two-sided, by the exact McNemar test.
    pub p_value: Option<f64>,
}

impl Comparison {
    /// Every mean that has pairs, the decisive one first.
    pub(crate) fn means(&self) -> impl Iterator<Item = &MetricDifference> {
        let all = [&self.decisive].into_iter().chain(&self.criteria).chain(&self.metrics);
        all.filter(|mean| mean.difference.n > 0)
    }
}

impl ComparedRun {
    pub(super) fn of(report: &Report) -> Self {
        let run = &report.run;
        Self {
            run: run.id.clone(),
            created_at: run.created_at.clone(),
            judge: run.judge.clone(),
            simulated: run.simulated,
            repeat: run.repeat,
            coverage: report.coverage.clone(),
        }
    }
}

impl MetricDifference {
    pub(super) fn new(definition: &MetricDefinition, pairs: &Pairs, margin: f64) -> Self {
        let width = width_of(definition.unit);
        let difference = pairs.difference(width);
        // Of time, less is better, and it has no scale to take a share of.
        let decision = match definition.unit {
            Unit::Milliseconds => Decision::of(&difference, 0.0).reversed(),
            _ => Decision::of(&difference, margin * width),
        };
        Self {
            metric: definition.path.clone(),
            title: definition.title.clone(),
            difference,
            p_adjusted: None,
            decision,
            definition: definition.clone(),
        }
    }

    /// What its figures mean.
    pub fn unit(&self) -> Unit {
        self.definition.unit
    }
}

impl PassDifference {
    pub(super) fn new(definition: &MetricDefinition, table: PassTable) -> Self {
        let (base, head) = table.rates().unwrap_or_default();
        Self {
            metric: definition.path.clone(),
            title: definition.title.clone(),
            base: tidy(base),
            head: tidy(head),
            table,
            p_value: table.p_value(),
        }
    }
}
