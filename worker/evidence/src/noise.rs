//! Differences of a pair that come from how its pictures were made, not from what they show.

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
    /// Pictures that were made in different ways, before their own noise is known.
    pub const USUAL: Self = Self { share: f64::EPSILON, flat_levels: 8, rim_share: 0.3 };

    pub fn is_none(&self) -> bool {
        self.share <= 0.0
    }
}
