//! Ink of texts and of borders that is more or less than in the screenshot. Each browser and scaler
//! draws the edges of letters otherwise, and each browser spaces dashes otherwise, but the sum of ink
//! is the same within a few percent.

use crate::{
    bounds::{contains, grown, inset},
    element_tree::{PageTree, SIDES},
    pair_noise::MAX_NOISY_SHIFT,
    raster::{Raster, Rgb},
};

/// Minimum difference of a text's ink, as a share of it.
const MIN_SHARE: f64 = 0.25;
/// The same as a multiple of that of the page's middle text.
const TIMES_MIDDLE: f64 = 3.0;
/// Minimum number of letters of a text: one alone may be drawn far otherwise.
const MIN_LETTERS: usize = 3;
/// Maximum area of all texts of a page as a multiple of the picture's: thousands may cover one another.
const MAX_TEXT_AREA: f64 = 4.0;
/// Minimum difference of a border's ink, as a share of it.
const MIN_BORDER_SHARE: f64 = 0.3;
/// Minimum difference of an area's mean color, in levels.
const MIN_LEVELS: f64 = 2.0;
/// Distance to both sides of a border within which it counts, in pixels.
const BESIDE_BORDER: i32 = 2;
/// Elements whose text, if any, each browser draws in a control of its own.
const CONTROLS: [&str; 5] = ["input", "meter", "progress", "select", "textarea"];

/// An area of a page with ink: a text, or the border of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InkArea {
    /// Left, top, right and bottom in pixels of the drawing.
    pub bounds: [i32; 4],
    /// The box that is not of it.
    hole: Option<[i32; 4]>,
    behind: Rgb,
}

impl InkArea {
    pub fn contains(&self, x: i32, y: i32) -> bool {
        let is_in = |bounds| contains(bounds, [x, y]);
        is_in(self.bounds) && !self.hole.is_some_and(is_in)
    }

    /// The border of an element, with what is beside it; `None` without one.
    pub fn of_border(page: &PageTree<'_>, index: usize) -> Option<Self> {
        let widest = SIDES.map(|side| page.border(index, side)).into_iter().fold(0.0, f64::max);
        let width = (widest * page.snapshot.scale).ceil() as i32;
        let bounds = page.painted_bounds(index);
        (width > 0).then(|| Self {
            bounds: grown(bounds, BESIDE_BORDER),
            hole: Some(grown(bounds, -width - BESIDE_BORDER)),
            behind: page.visible_background(index),
        })
    }

    /// The texts of a page, without the largest ones of hostile code.
    pub fn texts(page: &PageTree<'_>, drawing: &Raster) -> Vec<Self> {
        let texts = page.visible().filter_map(|index| Self::of_text(page, index));
        let texts: Vec<Self> = texts.collect();
        let bounds = |at: usize| texts.get(at).map_or([0; 4], |text| text.bounds);
        let kept = drawing.smallest_within(0..texts.len(), MAX_TEXT_AREA, bounds);
        kept.into_iter().filter_map(|at| texts.get(at).copied()).collect()
    }

    /// The text of an element that contains nothing else and that no browser draws as a control.
    fn of_text(page: &PageTree<'_>, index: usize) -> Option<Self> {
        let element = page.element(index)?;
        let is_control = CONTROLS.contains(&element.tag.as_str());
        let is_text = has_plain_letters(&element.text) && page.children(index).is_empty();
        let is_box = page.opaque_color(index, "background-color").is_some()
            || page.border(index, "top") > 0.0;
        // The sides of a box may lie between pixels.
        let padding = |side| (page.padding(index, side) * page.snapshot.scale) as i32;
        let parts = SIDES.map(|side| padding(side).min(BESIDE_BORDER));
        let bounds = match is_box {
            true => inset(page.bounds(index), parts),
            false => grown(page.bounds(index), MAX_NOISY_SHIFT),
        };
        let behind = page.visible_background(index);
        (is_text && !is_control).then_some(Self { bounds, hole: None, behind })
    }
}

/// Texts whose ink differs by more than the noise of the page's others; a text alone never does.
pub(crate) fn texts_of_other_ink(
    texts: &[InkArea],
    screenshot: &Raster,
    drawing: &Raster,
) -> Vec<InkArea> {
    let inks = texts.iter().map(|&text| InkDifference::new(text, screenshot, drawing));
    let mut inks: Vec<_> = inks.collect();
    inks.sort_by(|one, other| one.share().total_cmp(&other.share()));
    let middle = inks.get(inks.len().saturating_sub(1) / 2).map_or(0.0, InkDifference::share);
    let least = MIN_SHARE.max(TIMES_MIDDLE * middle);
    inks.into_iter().filter(|ink| ink.is_beyond(least)).map(|ink| ink.area).collect()
}

/// True if a border's ink differs by more than its noise.
pub(crate) fn has_other_ink(border: InkArea, screenshot: &Raster, drawing: &Raster) -> bool {
    InkDifference::new(border, screenshot, drawing).is_beyond(MIN_BORDER_SHARE)
}

