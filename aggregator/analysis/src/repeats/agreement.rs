//! Agreement of a judge with itself.

use crate::metrics::{Moments, round_stable};
use serde::Serialize;

/// Moments of the scores of repeatedly judged items, in constant memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Judgments {
    /// Number of items with at least two scores; others contain no information on repeats.
    items: f64,
    all: Moments,
    /// Squared deviations from the items' own means.
    within: f64,
    /// As `within`, each item's share weighted by m / (m − 1), m its scores.
    disagreement: f64,
    /// Sum of squared counts of scores.
    sizes: f64,
}

/// Agreement of repeated scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RepeatAgreement {
    /// Items with at least two scores.
    pub items: u64,
    /// Krippendorff's alpha for interval data: 1 where the judge repeats itself, 0 where its scores
    /// differ within an item as much as between items; `None` if all scores are one.
    pub alpha: Option<f64>,
    /// Standard deviation of a judgment around its item's mean.
    pub noise_deviation: Option<f64>,
    /// Share of the judge's noise in the variance of single judgments, by one-way random effects.
    pub noise_share: Option<f64>,
}

impl Judgments {
    /// Adds the scores of one item.
    pub fn add(&mut self, scores: &[f64]) {
        let count = scores.len() as f64;
        if count < 2.0 {
            return;
        }
        let own: Moments = scores.iter().copied().collect();
        scores.iter().for_each(|score| self.all.add(*score));
        self.items += 1.0;
        self.within += own.squares;
        self.disagreement += own.squares * count / (count - 1.0);
        self.sizes += count * count;
    }

    /// Variance of a judgment around its item's mean: the mean square within items. `None` without
    /// repeats.
    pub fn noise_variance(&self) -> Option<f64> {
        let degrees = self.all.count - self.items;
        (degrees > 0.0).then(|| self.within / degrees)
    }

    /// The agreement.
    ///
    /// Alpha is 1 − observed / expected disagreement (Krippendorff 2011); for interval data these
    /// are mean squared differences of pairs within items and of all pairs, here by their moments.
    /// The share of noise is MSW / (MSW + s²), s² = max(0, MSB − MSW) / m₀ the variance between
    /// items, m₀ the effective number of scores of an item; it is 1 − ICC(1,1).
    pub fn agreement(&self) -> RepeatAgreement {
        let Some(noise) = self.noise_variance() else { return RepeatAgreement::default() };
        let count = self.all.count;
        let expected = 2.0 * self.all.squares / (count - 1.0);
        let observed = 2.0 * self.disagreement / count;
        let spread = expected > 1e-18;
        let between = (self.items > 1.0).then(|| {
            let mean_square = (self.all.squares - self.within) / (self.items - 1.0);
            let size = (count - self.sizes / count) / (self.items - 1.0);
            (mean_square - noise).max(0.0) / size
        });
        RepeatAgreement {
            items: self.items as u64,
            alpha: spread.then(|| round_stable(1.0 - observed / expected)),
            noise_deviation: Some(round_stable(noise.sqrt())),
            noise_share: between
                .filter(|_| spread)
                .map(|real| round_stable(noise / (noise + real))),
        }
    }
}
