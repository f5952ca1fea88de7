//! The kind of difference that a region shows.

use crate::{
    bounds::{area, grown, intersection, pixels_of, shifted, size_of, union},
    color::most_frequent_color,
    difference::PixelDifference,
    raster::{ColorRange, Raster, Rgb, channel_difference},
    shapes::DrawnShape,
    template_matching::Patch,
};
use juror_types::evidence::RegionKind;

/// Maximum shift of a region's content, in pixels across and down.
const REACH: [i32; 2] = [24, 24];
/// Minimum number of edge pixels of content that is searched for farther away.
const MIN_FAR_EDGE_PIXELS: usize = 60;
/// Maximum share of the pixels that differ in a pair in which it is searched for.
const MAX_FAR_SHARE: f64 = 0.2;
/// Mean difference of its pixels there, in levels.
const MAX_FAR_DIFFERENCE: u32 = 3;
/// Minimum change of a side of resized content, in pixels, and maximum ratio of both sizes.
const MIN_RESIZED: u32 = 2;
const MAX_RATIO: f64 = 2.5;
/// Minimum share of its box that edges take in a text, whose width says nothing of its size.
const TEXT_EDGE_SHARE: f64 = 0.2;
/// Maximum difference of colors of the same content, in levels.
const MAX_LEVELS: u8 = 8;

/// The shift of a region's content from the drawing to the screenshot; `None` unless all of it is
/// found.
pub(crate) fn shift_of(
    screenshot: &Raster,
    drawing: &Raster,
    bounds: [i32; 4],
) -> Option<[i32; 2]> {
    let patch = Patch::new(drawing, grown(bounds, 1))?;
    let back = Patch::new(screenshot, grown(bounds, 1))?;
    let shift = patch.find(drawing, screenshot, REACH, &[])?;
    let reverse = back.find(screenshot, drawing, REACH, &[])?;
    (shift != [0, 0] && reverse == shift.map(|part| -part)).then_some(shift)
}

/// The shift from the drawing to the place in the screenshot, however far away, that shows a box's
/// content and differs from what the drawing has there; `None` if there is no such place, too
/// little content to be sure, or too much that differs to search in.
pub(crate) fn far_shift_of(difference: &PixelDifference<'_>, bounds: [i32; 4]) -> Option<[i32; 2]> {
    let (screenshot, drawing) = (difference.screenshot, difference.drawing);
    let edge_pixels = drawing.edge_pixels_in(bounds);
    let all = difference.weights.len();
    if edge_pixels < MIN_FAR_EDGE_PIXELS || difference.count() as f64 > MAX_FAR_SHARE * all as f64 {
        return None;
    }
    let differs_at = |shift| difference.count_in(shifted(bounds, shift)) * 4 >= edge_pixels;
    let patch = Patch::new(drawing, bounds)?;
    let shifts = patch.shifts_to(drawing, screenshot, MAX_FAR_DIFFERENCE, difference.places());
    let others = shifts.filter(|(_, shift)| *shift != [0, 0] && differs_at(*shift));
    let distance = |[x, y]: [i32; 2]| x.abs() + y.abs();
    others.min_by_key(|(cost, shift)| (*cost, distance(*shift))).map(|(_, shift)| shift)
}

