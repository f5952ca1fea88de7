//! Colors and opacities of a screenshot, estimated from the pixels of an element.

use super::FirstHypotheses;
use crate::{
    bounds::{contains, grown, inset, size_of},
    color::{self, mix, most_frequent_color},
    difference::TOLERANCE,
    element_tree::SIDES,
    raster::{Raster, Rgb, channel_difference},
    repair::{
        gradient::{GradientPixel, LinearGradient},
        hypothesis::Hypothesis,
    },
};

/// Maximum distance of a color from the blends of two others that it is taken for, in levels.
const MAX_ASIDE: u8 = 24;
/// Maximum total area of the texts of one color in an element, in areas of the picture.
const MAX_TEXT_AREA: f64 = 8.0;
/// Maximum difference of an expected and a shown pixel of a text's edges, in levels.
const MAX_EDGE_LEVELS: u8 = 40;

/// An estimated declaration, and the weight of the differences that it would remove.
#[derive(Clone, Debug)]
pub(super) struct PaintEstimate {
    pub property: &'static str,
    pub value: String,
    pub weight: u64,
}

impl FirstHypotheses<'_> {
    /// Colors and opacities, with the share of the difference that they promise to remove as
    /// priority.
    pub(super) fn paint(&self, differing: &[usize]) -> Vec<Hypothesis> {
        let estimates: Vec<_> = differing
            .iter()
            .flat_map(|&index| self.estimates(index).into_iter().map(move |found| (index, found)))
            .collect();
        let mut found = Vec::new();
        for (index, PaintEstimate { property, value, weight }) in &estimates {
            let depth = 0.05 * self.page.lineage(*index).count() as f64;
            let mut add = |elements: &[usize], likely: f64| {
                let proposed = self.value(elements, property, value, likely);
                found.extend(
                    proposed.map(|other| Hypothesis { priority: other.priority + depth, ..other }),
                );
            };
            let alike = self.page.alike(*index);
            let is_same = |(other, estimate): &&(usize, PaintEstimate)| {
                alike.contains(other) && estimate.property == *property && estimate.value == *value
            };
            let group: Vec<_> = estimates.iter().filter(is_same).collect();
            if group.len() > 1 && group.first().is_some_and(|(first, _)| first == index) {
                let members: Vec<usize> = group.iter().map(|(member, _)| *member).collect();
                let weight: u64 = group.iter().map(|(_, estimate)| estimate.weight).sum();
                add(&members, self.share(weight) + 0.02);
            }
            add(&[*index], self.share(*weight));
        }
        found
    }

    /// Estimates from the pixels of an element.
    pub(super) fn estimates(&self, element: usize) -> Vec<PaintEstimate> {
        let estimates = [
            self.background(element),
            self.gradient(element),
            self.text_color(element),
            self.border_color(element),
            self.opacity(element),
        ];
        estimates.into_iter().flatten().filter(|estimate| estimate.weight > 0).collect()
    }

    fn background(&self, element: usize) -> Option<PaintEstimate> {
        let own = self.page.opaque_color(element, "background-color");
        // Its picture covers the background that it might get.
        if self.page.tag(element) == "img" && own.is_none() {
            return None;
        }
        let present = own.unwrap_or_else(|| self.page.visible_background(element));
        let is_flat = |&[x, y]: &[i32; 2]| channel_difference(self.drawing.at(x, y), present) <= 1;
        let flat = || self.drawing.places_in(self.page.bounds(element)).filter(is_flat);
        let (mut count, mut colors) = (0usize, Vec::new());
        flat().for_each(|[x, y]| {
            count += 1;
            if self.difference.at(x, y) > 0 {
                colors.push(self.screenshot.at(x, y));
            }
        });
        let share = colors.len() as f64 / count.max(1) as f64;
        let (target, count) = most_frequent_color(&colors)?;
        if (own.is_none() && share < 0.7) || count < 8 {
            return None;
        }
        let is_target = |&[x, y]: &[i32; 2]| self.is_shown(target, [x, y], self.tolerance);
        let weight = flat().filter(is_target).map(|place| self.weight_at(place)).sum();
        Some(PaintEstimate { property: "background-color", value: color::hex(target), weight })
    }

    /// The stops of a linear gradient, whose line spans the box within the borders.
    fn gradient(&self, element: usize) -> Option<PaintEstimate> {
        let present = LinearGradient::parse(self.page.style(element, "background-image"))?;
        let scale = self.page.snapshot.scale;
        let borders = SIDES.map(|side| (self.page.border(element, side) * scale) as i32);
        let bounds = inset(self.page.bounds(element), borders);
        let ([left, top, ..], size) = (bounds, size_of(bounds).map(f64::from));
        let middle = |[x, y]: [i32; 2]| [x - left, y - top].map(|at| f64::from(at) + 0.5);
        let pixels = self.drawing.places_in(bounds).map(|[x, y]| {
            let (drawn, shown) = (self.drawing.at(x, y), self.screenshot.at(x, y));
            GradientPixel { place: middle([x, y]), drawn, shown }
        });
        let fitted = present.fitted(size, &pixels.collect::<Vec<_>>())?;
        if fitted.is_like(&present, self.tolerance) {
            return None;
        }
        let is_expected = |&place: &[i32; 2]| {
            let expected = fitted.color_at(size, middle(place));
            expected.is_some_and(|color| self.is_shown(color, place, self.tolerance.max(4)))
        };
        let expected = self.drawing.places_in(bounds).filter(is_expected);
        let weight = expected.map(|place| self.weight_at(place)).sum();
        Some(PaintEstimate { property: "background-image", value: fitted.written(), weight })
    }

    fn text_color(&self, element: usize) -> Option<PaintEstimate> {
        let color = self.page.opaque_color(element, "color")?;
        let texts = self.page.subtree(element).into_iter().filter(|&index| {
            self.page.has_text(index) && self.page.opaque_color(index, "color") == Some(color)
        });
        let texts = self.drawing.smallest_within(texts, MAX_TEXT_AREA, |at| self.page.bounds(at));
        let (mut ink, mut full) = (Vec::new(), Vec::new());
        for &index in &texts {
            let bounds = self.page.bounds(index);
            let Some(behind) = most_frequent_in(self.drawing, bounds) else { continue };
            let Some(new_behind) = most_frequent_in(self.screenshot, bounds) else { continue };
            self.drawing.places_in(bounds).for_each(|[x, y]| {
                let Some(share) = blend(self.drawing.at(x, y), behind, color) else { return };
                // Pixels equal in both pictures do not belong to this text.
                let weight = self.difference.at(x, y);
                if share > 0.15 && weight > 0 {
                    ink.push((share, self.screenshot.at(x, y), new_behind, weight));
                }
                if share > 0.97 && weight > 0 {
                    full.push(self.screenshot.at(x, y));
                }
            });
        }
        let target = match most_frequent_color(&full) {
            Some((target, count)) if count >= 3 => target,
            _ => least_squares(&ink)?,
        };
        // A target equal to the background would hide the text.
        let is_hidden = |(_, _, behind, _): &(f64, Rgb, Rgb, u8)| {
            channel_difference(target, *behind) <= self.tolerance
        };
        if channel_difference(target, color) <= self.tolerance || ink.iter().all(is_hidden) {
            return None;
        }
        let explained = ink.iter().filter(|(share, shown, behind, _)| {
            channel_difference(mix(*behind, target, *share), *shown) <= MAX_EDGE_LEVELS
        });
        let explained: u64 = explained.map(|(_, _, _, weight)| u64::from(*weight)).sum();
        let weight = match self.beside() {
            0 => explained,
            beside => {
                let inked: u64 = ink.iter().map(|(_, _, _, weight)| u64::from(*weight)).sum();
                let boxes = texts.iter().map(|&index| grown(self.page.bounds(index), beside));
                let around: u64 = boxes.map(|bounds| self.difference.weight_in(bounds)).sum();
                (around as f64 * explained as f64 / inked.max(1) as f64) as u64
            }
        };
        Some(PaintEstimate { property: "color", value: color::hex(target), weight })
    }

    fn border_color(&self, element: usize) -> Option<PaintEstimate> {
        let [top, bottom] = ["top", "bottom"].map(|side| self.page.border(element, side));
        let (property, side) = match [top, bottom].map(|width| width > 0.0) {
            [true, true] => ("border-color", "border-top-color"),
            [true, false] => ("border-top-color", "border-top-color"),
            [false, true] => ("border-bottom-color", "border-bottom-color"),
            [false, false] => return None,
        };
        let color = self.page.opaque_color(element, side)?;
        let width = if top > 0.0 { top } else { bottom };
        let (bounds, beside) = (self.page.painted_bounds(element), self.beside());
        let inner = grown(bounds, -(width * self.page.snapshot.scale).ceil() as i32 - beside);
        let (mut colors, mut weight) = (Vec::new(), 0);
        self.drawing.places_in(grown(bounds, beside)).for_each(|[x, y]| {
            if !contains(inner, [x, y]) && self.difference.at(x, y) > 0 {
                weight += self.weight_at([x, y]);
                if channel_difference(self.drawing.at(x, y), color) <= 1 {
                    colors.push(self.screenshot.at(x, y));
                }
            }
        });
        let (target, count) = most_frequent_color(&colors)?;
        (count >= 4).then(|| PaintEstimate { property, value: color::hex(target), weight })
    }

    /// The opacity of an element whose pixels all moved toward the background by the same share.
    fn opacity(&self, element: usize) -> Option<PaintEstimate> {
        let behind = self.page.visible_background(self.page.parent(element)?);
        let (mut both, mut own, mut pixels) = (0.0, 0.0, Vec::new());
        self.drawing.places_in(self.page.bounds(element)).for_each(|[x, y]| {
            let (one, other) = (self.screenshot.at(x, y), self.drawing.at(x, y));
            pixels.push((one, other, self.difference.at(x, y)));
            for ((one, other), behind) in one.into_iter().zip(other).zip(behind) {
                let (one, other) =
                    (f64::from(one) - f64::from(behind), f64::from(other) - f64::from(behind));
                both += one * other;
                own += other * other;
            }
        });
        let present = self.page.style(element, "opacity").parse().unwrap_or(1.0);
        let share = if own > 0.0 { both / own } else { return None };
        let target = ((share * present * 100.0_f64).round() / 100.0).min(1.0);
        if (target - present).abs() < 0.015 || target <= 0.0 {
            return None;
        }
        // The edges of texts are drawn otherwise in a noisy pair.
        let allowed = if self.tolerance > TOLERANCE { MAX_EDGE_LEVELS } else { 4 };
        let fits = pixels.iter().filter(|(one, other, _)| {
            channel_difference(*one, mix(behind, *other, share)) <= allowed
        });
        let weight: u64 = fits.map(|(_, _, weight)| u64::from(*weight)).sum();
        let all: u64 = pixels.iter().map(|(_, _, weight)| u64::from(*weight)).sum();
        let value = format!("{target}");
        (weight * 2 >= all).then_some(PaintEstimate { property: "opacity", value, weight })
    }

    /// Reach of a line's difference: smoothed pictures differ beside it as much as on it.
    fn beside(&self) -> i32 {
        i32::from(self.tolerance > TOLERANCE)
    }

    /// True if the screenshot has a color at a place, up to this many levels.
    fn is_shown(&self, color: Rgb, [x, y]: [i32; 2], levels: u8) -> bool {
        channel_difference(color, self.screenshot.at(x, y)) <= levels
    }

    fn weight_at(&self, [x, y]: [i32; 2]) -> u64 {
        u64::from(self.difference.at(x, y))
    }
}

