//! Texts of a drawing that a screenshot shows somewhere: they tell the scale of a screenshot, however
//! its page places them.

use crate::{
    bounds::grown, content_box::in_scale_of, element_tree::PageTree, raster::Raster,
    snapshot::Snapshot, template_matching::Patch,
};

/// Maximum number of texts that are looked for.
const MAX_TEXTS: usize = 6;
/// Maximum total area of the texts that come into question, in areas of the picture: hostile code has
/// thousands that cover the page.
const MAX_AREA: f64 = 4.0;
/// Minimum number of edge pixels of such a text.
const MIN_EDGE_PIXELS: usize = 24;
/// Pixels at the edges of a text's box that are left out: they may show the edge of its background.
const INSET: i32 = 2;
/// Mean difference of a text's smoothed pixels at its place, in levels: it may lie between two pixels.
const MAX_DIFFERENCE: u32 = 20;

/// Share of a page's texts, 0 to 1, that a screenshot of its size, or of twice that, shows; 0 without
/// texts.
pub fn share_of_found_texts(screenshot: &Raster, drawing: &Raster, snapshot: &Snapshot) -> f64 {
    let screenshot = in_scale_of(drawing, screenshot).smoothed();
    let smoothed = drawing.smoothed();
    let page = PageTree::new(snapshot);
    let inner = |at: usize| grown(page.content_bounds(at), -INSET);
    let texts = page.visible().filter(|&at| page.has_text(at));
    let texts = drawing.smallest_within(texts, MAX_AREA, inner);
    let clear = texts
        .into_iter()
        .map(inner)
        .filter(|text| drawing.edge_pixels_in(*text) >= MIN_EDGE_PIXELS);
    let patches = clear.filter_map(|bounds| Patch::new(&smoothed, bounds)).take(MAX_TEXTS);
    let found: Vec<bool> =
        patches.map(|patch| patch.is_anywhere(&smoothed, &screenshot, MAX_DIFFERENCE)).collect();
    let count = found.iter().filter(|is_found| **is_found).count();
    count as f64 / found.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_wherever_they_are_at_their_own_scale() {
        let words = [[10, 10, 60, 20], [10, 40, 60, 20]];
        let snapshot = Snapshot { width: 160, height: 80, ..Snapshot::of_texts(&words) };
        let drawn = |scale: u32, places: &[[u32; 2]]| {
            let mut picture = Raster::filled(160, 80, [250; 3]);
            for ([x, y], word) in places.iter().zip(0..) {
                for letter in 0..5 {
                    let height = (4 + (letter * 5 + word * 3) % 7) * scale;
                    let left = x + letter * 10 * scale;
                    picture.fill([left, *y, 4 * scale, height], [20; 3]);
                    picture.fill([left, *y, 7 * scale, scale], [20; 3]);
                }
            }
            picture
        };
        let drawing = drawn(1, &[[12, 12], [12, 42]]);
        let share = |screenshot: &Raster| share_of_found_texts(screenshot, &drawing, &snapshot);
        assert_eq!(share(&drawn(1, &[[90, 50], [70, 8]])), 1.0);
        assert_eq!(share(&drawn(1, &[[90, 50]])), 0.5);
        assert_eq!(share(&drawn(2, &[[12, 4], [12, 44]])), 0.0);
        assert_eq!(share(&Raster::filled(160, 80, [250; 3])), 0.0);
    }
}
