//! Corners of a box that differ together, as with another radius.

use crate::{
    connected_areas::MarkedArea,
    element_tree::{PageTree, area, grown, intersection},
};

/// Maximum side of a corner, in pixels.
const MAX_SIDE: i32 = 24;
/// Minimum number of corners that differ with a box's radius: one may be covered.
const MIN_CORNERS: usize = 3;
/// Minimum number of differing pixels in a corner that differs.
const MIN_CORNER_PIXELS: u32 = 8;
/// Distance from a corner at which smoothed pictures still differ.
const BLUR: i32 = 2;

/// Boxes of the corners of an element: left, top, right, bottom.
pub(crate) fn corners_of([left, top, right, bottom]: [i32; 4]) -> [[i32; 4]; 4] {
    let side = ((right - left).min(bottom - top) / 2).clamp(1, MAX_SIDE);
    [
        [left, top, left + side, top + side],
        [right - side, top, right, top + side],
        [left, bottom - side, left + side, bottom],
        [right - side, bottom - side, right, bottom],
    ]
}

/// Areas of the boxes whose corners differ in areas of their own, the smallest boxes first. Each
/// area is too small to be told from noise, and belongs to one box.
pub(crate) fn boxes_of_corners(areas: &[MarkedArea], page: &PageTree<'_>) -> Vec<MarkedArea> {
    let mut left: Vec<&MarkedArea> = areas.iter().collect();
    left.retain(|area| area.count >= MIN_CORNER_PIXELS);
    let mut boxes: Vec<[i32; 4]> = page.visible().map(|index| page.bounds(index)).collect();
    boxes.sort_by(|one, other| area(*one).total_cmp(&area(*other)));
    let mut found = Vec::new();
    for bounds in boxes {
        let corners = corners_of(bounds).map(|corner| grown(corner, BLUR));
        let is_in = |area: &MarkedArea, corner: &[i32; 4]| {
            intersection(area.bounds, *corner) == area.bounds
        };
        let differs = |corner: &&[i32; 4]| left.iter().any(|area| is_in(area, corner));
        if corners.iter().filter(differs).count() < MIN_CORNERS {
            continue;
        }
        let (own, others): (Vec<_>, Vec<_>) =
            left.into_iter().partition(|area| corners.iter().any(|corner| is_in(area, corner)));
        found.extend(own.into_iter().copied().reduce(MarkedArea::joined));
        left = others;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::Snapshot;

    fn area_at(left: i32, top: i32) -> MarkedArea {
        MarkedArea { bounds: [left, top, left + 6, top + 6], weight: 900, count: 20 }
    }

    #[test]
    fn corners_of_one_box_are_one_area() {
        let snapshot = Snapshot::of_texts(&[[20, 20, 120, 40], [20, 100, 120, 40]]);
        let page = PageTree::new(&snapshot);
        let corners = [area_at(20, 20), area_at(134, 20), area_at(20, 54), area_at(134, 54)];
        let [whole] = boxes_of_corners(&corners, &page)[..] else { panic!("not one area") };
        assert_eq!((whole.bounds, whole.count), ([20, 20, 140, 60], 80));
        let [first, second, third, _] = corners;
        assert_eq!(boxes_of_corners(&[first, second, third], &page).len(), 1, "one is covered");
        assert_eq!(boxes_of_corners(&[first, second], &page), [], "two are another change");
        let on_a_side = area_at(70, 20);
        assert_eq!(boxes_of_corners(&[first, second, on_a_side], &page), []);
    }
}
