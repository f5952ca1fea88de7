//! Content of a picture, apart from the page around it.

use crate::{
    color::most_frequent_color,
    raster::{Raster, Rgb, channel_difference},
};

/// Levels by which content differs from the border's color.
const MIN_CONTRAST: u8 = 12;

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
    most_frequent_color(&rim).map_or([255; 3], |(color, _)| color)
}

/// Left, top, right and bottom of the area that differs from the border's color.
pub(crate) fn content_box(picture: &Raster) -> Option<[i32; 4]> {
    let rim = rim_color(picture);
    let mut found: Option<[i32; 4]> = None;
    for y in 0..picture.height() {
        let row = picture.row(y);
        let is_content = |pixel: &Rgb| channel_difference(*pixel, rim) > MIN_CONTRAST;
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

/// Number of a screenshot's pixels of content that lie outside a drawing, which is shifted by so many
/// pixels to the right and down.
pub(crate) fn content_outside(screenshot: &Raster, drawing: &Raster, [x, y]: [i32; 2]) -> usize {
    let rim = rim_color(screenshot);
    let width = screenshot.width() as i32;
    let left = x.clamp(0, width) as usize;
    let right = (x + drawing.width() as i32).clamp(0, width) as usize;
    let covered_rows = y..y + drawing.height() as i32;
    let is_content = |pixel: &&Rgb| channel_difference(**pixel, rim) > MIN_CONTRAST;
    let mut outside = 0;
    for row in 0..screenshot.height() {
        let pixels = screenshot.row(row);
        outside += match covered_rows.contains(&(row as i32)) {
            true => {
                let beside = pixels.iter().take(left).chain(pixels.iter().skip(right));
                beside.filter(is_content).count()
            }
            false => pixels.iter().filter(is_content).count(),
        };
    }
    outside
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(left: u32, top: u32) -> Raster {
        let mut picture = Raster::filled(200, 120, [250; 3]);
        picture.fill([left + 10, top + 10, 50, 34], [20; 3]);
        picture
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
    fn content_outside_of_a_drawing_is_counted() {
        let drawing = Raster::filled(100, 60, [250; 3]);
        let mut screenshot = Raster::filled(200, 120, [250; 3]);
        screenshot.fill([90, 50, 20, 20], [20; 3]);
        assert_eq!(content_outside(&screenshot, &drawing, [0, 0]), 400 - 100);
        assert_eq!(content_outside(&screenshot, &drawing, [10, 10]), 0);
        assert_eq!(content_outside(&screenshot, &drawing, [-90, 0]), 400);
    }
}
