//! Exact sign tests of falls against rises.

use super::Decision;
use statrs::distribution::{Binomial, DiscreteCDF};
use std::cmp::Ordering;

/// Falls and rises of items; a cluster counts once, by its net direction.
#[derive(Clone, Debug, Default)]
pub(super) struct Directions {
    pub(super) fell: u64,
    pub(super) rose: u64,
    alone: (u64, u64),
    /// Rises minus falls of each cluster.
    clusters: Vec<i64>,
}

impl Directions {
    /// Adds an item that fell or rose.
    pub(super) fn add(&mut self, rose: bool, cluster: Option<usize>) {
        *(if rose { &mut self.rose } else { &mut self.fell }) += 1;
        let Some(cluster) = cluster else {
            *(if rose { &mut self.alone.1 } else { &mut self.alone.0 }) += 1;
            return;
        };
        if self.clusters.len() <= cluster {
            self.clusters.resize(cluster + 1, 0);
        }
        if let Some(net) = self.clusters.get_mut(cluster) {
            *net += if rose { 1 } else { -1 };
        }
    }

    /// Numbers of independent falls and rises.
    pub(super) fn groups(&self) -> (u64, u64) {
        let count = |falls: bool| {
            let matches = self.clusters.iter().filter(|net| **net != 0 && (**net < 0) == falls);
            matches.count() as u64
        };
        (self.alone.0 + count(true), self.alone.1 + count(false))
    }

    /// The probability of at least this many falls among the groups, if falls and rises are equally
    /// likely.
    pub(super) fn fall_p_value(&self) -> Option<f64> {
        let (fell, rose) = self.groups();
        if fell + rose == 0 {
            return None;
        }
        Some(Binomial::new(0.5, fell + rose).ok()?.cdf(rose))
    }

    /// The exact two-sided p-value: McNemar's test where no item is clustered.
    pub fn p_value(&self) -> f64 {
        let (fell, rose) = self.groups();
        let binomial = Binomial::new(0.5, fell + rose).ok();
        binomial.map_or(1.0, |binomial| (2.0 * binomial.cdf(fell.min(rose))).min(1.0))
    }

    /// *Worse* or *better* if the two-sided p-value is at most 5 %.
    pub(super) fn decision(&self) -> Decision {
        let (fell, rose) = self.groups();
        match fell.cmp(&rose) {
            _ if self.p_value() > 0.05 => Decision::Inconclusive,
            Ordering::Greater => Decision::Worse,
            Ordering::Less => Decision::Better,
            Ordering::Equal => Decision::Inconclusive,
        }
    }
}
