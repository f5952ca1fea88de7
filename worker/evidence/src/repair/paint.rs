//! Colors and opacities of a screenshot, estimated from the pixels of an element.

use super::gradient::{GradientPixel, LinearGradient};
use crate::{
    color::{self, most_frequent_color},
    difference::{PixelDifference, TOLERANCE},
    element_tree::{PageTree, grown},
    raster::{Raster, Rgb, channel_difference},
};

/// Maximum distance of a color from the blends of two others that it is taken for, in levels.
const MAX_ASIDE: u8 = 24;
/// Maximum total area of the texts of one color in an element, in areas of the picture.
const MAX_TEXT_AREA: f64 = 8.0;
/// Maximum difference of an expected and a shown pixel of a text's edges, in levels.
const MAX_EDGE_LEVELS: u8 = 40;

/// An estimated declaration, and the weight of the differences that it would remove.
#[derive(Clone, Debug)]
pub(crate) struct PaintEstimate {
    pub property: &'static str,
    pub value: String,
    pub weight: u64,
}

/// The pictures that estimates are made from.
pub(crate) struct PaintView<'view> {
    pub page: &'view PageTree<'view>,
    pub screenshot: &'view Raster,
    pub drawing: &'view Raster,
    pub difference: &'view PixelDifference,
    /// Maximum difference of equal samples, in levels.
    pub tolerance: u8,
}

