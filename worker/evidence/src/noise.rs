//! Differences of a pair that come from how its pictures were made, not from what they show.

use crate::{
    difference::PixelDifference,
    raster::{Raster, channel_difference},
    shapes::{Shape, shapes_of},
};

/// Fewer shapes than this that differ only slightly say nothing of noise.
const MIN_SLIGHT: usize = 3;
/// Pixels of a shape that stand out of any noise at least, and the share of its rims, where it was changed.
const MIN_CHANGED: usize = 3;
const CHANGED_SHARE: f64 = 0.01;
/// Contrast of neighbors above which a pixel is no flat one.
const FLAT: u8 = 24;
/// Levels above which a flat pixel has changed.
const MAX_FLAT_LEVELS: u8 = 16;

/// The noise of one pair of pictures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PairNoise {
    /// Share of the pixels that differ in what is alike throughout, 0 to 1.
    pub share: f64,
    /// Levels by which flat areas may differ.
    pub flat_levels: u8,
    /// Share of a rim's contrast by which its pixels may differ.
    pub rim_share: f64,
}

impl PairNoise {
    /// Pictures of one browser.
    pub const NONE: Self = Self { share: 0.0, flat_levels: 2, rim_share: 0.0 };
    /// The least noise of pictures that were made in different ways.
    const LEAST: Self = Self { share: f64::EPSILON, flat_levels: 8, rim_share: 0.3 };

    /// The noise of a pair. Pictures of one browser have shapes that are equal, in place or at some shift
    /// or in other colors, and shapes that were changed; in pictures from elsewhere, most shapes are
    /// neither.
    pub fn of(screenshot: &Raster, drawing: &Raster) -> Self {
        let shapes = shapes_of(drawing);
        let is_in_place = |shape: &&Shape| shape.is_in_place(drawing, screenshot);
        let (equal, other): (Vec<_>, Vec<_>) = shapes.iter().partition(is_in_place);
        if other.len() < MIN_SLIGHT.max(equal.len()) {
            return Self::NONE;
        }
        let difference = PixelDifference::new(screenshot, drawing, &Self::LEAST);
        let is_changed = |shape: &Shape| {
            let pixels = shape.places.iter().filter(|&&[x, y]| difference.at(x, y) > 0).count();
            pixels as f64 >= MIN_CHANGED as f64 + CHANGED_SHARE * shape.rims as f64
        };
        let (exact, other): (Vec<&Shape>, Vec<&Shape>) =
            other.into_iter().partition(|shape| shape.is_changed_exactly(drawing, screenshot));
        let slight: Vec<&Shape> = other.into_iter().filter(|shape| !is_changed(shape)).collect();
        if slight.len() < MIN_SLIGHT.max(equal.len() + exact.len()) {
            return Self::NONE;
        }
        Self::in_shapes(&slight, screenshot, drawing)
    }

    /// The noise that shapes show.
    fn in_shapes(shapes: &[&Shape], screenshot: &Raster, drawing: &Raster) -> Self {
        let (mut differing, mut all, mut flat_levels) = (0usize, 0usize, 0.0);
        for shape in shapes {
            let mut flat = 0;
            for &[x, y] in &shape.places {
                let here = drawing.at(x, y);
                let difference = channel_difference(here, screenshot.at(x, y));
                let is_rim = [(1, 0), (0, 1), (-1, 0), (0, -1)].iter().any(|&(dx, dy)| {
                    let near = drawing.get(x + dx, y + dy);
                    near.is_some_and(|near| channel_difference(here, near) > FLAT)
                });
                differing += usize::from(difference > Self::NONE.flat_levels);
                if !is_rim && difference <= MAX_FLAT_LEVELS {
                    flat = flat.max(difference);
                }
            }
            all += shape.places.len();
            flat_levels += f64::from(flat) / shapes.len() as f64;
        }
        let share = differing as f64 / all.max(1) as f64;
        Self {
            share: ((share * 1e4).round() / 1e4).max(1e-4),
            flat_levels: (4.0 + flat_levels).clamp(5.0, 14.0) as u8,
            ..Self::LEAST
        }
    }

    pub fn is_none(&self) -> bool {
        self.share <= 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> Raster {
        let mut picture = Raster::filled(160, 160, [255; 3]);
        for line in 0..8 {
            for word in 0..8 {
                for step in 0..6 {
                    let ink = [30 + 20 * step as u8; 3];
                    picture.fill([word * 20 + 3 + step, line * 20 + 4, 1, 4 + step], ink);
                }
            }
        }
        picture
    }

    #[test]
    fn pictures_of_one_browser_have_no_noise_whatever_was_changed() {
        let drawing = page();
        let mut screenshot = drawing.clone();
        screenshot.fill([0, 0, 160, 70], [200, 30, 30]);
        assert_eq!(PairNoise::of(&screenshot, &drawing), PairNoise::NONE);
        assert_eq!(PairNoise::of(&drawing, &drawing), PairNoise::NONE);
        let moved = drawing.window([5, 3], [160, 160], [255; 3]);
        assert_eq!(PairNoise::of(&moved, &drawing), PairNoise::NONE);
    }

    #[test]
    fn shapes_that_are_blurred_throughout_are_noise() {
        let noise = PairNoise::of(&page().smoothed(), &page());
        assert!(noise.share > 0.1, "{noise:?}");
    }
}
