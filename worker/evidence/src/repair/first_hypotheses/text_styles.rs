//! First hypotheses for texts that look different: their sizes, weights, spacing, case, slope,
//! lines and fonts.

use super::FirstHypotheses;
use crate::{
    raster::{Raster, channel_difference},
    repair::{changeable_length::LengthProperty as P, hypothesis::Hypothesis},
};

/// Changes of a font size, each with its further likelihood.
const SIZES: [(f64, f64); 6] =
    [(1.0, 0.05), (-1.0, 0.05), (2.0, 0.05), (-2.0, 0.05), (4.0, 0.0), (-4.0, 0.0)];
/// A property, its values, and how much less likely they are than another size.
type StyleValues = (&'static str, &'static [&'static str], f64);
/// Weights, and keywords that redraw a text in its place.
const KEYWORDS: [StyleValues; 4] = [
    ("font-weight", &["400", "500", "600", "700"], 0.0),
    ("font-weight", &["800", "300"], 0.2),
    ("font-style", &["italic", "normal"], 0.1),
    ("text-decoration-line", &["underline", "line-through", "none"], 0.1),
];
/// Values that redraw a text in another extent.
const REDRAWING: [StyleValues; 2] = [
    ("font-family", &["serif", "sans-serif", "monospace"], 0.3),
    ("text-transform", &["uppercase", "none", "capitalize"], 0.25),
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

    /// Share of an element's text that the screenshot lacks; `None` if its text is at most shifted.
    fn changed_share_of_text(&self, index: usize) -> Option<f64> {
        let own: Vec<_> = self.field.texts_of(index).collect();
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
        let spacing = if changed < 0.6 { 0.1 } else { 0.0 };
        let spacings = [(0.5, likely + spacing), (-0.5, likely + spacing - 0.02)];
        let sizes = SIZES.map(|(delta, more)| (P::FontSize, delta, likely + more));
        let lengths = spacings.map(|(delta, likely)| (P::LetterSpacing, delta, likely));
        let lengths = self.lengths(elements, lengths.into_iter().chain(sizes));
        let redrawing = REDRAWING.iter().filter(|_| changed > 0.5);
        let values = KEYWORDS.iter().chain(redrawing).flat_map(|(property, values, less)| {
            values.iter().map(move |value| (*property, *value, likely - less))
        });
        let is_other =
            |(property, value, _): &(&str, &str, f64)| self.page.style(index, property) != *value;
        let values = values
            .filter(is_other)
            .filter_map(|(property, value, likely)| self.value(elements, property, value, likely));
        lengths.chain(values).collect()
    }

    /// True if a text has the edges of the screenshot in other colors.
    fn is_recolored(&self, index: usize) -> bool {
        let lost = self.field.texts_of(index).filter(|patch| patch.target.is_none()).count();
        let (mut edge_pixels, mut both) = (0u32, 0u32);
        for [x, y] in self.drawing.places_in(self.page.bounds(index)) {
            let near = |p: &Raster| {
                p.get(x + 1, y).is_some_and(|n| channel_difference(n, p.at(x, y)) > 24)
            };
            let (one, other) = (near(self.screenshot), near(self.drawing));
            edge_pixels += u32::from(one || other);
            both += u32::from(one && other);
        }
        lost > 0 && edge_pixels > 0 && both * 10 >= edge_pixels * 9
    }
}
