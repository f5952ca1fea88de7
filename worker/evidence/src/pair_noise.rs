//! Differences of a pair that come from the way its pictures were made, and not from their content.

use crate::raster::{Raster, Rgb, channel_difference};

/// Maximum shift that is not reported where edges are not in place, in pixels: other browsers have
/// other line heights, which add up down a page.
pub(crate) const MAX_NOISY_SHIFT: i32 = 3;

/// Minimum share of differing pixels of a noisy pair: a smaller one would be recorded as none.
pub(crate) const MIN_SHARE: f64 = 1e-4;

/// The noise of one pair of pictures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PairNoise {
    /// Share of the pixels that differ although the content is the same, 0 to 1.
    pub share: f64,
    /// Levels by which flat areas may differ.
    pub flat_levels: u8,
    /// Share of an edge's contrast by which its pixels may differ.
    pub edge_share: f64,
    /// True if edges are in the same pixels of both pictures; otherwise they may lie a pixel off.
    pub has_edges_in_place: bool,
    /// True if the screenshot has the colors of areas and not those of thin lines, as compressed
    /// pictures have.
    pub has_coarse_colors: bool,
}

impl PairNoise {
    /// Noise of two pictures of one browser.
    pub const NONE: Self = Self {
        share: 0.0,
        flat_levels: 2,
        edge_share: 0.0,
        has_edges_in_place: true,
        has_coarse_colors: false,
    };
    /// Assumed noise of pictures of different origin, before it is measured.
    pub const USUAL: Self = Self {
        share: f64::EPSILON,
        flat_levels: 8,
        edge_share: 0.3,
        has_edges_in_place: false,
        has_coarse_colors: false,
    };
    /// Noise of a compressed picture: its edges are in place.
    pub const IN_PLACE: Self =
        Self { edge_share: 0.15, has_edges_in_place: true, has_coarse_colors: true, ..Self::USUAL };

    /// Noise of pictures of one browser that two encoders compressed by the same tables: they round a
    /// block of pixels in different ways now and then.
    pub const COMPRESSED_ALIKE: Self = Self {
        share: MIN_SHARE,
        flat_levels: 6,
        edge_share: 0.1,
        has_coarse_colors: false,
        ..Self::IN_PLACE
    };

    /// Maximum shift that is not reported, in pixels.
    pub fn max_shift(&self) -> i32 {
        if self.has_edges_in_place { 0 } else { MAX_NOISY_SHIFT }
    }

    pub fn is_none(&self) -> bool {
        self.share <= 0.0
    }

    /// True if a pixel of the drawing and the screenshot's at this shift from it differ, and either
    /// lies outside the range of the other one's neighborhood. Both pictures are smoothed.
    pub fn stands_out(
        &self,
        screenshot: &Raster,
        drawing: &Raster,
        [x, y]: [i32; 2],
        [right, down]: [i32; 2],
    ) -> bool {
        let shifted = [x + right, y + down];
        let Some(shown) = screenshot.get(shifted[0], shifted[1]) else { return true };
        let drawn = drawing.at(x, y);
        channel_difference(shown, drawn) > self.flat_levels
            && (self.is_outside(shown, drawing, [x, y])
                || self.is_outside(drawn, screenshot, shifted))
    }

    fn is_outside(&self, color: Rgb, picture: &Raster, place: [i32; 2]) -> bool {
        let around = picture.range_around(place, 1);
        let near = match self.has_edges_in_place {
            true => picture.range_around(place, 0),
            false => around,
        };
        let channels = color.iter().zip(near.low).zip(near.high).zip(around.contrasts());
        channels.into_iter().any(|(((&value, low), high), contrast)| {
            let allowed =
                self.flat_levels.saturating_add((f64::from(contrast) * self.edge_share) as u8);
            value.saturating_add(allowed) < low || value > high.saturating_add(allowed)
        })
    }
}
