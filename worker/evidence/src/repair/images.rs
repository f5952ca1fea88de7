//! First hypotheses for images of another size.

use super::{
    changeable_length::LengthProperty as P, first_hypotheses::Seeds, hypothesis::Hypothesis,
};

/// Tags of elements that are drawn in the size of their box.
const TAGS: [&str; 2] = ["img", "svg"];
/// First change of a side, in CSS pixels: the usual step of such sizes.
const STEP: f64 = 4.0;
/// Likelihood of a height, which moves what is below, and of a width.
const LIKELY: [(P, f64); 2] = [(P::Height, 0.6), (P::Width, 0.58)];

impl Seeds<'_> {
    /// Heights and widths of images of which the screenshot shows no part.
    pub(super) fn image_sizes(&self, differing: &[usize]) -> Vec<Hypothesis> {
        let mut found = Vec::new();
        for &index in differing.iter().filter(|index| self.is_lost_image(**index)) {
            let elements = self.members(index);
            for (property, likely) in LIKELY {
                found.extend(self.length(&elements, property, STEP, likely));
                found.extend(self.length(&elements, property, -STEP, likely - 0.01));
            }
        }
        found
    }

    fn is_lost_image(&self, index: usize) -> bool {
        let is_image = |tag: &str| TAGS.contains(&tag);
        if !self.page.element(index).is_some_and(|element| is_image(&element.tag)) {
            return false;
        }
        let mut own = self.field.patches.iter().filter(|patch| patch.element == index).peekable();
        own.peek().is_some() && own.all(|patch| patch.target.is_none())
    }
}