/// The kind of a region whose content did not only move, with the shapes of both pictures.
pub(crate) fn classify(
    difference: &PixelDifference<'_>,
    [shown_shapes, drawn_shapes]: &[Vec<DrawnShape>; 2],
    bounds: [i32; 4],
    has_text: bool,
) -> RegionKind {
    let (screenshot, drawing) = (difference.screenshot, difference.drawing);
    let (mut shown, mut drawn, mut both) = (0u32, 0u32, 0u32);
    for [x, y] in pixels_of(bounds).filter(|&[x, y]| difference.at(x, y) > 0) {
        let (is_shown, is_drawn) = (screenshot.is_edge(x, y), drawing.is_edge(x, y));
        shown += u32::from(is_shown);
        drawn += u32::from(is_drawn);
        both += u32::from(is_shown && is_drawn);
    }
    let all = shown.max(drawn);
    let has_same_edges = all == 0 || f64::from(both) >= 0.75 * f64::from(all);
    // Two letters share most of their edges, too.
    let is_other_letter = || has_text && all > 0 && have_same_colors(screenshot, drawing, bounds);
    if has_same_edges && !is_other_letter() {
        return RegionKind::Color;
    }
    let few = |edge_pixels: u32| f64::from(edge_pixels) <= 0.04 * f64::from(all);
    let resized = || {
        let one = RegionContent::new(screenshot, shown_shapes, bounds);
        one.zip(RegionContent::new(drawing, drawn_shapes, bounds))
            .is_some_and(|(one, other)| one.is_resized(&other))
    };
    match has_text {
        _ if resized() => RegionKind::Resized,
        _ if few(drawn) => RegionKind::Missing,
        _ if few(shown) => RegionKind::Added,
        true => RegionKind::Text,
        false => RegionKind::Shape,
    }
}

/// The shapes that a region touches in one picture.
struct RegionContent {
    /// Left, top, right and bottom.
    bounds: [i32; 4],
    /// Share of the box that is edges.
    edge_pixels: f64,
    /// The most frequent color beside that of the surroundings.
    color: Rgb,
}

impl RegionContent {
    fn new(picture: &Raster, shapes: &[DrawnShape], region: [i32; 4]) -> Option<Self> {
        let near = grown(region, 1);
        let is_touched = |shape: &&DrawnShape| area(intersection(shape.bounds(), near)) > 0.0;
        let touched = || shapes.iter().filter(is_touched);
        let bounds = touched().map(DrawnShape::bounds).reduce(union)?;
        let edge_pixels: usize = touched().map(|shape| shape.edge_pixels).sum();
        let [left, top, ..] = bounds;
        let around = picture.at(left, top);
        let is_other = |color: &Rgb| channel_difference(*color, around) > MAX_LEVELS;
        let colors: Vec<Rgb> = picture.colors_in(bounds).filter(is_other).collect();
        let (color, _) = most_frequent_color(&colors)?;
        Some(Self { bounds, edge_pixels: edge_pixels as f64 / area(bounds).max(1.0), color })
    }

    /// True if it is the same content in another size: a side has changed by a little, and the color
    /// has not. A longer or shorter text is another one.
    fn is_resized(&self, other: &Self) -> bool {
        let [width, height] = size_of(self.bounds);
        let [own_width, own_height] = size_of(other.bounds);
        let is_near = |one: i32, other: i32| {
            f64::from(one.max(other)) <= MAX_RATIO * f64::from(one.min(other).max(1))
        };
        let is_text = self.edge_pixels.min(other.edge_pixels) > TEXT_EDGE_SHARE;
        let is_changed = height.abs_diff(own_height) >= MIN_RESIZED
            || !is_text && width.abs_diff(own_width) >= MIN_RESIZED;
        let has_same_color = channel_difference(self.color, other.color) <= MAX_LEVELS;
        is_changed && has_same_color && is_near(width, own_width) && is_near(height, own_height)
    }
}

