//! Effect of clusters on an interval.

use crate::metrics::{MeanEstimate, round_stable};
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, FisherSnedecor};

/// Maximum p-value of a cluster effect. Lenient: a missed effect makes intervals too narrow, a
/// false one only costs power.
const SEEN: f64 = 0.2;

/// Effect of taking clusters together on the interval of a mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ClusterEffect {
    /// Variance of the mean with the clusters, over that without them.
    pub design_effect: f64,
    /// Width of the interval with the clusters, over that without them.
    pub widening: f64,
    /// p-value of no difference between the clusters, by an F test.
    pub p_value: f64,
}

impl ClusterEffect {
    /// True if the values differ between the clusters, by a p-value of at most 0.2.
    pub fn is_seen(&self) -> bool {
        self.p_value <= SEEN && self.widening > 1.0
    }
}

/// The effect of clusters on a mean with known errors without and with them.
///
/// With ν degrees of freedom between clusters, the design effect D is the mean square between
/// clusters over the total one, so that F = D (n − 1 − ν) / (n − 1 − D ν), with ν and n − 1 − ν
/// degrees of freedom: exactly so for clusters of one size, nearly for others.
pub(crate) fn cluster_effect(
    alone: &MeanEstimate,
    grouped: &MeanEstimate,
) -> Option<ClusterEffect> {
    let (error, with_clusters) = (alone.standard_error()?, grouped.standard_error()?);
    if error <= 0.0 {
        return None;
    }
    let design_effect = (with_clusters / error).powi(2);
    let quantile = |mean: &MeanEstimate| mean.t_quantile(mean.degrees_of_freedom.max(1.0));
    let between = grouped.degrees_of_freedom.max(1.0);
    let within = alone.count - 1.0 - between;
    let rest = alone.count - 1.0 - design_effect * between;
    let p_value = if within <= 0.0 {
        1.0
    } else if rest <= 0.0 {
        0.0
    } else {
        let ratio = design_effect * within / rest;
        1.0 - FisherSnedecor::new(between, within).ok()?.cdf(ratio)
    };
    Some(ClusterEffect {
        design_effect: round_stable(design_effect),
        widening: round_stable(design_effect.sqrt() * quantile(grouped)? / quantile(alone)?),
        p_value: round_stable(p_value),
    })
}
