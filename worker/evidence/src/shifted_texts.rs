//! Texts whose words lie slightly aside: each browser rounds the places of words and lines otherwise,
//! and spaces some pairs of letters otherwise.

use crate::{
    bounds::{pixels_of, shifts_within},
    pair_noise::PairNoise,
    raster::Raster,
};

/// Side of the parts of a text, each of which may lie aside by another shift, in pixels.
const PART: usize = 16;
/// Maximum shift of a part, across and down, beyond the pixel by which each edge may lie off.
const REACH: [i32; 2] = [2, 1];

/// True if a text differs, and each of its parts that does is in the screenshot at a slight shift.
/// Both pictures are smoothed; `differs_in` is true of parts with a difference.
pub(crate) fn is_slightly_shifted(
    bounds: [i32; 4],
    differs_in: impl Fn([i32; 4]) -> bool,
    screenshot: &Raster,
    drawing: &Raster,
    noise: &PairNoise,
) -> bool {
    let [left, top, right, bottom] = drawing.visible_part(bounds);
    let corners = (top..bottom).step_by(PART);
    let corners = corners.flat_map(|y| (left..right).step_by(PART).map(move |x| [x, y]));
    let size = PART as i32;
    let parts = corners.map(|[x, y]| [x, y, (x + size).min(right), (y + size).min(bottom)]);
    let mut differing = parts.filter(|part| differs_in(*part)).peekable();
    differing.peek().is_some()
        && differing.all(|part| is_found_nearby(part, screenshot, drawing, noise))
}

/// True if the screenshot has a part of the drawing at a slight shift.
fn is_found_nearby(
    part: [i32; 4],
    screenshot: &Raster,
    drawing: &Raster,
    noise: &PairNoise,
) -> bool {
    shifts_within(REACH).any(|shift| {
        pixels_of(part).all(|place| !noise.stands_out(screenshot, drawing, place, shift))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{difference::PixelDifference, element_tree::PageTree, snapshot::Snapshot};

    const TEXT: [u32; 4] = [10, 10, 140, 20];

    /// A text of two words, the second of which begins this much further.
    fn words(aside: [u32; 2]) -> Raster {
        let mut picture = Raster::filled(160, 40, [255; 3]);
        let [right, down] = aside;
        for letter in 0..12 {
            let [x, y] = if letter < 6 { [0, 0] } else { [12 + right, down] };
            let height = 6 + letter % 5;
            picture.fill([12 + 9 * letter + x, 24 - height + y, 2 + letter % 2, height], [20; 3]);
        }
        picture
    }

    fn count(screenshot: &Raster, noise: &PairNoise) -> usize {
        let snapshot = Snapshot::of_texts(&[TEXT]);
        let page = PageTree::new(&snapshot);
        PixelDifference::for_page(screenshot, &words([0; 2]), noise, Some(&page)).count()
    }

    #[test]
    fn words_of_another_browser_lie_slightly_aside() {
        for aside in [[2, 0], [3, 0], [2, 1], [1, 2]] {
            assert_eq!(count(&words(aside), &PairNoise::USUAL), 0, "{aside:?}");
            assert!(count(&words(aside), &PairNoise::IN_PLACE) > 0, "{aside:?}");
        }
        for aside in [[6, 0], [0, 5]] {
            assert!(count(&words(aside), &PairNoise::USUAL) > 0, "{aside:?}");
        }
    }

    #[test]
    fn another_word_is_not_found_nearby() {
        let mut other = words([0; 2]);
        other.fill([120, 12, 3, 12], [20; 3]);
        other.fill([126, 18, 8, 3], [20; 3]);
        assert!(count(&other, &PairNoise::USUAL) > 0);
    }
}