fn most_frequent_in(picture: &Raster, bounds: [i32; 4]) -> Option<Rgb> {
    let colors: Vec<Rgb> = picture.colors_in(bounds).collect();
    most_frequent_color(&colors).map(|(color, _)| color)
}

/// The opacity of a color over a background that gives the shown color; `None` if they are alike or
/// it is another color.
fn blend(shown: Rgb, behind: Rgb, color: Rgb) -> Option<f64> {
    let (mut both, mut own) = (0.0, 0.0);
    for ((shown, behind), color) in shown.into_iter().zip(behind).zip(color) {
        let way = f64::from(color) - f64::from(behind);
        both += way * (f64::from(shown) - f64::from(behind));
        own += way * way;
    }
    let share = (own > 400.0).then(|| (both / own).clamp(0.0, 1.0))?;
    (channel_difference(shown, mix(behind, color, share)) <= MAX_ASIDE).then_some(share)
}

/// The color whose blends come nearest to the shown ones.
fn least_squares(ink: &[(f64, Rgb, Rgb, u8)]) -> Option<Rgb> {
    let squares: f64 = ink.iter().map(|(share, ..)| share * share).sum();
    if squares < 0.5 {
        return None;
    }
    let mut totals = [0.0; 3];
    for (share, shown, behind, _) in ink {
        for ((total, shown), behind) in totals.iter_mut().zip(shown).zip(behind) {
            *total += share * (f64::from(*shown) - (1.0 - share) * f64::from(*behind));
        }
    }
    Some(totals.map(|total| (total / squares).round() as u8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_color_is_no_blend() {
        let (behind, color) = ([255; 3], [15, 23, 42]);
        assert_eq!(blend(color, behind, color), Some(1.0));
        assert!((blend([135, 139, 148], behind, color).unwrap() - 0.5).abs() < 0.01);
        assert_eq!(blend([5, 150, 105], behind, color), None);
    }
}
