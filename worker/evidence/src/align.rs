//! Fits a drawing to its screenshot: scale, shift, size.

use crate::{
    color::most_frequent,
    measured_noise::noise_of,
    noise::PairNoise,
    raster::{Raster, Rgb, channel_difference},
};

/// Maximum shift, in pixels, of a component that was cropped in another way.
const MAX_SHIFT: i32 = 64;
/// Maximum share of the difference that may remain for a shift to count.
const SHIFT_GAIN: f64 = 0.3;
/// The same for pictures of different sizes, one of which was cropped otherwise.
const CROPPED_SHIFT_GAIN: f64 = 0.7;
/// Cap of a pixel's difference in levels, so that a faint box counts beside a dark text.
const MAX_LEVELS: u8 = 24;

/// Distances of the pixels that are compared, across and down.
const SAMPLED: [usize; 2] = [3, 2];
const EVERY_PIXEL: [usize; 2] = [1, 1];

/// Alignment of a drawing on its screenshot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Alignment {
    /// Pixels of the screenshot for each of the drawing, 1 or 2.
    pub scale: u32,
    /// The drawing's shift to the right and down, in its pixels.
    pub shift: [i32; 2],
    /// The screenshot as a picture of the drawing's size.
    pub screenshot: Raster,
    pub noise: PairNoise,
}

impl Alignment {
    /// The fit of a drawing to its screenshot.
    ///
    /// In pictures of one size and one browser, a shift is a difference and is not compensated.
    pub fn new(screenshot: &Raster, drawing: &Raster) -> Self {
        let halved = is_double(screenshot, drawing).then(|| screenshot.halved());
        let scale = if halved.is_some() { 2 } else { 1 };
        let screenshot = halved.as_ref().unwrap_or(screenshot);
        let size = [drawing.width(), drawing.height()];
        let has_same_size = size == [screenshot.width(), screenshot.height()];
        let noise = has_same_size.then(|| noise_of(screenshot, drawing));
        let shift = match noise {
            Some(noise) if noise.is_none() => [0, 0],
            _ => best_shift(screenshot, drawing),
        };
        match noise.filter(|_| shift == [0, 0]) {
            Some(noise) => Self { scale, shift, screenshot: screenshot.clone(), noise },
            None => {
                let screenshot =
                    screenshot.window(shift.map(|part| -part), size, rim_color(drawing));
                let noise = noise_of(&screenshot, drawing);
                Self { scale, shift, screenshot, noise }
            }
        }
    }
}

/// Size of a screenshot's content divided by that of a drawing's, across and down; none where one
/// has no content.
pub fn content_ratio(screenshot: &Raster, drawing: &Raster) -> Option<[f64; 2]> {
    let size = |[left, top, right, bottom]: [i32; 4]| [right - left, bottom - top].map(f64::from);
    let ([width, height], [own_width, own_height]) =
        (size(content_box(screenshot)?), size(content_box(drawing)?));
    Some([width / own_width, height / own_height])
}

/// True if a screenshot has two pixels for each of the drawing.
pub(crate) fn is_double(screenshot: &Raster, drawing: &Raster) -> bool {
    let is_near = |one: u32, other: u32| one.abs_diff(2 * other) <= 2 && other > 0;
    is_near(screenshot.width(), drawing.width()) && is_near(screenshot.height(), drawing.height())
}

/// The most frequent color of a picture's border.
pub(crate) fn rim_color(picture: &Raster) -> Rgb {
    let (width, height) = (picture.width() as i32, picture.height() as i32);
    let mut rim: Vec<Rgb> = Vec::new();
    for x in 0..width {
        rim.extend([picture.at(x, 0), picture.at(x, height - 1)]);
    }
    for y in 0..height {
        rim.extend([picture.at(0, y), picture.at(width - 1, y)]);
    }
    most_frequent(&mut rim).map_or([255; 3], |(color, _)| color)
}

/// The shift of the whole content with which the pictures differ least; none if a part of the
/// content stays in place, since then only an element moved.
fn best_shift(screenshot: &Raster, drawing: &Raster) -> [i32; 2] {
    let (Some(one), Some(other)) = (content_box(screenshot), content_box(drawing)) else {
        return [0, 0];
    };
    let has_same_size =
        (screenshot.width(), screenshot.height()) == (drawing.width(), drawing.height());
    let unshifted = difference(screenshot, drawing, [0, 0], SAMPLED);
    if has_same_size && unshifted == 0.0 {
        return [0, 0];
    }
    let gain = if has_same_size { SHIFT_GAIN } else { CROPPED_SHIFT_GAIN };
    let mut best = ([0, 0], unshifted * gain);
    for shift in shifts_to_try(one, other) {
        let left = difference(screenshot, drawing, shift, SAMPLED);
        if left < best.1 && shift.iter().all(|part| part.abs() <= MAX_SHIFT) {
            best = (shift, left);
        }
    }
    let ([x, y], _) = best;
    let near = (-1..=1).flat_map(|dy| (-1..=1).map(move |dx| [x + dx, y + dy]));
    let exactly = near.map(|shift| (shift, difference(screenshot, drawing, shift, EVERY_PIXEL)));
    match best.0 {
        [0, 0] => [0, 0],
        found => exactly.min_by(|(_, a), (_, b)| a.total_cmp(b)).map_or(found, |(shift, _)| shift),
    }
}

