//! Boxes of pixels: left, top, right and bottom, of which the last two lie beyond the box.

use juror_types::evidence::PixelBox;

/// Pixels of a box, row by row.
pub(crate) fn pixels_of(
    [left, top, right, bottom]: [i32; 4],
) -> impl Iterator<Item = [i32; 2]> + Clone {
    (top..bottom).flat_map(move |y| (left..right).map(move |x| [x, y]))
}

/// Shifts of at most this many pixels across and down, row by row.
pub(crate) fn shifts_within([across, down]: [i32; 2]) -> impl Iterator<Item = [i32; 2]> + Clone {
    pixels_of([-across, -down, across + 1, down + 1])
}

pub(crate) fn contains([left, top, right, bottom]: [i32; 4], [x, y]: [i32; 2]) -> bool {
    (left..right).contains(&x) && (top..bottom).contains(&y)
}

pub(crate) fn grown([left, top, right, bottom]: [i32; 4], by: i32) -> [i32; 4] {
    [left - by, top - by, right + by, bottom + by]
}

/// A box without these parts at its left, top, right and bottom.
pub(crate) fn inset([left, top, right, bottom]: [i32; 4], [a, b, c, d]: [i32; 4]) -> [i32; 4] {
    [left + a, top + b, right - c, bottom - d]
}

pub(crate) fn shifted([left, top, right, bottom]: [i32; 4], [x, y]: [i32; 2]) -> [i32; 4] {
    [left + x, top + y, right + x, bottom + y]
}

pub(crate) fn intersection([a, b, c, d]: [i32; 4], [e, f, g, h]: [i32; 4]) -> [i32; 4] {
    [a.max(e), b.max(f), c.min(g), d.min(h)]
}

/// The smallest box around two.
pub(crate) fn union([a, b, c, d]: [i32; 4], [e, f, g, h]: [i32; 4]) -> [i32; 4] {
    [a.min(e), b.min(f), c.max(g), d.max(h)]
}

/// The corner pixels of a box, each with the direction of the box from it: 1 or -1, across and down.
pub(crate) fn corners_of([left, top, right, bottom]: [i32; 4]) -> [([i32; 2], [i32; 2]); 4] {
    [
        ([left, top], [1, 1]),
        ([right - 1, top], [-1, 1]),
        ([left, bottom - 1], [1, -1]),
        ([right - 1, bottom - 1], [-1, -1]),
    ]
}

/// Width and height of a box.
pub(crate) fn size_of([left, top, right, bottom]: [i32; 4]) -> [i32; 2] {
    [right - left, bottom - top]
}

/// The smaller one of a box's width and height.
pub(crate) fn shorter_side(bounds: [i32; 4]) -> i32 {
    let [width, height] = size_of(bounds);
    width.min(height)
}

pub(crate) fn area(bounds: [i32; 4]) -> f64 {
    size_of(bounds).map(|side| f64::from(side.max(0))).iter().product()
}

/// Bounds as the box of a record, multiplied by a scale.
pub(crate) fn boxed([left, top, right, bottom]: [i32; 4], scale: u32) -> PixelBox {
    let (left, top) = (left.max(0), top.max(0));
    [left, top, (right - left).max(0), (bottom - top).max(0)].map(|side| side as u32 * scale)
}
