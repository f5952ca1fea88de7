//! Values of a metric in constant memory, as needed for means and intervals.

use super::interval::{CONFIDENCE, MeanEstimate};

/// Deviations below this are rounding errors of sums: values are shares, points or percentages.
const NO_DEVIATION: f64 = 1e-9;

/// The values of one metric, one per item. Items without a cluster are kept as running moments, each
/// cluster as its count and sum.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    alone: Moments,
    clusters: Vec<Sums>,
}

/// Count, mean and sums of the powers of deviations (the recurrences of Welford and Pébay).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moments {
    pub(crate) count: f64,
    /// 0 without values.
    pub(crate) mean: f64,
    /// Sum of squared deviations from the mean.
    pub(crate) squares: f64,
    cubes: f64,
    fourths: f64,
}

/// Count and sum.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    pub(crate) count: f64,
    pub(crate) sum: f64,
}

impl Moments {
    pub(crate) fn add(&mut self, value: f64) {
        self.count += 1.0;
        let count = self.count;
        let deviation = value - self.mean;
        let step = deviation / count;
        self.mean += step;
        let square = deviation * (value - self.mean);
        self.fourths += square * step * step * (count * count - 3.0 * count + 3.0)
            + 6.0 * step * step * self.squares
            - 4.0 * step * self.cubes;
        self.cubes += square * step * (count - 2.0) - 3.0 * step * self.squares;
        self.squares += square;
    }

    /// Sum of the fourth powers of the deviations from another center than the mean.
    fn fourths_about(&self, center: f64) -> f64 {
        let shift = self.mean - center;
        let square = shift * shift;
        self.fourths
            + 4.0 * shift * self.cubes
            + 6.0 * square * self.squares
            + self.count * square * square
    }

    /// The standard deviation of a sample; `None` with fewer than two values.
    pub(crate) fn deviation(&self) -> Option<f64> {
        (self.count > 1.0).then(|| (self.squares / (self.count - 1.0)).sqrt())
    }
}

impl FromIterator<f64> for Moments {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut moments = Self::default();
        values.into_iter().for_each(|value| moments.add(value));
        moments
    }
}

impl Sums {
    pub(crate) fn add(&mut self, value: f64) {
        self.count += 1.0;
        self.sum += value;
    }

    pub(crate) fn mean(&self) -> Option<f64> {
        (self.count > 0.0).then(|| self.sum / self.count)
    }
}

impl Sample {
    /// Adds an item's value, and the number of its cluster.
    pub fn add(&mut self, value: f64, cluster: Option<usize>) {
        let Some(cluster) = cluster else {
            return self.alone.add(value);
        };
        if self.clusters.len() <= cluster {
            self.clusters.resize(cluster + 1, Sums::default());
        }
        if let Some(sums) = self.clusters.get_mut(cluster) {
            sums.add(value);
        }
    }

    /// The mean and its error by CR2, the bias-reduced cluster-robust variance of Bell and
    /// McCaffrey (2002), with Satterthwaite's degrees of freedom under independence, both for a
    /// regression with only an intercept. There, with group sizes n, N items and group sums of
    /// residuals e:
    ///
    /// variance = Σ e² / (1 − n/N) / N²,
    /// degrees of freedom = 1/N² / (Σ n²/N⁴ + Σ over pairs of groups of a·b/N⁶), a = n²/(1 − n/N).
    ///
    /// Where every group is one item, these are the textbook's s²/N and N − 1.
    pub fn estimate(&self) -> Option<MeanEstimate> {
        let clusters = || self.clusters.iter().filter(|sums| sums.count > 0.0);
        let count = self.alone.count + clusters().map(|sums| sums.count).sum::<f64>();
        if count == 0.0 {
            return None;
        }
        let sum = self.alone.count * self.alone.mean + clusters().map(|sums| sums.sum).sum::<f64>();
        let mean = sum / count;
        let groups = self.alone.count + clusters().count() as f64;
        let leverage = |size: f64| size * size / (1.0 - size / count);

        let shift = self.alone.mean - mean;
        let alone_squares = self.alone.squares + self.alone.count * shift * shift;
        let mut squares = alone_squares / (1.0 - 1.0 / count);
        let mut plain_squares = alone_squares;
        let mut plain_fourths = self.alone.fourths_about(mean);
        let mut sizes = self.alone.count;
        let mut leverages = self.alone.count * leverage(1.0);
        let mut leverages_squared = self.alone.count * leverage(1.0) * leverage(1.0);
        for cluster in clusters() {
            let residual = cluster.sum - cluster.count * mean;
            squares += residual * residual / (1.0 - cluster.count / count);
            plain_squares += residual * residual;
            plain_fourths += residual.powi(4);
            sizes += cluster.count * cluster.count;
            leverages += leverage(cluster.count);
            leverages_squared += leverage(cluster.count) * leverage(cluster.count);
        }
        let pairs = leverages * leverages - leverages_squared;
        let degrees_of_freedom = count.powi(-2) / (sizes * count.powi(-4) + pairs * count.powi(-6));
        let variance = (groups >= 2.0).then(|| squares / (count * count));
        let deviating = match plain_squares > NO_DEVIATION * NO_DEVIATION * count {
            true => plain_squares * plain_squares / plain_fourths,
            false => 0.0,
        };
        Some(MeanEstimate {
            count,
            groups,
            mean,
            variance,
            degrees_of_freedom,
            deviating,
            confidence: CONFIDENCE,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fourth_power_recurrence_equals_the_direct_sum() {
        let values = [0.2_f64, 0.9, 0.9, 0.4, 1.0];
        let mut moments = Moments::default();
        values.iter().for_each(|value| moments.add(*value));
        for center in [moments.mean, 0.0, 0.75] {
            let sum: f64 = values.iter().map(|value| (value - center).powi(4)).sum();
            assert!((moments.fourths_about(center) - sum).abs() < 1e-12);
        }
    }
}