fn shifts_to_try(one: [i32; 4], other: [i32; 4]) -> Vec<[i32; 2]> {
    let [near_x, near_y, far_x, far_y] = [0, 1, 2, 3].map(|side: usize| {
        let of = |place: &[i32; 4]| place.get(side).copied().unwrap_or_default();
        of(&one) - of(&other)
    });
    let shifts = [[near_x, near_y], [far_x, far_y], [near_x, far_y], [far_x, near_y]];
    let beside = [[0, 0], [-1, 0], [1, 0], [0, -1], [0, 1]];
    let mut shifts: Vec<[i32; 2]> =
        shifts.iter().flat_map(|[x, y]| beside.map(|[dx, dy]| [x + dx, y + dy])).collect();
    shifts.sort_unstable();
    shifts.dedup();
    shifts.retain(|shift| *shift != [0, 0]);
    shifts
}

/// Left, top, right and bottom of the area that differs from the border's color.
pub(crate) fn content_box(picture: &Raster) -> Option<[i32; 4]> {
    let rim = rim_color(picture);
    let mut found: Option<[i32; 4]> = None;
    for y in 0..picture.height() {
        let row = picture.row(y);
        let is_content = |pixel: &Rgb| channel_difference(*pixel, rim) > 12;
        let Some(first) = row.iter().position(is_content) else { continue };
        let last = row.iter().rposition(is_content).unwrap_or(first);
        let (first, last, y) = (first as i32, last as i32 + 1, y as i32);
        found = Some(match found {
            None => [first, y, last, y + 1],
            Some([left, top, right, _]) => [left.min(first), top, right.max(last), y + 1],
        });
    }
    found
}

/// Mean difference of pixels on a grid of these distances. Places outside the screenshot have its
/// border's color, and pixels of both borders' colors do not differ.
fn difference(
    screenshot: &Raster,
    drawing: &Raster,
    [x, y]: [i32; 2],
    [columns, rows]: [usize; 2],
) -> f64 {
    let (mut total, mut count) = (0u64, 0u64);
    let (rim_one, rim_other) = (rim_color_at_corner(screenshot), rim_color_at_corner(drawing));
    for row in (0..drawing.height() as i32).step_by(rows) {
        for column in (0..drawing.width() as i32).step_by(columns) {
            let other = drawing.at(column, row);
            let one = screenshot.get(column + x, row + y).unwrap_or(rim_one);
            let is_page = one == rim_one && other == rim_other;
            let differs = channel_difference(one, other);
            total += if is_page || differs <= 2 { 0 } else { u64::from(differs.min(MAX_LEVELS)) };
            count += 1;
        }
    }
    total as f64 / count.max(1) as f64
}

fn rim_color_at_corner(picture: &Raster) -> Rgb {
    picture.at(0, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(left: u32, top: u32) -> Raster {
        let mut picture = Raster::filled(200, 120, [250; 3]);
        picture.fill([left, top, 90, 60], [255; 3]);
        picture.fill([left + 10, top + 10, 50, 8], [20; 3]);
        picture.fill([left + 10, top + 30, 30, 14], [30, 80, 200]);
        picture
    }

    #[test]
    fn another_margin_is_a_shift() {
        let larger = card(38, 29).window([0, 0], [216, 130], [250; 3]);
        let alignment = Alignment::new(&larger, &card(30, 24));
        assert_eq!((alignment.scale, alignment.shift), (1, [8, 5]));
        assert_eq!(Alignment::new(&card(38, 29), &card(30, 24)).shift, [0, 0]);
        assert_eq!(alignment.screenshot.at(40, 34), [20; 3]);
    }

    #[test]
    fn what_moved_alone_is_no_shift() {
        let mut moved = card(30, 24);
        moved.fill([40, 34, 50, 8], [255; 3]);
        moved.fill([43, 34, 50, 8], [20; 3]);
        assert_eq!(Alignment::new(&moved, &card(30, 24)).shift, [0, 0]);
    }

    #[test]
    fn content_is_measured_without_the_page_around_it() {
        let mut double = Raster::filled(200, 120, [250; 3]);
        double.fill([24, 24, 100, 68], [20; 3]);
        assert_eq!(content_ratio(&double, &card(2, 2)), Some([2.0, 2.0]));
        assert_eq!(content_ratio(&card(12, 12), &card(2, 2)), Some([1.0, 1.0]));
        assert_eq!(content_ratio(&double, &Raster::filled(200, 120, [250; 3])), None);
    }

    #[test]
    fn a_screenshot_of_twice_the_size_is_halved() {
        let mut double = Raster::filled(400, 240, [250; 3]);
        double.fill([60, 48, 180, 120], [255; 3]);
        double.fill([80, 68, 100, 16], [20; 3]);
        double.fill([80, 108, 60, 28], [30, 80, 200]);
        let alignment = Alignment::new(&double, &card(30, 24));
        assert_eq!((alignment.scale, alignment.shift), (2, [0, 0]));
        assert_eq!(alignment.screenshot, card(30, 24));
    }
}