/// An area's ink in the drawing, and how far the screenshot's is from it, as sums of levels.
struct InkDifference {
    area: InkArea,
    ink: f64,
    difference: f64,
    /// Number of the area's pixels within the pictures.
    pixels: u32,
}

impl InkDifference {
    fn new(area: InkArea, screenshot: &Raster, drawing: &Raster) -> Self {
        let (mut ink, mut difference, mut pixels) = ([0i64; 3], [0i64; 3], 0);
        for [x, y] in drawing.places_in(area.bounds).filter(|&[x, y]| area.contains(x, y)) {
            pixels += 1;
            let levels = screenshot.at(x, y).into_iter().zip(drawing.at(x, y)).zip(area.behind);
            let sums = ink.iter_mut().zip(&mut difference);
            for ((ink, difference), ((shown, drawn), behind)) in sums.zip(levels) {
                *ink += i64::from(behind) - i64::from(drawn);
                *difference += i64::from(shown) - i64::from(drawn);
            }
        }
        Self { area, ink: length(ink), difference: length(difference), pixels }
    }

    fn share(&self) -> f64 {
        self.difference / self.ink.max(1.0)
    }

    /// True if more than this share differs, and more than levels are rounded by.
    fn is_beyond(&self, share: f64) -> bool {
        self.share() >= share && self.difference >= MIN_LEVELS * f64::from(self.pixels.max(1))
    }
}

/// True for a text of several letters and no symbols: those come from whatever font has them.
fn has_plain_letters(text: &str) -> bool {
    let is_plain = |letter: char| letter.is_alphanumeric() || letter.is_ascii();
    text.chars().all(is_plain)
        && text.chars().filter(|letter| letter.is_alphanumeric()).count() >= MIN_LETTERS
}

/// Length of a sum of colors.
fn length(sum: [i64; 3]) -> f64 {
    sum.map(|part| (part as f64).powi(2)).iter().sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::Snapshot;

    const TEXTS: [[u32; 4]; 3] = [[10, 10, 100, 16], [10, 40, 100, 16], [10, 70, 100, 16]];

    /// Lines of letters of these colors, with edges of half their ink.
    fn page_with(inks: [u8; 3]) -> Raster {
        let mut picture = Raster::filled(160, 100, [255; 3]);
        for ([left, top, ..], ink) in TEXTS.into_iter().zip(inks) {
            for letter in 0..12 {
                let edge = [ink.midpoint(255); 3];
                picture.fill([left + 8 * letter, top + 3, 3, 9], edge);
                picture.fill([left + 8 * letter + 1, top + 3, 1, 9], [ink; 3]);
            }
        }
        picture
    }

    #[test]
    fn a_fainter_text_is_told_from_one_that_is_drawn_otherwise() {
        let snapshot = Snapshot::of_texts(&TEXTS);
        let page = PageTree::new(&snapshot);
        let drawing = page_with([40; 3]);
        let other = |screenshot: &Raster| {
            let texts = InkArea::texts(&page, &drawing);
            let areas = texts_of_other_ink(&texts, screenshot, &drawing);
            areas.iter().map(|area| area.bounds).collect::<Vec<_>>()
        };
        let none: Vec<[i32; 4]> = Vec::new();
        assert_eq!(other(&drawing.smoothed()), none);
        assert_eq!(other(&page_with([40, 60, 40])), none);
        assert_eq!(other(&page_with([40, 110, 40])), [[7, 37, 113, 59]]);
        // Where all texts differ, so do fonts.
        assert_eq!(other(&page_with([100, 110, 105])), none);
    }

    #[test]
    fn a_text_far_larger_than_the_page_counts_within_it() {
        let [_, line, _] = TEXTS;
        let snapshot = Snapshot::of_texts(&[[0, 0, 33_554_428, 33_554_428], line]);
        let (page, drawing) = (PageTree::new(&snapshot), page_with([40; 3]));
        let texts = InkArea::texts(&page, &drawing);
        let other = texts_of_other_ink(&texts, &page_with([140, 40, 140]), &drawing);
        assert_eq!(other.len(), 1);
    }

    #[test]
    fn dashes_of_another_place_have_the_same_ink_and_thicker_ones_more() {
        let mut snapshot = Snapshot::of_texts(&[[20, 20, 100, 60]]);
        for element in &mut snapshot.elements {
            element.styles.insert("border-top-width".to_owned(), "2px".to_owned());
        }
        let page = PageTree::new(&snapshot);
        let dashed = |begin: u32, width: u32| {
            let mut picture = Raster::filled(160, 100, [255; 3]);
            for left in (20 + begin..114).step_by(12) {
                picture.fill([left, 20, 6, width], [90; 3]);
                picture.fill([left, 80 - width, 6, width], [90; 3]);
            }
            picture
        };
        let border = InkArea::of_border(&page, 0).unwrap();
        assert!(!has_other_ink(border, &dashed(5, 2), &dashed(0, 2)));
        assert!(has_other_ink(border, &dashed(5, 3), &dashed(0, 2)));
    }
}
