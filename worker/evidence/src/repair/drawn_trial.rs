//! The best drawing of a round, and the other changes that draw the same.

use super::{areas::gain, hypothesis::Hypothesis};
use crate::{element_tree::PageTree, raster::Raster, snapshot::Snapshot};
use std::collections::BTreeSet;

/// Maximum share of a difference that a change leaves beyond the best drawing, if it is another way
/// to write it.
const EQUAL: f64 = 0.003;
/// Maximum number of other ways that are reported.
const MAX_ALTERNATIVES: usize = 4;

/// The trial that leaves the smallest difference.
#[derive(Debug)]
pub(super) struct BestTrial {
    pub hypothesis: Hypothesis,
    /// The difference without it, in the same place.
    pub before: u64,
    pub remaining: u64,
    /// The difference before it of the areas that it touches.
    pub touched: u64,
    pub page: DrawnTrial,
    /// Number of drawings made until then.
    pub drawn: usize,
}

/// The page with a change.
#[derive(Debug)]
pub(super) struct DrawnTrial {
    pub drawing: Raster,
    pub snapshot: Snapshot,
    /// The screenshot that is shifted farther to fit it, and its further shift.
    pub fitted: Option<(Raster, [i32; 2])>,
}

impl BestTrial {
    /// Share of the difference that it removes from the areas that it touches.
    pub fn gain(&self) -> f64 {
        gain(self.before, self.remaining, self.touched)
    }

    /// Other measured changes that leave as little, the likeliest first.
    pub fn alternatives(
        &self,
        measured: &[(Hypothesis, u64)],
        page: &PageTree<'_>,
    ) -> Vec<Hypothesis> {
        let allowed = self.remaining as f64 + EQUAL * self.touched as f64;
        let mut equal: Vec<&(Hypothesis, u64)> =
            measured.iter().filter(|(_, remaining)| *remaining as f64 <= allowed).collect();
        equal.sort_by_key(|(_, remaining)| *remaining);
        let subject = |hypothesis: &Hypothesis| {
            (hypothesis.element, family(hypothesis.property()).to_owned())
        };
        let mut seen = BTreeSet::from([subject(&self.hypothesis)]);
        let mut others: Vec<&Hypothesis> = equal.into_iter().map(|(other, _)| other).collect();
        others.retain(|other| seen.insert(subject(other)));
        others.sort_by(|one, other| other.plausibility(page).total_cmp(&one.plausibility(page)));
        others.into_iter().take(MAX_ALTERNATIVES).cloned().collect()
    }
}

/// `padding` or `margin` for their longhands, which count as one property; others unchanged.
fn family(property: &str) -> &str {
    let shorthand = ["padding", "margin"].into_iter().find(|name| property.starts_with(name));
    shorthand.unwrap_or(property)
}