/// True if a box has the same lightest and darkest colors in both pictures.
fn have_same_colors(one: &Raster, other: &Raster, bounds: [i32; 4]) -> bool {
    let range = |picture: &Raster| ColorRange::of(picture.colors_in(grown(bounds, 1)));
    let is_same = |(one, other): (ColorRange, ColorRange)| {
        let ends = [(one.low, other.low), (one.high, other.high)];
        ends.into_iter().all(|(one, other)| channel_difference(one, other) <= MAX_LEVELS)
    };
    range(one).zip(range(other)).is_some_and(is_same)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{pair_noise::PairNoise, shapes::contours_of};

    fn kind(screenshot: &Raster, drawing: &Raster) -> RegionKind {
        let difference = PixelDifference::new(screenshot, drawing, &PairNoise::NONE);
        let shapes = [screenshot, drawing].map(contours_of);
        classify(&difference, &shapes, [0, 0, 60, 40], false)
    }

    fn bars(count: u32, color: [u8; 3]) -> Raster {
        let mut picture = Raster::filled(60, 40, [255; 3]);
        for bar in 0..count {
            picture.fill([10 + bar * 8, 10, 4, 12], color);
        }
        picture
    }

    #[test]
    fn kinds_follow_from_edges() {
        let plain = bars(0, [0; 3]);
        assert_eq!(kind(&bars(4, [200, 0, 0]), &bars(4, [0, 0, 200])), RegionKind::Color);
        assert_eq!(kind(&bars(4, [0; 3]), &plain), RegionKind::Missing);
        assert_eq!(kind(&plain, &bars(4, [0; 3])), RegionKind::Added);
    }

    #[test]
    fn another_letter_is_no_other_color() {
        let letter = |ink: [u8; 3], height: u32| {
            let mut picture = Raster::filled(60, 40, [255; 3]);
            picture.fill([10, 10, 3, 20], ink);
            picture.fill([19, 10, 3, 20], ink);
            picture.fill([13, 10, 6, 2], ink);
            picture.fill([13, 28, 6, 2], ink);
            picture.fill([13, 19, 6, height], ink);
            picture
        };
        let text = |screenshot: &Raster, drawing: &Raster| {
            let difference = PixelDifference::new(screenshot, drawing, &PairNoise::NONE);
            let shapes = [screenshot, drawing].map(contours_of);
            classify(&difference, &shapes, [10, 10, 22, 30], true)
        };
        let eight = letter([20; 3], 2);
        assert_eq!(text(&letter([20; 3], 1), &eight), RegionKind::Text);
        assert_eq!(text(&letter([120, 30, 30], 2), &eight), RegionKind::Color);
    }

    #[test]
    fn the_same_box_in_another_size_is_resized() {
        let boxed = |width: u32, height: u32, color: [u8; 3]| {
            let mut picture = Raster::filled(60, 40, [255; 3]);
            picture.fill([8, 8, width, height], color);
            picture
        };
        let drawing = boxed(30, 20, [37, 99, 235]);
        assert_eq!(kind(&boxed(42, 20, [37, 99, 235]), &drawing), RegionKind::Resized);
        assert_eq!(kind(&boxed(30, 15, [37, 99, 235]), &drawing), RegionKind::Resized);
        assert_ne!(kind(&boxed(42, 20, [20, 160, 60]), &drawing), RegionKind::Resized);
        assert_ne!(kind(&bars(6, [0; 3]), &bars(4, [0; 3])), RegionKind::Resized, "more of it");
    }

    #[test]
    fn content_far_away_is_found_where_the_drawing_has_other_content() {
        let row = |order: [u32; 2]| {
            let mut picture = Raster::filled(60, 200, [255; 3]);
            for (number, top) in order.into_iter().zip([10, 160]) {
                for bar in 0..5 {
                    picture.fill([8 + bar * (6 + number), top, 4, 8 + bar * number % 7], [0; 3]);
                }
            }
            picture
        };
        let (drawing, swapped) = (row([1, 2]), row([2, 1]));
        let shift = |screenshot: &Raster| {
            let difference = PixelDifference::new(screenshot, &drawing, &PairNoise::NONE);
            far_shift_of(&difference, [8, 10, 44, 26])
        };
        assert_eq!(shift(&swapped), Some([0, 150]));
        assert_eq!(shift(&drawing), None);
        // The drawing shows it there, too.
        assert_eq!(shift(&row([3, 2])), None);
    }

    #[test]
    fn content_elsewhere_has_moved() {
        let drawing = bars(4, [0; 3]);
        let screenshot = drawing.window([3, 5], [60, 40], [255; 3]);
        assert_eq!(shift_of(&screenshot, &drawing, [8, 8, 45, 30]), Some([3, 5]));
        assert_eq!(shift_of(&drawing, &drawing, [8, 8, 45, 30]), None);
    }
}
