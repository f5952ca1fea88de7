//! Detection of code that shows the screenshot itself as an image.

use crate::{
    page::{PageTree, area, intersection},
    raster::{Raster, channel_difference},
};

/// Minimum share of the drawing that a suspected image covers.
const MIN_COVER: f64 = 0.3;
/// Minimum share of a suspected image's pixels that equal the screenshot's.
const MIN_EQUAL: f64 = 0.95;
/// Minimum number of colors of a suspected image; flat backgrounds have fewer.
const MIN_COLORS: usize = 8;

/// True if an image covers much of the drawing and equals the screenshot there.
pub(crate) fn pastes_screenshot(
    screenshot: &Raster,
    drawing: &Raster,
    page: &PageTree<'_>,
) -> bool {
    let whole = [0, 0, drawing.width() as i32, drawing.height() as i32];
    let images = page.visible().filter(|&index| {
        page.element(index).is_some_and(|element| element.image.is_some() && element.tag != "svg")
    });
    let shown = images.map(|index| intersection(page.bounds(index), whole));
    let mut large = shown.filter(|bounds| area(*bounds) > MIN_COVER * area(whole));
    large.any(|bounds| is_equal(screenshot, drawing, bounds))
}

fn is_equal(screenshot: &Raster, drawing: &Raster, [left, top, right, bottom]: [i32; 4]) -> bool {
    let (mut equal, mut all, mut colors) = (0usize, 0usize, Vec::new());
    for y in (top..bottom).step_by(2) {
        for x in (left..right).step_by(2) {
            let (one, other) = (screenshot.at(x, y), drawing.at(x, y));
            equal += usize::from(channel_difference(one, other) <= 8);
            all += 1;
            if colors.len() < MIN_COLORS && !colors.contains(&other) {
                colors.push(other);
            }
        }
    }
    colors.len() >= MIN_COLORS && equal as f64 >= MIN_EQUAL * all as f64
}
