//! Pixels in which two pictures of one size differ beyond their noise.

use crate::{
    bounds::grown,
    corners::{CornerArea, boxes_of_other_radius},
    element_tree::PageTree,
    ink::{InkArea, texts_of_other_ink},
    pair_noise::PairNoise,
    raster::{Raster, Rgb, channel_difference},
    shifted_texts::is_slightly_shifted,
};
use std::borrow::Cow;

/// Maximum difference of equal samples, in levels: encoders round by this much.
pub(crate) const TOLERANCE: u8 = 2;

/// Maximum difference of equal samples in a text whose ink differs, in levels.
const TEXT_LEVELS: u8 = 4;

/// Distance around a box that each browser draws by its own design within which another one may draw,
/// in pixels.
const BESIDE_BROWSER_DRAWN: i32 = 2;

/// Two pictures of one size, and the weight of each pixel's difference: 0 where they are equal.
pub(crate) struct PixelDifference<'pair> {
    pub screenshot: &'pair Raster,
    pub drawing: &'pair Raster,
    /// Weights row by row.
    pub weights: Vec<u8>,
    /// The corners of each box that has another radius, as far as a noisy pair shows.
    pub other_corners: Vec<[CornerArea; 4]>,
}

impl<'pair> PixelDifference<'pair> {
    /// Differences of two pictures beyond their noise.
    pub fn new(screenshot: &'pair Raster, drawing: &'pair Raster, noise: &PairNoise) -> Self {
        Self::for_page(screenshot, drawing, noise, None)
    }

    /// The same with the snapshot of the drawing, if there is one: in texts with more or less ink and
    /// in corners of another radius, small differences count too; in pictures of two browsers,
    /// widgets, emoji and words slightly aside do not.
    pub fn for_page(
        screenshot: &'pair Raster,
        drawing: &'pair Raster,
        noise: &PairNoise,
        page: Option<&PageTree<'_>>,
    ) -> Self {
        if noise.is_none() {
            let pairs = screenshot.pixels().iter().zip(drawing.pixels());
            let weights = pairs.map(|(&one, &other)| weight(one, other, TOLERANCE)).collect();
            return Self { screenshot, drawing, weights, other_corners: Vec::new() };
        }
        let comparable = [screenshot, drawing].map(|picture| comparable(picture, noise));
        let [shown, drawn] = comparable.each_ref().map(AsRef::as_ref);
        let [smooth_shown, smooth_drawn] = [shown, drawn].map(Raster::smoothed);
        let texts = page.map(|page| InkArea::texts(page, drawn)).unwrap_or_default();
        let changed_texts = texts_of_other_ink(&texts, shown, drawn);
        let other_corners = page.map(|page| boxes_of_other_radius(shown, drawn, noise, page));
        let other_corners = other_corners.unwrap_or_default();
        let is_changed = |x: i32, y: i32| {
            changed_texts.iter().any(|text| text.contains(x, y))
                || other_corners.iter().flatten().any(|corner| corner.contains(x, y))
        };
        let weights = noisy_weights(&smooth_shown, &smooth_drawn, noise, is_changed);
        let mut difference = Self { screenshot, drawing, weights, other_corners };
        let Some(page) = page.filter(|_| !noise.has_edges_in_place) else { return difference };
        // Each browser draws these by its own design.
        let boxes = page.snapshot.browser_drawn.iter().map(|&rect| page.bounds_of(rect));
        boxes.for_each(|bounds| difference.clear(grown(bounds, BESIDE_BROWSER_DRAWN)));
        for text in texts.iter().filter(|text| !changed_texts.contains(text)) {
            let differs_in = |part| difference.differs_in(part);
            if is_slightly_shifted(text.bounds, differs_in, &smooth_shown, &smooth_drawn, noise) {
                difference.clear(text.bounds);
            }
        }
        difference
    }

    pub fn at(&self, x: i32, y: i32) -> u8 {
        let (width, height) = (self.drawing.width() as i32, self.drawing.height() as i32);
        if x < 0 || y < 0 || x >= width || y >= height {
            return 0;
        }
        let place = y as usize * width as usize + x as usize;
        self.weights.get(place).copied().unwrap_or_default()
    }

    /// Places of the pixels that differ.
    pub fn places(&self) -> impl Iterator<Item = [i32; 2]> {
        let width = (self.drawing.width() as usize).max(1);
        let differing = self.weights.iter().enumerate().filter(|(_, weight)| **weight > 0);
        differing.map(move |(at, _)| [(at % width) as i32, (at / width) as i32])
    }

    /// Sum of all weights.
    pub fn total(&self) -> u64 {
        self.weights.iter().map(|&weight| u64::from(weight)).sum()
    }

    /// Number of pixels that differ.
    pub fn count(&self) -> usize {
        self.weights.iter().filter(|weight| **weight > 0).count()
    }

