//! Targets of reports on planted changes, and an adversarial report that must miss them.

use super::score::{RegionScore, RegionScores};
use crate::harness::{Mark, MarkTable};

/// Minimum shares of changes in percent.
#[derive(Clone, Copy)]
pub struct Marks {
    on_element: f64,
    element: f64,
    property: f64,
    both: f64,
    /// Minimum of the worst operator; `None` without such a target.
    worst_operator: Option<f64>,
}

/// Targets with a screenshot of the same browser.
pub const SAME_BROWSER: Marks = Marks {
    on_element: 95.0,
    element: 90.0,
    property: 88.0,
    both: 85.0,
    worst_operator: Some(60.0),
};
/// Targets with a screenshot of another origin, for medium and large changes.
pub const ELSEWHERE: Marks =
    Marks { on_element: 85.0, element: 70.0, property: 60.0, both: 55.0, worst_operator: None };

impl Marks {
    /// Prints each half of a set of scores with the targets.
    pub fn print(&self, title: &str, scores: &RegionScores) {
        for (held_back, half) in [(false, "tuned by"), (true, "held back")] {
            let total = total_of(scores, held_back);
            if total.all == 0 {
                continue;
            }
            let table = MarkTable::new(&format!("{title}, components {half}, n = {}", total.all));
            for (what, count, mark) in self.figures(&total) {
                table.marked(what, total.percent(count), "%", Mark::AtLeast(mark));
            }
            if let Some((mark, (operator, share))) =
                self.worst_operator.zip(worst(scores, held_back))
            {
                table.marked(format!("both, {operator}"), share, "%", Mark::AtLeast(mark));
            }
        }
    }

    /// Fails if scores of a report that names everything reach the target for elements, properties or
    /// both in any half; a region on the element it always has.
    pub fn refuse(&self, everything: &RegionScores) {
        if everything.is_empty() {
            return;
        }
        for held_back in [false, true] {
            let total = total_of(everything, held_back);
            for (what, count, mark) in self.figures(&total).into_iter().skip(1) {
                let is_missed = total.all == 0 || total.percent(count) < mark;
                assert!(is_missed, "a report that names everything reaches the mark for {what}");
            }
        }
        println!("\na report that names everything misses the marks, as it must");
    }

    fn figures(&self, total: &RegionScore) -> [(&'static str, usize, f64); 4] {
        [
            ("a region on the element", total.on_element, self.on_element),
            ("element", total.element, self.element),
            ("property", total.property, self.property),
            ("both", total.both, self.both),
        ]
    }
}

fn total_of(scores: &RegionScores, held_back: bool) -> RegionScore {
    let mut total = RegionScore::default();
    scores.iter().filter(|((half, _), _)| *half == held_back).for_each(|(_, own)| total.sum(own));
    total
}

/// Operator with the smallest share of named changes, with that share.
fn worst(scores: &RegionScores, held_back: bool) -> Option<(&'static str, f64)> {
    let half = scores.iter().filter(|((half, _), _)| *half == held_back);
    let shares = half.map(|((_, operator), score)| (*operator, score.percent(score.both)));
    shares.min_by(|(_, one), (_, other)| one.total_cmp(other))
}
