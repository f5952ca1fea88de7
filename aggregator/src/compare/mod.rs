//! Two runs of the same items: did it get worse, where, and how sure is that? Pure.
//!
//! Items are paired by id and input, their repeats averaged first. The decisive metric is the
//! rubric's one number, as a share; docs/compare.md tells a reader what each figure means.

mod comparable;
mod decision;
mod difference;
mod figures;
mod holm;
mod issues;
mod item;
mod lists;
mod markdown;
mod mcnemar;
mod output;
mod power;
mod scan;
mod settle;
mod words;

pub use comparable::{CompareError, check_rubrics};
pub use decision::Decision;
pub use difference::{Difference, Pairs};
pub use holm::holm;
pub use issues::{IssueChange, IssueChanges, issue_changes};
pub use lists::{ItemChange, ItemLists, NewFailure};
pub use markdown::render as render_markdown;
pub use mcnemar::PassTable;
pub use output::{ComparisonFormat, ComparisonOutputError, write_comparison};
pub use scan::Side;
pub use settle::Settling;

pub(crate) use comparable::judge_settings_that_differ;
pub(crate) use figures::{change, p_value};
pub(crate) use words::{headline, item_counts, settling_words};

use crate::{
    journal::JournalError,
    metrics::{FailurePolicy, MetricDefinition, Unit, tidy},
    report::{Coverage, Report},
};
use comparable::width_of;
use juror_common::{SCHEMA, id::RunId, job::Judge, outcome::JobResult};
use serde::Serialize;

/// How a comparison is decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// A change of the decisive metric, as a share, that does not matter.
    pub margin: f64,
    /// Whether a criterion that got worse decides too.
    pub strict: bool,
    /// Whether failed jobs count as zeros.
    pub failures: FailurePolicy,
}

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

impl MetricDifference {
    fn new(definition: &MetricDefinition, pairs: &Pairs, margin: f64) -> Self {
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
    fn new(definition: &MetricDefinition, table: PassTable) -> Self {
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

/// Compares two runs of one rubric.
pub fn compare<R>(
    base: Side<'_, R>,
    head: Side<'_, R>,
    rules: Rules,
) -> Result<Comparison, CompareError>
where
    R: Iterator<Item = Result<JobResult, JournalError>>,
{
    let (before, after) = (base.report, head.report);
    check_rubrics((&before.run.id, &before.run.rubric), (&after.run.id, &after.run.rubric))?;
    let scanned = scan::scan(base, head, rules)?;
    let margin = rules.margin;
    let (decision, reason) =
        decision::decide(&scanned.decisive, &scanned.criteria, margin, rules.strict);
    let unsettled = scanned.decisive.decision == Decision::Inconclusive;
    let settling = unsettled.then(|| {
        settle::settling(&scanned.decisive.difference, margin, scanned.base, scanned.head)
    });
    let mut warnings = comparable::warnings(before, after);
    let groups = scanned.decisive.difference.groups;
    if scanned.clusters > 0 && groups > 0 && groups < 10 {
        warnings
            .push(format!("the intervals rest on {groups} clusters: below 10 they tell little"));
    }
    if scanned.unverified > 0 {
        warnings.push(format!(
            "{} of the {} pairs are by id alone: the digest of the input is not known in both runs",
            scanned.unverified, scanned.paired
        ));
    }
    Ok(Comparison {
        schema: SCHEMA,
        decision,
        reason,
        margin,
        strict: rules.strict,
        simulated: before.run.simulated || after.run.simulated,
        judge_differences: comparable::judge_differences(before, after),
        warnings,
        base: ComparedRun::of(before),
        head: ComparedRun::of(after),
        paired: scanned.paired,
        decisive: scanned.decisive,
        criteria: scanned.criteria,
        metrics: scanned.metrics,
        passes: scanned.passes,
        settling: settling.flatten(),
        items: scanned.items,
        issues: issue_changes(&before.common_issues, &after.common_issues, margin),
    })
}

impl ComparedRun {
    fn of(report: &Report) -> Self {
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

#[cfg(test)]
mod expected_tests;
#[cfg(test)]
mod tests;
