//! Texts of a page that are where the screenshot shows them.

use crate::{
    difference::PixelDifference, element_tree::PageTree, picture_pair::PicturePair,
    raster::channel_difference, snapshot::Snapshot,
};

/// Minimum contrast of neighboring pixels at the edge of a letter.
const EDGE: u8 = 48;
/// Maximum number of differing pixels of a fitting text, as a share of its edges.
const MAX_DIFFERING: f64 = 0.03;

/// Indexes of the visible elements whose text differs from the screenshot by noise alone.
pub(super) fn fitting_texts(pair: &PicturePair<'_>, snapshot: &Snapshot) -> Vec<usize> {
    let page = PageTree::new(snapshot);
    let difference = PixelDifference::new(pair.screenshot(), pair.drawing(), pair.noise());
    let has_text = |&index: &usize| page.element(index).is_some_and(|own| !own.text.is_empty());
    let fits = |&index: &usize| {
        let [left, top, right, bottom] = pair.drawing().visible_part(page.bounds(index));
        let pixels = (top..bottom).flat_map(|y| (left..right).map(move |x| [x, y]));
        let is_edge = |[x, y]: &[i32; 2]| {
            let pixel = pair.drawing().at(*x, *y);
            let beside = [[x + 1, *y], [*x, y + 1]].map(|[x, y]| pair.drawing().at(x, y));
            beside.into_iter().any(|beside| channel_difference(pixel, beside) > EDGE)
        };
        let edges = pixels.filter(is_edge).count();
        let differing = difference.count_in([left, top, right, bottom]);
        edges > 0 && differing as f64 <= MAX_DIFFERING * edges as f64
    };
    page.visible().filter(has_text).filter(fits).collect()
}
