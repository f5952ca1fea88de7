//! Agreement of the judge with people on one criterion.

use super::{
    bootstrap::Groups,
    contingency_table::Table,
    correlation::{kendall_tau_b, pearson, spearman},
    figure::{Figure, NO_ITEMS},
    ordinal_agreement::{Confusion, Steps},
};
use crate::metrics::{Moments, Sample, round_stable};
use serde::{Deserialize, Serialize};

/// Minimum number of items of a correlation: fewer pairs always lie on a line.
const MIN_ITEMS: usize = 3;

/// The judge's and the people's values of the same items.
#[derive(Clone, Debug, Default)]
pub(super) struct Paired {
    /// The judge's mean over the item's repeats.
    pub(super) judge: Vec<f64>,
    /// Mean of the people's ratings over these items.mean over its raters.
    pub(super) people: Vec<f64>,
    /// Numbers of clusters; `None` for an item without a cluster.
    pub(super) clusters: Vec<Option<usize>>,
}

/// Agreement of the judge with people. All figures are over items; their intervals allow for
/// clusters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// Items with both a score and a label.
    pub n: u64,
    /// Mean of the judge's scores over these items.
    pub judge_mean: Option<f64>,
    /// Mean of the people's ratings over these items.
    pub people_mean: Option<f64>,
    /// Pearson's r.
    pub pearson: Figure,
    /// Spearman's rank correlation.
    pub spearman: Figure,
    /// Kendall's tau-b.
    pub kendall_tau_b: Figure,
    /// Cohen's kappa with quadratic weights, over whole steps of the scale.
    pub weighted_kappa: Figure,
    /// Mean absolute difference of judge and people.
    pub mean_absolute_error: Figure,
    /// Mean of judge minus people.
    pub bias: Figure,
    /// Share of items on which both are at the same step.
    pub exact: Figure,
    /// Share of items on which they are at most one step apart.
    pub adjacent: Figure,
    /// Numbers of each pair of steps.
    pub confusion: Confusion,
}

impl Agreement {
    /// Computes the agreement on these items and this scale.
    pub(super) fn from_pairs(paired: &Paired, steps: Steps) -> Self {
        let Paired { judge, people, .. } = paired;
        let mean = |values: &[f64]| {
            let moments: Moments = values.iter().copied().collect();
            (!values.is_empty()).then(|| round_stable(moments.mean))
        };
        let [pearson, spearman, kendall_tau_b, weighted_kappa] = associations(paired, steps);
        let width = steps.most - steps.least;
        let sample = |measure: &dyn Fn(f64, f64) -> f64| paired.sample(measure);
        let apart = |judge, people| (steps.step(judge) - steps.step(people)).abs();
        let within = |most: f64| {
            Figure::rate(&sample(&|judge, people| f64::from(apart(judge, people) <= most)))
        };
        Self {
            n: judge.len() as u64,
            judge_mean: mean(judge),
            people_mean: mean(people),
            pearson,
            spearman,
            kendall_tau_b,
            weighted_kappa,
            mean_absolute_error: Figure::mean(
                &sample(&|judge, people| round_stable(judge - people).abs()),
                0.0,
                width,
            ),
            bias: Figure::mean(
                &sample(&|judge, people| round_stable(judge - people)),
                -width,
                width,
            ),
            exact: within(0.0),
            adjacent: within(1.0),
            confusion: steps.confusion(judge, people),
        }
    }
}

impl Paired {
    /// Adds an item.
    pub(super) fn add(&mut self, judge: f64, people: f64, cluster: Option<usize>) {
        self.judge.push(judge);
        self.people.push(people);
        self.clusters.push(cluster);
    }

    /// Sample of a measure over the items.
    fn sample(&self, measure: &dyn Fn(f64, f64) -> f64) -> Sample {
        let mut sample = Sample::default();
        for ((judge, people), cluster) in self.judge.iter().zip(&self.people).zip(&self.clusters) {
            sample.add(measure(*judge, *people), *cluster);
        }
        sample
    }
}

/// Pearson, Spearman, Kendall and kappa. Pearson's interval is Fisher's for independent items; the
/// others have no formula with ties, and none has one with clusters, so those use the bootstrap.
fn associations(paired: &Paired, steps: Steps) -> [Figure; 4] {
    let table = Table::from_scores(&paired.judge, &paired.people);
    let measure = |times: &[u32]| {
        let counts = table.counts(times);
        [
            pearson(&table, &counts),
            spearman(&table, &counts),
            kendall_tau_b(&table, &counts),
            steps.weighted_kappa(&table, &counts),
        ]
    };
    if table.items() < MIN_ITEMS {
        let reason = match table.items() {
            0 => NO_ITEMS.to_owned(),
            items => format!("it needs {MIN_ITEMS} items, and there are {items}"),
        };
        return std::array::from_fn(|_| Figure::unknown(reason.clone()));
    }
    let values = measure(&vec![1; table.items()]);
    let groups = Groups::from_clusters(&paired.clusters);
    let [mut pearson, spearman, tau, kappa] = groups.intervals(values, measure);
    if let (Some(correlation), true) = (values[0], groups.all_alone()) {
        pearson = Figure::by_fisher_z(correlation, table.items());
    }
    let constant = match (table.judge.len(), table.people.len()) {
        (1, 1) => "the scores of judge and people are both constant",
        (1, _) => "the judge's scores are constant",
        _ => "the people's scores are constant",
    };
    let reported = |figure: Figure, reason: &str| match figure.value {
        None => Figure::unknown(reason),
        Some(_) => figure,
    };
    [
        reported(pearson, constant),
        reported(spearman, constant),
        reported(tau, constant),
        reported(kappa, "judge and people gave the same constant score"),
    ]
}
