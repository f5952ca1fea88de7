//! Record of a comparison of two runs, its statistics, and the rules that decide it.

mod changes_beyond_noise;
mod comparison_decision;
mod difference;
mod difference_decision;
mod difference_format;
mod fallen_items;
mod group_totals;
mod holm;
mod issues;
mod item;
mod item_scoring;
mod items_beyond_margin;
mod lost_items;
mod power;
mod rule_findings;
mod sample_size;
mod sign_test;
mod totals;
mod unpaired_items;

pub use changes_beyond_noise::{BaselineChanges, ChangeGroup, ChangedItem, FallBound};
pub use difference::{Difference, Pairs};
pub use difference_decision::Decision;
pub use difference_format::{change, change_interval, change_unit, distinct_size, p_value};
pub use fallen_items::{FALLEN_FALSE_ALARMS, FallenItems};
pub use group_totals::PassTable;
pub use holm::holm;
pub use issues::{IssueChange, IssueChanges, RunIssues, ScoredInBoth, issue_changes};
pub use items_beyond_margin::{ItemChange, ItemLists, NewFailure};
pub use lost_items::LostItems;
pub use sample_size::SampleSize;

pub(crate) use changes_beyond_noise::FallNoise;
pub(crate) use comparison_decision::{ComparisonDecision, decide};
pub(crate) use item::{ComparedMetrics, ItemsOf};
pub(crate) use sample_size::{JudgingFacts, deciding_sample_size};
pub(crate) use totals::{PairFigures, Totals};
pub(crate) use unpaired_items::UnpairedItems;

use crate::{
    likely_clusters::LikelyClusters,
    metrics::{AveragingPolicy, MetricDefinition, Unit},
    run_facts::Coverage,
};
use item::is_deterministic;
use juror_types::{id::RunId, job::Judge};
use serde::Serialize;
use std::cmp::Ordering;

/// Rules of a decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// A change of the decisive metric, as a share, below which there is no difference.
    pub margin: f64,
    /// True if a criterion that got worse decides too.
    pub strict: bool,
    /// The share of the base's items that the head may lose.
    pub max_lost: f64,
    /// The change of an item's score, as a share, above which it is far.
    pub fallen_by: f64,
    /// Allowed share of pairs that fell far.
    pub fallen_share: f64,
    /// True if intervals take likely clusters together.
    pub use_likely_clusters: bool,
    /// Number of runs that are examined for flaky items, including the head; 0 for none.
    pub flaky_runs: usize,
    /// True if flaky items are left out of figures and decision.
    pub leave_out_flaky: bool,
    /// Policy for failed jobs in averages.
    pub averaging: AveragingPolicy,
}

/// Comparison of two runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Version of this record.
    pub schema: u32,
    /// Summary of the change from base to head.
    pub decision: Decision,
    /// Grounds of the decision: paths of metrics, `lost_items`, `unpaired_items`,
    /// `fallen_items` or `evidence`.
    pub decided_by: Vec<String>,
    /// The decision in one line.
    pub headline: String,
    /// Reason, as a clause without its full stop.
    pub reason: String,
    /// Margin below which there is no difference, as a share.
    pub margin: f64,
    /// The share of the base's items that the head may lose before the comparison is at best
    /// inconclusive.
    pub max_lost: f64,
    /// True if criteria decide too.
    pub strict: bool,
    /// True if any verdict of either run is the simulator's.
    pub simulated: bool,
    /// Differences of the judges; empty for the same judge.
    pub judge_differences: Vec<String>,
    /// Further warnings for the reader.
    pub warnings: Vec<String>,
    /// The baseline run.
    pub base: ComparedRun,
    /// The compared run.
    pub head: ComparedRun,
    /// Items that are paired.
    pub paired: u64,
    /// True if so many items of a run are not compared that the pairs say nothing of it, or if neither
    /// run has a judge and their code was rendered by different renderers.
    pub has_too_few_pairs: bool,
    /// The rubric's one number as a share.
    pub decisive: MetricDifference,
    /// The score of each criterion; p-values are adjusted over them.
    pub criteria: Vec<MetricDifference>,
    /// Further means.
    pub metrics: Vec<MetricDifference>,
    /// Conditions that items pass or fail.
    pub passes: Vec<PassDifference>,
    /// Items that fell or rose far.
    pub fallen: FallenItems,
    /// Items with a value only in the base, for each deciding metric, the decisive one first.
    pub lost: Vec<LostItems>,
    /// Likely clusters, where the pairs differ between them.
    pub likely_clusters: Option<ClusterReading>,
    /// Sample size that would decide it; only where it is inconclusive.
    #[serde(rename = "settling")]
    pub deciding_sample_size: Option<SampleSize>,
    /// Items by their change.
    pub items: ItemLists,
    /// Issues by their change.
    pub issues: IssueChanges,
    /// Items and issues that are new, fixed, worse or flaky.
    pub changes: BaselineChanges,
}

