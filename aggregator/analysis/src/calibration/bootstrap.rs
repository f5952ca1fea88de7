//! The bootstrap: distribution of figures over resampled items.

use super::figure::{Figure, SAME_RESAMPLED};
use crate::random::SplitMix;
use indexmap::IndexMap;

/// Number of resamples. Doubling it moves an end by less than a hundredth of an interval's width in
/// most cases.
const RESAMPLES: usize = 2_000;

/// Minimum number of independent groups for resampling.
const MIN_GROUPS: usize = 10;

/// Fixed seed, so that the same labels have the same intervals.
const SEED: u64 = 0x6a75_726f_7200_0001;

/// The items of each independent group: a cluster, or a single item.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups(Vec<Vec<usize>>);

impl Groups {
    /// Groups of items with these clusters.
    pub(super) fn from_clusters(clusters: &[Option<usize>]) -> Self {
        let mut groups: IndexMap<Result<usize, usize>, Vec<usize>> = IndexMap::new();
        for (item, cluster) in clusters.iter().enumerate() {
            groups.entry(cluster.ok_or(item)).or_default().push(item);
        }
        Self(groups.into_values().collect())
    }

    /// True if every group is a single item.
    pub(super) fn all_alone(&self) -> bool {
        self.0.iter().all(|group| group.len() == 1)
    }

    /// Percentile bootstrap (Efron 1979) of figures with these values: groups are drawn with
    /// replacement, and `measure` receives the number of draws of each item. Missing values have no
    /// interval; resamples without a figure are excluded, and if they are more than a tenth, there
    /// is no interval.
    pub(super) fn intervals<const N: usize>(
        &self,
        values: [Option<f64>; N],
        mut measure: impl FnMut(&[u32]) -> [Option<f64>; N],
    ) -> [Figure; N] {
        if self.0.len() < MIN_GROUPS {
            let reason = format!(
                "its interval needs {MIN_GROUPS} items, or clusters of items, and there are {}",
                self.0.len()
            );
            return values.map(|value| {
                value.map_or_else(Figure::default, |value| {
                    Figure::without_interval(value, reason.clone())
                })
            });
        }
        let mut drawn: [Vec<f64>; N] = std::array::from_fn(|_| Vec::with_capacity(RESAMPLES));
        let mut random = SplitMix(SEED);
        let mut times = vec![0; self.0.iter().map(Vec::len).sum()];
        for _ in 0..RESAMPLES {
            self.draw(&mut random, &mut times);
            for (all, found) in drawn.iter_mut().zip(measure(&times)) {
                all.extend(found.filter(|found| found.is_finite()));
            }
        }
        let mut drawn = drawn.into_iter();
        values.map(|value| {
            let all = drawn.next().unwrap_or_default();
            value.map_or_else(Figure::default, |value| interval(value, all))
        })
    }

    fn draw(&self, random: &mut SplitMix, times: &mut [u32]) {
        times.fill(0);
        for _ in 0..self.0.len() {
            let group = self.0.get(random.below(self.0.len())).map_or(&[][..], Vec::as_slice);
            for item in group {
                if let Some(times) = times.get_mut(*item) {
                    *times += 1;
                }
            }
        }
    }
}

fn interval(value: f64, mut drawn: Vec<f64>) -> Figure {
    if drawn.len() * 10 < RESAMPLES * 9 {
        return Figure::without_interval(value, "too few different scores for an interval");
    }
    drawn.sort_unstable_by(f64::total_cmp);
    let (low, high) = (quantile(&drawn, 0.025), quantile(&drawn, 0.975));
    if high - low < 1e-9 {
        return Figure::without_interval(value, SAME_RESAMPLED);
    }
    Figure::with_interval(value, low, high)
}

/// A quantile of sorted values, by linear interpolation.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len().saturating_sub(1)) as f64;
    let at = |place: f64| sorted.get(place as usize).copied().unwrap_or_default();
    at(place.floor()) + (at(place.ceil()) - at(place.floor())) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_are_resampled_whole() {
        let groups = Groups::from_clusters(&[Some(7), None, Some(7), None, Some(2)]);
        assert_eq!(groups.0, [vec![0, 2], vec![1], vec![3], vec![4]]);
        assert!(!groups.all_alone() && Groups::from_clusters(&[None, Some(1)]).all_alone());
        let mut times = [0; 5];
        let mut random = SplitMix(1);
        for _ in 0..50 {
            groups.draw(&mut random, &mut times);
            assert_eq!(times[0], times[2]);
        }
    }

    #[test]
    fn undefined_statistic_in_most_resamples_has_no_interval() {
        let groups = Groups::from_clusters(&[None; 10]);
        let [figure, none] =
            groups.intervals([Some(0.5), None], |times| [(times[0] > 0).then_some(0.5), Some(1.0)]);
        assert_eq!((figure.value, figure.low), (Some(0.5), None));
        assert!(figure.reason.unwrap().contains("too few different scores"));
        assert_eq!(none, Figure::default());
        let [alike] = groups.intervals([Some(1.0)], |_| [Some(1.0)]);
        assert_eq!(alike.reason.as_deref(), Some(SAME_RESAMPLED));
        let [few] = Groups::from_clusters(&[None; 9]).intervals([Some(1.0)], |_| [Some(1.0)]);
        assert!(few.reason.unwrap().contains("needs 10 items"));
    }
}
