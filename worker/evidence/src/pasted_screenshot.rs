//! Detection of code that shows the screenshot itself as an image.

use crate::{
    bounds::area,
    element_tree::PageTree,
    raster::{Raster, Rgb, channel_difference},
};
use std::collections::HashMap;

/// Minimum share of the drawing that a suspected image covers.
const MIN_COVER: f64 = 0.3;
/// Maximum difference of a channel by which the compression of an image changes the screenshot.
const COMPRESSION: u8 = 32;
/// Minimum share of a suspected image's pixels that equal the screenshot's.
const MIN_EQUAL: f64 = 0.95;
/// The same of the pixels that have another color than most of the image: two white pages are alike
/// nearly everywhere.
const MIN_EQUAL_CONTENT: f64 = 0.8;
/// Minimum number of colors of a suspected image; flat backgrounds have fewer.
const MIN_COLORS: usize = 8;

/// True if an image covers much of the drawing and equals the screenshot there.
pub(crate) fn pastes_screenshot(
    screenshot: &Raster,
    drawing: &Raster,
    page: &PageTree<'_>,
) -> bool {
    let images = page.visible().filter(|&index| {
        let image = page.element(index).and_then(|element| element.image.as_deref());
        image.is_some_and(|source| source != "svg")
    });
    let shown = images.map(|index| drawing.visible_part(page.bounds(index)));
    let mut large = shown.filter(|bounds| area(*bounds) > MIN_COVER * area(drawing.bounds()));
    large.any(|bounds| is_equal(screenshot, drawing, bounds))
}

fn is_equal(screenshot: &Raster, drawing: &Raster, [left, top, right, bottom]: [i32; 4]) -> bool {
    let rows = (top..bottom).step_by(2);
    let places = rows.flat_map(|y| (left..right).step_by(2).map(move |x| (x, y)));
    let pairs: Vec<_> = places.map(|(x, y)| (screenshot.at(x, y), drawing.at(x, y))).collect();
    let mut counts: HashMap<Rgb, usize> = HashMap::new();
    for (_, drawn) in &pairs {
        *counts.entry(*drawn).or_default() += 1;
    }
    let most = counts.iter().max_by_key(|(color, count)| (**count, **color));
    let Some((&ground, _)) = most.filter(|_| counts.len() >= MIN_COLORS) else { return false };
    let (mut equal, mut content, mut equal_content) = (0_usize, 0_usize, 0_usize);
    for (shown, drawn) in &pairs {
        let is_content =
            [shown, drawn].iter().any(|color| channel_difference(**color, ground) > COMPRESSION);
        let is_equal = channel_difference(*shown, *drawn) <= COMPRESSION;
        equal += usize::from(is_equal);
        content += usize::from(is_content);
        equal_content += usize::from(is_content && is_equal);
    }
    content > 0
        && equal as f64 >= MIN_EQUAL * pairs.len() as f64
        && equal_content as f64 >= MIN_EQUAL_CONTENT * content as f64
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

    fn pastes(screenshot: &Raster, drawing: &Raster, source: &str, rect: [f64; 4]) -> bool {
        let image = SnapshotElement {
            image: Some(source.to_owned()),
            ..SnapshotElement::of_box(0, None, rect, &[])
        };
        let snapshot = Snapshot::of_page([100, 60], vec![image]);
        pastes_screenshot(screenshot, drawing, &PageTree::new(&snapshot))
    }

    #[test]
    fn a_large_image_that_equals_the_screenshot_is_pasted() {
        let (shown, whole) = (picture(10), [0.0, 0.0, 100.0, 60.0]);
        let data = "data:0123456789abcdef";
        assert!(pastes(&shown, &shown, data, whole));
        assert!(!pastes(&shown, &shown, data, [0.0, 0.0, 100.0, 17.0]), "a small one");
        assert!(!pastes(&shown, &shown, "svg", whole), "a drawing");
        assert!(!pastes(&picture(5), &picture(5), data, whole), "a flat background");
        let mut other = shown.clone();
        other.fill([0, 0, 100, 12], [255; 3]);
        assert!(!pastes(&other, &shown, data, whole), "another picture");
    }

    #[test]
    fn content_is_compared_and_not_the_white_around_it() {
        let whole = [0.0, 0.0, 100.0, 60.0];
        let page = |left: u32| {
            let mut page = Raster::filled(100, 60, [255; 3]);
            for at in 0..10 {
                page.fill([left + 2 * at, 30, 2, 8], [20 * at as u8, 90, 90]);
            }
            page
        };
        assert!(pastes(&page(20), &page(20), "canvas", whole));
        assert!(!pastes(&page(20), &page(60), "canvas", whole), "another text");
    }

    #[test]
    fn compression_changes_a_pasted_image_a_little() {
        let (shown, whole) = (picture(10), [0.0, 0.0, 100.0, 60.0]);
        let noisy = |amplitude: u8| {
            let pixels = shown.pixels().iter().enumerate();
            let pixels = pixels.map(|(place, color)| match place % 2 {
                0 => color.map(|channel| channel.saturating_add(amplitude)),
                _ => *color,
            });
            Raster::from_pixels(100, 60, pixels.collect()).unwrap()
        };
        assert!(pastes(&noisy(20), &shown, "data:0123456789abcdef", whole));
        assert!(!pastes(&noisy(60), &shown, "data:0123456789abcdef", whole));
    }
}