impl Comparison {
    /// Number of pairs that can show changes: with a score in both runs where a run was judged,
    /// else all.
    pub fn comparable(&self) -> u64 {
        let is_judged = self.base.judge.is_some() || self.head.judge.is_some();
        if is_judged { self.decisive.difference.n } else { self.paired }
    }

    /// Every mean that has pairs, the decisive one first.
    pub fn means(&self) -> impl Iterator<Item = &MetricDifference> {
        let all = [&self.decisive].into_iter().chain(&self.criteria).chain(&self.metrics);
        all.filter(|mean| mean.difference.n > 0)
    }
}

/// Likely clusters in a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClusterReading {
    /// The clusters, with their effect on the interval of the decisive metric.
    #[serde(flatten)]
    pub clusters: LikelyClusters,
    /// True if intervals take them together.
    pub used: bool,
    /// The decision on the decisive metric without them where they are used, with them where they
    /// are not.
    pub otherwise: Decision,
}

/// Run of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedRun {
    /// Id of the run.
    pub run: RunId,
    /// Time of its creation, RFC 3339 in UTC.
    pub created_at: String,
    /// Judge; `None` with the judge off.
    pub judge: Option<Judge>,
    /// True if any verdict is the simulator's.
    pub simulated: bool,
    /// Judgments of each item.
    pub repeat: u32,
    /// Coverage of its dataset.
    pub coverage: Coverage,
}

/// A mean in both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricDifference {
    /// Path, as in `overall` if it is there.
    pub metric: String,
    /// Title in reports.
    pub title: String,
    /// Difference over the pairs; a share, points of the scale, or milliseconds.
    #[serde(flatten)]
    pub difference: Difference,
    /// The p-value after Holm's adjustment: of a criterion over the criteria, of a deterministic
    /// metric over these; `None` for other metrics.
    pub p_adjusted: Option<f64>,
    /// True if it decides independently of `strict`.
    pub decides: bool,
    /// Decision by the margin (that share of its scale); milliseconds have no margin, so any
    /// significant change counts.
    pub decision: Decision,
    #[serde(skip)]
    definition: MetricDefinition,
}

/// A rate in both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PassDifference {
    /// Path in `overall`.
    pub metric: String,
    /// Title in reports.
    pub title: String,
    /// Share of the pairs that pass in the base.
    pub base: f64,
    /// Value in the head.
    pub head: f64,
    /// Counts of the pairs.
    #[serde(flatten)]
    pub table: PassTable,
    /// Two-sided p-value of no change by the exact McNemar test; where the judge is involved, a
    /// cluster counts once, by its net change.
    pub p_value: Option<f64>,
    /// The p-value after Holm's adjustment over the deterministic metrics; `None` for other rates.
    pub p_adjusted: Option<f64>,
    /// True if it decides.
    pub decides: bool,
    /// Decision; `None` for rates that do not decide.
    pub decision: Option<Decision>,
}

impl MetricDifference {
    /// The difference by these pairs, with likely clusters taken together if `use_clusters` is set
    /// and the pairs differ between them.
    pub(super) fn new(
        definition: &MetricDefinition,
        pairs: &Pairs,
        margin: f64,
        use_clusters: bool,
    ) -> Self {
        let width = definition.unit.width();
        let difference = match pairs.cluster_effect().filter(|_| use_clusters) {
            Some(_) => pairs.clustered_difference(width),
            None => pairs.difference(width),
        };
        // Lower times are better, and they have no scale for a share.
        let decision = match definition.unit {
            Unit::Milliseconds => Decision::for_difference(&difference, 0.0).reversed(),
            _ => Decision::for_difference(&difference, margin * width),
        };
        Self {
            metric: definition.path.clone(),
            title: definition.title.clone(),
            difference,
            p_adjusted: None,
            decides: is_deterministic(definition),
            decision,
            definition: definition.clone(),
        }
    }

    /// Sets the p-value that is adjusted over several tests, and decides by it.
    pub(super) fn adjust(&mut self, p_adjusted: Option<f64>, margin: f64) {
        let margin = margin * self.unit().width();
        self.decision = Decision::among_many(&self.difference, margin, p_adjusted);
        self.p_adjusted = p_adjusted;
    }

    /// Unit of its figures.
    pub fn unit(&self) -> Unit {
        self.definition.unit
    }
}

impl PassDifference {
    /// Sets the p-value that is adjusted over several tests, and decides by it: *worse* and
    /// *better* at 5 %, *same* if the interval of the change lies within the margin.
    pub(super) fn decide(&mut self, p_adjusted: Option<f64>, change: &Difference, margin: f64) {
        let is_sure = p_adjusted.is_some_and(|p_value| p_value <= 0.05);
        self.decision = Some(match self.head.total_cmp(&self.base) {
            Ordering::Less if is_sure => Decision::Worse,
            Ordering::Greater if is_sure => Decision::Better,
            _ if Decision::for_difference(change, margin) == Decision::Same => Decision::Same,
            _ => Decision::Inconclusive,
        });
        self.p_adjusted = p_adjusted;
    }
}

#[cfg(test)]
mod expected_tests;
