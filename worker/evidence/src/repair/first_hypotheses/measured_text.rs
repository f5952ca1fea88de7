//! Hypotheses for texts of one line whose width and height the screenshot shows.

use super::FirstHypotheses;
use crate::{
    bounds::{grown, shifted},
    color::most_frequent_color,
    raster::{Raster, channel_difference},
    repair::{changeable_length::LengthProperty as P, hypothesis::Hypothesis},
};
use std::collections::BTreeMap;

/// Contrast with the background above which a pixel belongs to a glyph, in levels.
const INK: u8 = 40;
/// Maximum number of pixels by which a text goes beyond its place in the drawing.
const REACH: i32 = 80;
/// Maximum gap within a text, relative to its font size, besides a letter spacing of the reach.
const GAP: f64 = 0.55;
/// Maximum height of one line's glyphs, relative to the font size.
const MAX_LINE: f64 = 1.4;
/// Likelihoods of a measured letter spacing and of a measured font size.
const SPACING: f64 = 0.94;
const SIZE: f64 = 0.92;
/// Likelihood of a font size that several texts inherit.
const INHERITED_SIZE: f64 = 0.95;
/// Maximum relative difference of a text's width and height if its font size alone is another.
const SAME_RATIO: f64 = 0.12;

impl FirstHypotheses<'_> {
    /// Letter spacings and font sizes that give texts the extent that the screenshot shows.
    pub(super) fn measured_texts(&self, differing: &[usize]) -> Vec<Hypothesis> {
        let texts = differing.iter().filter_map(|&index| Some((index, self.measured_text(index)?)));
        let texts: BTreeMap<usize, MeasuredText> = texts.collect();
        let mut found = self.inherited_sizes(&texts);
        for (&index, text) in &texts {
            let elements = self.all_or_one(index, |other| texts.contains_key(other));
            let mut add = |property: P, delta: f64, likely: f64| {
                found.extend(self.length(&elements, property, delta, likely));
            };
            let font = P::FontSize.length(self.page, index);
            let [wider, higher] = text.ratios;
            let by = |ratio: f64, step: f64| (font * (ratio - 1.0) / step).round() * step;
            let is_scaled = (wider - higher).abs() <= SAME_RATIO;
            let is_spaced = text.is_as_high;
            let spacing = (text.spacing * 10.0).round() / 10.0;
            if is_spaced || !is_scaled {
                let likely = if is_spaced { SPACING } else { SIZE - 0.3 };
                add(P::LetterSpacing, spacing, likely);
                add(P::LetterSpacing, (text.spacing * 2.0).round() / 2.0, likely - 0.03);
            }
            let likely = if is_scaled { SIZE } else { SIZE - 0.25 };
            add(P::FontSize, by(wider, 1.0), likely);
            if !is_spaced {
                add(P::FontSize, by(higher, 1.0), likely - 0.02);
                add(P::FontSize, by(wider, 0.5), likely - 0.04);
            }
        }
        found
    }

    /// Font sizes of elements from which several of these texts inherit theirs.
    fn inherited_sizes(&self, texts: &BTreeMap<usize, MeasuredText>) -> Vec<Hypothesis> {
        let mut inherited: BTreeMap<usize, Vec<i32>> = BTreeMap::new();
        for (&index, MeasuredText { ratios: [wider, _], .. }) in texts {
            let font = P::FontSize.length(self.page, index);
            let parent = self.page.parent(index);
            if let Some(parent) = parent.filter(|at| P::FontSize.length(self.page, *at) == font) {
                let delta = (font * (wider - 1.0)).round() as i32;
                inherited.entry(parent).or_default().push(delta);
            }
        }
        inherited.retain(|_, deltas| deltas.len() > 1);
        let mut found = Vec::new();
        for (&parent, deltas) in &inherited {
            let elements = self.all_or_one(parent, |other| inherited.contains_key(other));
            // What runs into its neighbor seems to grow most.
            let smallest = deltas.iter().min_by_key(|delta| delta.abs()).copied();
            let delta = f64::from(smallest.unwrap_or_default());
            found.extend(self.length(&elements, P::FontSize, delta, INHERITED_SIZE));
        }
        found
    }

    /// The extent of an element's own text in both pictures; `None` if it is the same, has several
    /// lines, or is not seen.
    fn measured_text(&self, index: usize) -> Option<MeasuredText> {
        let page = self.page;
        let text = page.element(index)?.text.trim();
        let letters = text.chars().count();
        if !(2..80).contains(&letters) || !page.children(index).is_empty() {
            return None;
        }
        let scale = page.snapshot.scale;
        let font = P::FontSize.length(page, index) * scale;
        let border = (P::BorderWidth.length(page, index) * scale).ceil() as i32;
        let inner = grown(page.bounds(index), -border);
        let [width, height] = text_size(self.drawing, inner, font, 0)?;
        if height > MAX_LINE * font {
            return None;
        }
        // Where it is drawn or has moved to, and what continues it to both sides.
        let shown_at = |shift| text_size(self.screenshot, shifted(inner, shift), font, REACH);
        let [other_width, other_height] = shown_at([0, 0])?;
        let is_same_at = |shift| {
            shown_at(shift).is_some_and(|[wide, high]| (wide - width).abs() < 1.5 && high == height)
        };
        let is_same =
            is_same_at([0, 0]) || self.field.shifts_near(index).into_iter().any(is_same_at);
        (!is_same && other_height <= 2.0 * MAX_LINE * font).then(|| MeasuredText {
            ratios: [other_width / width, other_height / height],
            is_as_high: (other_height - height).abs() < 1.5,
            spacing: (other_width - width) / (letters - 1) as f64 / scale,
        })
    }
}

/// A text whose extent in the screenshot is another.
struct MeasuredText {
    /// Width and height in the screenshot divided by those in the drawing.
    ratios: [f64; 2],
    is_as_high: bool,
    /// The letter spacing that explains the other width, in CSS pixels.
    spacing: f64,
}

/// Width and height of the glyphs in a box, and of those that continue them to both sides.
fn text_size(picture: &Raster, inner: [i32; 4], font: f64, reach: i32) -> Option<[f64; 2]> {
    let [left, top, right, bottom] = picture.visible_part(inner);
    let colors: Vec<_> = picture.colors_in(inner).collect();
    let (behind, _) = most_frequent_color(&colors)?;
    let is_ink = |x: i32, y: i32| {
        picture.get(x, y).is_some_and(|shown| channel_difference(shown, behind) > INK)
    };
    let has_ink = |x: &i32| (top..bottom).any(|y| is_ink(*x, y));
    let first = (left..right).find(has_ink)?;
    let last = (left..right).rev().find(has_ink)?;
    let gap = (GAP * font) as i32;
    let mut ends = [first, last];
    for (end, way) in ends.iter_mut().zip([-1, 1]) {
        let mut at = *end;
        while (at - *end).abs() <= gap && (at - if way < 0 { left } else { right }) * way <= reach {
            at += way;
            if reach > 0 && has_ink(&at) {
                *end = at;
            }
        }
    }
    let [first, last] = ends;
    let has_ink = |y: &i32| (first..=last).any(|x| is_ink(x, *y));
    let high = (top..bottom).find(has_ink)?;
    let low = (top..bottom).rev().find(has_ink)?;
    Some([last + 1 - first, low + 1 - high].map(f64::from))
}
