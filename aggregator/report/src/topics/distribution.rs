//! Distribution of the scores over the verdicts.

use juror_types::rubric::Scale;

/// A wider scale is counted in this many bars.
const MAX_BARS: u32 = 20;

/// Numbers of verdicts by score.
pub struct ScoreDistribution {
    /// Number of verdicts.
    pub verdicts: u64,
    /// Total score by tenths of the maximum, each by its lower bound in percent.
    pub whole: Histogram,
    /// Scores of criteria or means of groups.
    pub parts: Vec<Histogram>,
    scale: Scale,
    /// Scores that a bar counts.
    step: u32,
}

/// Counts under a title.
pub struct Histogram {
    /// Title; text of others.
    pub title: String,
    /// Score and count of each bar.
    pub bars: Vec<(String, u64)>,
}

impl ScoreDistribution {
    /// Creates an empty distribution for a rubric with this scale and parts of these titles.
    pub fn new(scale: Scale, titles: impl Iterator<Item = String>) -> Self {
        let scores = scale.max.saturating_sub(scale.min).saturating_add(1);
        let step = scores.div_ceil(MAX_BARS).max(1);
        let part = |title| {
            let starts = (scale.min..=scale.max).step_by(step as usize);
            Histogram { title, bars: starts.map(|start| (start.to_string(), 0)).collect() }
        };
        let tenths = (0..10_u32).map(|tenth| ((tenth * 10).to_string(), 0)).collect();
        let whole = Histogram { title: "Total".to_owned(), bars: tenths };
        Self { verdicts: 0, whole, parts: titles.map(part).collect(), scale, step }
    }

    /// Counts a verdict: the total score as a share, and the score of each part, if it has one.
    pub fn add(&mut self, whole: f64, parts: impl Iterator<Item = Option<f64>>) {
        self.verdicts += 1;
        self.whole.count((whole * 10.0).clamp(0.0, 9.0) as usize);
        for (histogram, score) in self.parts.iter_mut().zip(parts) {
            if let Some(score) = score {
                let above = (score.round() - f64::from(self.scale.min)).max(0.0);
                histogram.count(above as usize / self.step as usize);
            }
        }
    }
}

impl Histogram {
    fn count(&mut self, place: usize) {
        if let Some((_, count)) = self.bars.get_mut(place) {
            *count += 1;
        }
    }
}
