//! Content of a picture, apart from the page around it.

use crate::{
    bounds::union,
    color::{delta_e, most_frequent_color},
    raster::{Raster, Rgb, channel_difference},
};
use std::borrow::Cow;

/// Levels by which content differs from the border's color.
const MIN_CONTRAST: u8 = 12;
/// Number of pixels for each whose color difference is computed: CIEDE2000 is slow.
const SAMPLED: usize = 16;

/// Content of a screenshot that lies outside a drawing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OutsideContent {
    /// Number of its pixels.
    pub count: usize,
    /// Left, top, right and bottom of all of it, in pixels of the drawing.
    pub bounds: [i32; 4],
    /// Sum of the color differences from what is behind it, over `sampled` pixels.
    delta_e: f64,
    sampled: usize,
}

impl OutsideContent {
    /// Mean color difference from what is behind it.
    pub fn mean_delta_e(&self) -> f64 {
        self.delta_e / self.sampled.max(1) as f64
    }

    fn add(&mut self, own: [i32; 4], pixel: Rgb, behind: Rgb) {
        self.bounds = union(self.bounds, own);
        if self.count.is_multiple_of(SAMPLED) {
            self.delta_e += delta_e(pixel, behind);
            self.sampled += 1;
        }
        self.count += 1;
    }
}

/// The screenshot in the scale of a drawing: halved if it has two pixels for each of the drawing.
pub(crate) fn in_scale_of<'pixels>(
    drawing: &Raster,
    screenshot: &'pixels Raster,
) -> Cow<'pixels, Raster> {
    let is_near = |one: u32, other: u32| one.abs_diff(2 * other) <= 2 && other > 0;
    let is_double = is_near(screenshot.width(), drawing.width())
        && is_near(screenshot.height(), drawing.height());
    if is_double { Cow::Owned(screenshot.halved()) } else { Cow::Borrowed(screenshot) }
}

/// The most frequent color of a picture's border.
pub(crate) fn border_color(picture: &Raster) -> Rgb {
    let (width, height) = (picture.width() as i32, picture.height() as i32);
    let mut border: Vec<Rgb> = Vec::new();
    for x in 0..width {
        border.extend([picture.at(x, 0), picture.at(x, height - 1)]);
    }
    for y in 0..height {
        border.extend([picture.at(0, y), picture.at(width - 1, y)]);
    }
    most_frequent_color(&border).map_or([255; 3], |(color, _)| color)
}

/// Left, top, right and bottom of the area that differs from the border's color.
pub(crate) fn content_box(picture: &Raster) -> Option<[i32; 4]> {
    let border = border_color(picture);
    let is_content = |pixel: &Rgb| channel_difference(*pixel, border) > MIN_CONTRAST;
    let rows = (0..picture.height()).filter_map(|y| {
        let row = picture.row(y);
        let first = row.iter().position(is_content)?;
        let last = row.iter().rposition(is_content)?;
        Some([first as i32, y as i32, last as i32 + 1, y as i32 + 1])
    });
    rows.reduce(union)
}

/// The content outside a drawing that is shifted by so many pixels to the right and down; `None`
/// without any.
pub(crate) fn content_outside(
    screenshot: &Raster,
    drawing: &Raster,
    [x, y]: [i32; 2],
) -> Option<OutsideContent> {
    let border = border_color(screenshot);
    let covered_columns = x..x + drawing.width() as i32;
    let covered_rows = y..y + drawing.height() as i32;
    let mut outside: Option<OutsideContent> = None;
    for row in 0..screenshot.height() {
        let at = row as i32;
        let is_covered = covered_rows.contains(&at);
        let is_content = |(column, pixel): &(i32, &Rgb)| {
            !(is_covered && covered_columns.contains(column))
                && channel_difference(**pixel, border) > MIN_CONTRAST
        };
        for (column, pixel) in (0..).zip(screenshot.row(row)).filter(is_content) {
            let own = [column - x, at - y, column - x + 1, at - y + 1];
            let empty = OutsideContent { count: 0, bounds: own, delta_e: 0.0, sampled: 0 };
            outside.get_or_insert(empty).add(own, *pixel, border);
        }
    }
    outside
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_outside_of_a_drawing_is_counted() {
        let drawing = Raster::filled(100, 60, [250; 3]);
        let mut screenshot = Raster::filled(200, 120, [250; 3]);
        screenshot.fill([90, 50, 20, 20], [20; 3]);
        let outside = |shift: [i32; 2]| {
            let content = content_outside(&screenshot, &drawing, shift);
            content.map(|content| (content.count, content.bounds))
        };
        assert_eq!(outside([0, 0]), Some((400 - 100, [90, 50, 110, 70])));
        assert_eq!(outside([10, 10]), None);
        assert_eq!(outside([-90, 0]), Some((400, [180, 50, 200, 70])));
        let content = content_outside(&screenshot, &drawing, [0, 0]).unwrap();
        assert!(content.mean_delta_e() > 50.0);
    }
}
