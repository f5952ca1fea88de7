//! Detection of code that shows the screenshot itself as an image.

use crate::{
    element_tree::{PageTree, area, intersection},
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::{Snapshot, SnapshotElement};

    /// A picture of so many colors.
    fn picture(colors: u8) -> Raster {
        let mut picture = Raster::filled(100, 60, [255; 3]);
        for at in 0..colors {
            let row = u32::from(at);
            picture.fill([0, row * 6, 100, 6], [20 * at, 200 - 20 * at, 90]);
        }
        picture
    }

    fn pastes(screenshot: &Raster, drawing: &Raster, tag: &str, rect: [f64; 4]) -> bool {
        let element = SnapshotElement {
            index: 0,
            parent: None,
            tag: tag.to_owned(),
            id: None,
            classes: Vec::new(),
            path: "body > img".to_owned(),
            text: String::new(),
            rect,
            styles: std::collections::BTreeMap::new(),
            visible: true,
            image: Some("data:0123456789abcdef".to_owned()),
        };
        let elements = vec![element];
        let snapshot = Snapshot::of_page([100, 60], elements);
        pastes_screenshot(screenshot, drawing, &PageTree::new(&snapshot))
    }

    #[test]
    fn a_large_image_that_equals_the_screenshot_is_pasted() {
        let (shown, whole) = (picture(10), [0.0, 0.0, 100.0, 60.0]);
        assert!(pastes(&shown, &shown, "img", whole));
        assert!(pastes(&shown, &shown, "div", whole), "a background image");
        assert!(!pastes(&shown, &shown, "img", [0.0, 0.0, 100.0, 17.0]), "a small one");
        assert!(!pastes(&shown, &shown, "svg", whole), "a drawing");
        assert!(!pastes(&picture(5), &picture(5), "img", whole), "a flat background");
        let mut other = shown.clone();
        other.fill([0, 0, 100, 12], [255; 3]);
        assert!(!pastes(&other, &shown, "img", whole), "another picture");
    }
}
