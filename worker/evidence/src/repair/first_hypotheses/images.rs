//! First hypotheses for images of another size.

use super::FirstHypotheses;
use crate::repair::{changeable_length::LengthProperty as P, hypothesis::Hypothesis};

/// Tags of elements that are drawn in the size of their box.
const TAGS: [&str; 2] = ["img", "svg"];
/// First change of a side, in CSS pixels: the usual step of such sizes.
const STEP: f64 = 4.0;
/// Likelihood of both together, as icons have them, of a height, which moves what is below, and of a
/// width.
const LIKELY: [(P, f64); 3] = [(P::Size, 0.82), (P::Height, 0.6), (P::Width, 0.58)];

impl FirstHypotheses<'_> {
    /// Sizes of images that the screenshot shows otherwise.
    pub(super) fn image_sizes(&self, differing: &[usize]) -> Vec<Hypothesis> {
        let mut found = Vec::new();
        for &index in differing.iter().filter(|index| self.is_resized_image(**index)) {
            let elements = self.members(index);
            for (property, likely) in LIKELY {
                found.extend(self.length(&elements, property, STEP, likely));
                found.extend(self.length(&elements, property, -STEP, likely - 0.01));
            }
        }
        found
    }

    /// True if the screenshot does not show the image's patches moved together.
    fn is_resized_image(&self, index: usize) -> bool {
        let is_image = |tag: &str| TAGS.contains(&tag);
        if !self.page.element(index).is_some_and(|element| is_image(&element.tag)) {
            return false;
        }
        let own = || self.field.patches.iter().filter(|patch| patch.element == index);
        let first = own().next().map(|patch| patch.target);
        let is_redrawn = self.is_exact && own().any(|patch| !patch.is_exact);
        is_redrawn || own().any(|patch| patch.target.is_none() || Some(patch.target) != first)
    }
}
