//! First hypotheses for texts that look different: their sizes, weights, spacing, case, slope,
//! lines and fonts.

use super::FirstHypotheses;
use crate::{
    raster::{Raster, channel_difference},
    repair::{changeable_length::LengthProperty as P, hypothesis::Hypothesis},
};

/// Keywords that redraw a text in its place.
const KEYWORDS: [(&str, &[&str]); 2] = [
    ("font-style", &["italic", "normal"]),
    ("text-decoration-line", &["underline", "line-through", "none"]),
];

impl FirstHypotheses<'_> {
    /// Sizes, weights and spacing of texts that look different, beyond a shift.
    pub(super) fn text_styles(&self, differing: &[usize]) -> Vec<Hypothesis> {
        let mut found = Vec::new();
        for &index in differing {
            let Some(changed) = self.changed_share_of_text(index) else { continue };
            let is_color = self.is_recolored(index);
            let likely = (0.45 + 0.25 * changed) * if is_color { 0.3 } else { 1.0 };
            found.extend(self.styles_of_text(index, &self.members(index), changed, likely));
            if self.page.alike(index).len() > 1 {
                found.extend(self.styles_of_text(index, &[index], changed, likely - 0.08));
            }
        }
        found
    }

    /// Share of an element's text that the screenshot lacks; none if its text is at most shifted.
    fn changed_share_of_text(&self, index: usize) -> Option<f64> {
        let patches = self.field.patches.iter();
        let own: Vec<_> = patches.filter(|p| p.is_text && p.element == index).collect();
        if own.is_empty() {
            return None;
        }
        let shifts: Vec<_> = own.iter().filter_map(|patch| patch.target).collect();
        let range = |axis: usize| {
            let parts = shifts.iter().filter_map(|shift| shift.get(axis).copied());
            parts.clone().max().unwrap_or_default() - parts.min().unwrap_or_default()
        };
        let changed = (own.len() - shifts.len()) as f64 / own.len() as f64;
        let is_rigid = changed < 0.15 && range(0) <= 1 && range(1) <= 1;
        let is_redrawn = self.is_exact && own.iter().any(|patch| !patch.is_exact);
        (!is_rigid || is_redrawn).then_some(changed)
    }

    /// Styles to try of the text of elements that are like one.
    fn styles_of_text(
        &self,
        index: usize,
        elements: &[usize],
        changed: f64,
        likely: f64,
    ) -> Vec<Hypothesis> {
        let length = |property, delta, likely| self.length(elements, property, delta, likely);
        let value = |property: &str, value: &str, likely| {
            let is_other = self.page.style(index, property) != value;
            self.value(elements.to_vec(), property, value, likely, 0).filter(|_| is_other)
        };
        let spacing = if changed < 0.6 { 0.1 } else { 0.0 };
        let mut found = Vec::new();
        found.extend(length(P::LetterSpacing, 0.5, likely + spacing));
        found.extend(length(P::LetterSpacing, -0.5, likely + spacing - 0.02));
        for (order, delta) in [1.0, -1.0, 2.0, -2.0, 4.0, -4.0].into_iter().enumerate() {
            found.extend(length(P::FontSize, delta, likely + if order < 4 { 0.05 } else { 0.0 }));
        }
        for weight in ["400", "500", "600", "700", "800", "300"] {
            let order = if weight == "300" || weight == "800" { 0.2 } else { 0.0 };
            found.extend(value("font-weight", weight, likely - order));
        }
        for (property, values) in KEYWORDS {
            found
                .extend(values.iter().filter_map(|keyword| value(property, keyword, likely - 0.1)));
        }
        if changed > 0.5 {
            for family in ["serif", "sans-serif", "monospace"] {
                found.extend(value("font-family", family, likely - 0.3));
            }
            for transform in ["uppercase", "none", "capitalize"] {
                found.extend(value("text-transform", transform, likely - 0.25));
            }
        }
        found
    }

    /// True if a text has the edges of the screenshot in other colors.
    fn is_recolored(&self, index: usize) -> bool {
        let patches = self.field.patches.iter().filter(|p| p.is_text && p.element == index);
        let lost = patches.filter(|patch| patch.target.is_none()).count();
        let (mut edge_pixels, mut both) = (0u32, 0u32);
        let [left, top, right, bottom] = self.drawing.visible_part(self.page.bounds(index));
        for y in top..bottom {
            for x in left..right {
                let near = |p: &Raster| {
                    p.get(x + 1, y).is_some_and(|n| channel_difference(n, p.at(x, y)) > 24)
                };
                let (one, other) = (near(self.screenshot), near(self.drawing));
                edge_pixels += u32::from(one || other);
                both += u32::from(one && other);
            }
        }
        lost > 0 && edge_pixels > 0 && both * 10 >= edge_pixels * 9
    }
}