    /// Number of differing pixels in a box: left, top, right, bottom.
    pub fn count_in(&self, bounds: [i32; 4]) -> usize {
        let rows = self.rows_in(bounds);
        rows.map(|row| row.iter().filter(|weight| **weight > 0).count()).sum()
    }

    /// True if any pixel in a box differs.
    pub fn differs_in(&self, bounds: [i32; 4]) -> bool {
        self.rows_in(bounds).flatten().any(|weight| *weight > 0)
    }

    /// Removes the differences in a box.
    fn clear(&mut self, bounds: [i32; 4]) {
        let [left, top, right, bottom] = bounds.map(|side| side.max(0) as usize);
        let width = self.drawing.width() as usize;
        for row in self.weights.chunks_mut(width.max(1)).take(bottom).skip(top) {
            row.iter_mut().take(right).skip(left).for_each(|weight| *weight = 0);
        }
    }

    /// Sum of the weights in a box.
    pub fn weight_in(&self, bounds: [i32; 4]) -> u64 {
        self.rows_in(bounds).flatten().map(|&weight| u64::from(weight)).sum()
    }

    /// Weights of each row in a box, whose part outside the pictures has none.
    fn rows_in(&self, bounds: [i32; 4]) -> impl Iterator<Item = &[u8]> {
        let [left, top, right, bottom] = self.drawing.visible_part(bounds);
        (top..bottom).map(move |y| {
            let start = y as usize * self.drawing.width() as usize;
            let row = self.weights.get(start + left as usize..start + right.max(left) as usize);
            row.unwrap_or_default()
        })
    }
}

/// The picture as it is compared in a pair with this noise.
fn comparable<'picture>(picture: &'picture Raster, noise: &PairNoise) -> Cow<'picture, Raster> {
    match noise.has_coarse_colors {
        true => Cow::Owned(picture.with_coarse_colors()),
        false => Cow::Borrowed(picture),
    }
}

/// Weight of a pixel's difference: 0 within the tolerance, and larger with the difference.
fn weight(one: Rgb, other: Rgb, tolerance: u8) -> u8 {
    let difference = channel_difference(one, other);
    if difference <= tolerance { 0 } else { 12 + difference.min(200) }
}

/// Weights of smoothed pictures with noise: an edge may lie a pixel off, but for those of places that
/// are known to be changed.
fn noisy_weights(
    screenshot: &Raster,
    drawing: &Raster,
    noise: &PairNoise,
    is_changed: impl Fn(i32, i32) -> bool,
) -> Vec<u8> {
    let (width, height) = (drawing.width() as i32, drawing.height() as i32);
    let mut weights = Vec::with_capacity(drawing.pixels().len());
    for y in 0..height {
        for x in 0..width {
            let (one, other) = (screenshot.at(x, y), drawing.at(x, y));
            let plain = weight(one, other, noise.flat_levels.min(TEXT_LEVELS));
            let counts = plain > 0
                && (is_changed(x, y) || noise.stands_out(screenshot, drawing, [x, y], [0; 2]));
            weights.push(if counts { plain } else { 0 });
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::Snapshot;

    #[test]
    fn one_pixel_counts_beyond_the_tolerance() {
        let drawing = Raster::filled(40, 30, [100; 3]);
        let mut screenshot = drawing.clone();
        screenshot.fill([3, 4, 1, 1], [103, 100, 100]);
        screenshot.fill([20, 20, 5, 5], [102, 98, 101]);
        let map = PixelDifference::new(&screenshot, &drawing, &PairNoise::NONE);
        assert_eq!(map.count(), 1);
        assert!(map.at(3, 4) > 0);
        assert_eq!((map.count_in([0, 0, 10, 10]), map.count_in([10, 10, 40, 30])), (1, 0));
    }

    #[test]
    fn what_another_browser_draws_by_its_own_design_is_no_difference() {
        let drawing = Raster::filled(160, 160, [250; 3]);
        let mut screenshot = drawing.clone();
        screenshot.fill([20, 20, 30, 30], [0, 90, 220]);
        screenshot.fill([100, 100, 30, 30], [0, 90, 220]);
        let browser_drawn = vec![[21.0, 21.0, 28.0, 28.0]];
        let snapshot = Snapshot { browser_drawn, ..Snapshot::of_texts(&[[10, 10, 60, 60]]) };
        let count = |noise: &PairNoise| {
            let page = PageTree::new(&snapshot);
            let difference = PixelDifference::for_page(&screenshot, &drawing, noise, Some(&page));
            [[0, 0, 80, 80], [80, 80, 160, 160]].map(|half| difference.count_in(half) > 0)
        };
        assert_eq!(count(&PairNoise::USUAL), [false, true]);
        assert_eq!(count(&PairNoise::IN_PLACE), [true, true], "another size of one browser");
    }
}
