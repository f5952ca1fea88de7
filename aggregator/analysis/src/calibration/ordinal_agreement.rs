//! Ordinal scale, and the agreement of judge and people on it.

use super::contingency_table::Table;
use serde::{Deserialize, Serialize};

/// Ordinal scale: the points of a criterion, or tenths of the total score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Steps {
    pub(super) least: f64,
    pub(super) most: f64,
    /// Distance between two steps.
    pub(super) width: f64,
}

/// Counts of the judge's steps against the people's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confusion {
    /// The steps as displayed: `7`, or `70%`.
    pub steps: Vec<String>,
    /// A row for each step of people, with a count for each step of the judge.
    pub counts: Vec<Vec<u64>>,
}

impl Steps {
    /// The step nearest to a value, from 0; the upper one half-way between two.
    pub(super) fn step(self, value: f64) -> f64 {
        let last = self.last();
        // Means of ratings have rounding errors of sums.
        ((value - self.least) / self.width + 0.5 + 1e-9).floor().clamp(0.0, last)
    }

    /// The number of the last step.
    fn last(self) -> f64 {
        ((self.most - self.least) / self.width).round().max(0.0)
    }

    fn labels(self) -> Vec<String> {
        let label = |step: u32| match self.width < 1.0 {
            true => format!("{:.0}%", (self.least + f64::from(step) * self.width) * 100.0),
            false => format!("{:.0}", self.least + f64::from(step) * self.width),
        };
        (0..=self.last() as u32).map(label).collect()
    }

    /// Cohen's kappa with quadratic weights (Cohen 1968): 1 − the mean squared difference of steps
    /// over that of judge and people drawn independently of each other. `None` if both have one
    /// step throughout, and it is the same.
    pub(super) fn weighted_kappa(self, table: &Table, counts: &[f64]) -> Option<f64> {
        let steps =
            |values: &[f64]| values.iter().map(|value| self.step(*value)).collect::<Vec<_>>();
        let (judge_steps, people_steps) = (steps(&table.judge), steps(&table.people));
        let (mut total, mut observed) = (0.0, 0.0);
        let (mut judge, mut people) = ([0.0; 2], [0.0; 2]);
        for (cell, count) in table.counted(counts) {
            let (one, other) = judge_steps.get(cell.judge).zip(people_steps.get(cell.people))?;
            total += count;
            observed += count * (one - other) * (one - other);
            judge = [judge[0] + count * one, judge[1] + count * one * one];
            people = [people[0] + count * other, people[1] + count * other * other];
        }
        let expected = judge[1] + people[1] - 2.0 * judge[0] * people[0] / total;
        (expected > 1e-9).then(|| 1.0 - observed / expected)
    }

    /// Every item's pair of steps.
    pub(super) fn confusion(self, judge: &[f64], people: &[f64]) -> Confusion {
        let steps = self.labels();
        let mut counts = vec![vec![0; steps.len()]; steps.len()];
        for (judge, people) in judge.iter().zip(people) {
            let row = counts.get_mut(self.step(*people) as usize);
            if let Some(count) = row.and_then(|row| row.get_mut(self.step(*judge) as usize)) {
                *count += 1;
            }
        }
        Confusion { steps, counts }
    }
}
