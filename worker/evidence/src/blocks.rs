//! Blocks of content in two pictures: the share that both have, and their distances.

use crate::{
    bounds::{area, size_of},
    connected_areas::connected_areas,
    content_box::border_color,
    raster::{Raster, channel_difference},
};

/// Maximum number of blocks; the smallest beyond it are left out.
const MAX_BLOCKS: usize = 200;

/// Measures after Design2Code: the share of the blocks' area that is matched, and the closeness of
/// matched blocks.
///
/// Area and closeness are those of its definition: both blocks of a pair count as matched, and
/// closeness is 1 less the larger distance of the centers as a share of width or height. The blocks
/// and their pairs are not. Design2Code takes lines of text and pairs those with the most similar
/// words; a screenshot has no words without a recognizer of text, even where the snapshot has those
/// of the drawing. Here blocks are connected areas that contrast with the page, paired with the
/// nearest one of a similar size, so that blocks without text count too, and other words in a block
/// of the same size do not show. Figures are not comparable with published ones.
pub(crate) struct BlockAgreement {
    pub matched: Option<f64>,
    pub position: Option<f64>,
}

/// Compares the blocks of two pictures of one size.
pub(crate) fn compare_blocks(screenshot: &Raster, drawing: &Raster) -> BlockAgreement {
    let (ones, mut others) = (blocks(screenshot), blocks(drawing));
    let total: f64 = ones.iter().chain(&others).map(|block| area(*block)).sum();
    if total <= 0.0 {
        return BlockAgreement { matched: None, position: None };
    }
    let [width, height] = drawing.size().map(|side| f64::from(side).max(1.0));
    let (mut matched_area, mut closeness, mut matched) = (0.0, 0.0, 0usize);
    for one in ones {
        // Distance of the centers, as the larger of its shares of width and height.
        let distance = |other: [i32; 4]| {
            let ([x, y], [other_x, other_y]) = (center(one), center(other));
            ((x - other_x).abs() / width).max((y - other_y).abs() / height)
        };
        let like = others.iter().enumerate().filter(|(_, other)| is_alike(one, **other));
        let nearest = like.min_by(|(_, a), (_, b)| distance(**a).total_cmp(&distance(**b)));
        let Some((place, _)) = nearest else { continue };
        let other = others.swap_remove(place);
        matched_area += area(one) + area(other);
        closeness += 1.0 - distance(other);
        matched += 1;
    }
    let position = (matched > 0).then(|| closeness / matched as f64);
    BlockAgreement { matched: Some(matched_area / total), position }
}

/// The largest blocks of a picture, the largest first.
fn blocks(picture: &Raster) -> Vec<[i32; 4]> {
    let page = border_color(picture);
    let marks =
        picture.pixels().iter().map(|&pixel| u8::from(channel_difference(pixel, page) > 24));
    let areas = connected_areas(&marks.collect::<Vec<_>>(), picture.width(), 2).into_iter();
    let boxes = areas.filter(|area| area.count >= 12).map(|area| area.bounds);
    let mut boxes: Vec<[i32; 4]> = boxes.collect();
    boxes.sort_by(|one, other| area(*other).total_cmp(&area(*one)));
    boxes.truncate(MAX_BLOCKS);
    boxes
}

fn is_alike(one: [i32; 4], other: [i32; 4]) -> bool {
    let ratio = |(one, other): (i32, i32)| f64::from(one.min(other)) / f64::from(one.max(other));
    size_of(one).into_iter().zip(size_of(other)).all(|sides| ratio(sides) > 0.7)
}

fn center([left, top, right, bottom]: [i32; 4]) -> [f64; 2] {
    [left + right, top + bottom].map(|sum| f64::from(sum) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_block_and_a_moved_one_lower_their_shares() {
        let mut one = Raster::filled(200, 100, [255; 3]);
        one.fill([20, 20, 40, 20], [0; 3]);
        let same = compare_blocks(&one, &one);
        assert_eq!((same.matched, same.position), (Some(1.0), Some(1.0)));
        let mut moved = Raster::filled(200, 100, [255; 3]);
        moved.fill([40, 20, 40, 20], [0; 3]);
        let moved = compare_blocks(&one, &moved);
        assert_eq!((moved.matched, moved.position), (Some(1.0), Some(0.9)));
        let mut more = one.clone();
        more.fill([120, 60, 40, 20], [0; 3]);
        assert_eq!(compare_blocks(&more, &one).matched, Some(2.0 / 3.0));
        let empty = Raster::filled(200, 100, [255; 3]);
        assert_eq!(compare_blocks(&empty, &empty).matched, None);
    }
}