impl PaintView<'_> {
    /// Estimates from the pixels of an element.
    pub fn estimates(&self, element: usize) -> Vec<PaintEstimate> {
        let estimates = [
            self.background(element),
            self.gradient(element),
            self.text(element),
            self.border(element),
            self.opacity(element),
        ];
        estimates.into_iter().flatten().filter(|estimate| estimate.weight > 0).collect()
    }

    fn background(&self, element: usize) -> Option<PaintEstimate> {
        let own = self.page.opaque_color(element, "background-color");
        // Its picture covers the background that it might get.
        let is_image = self.page.element(element).is_some_and(|element| element.tag == "img");
        if is_image && own.is_none() {
            return None;
        }
        let shown = own.unwrap_or_else(|| self.page.visible_background(element));
        let bounds = self.page.bounds(element);
        let is_flat = |x: i32, y: i32| channel_difference(self.drawing.at(x, y), shown) <= 1;
        let mut flat = 0usize;
        let mut colors = Vec::new();
        self.each(bounds, |x, y| {
            if is_flat(x, y) {
                flat += 1;
                if self.difference.at(x, y) > 0 {
                    colors.push(self.screenshot.at(x, y));
                }
            }
        });
        let share = colors.len() as f64 / flat.max(1) as f64;
        let (target, count) = most_frequent_color(&colors)?;
        if (own.is_none() && share < 0.7) || count < 8 {
            return None;
        }
        let mut weight = 0;
        self.each(bounds, |x, y| {
            let is_target = channel_difference(self.screenshot.at(x, y), target) <= self.tolerance;
            if is_flat(x, y) && is_target {
                weight += u64::from(self.difference.at(x, y));
            }
        });
        Some(PaintEstimate { property: "background-color", value: color::hex(target), weight })
    }

    /// The stops of a linear gradient, whose line spans the box within the borders.
    fn gradient(&self, element: usize) -> Option<PaintEstimate> {
        let present = LinearGradient::parse(self.page.style(element, "background-image"))?;
        let [left, top, right, bottom] = self.page.bounds(element);
        let border = |side: &str| {
            let width = self.page.length(element, &format!("border-{side}-width"));
            (width.unwrap_or(0.0) * self.page.snapshot.scale) as i32
        };
        let (left, top) = (left + border("left"), top + border("top"));
        let bounds = [left, top, right - border("right"), bottom - border("bottom")];
        let [_, _, right, bottom] = bounds;
        let size = [right - left, bottom - top].map(f64::from);
        let place = |x: i32, y: i32| [x - left, y - top].map(|at| f64::from(at) + 0.5);
        let mut pixels = Vec::new();
        self.each(bounds, |x, y| {
            let (drawn, shown) = (self.drawing.at(x, y), self.screenshot.at(x, y));
            pixels.push(GradientPixel { place: place(x, y), drawn, shown });
        });
        let fitted = present.fitted(size, &pixels)?;
        if fitted.is_like(&present, self.tolerance) {
            return None;
        }
        let mut weight = 0;
        self.each(bounds, |x, y| {
            let expected = fitted.color_at(size, place(x, y));
            let is_shown = |color| {
                channel_difference(color, self.screenshot.at(x, y)) <= self.tolerance.max(4)
            };
            if expected.is_some_and(is_shown) {
                weight += u64::from(self.difference.at(x, y));
            }
        });
        Some(PaintEstimate { property: "background-image", value: fitted.written(), weight })
    }

    fn text(&self, element: usize) -> Option<PaintEstimate> {
        let color = self.page.opaque_color(element, "color")?;
        let texts = self.page.subtree(element).into_iter().filter(|&index| {
            let has_text = self.page.element(index).is_some_and(|e| !e.text.is_empty());
            has_text && self.page.opaque_color(index, "color") == Some(color)
        });
        let texts = self.drawing.smallest_within(texts, MAX_TEXT_AREA, |at| self.page.bounds(at));
        let (mut ink, mut full) = (Vec::new(), Vec::new());
        for &index in &texts {
            let bounds = self.page.bounds(index);
            let Some(behind) = self.frequent(self.drawing, bounds) else { continue };
            let Some(new_behind) = self.frequent(self.screenshot, bounds) else { continue };
            self.each(bounds, |x, y| {
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
            let expected = mix(*behind, target, *share);
            channel_difference(expected, *shown) <= MAX_EDGE_LEVELS
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

    fn border(&self, element: usize) -> Option<PaintEstimate> {
        let width = self.page.length(element, "border-top-width").filter(|width| *width > 0.0);
        let bottom = self.page.length(element, "border-bottom-width").filter(|width| *width > 0.0);
        let (property, side) = match (width, bottom) {
            (Some(_), Some(_)) => ("border-color", "border-top-color"),
            (Some(_), None) => ("border-top-color", "border-top-color"),
            (None, Some(_)) => ("border-bottom-color", "border-bottom-color"),
            (None, None) => return None,
        };
        let color = self.page.opaque_color(element, side)?;
        let bounds = self.page.painted_bounds(element);
        let [left, top, right, base] = bounds;
        let thickness = (width.or(bottom)? * self.page.snapshot.scale).ceil() as i32;
        let beside = self.beside();
        let mut colors = Vec::new();
        let mut weight = 0;
        self.each(grown(bounds, beside), |x, y| {
            let inside = (x - left).min(right - 1 - x).min(y - top).min(base - 1 - y);
            if inside < thickness + beside && self.difference.at(x, y) > 0 {
                weight += u64::from(self.difference.at(x, y));
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
        let bounds = self.page.bounds(element);
        let behind = self.page.visible_background(self.page.parent(element)?);
        let (mut both, mut own, mut pixels) = (0.0, 0.0, Vec::new());
        self.each(bounds, |x, y| {
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
        (weight * 2 >= all).then(|| PaintEstimate {
            property: "opacity",
            value: format!("{target}"),
            weight,
        })
    }

    /// Reach of a line's difference: smoothed pictures differ beside it as much as on it.
    fn beside(&self) -> i32 {
        i32::from(self.tolerance > TOLERANCE)
    }

    fn frequent(&self, picture: &Raster, bounds: [i32; 4]) -> Option<Rgb> {
        let mut colors = Vec::new();
        self.each(bounds, |x, y| colors.push(picture.at(x, y)));
        most_frequent_color(&colors).map(|(color, _)| color)
    }

    fn each(&self, bounds: [i32; 4], mut visit: impl FnMut(i32, i32)) {
        let [left, top, right, bottom] = self.drawing.visible_part(bounds);
        for y in top..bottom {
            for x in left..right {
                visit(x, y);
            }
        }
    }
}

/// The opacity of a color over a background that gives the shown color; none if they are alike or
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

fn mix(behind: Rgb, color: Rgb, share: f64) -> Rgb {
    let [one, two, three] = behind;
    let [four, five, six] = color;
    [(one, four), (two, five), (three, six)].map(|(behind, color)| {
        let (behind, color) = (f64::from(behind), f64::from(color));
        (behind + share * (color - behind)).round().clamp(0.0, 255.0) as u8
    })
}

/// The color whose blends come nearest to the shown ones.
fn least_squares(ink: &[(f64, Rgb, Rgb, u8)]) -> Option<Rgb> {
    let squares: f64 = ink.iter().map(|(share, ..)| share * share).sum();
    if squares < 0.5 {
        return None;
    }
    let channel = |at: usize| {
        let total: f64 = ink
            .iter()
            .filter_map(|(share, shown, behind, _)| {
                let (shown, behind) = (f64::from(*shown.get(at)?), f64::from(*behind.get(at)?));
                Some(share * (shown - (1.0 - share) * behind))
            })
            .sum();
        (total / squares).round().clamp(0.0, 255.0) as u8
    };
    Some([channel(0), channel(1), channel(2)])
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
