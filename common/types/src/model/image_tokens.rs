//! Tokens of an image, by the formulas of the providers' guides. Exact integer arithmetic: ratios
//! of sides are never rounded, so that the count is never one tile short.

use crate::job::Detail;
use serde::Deserialize;

/// Image token formula of a family of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ImageFormula {
    /// OpenAI's tiles of 512 pixels, after shrinking to 2048 × 2048 and to a shortest side of 768.
    Tiles {
        /// Tokens of any image; with detail low, the total.
        base: u64,
        /// Tokens of each tile.
        per_tile: u64,
    },
    /// OpenAI's patches of 32 pixels.
    Patches {
        /// Limits with detail high, which also hold for detail low: no figure is published for
        /// that.
        high: PatchLimits,
        /// Limits with detail original, for models that support it; also with auto, which may mean
        /// original.
        original: Option<PatchLimits>,
        /// Tokens of a hundred patches, by the guide.
        guide_percent: u64,
        /// Tokens of a hundred patches, as users measured. The larger of the two counts.
        measured_percent: Option<u64>,
    },
    /// Anthropic's patches of 28 pixels.
    Anthropic {
        /// Longest side after shrinking, in pixels.
        max_side: u64,
        /// Maximum number of patches after shrinking.
        max_tokens: u64,
    },
    /// Gemini's tiles, whose side is two thirds of the image's shorter one, and at most 768 pixels.
    Gemini {
        /// Tokens of an image within 384 × 384, and of each tile.
        small_tokens: u64,
        /// Minimum number of tokens of an image.
        least_tokens: u64,
        /// Minimum side of a tile in pixels.
        least_tile: u64,
    },
}

/// Limits to which a provider shrinks an image before it counts patches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PatchLimits {
    /// Maximum number of patches; none is no limit.
    pub budget: Option<u64>,
    /// Longest side in pixels; none is no limit.
    pub max_side: Option<u64>,
}

/// Maximum side of an image in pixels, beyond any practical size; products of sides fit 64 bits.
pub const MAX_SIDE: u32 = 1 << 24;

/// Maximum side of Gemini's tiles in pixels.
const MAX_GEMINI_TILE: u64 = 768;

impl ImageFormula {
    /// Tokens of an image of `width` × `height` pixels. A side of 0 counts as 1, one beyond
    /// `MAX_SIDE` as that.
    pub fn tokens(&self, width: u32, height: u32, detail: Detail) -> u64 {
        let [width, height] = [width, height].map(|side| u64::from(side.clamp(1, MAX_SIDE)));
        let sides = (width, height);
        match *self {
            Self::Tiles { base, .. } if detail == Detail::Low => base,
            Self::Tiles { base, per_tile } => {
                per_tile.saturating_mul(openai_tiles(sides)).saturating_add(base)
            }
            Self::Patches { high, original, guide_percent, measured_percent } => {
                let limits = match detail {
                    Detail::Original | Detail::Auto => original.unwrap_or(high),
                    Detail::High | Detail::Low => high,
                };
                let percent = guide_percent.max(measured_percent.unwrap_or(0));
                openai_patches(sides, limits).saturating_mul(percent).div_ceil(100)
            }
            Self::Anthropic { max_side, max_tokens } => {
                anthropic_patches(sides, max_side, max_tokens)
            }
            Self::Gemini { small_tokens, least_tokens, least_tile } => {
                small_tokens.saturating_mul(gemini_tiles(sides, least_tile)).max(least_tokens)
            }
        }
    }
}

/// Tiles: shrinking to 2048 and then to 768 is shrinking by the smaller ratio, if any.
fn openai_tiles((width, height): (u64, u64)) -> u64 {
    let (long, short) = (width.max(height), width.min(height));
    let by_short_side = 768 * long < 2048 * short;
    let (numerator, denominator) = if by_short_side { (768, short) } else { (2048, long) };
    let (numerator, denominator) =
        if numerator < denominator { (numerator, denominator) } else { (1, 1) };
    let tiles = |side: u64| (side * numerator).div_ceil(512 * denominator);
    tiles(width) * tiles(height)
}

/// Patches: above the budget the image is shrunk until the worse-fitting side is a whole number of
/// patches; the other side follows.
fn openai_patches(sides: (u64, u64), limits: PatchLimits) -> u64 {
    let (width, height) = within(sides, limits.max_side.unwrap_or(u64::MAX));
    let count = width.div_ceil(32) * height.div_ceil(32);
    let Some(budget) = limits.budget.filter(|budget| count > *budget) else {
        return count;
    };
    let columns = (budget.saturating_mul(width) / height).isqrt().max(1);
    let rows = (budget.saturating_mul(height) / width).isqrt().max(1);
    let shrunk = if columns * height <= rows * width {
        columns * (columns * height).div_ceil(width)
    } else {
        rows * (rows * width).div_ceil(height)
    };
    shrunk.min(budget)
}

/// The largest version within both limits, found by its longest side.
fn anthropic_patches(sides: (u64, u64), max_side: u64, max_tokens: u64) -> u64 {
    let patches = |longest: u64| {
        let (width, height) = within(sides, longest);
        width.div_ceil(28) * height.div_ceil(28)
    };
    let (mut fits, mut longest) = (0, sides.0.max(sides.1).min(max_side));
    if patches(longest) <= max_tokens {
        return patches(longest);
    }
    while longest - fits > 1 {
        let middle = fits + (longest - fits) / 2;
        if patches(middle) <= max_tokens {
            fits = middle;
        } else {
            longest = middle;
        }
    }
    patches(fits.max(1)).min(max_tokens)
}

/// Tiles: the side of one is the "crop unit", the shorter side by 1.5, rounded down
/// (<https://ai.google.dev/gemini-api/docs/image-understanding>; its example is 960 × 540 with 6
/// tiles), which Google's guide for Vertex AI limits to 256 to 768 pixels. The guide for tokens has
/// 768 alone, which is never more tiles.
fn gemini_tiles((width, height): (u64, u64), least_tile: u64) -> u64 {
    if width.max(height) <= 384 {
        return 1;
    }
    let side = (2 * width.min(height) / 3).max(least_tile).clamp(1, MAX_GEMINI_TILE);
    width.div_ceil(side) * height.div_ceil(side)
}

/// The sides shrunk to a longest side of at most `longest`; the other one rounded, at least 1.
fn within((width, height): (u64, u64), longest: u64) -> (u64, u64) {
    let long = width.max(height);
    if long <= longest {
        return (width, height);
    }
    let shrink = |side: u64| ((2 * side * longest + long) / (2 * long)).max(1);
    (shrink(width), shrink(height))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Detail::{Auto, High, Low, Original};

    const GPT_4O: ImageFormula = ImageFormula::Tiles { base: 85, per_tile: 170 };
    const GPT_4O_MINI: ImageFormula = ImageFormula::Tiles { base: 2833, per_tile: 5667 };
    const CLAUDE_4: ImageFormula = ImageFormula::Anthropic { max_side: 1568, max_tokens: 1568 };
    const CLAUDE_5: ImageFormula = ImageFormula::Anthropic { max_side: 2576, max_tokens: 4784 };
    const GEMINI_2: ImageFormula =
        ImageFormula::Gemini { small_tokens: 258, least_tokens: 258, least_tile: 256 };

    fn patches(budget: u64, guide_percent: u64) -> ImageFormula {
        ImageFormula::Patches {
            high: PatchLimits { budget: Some(budget), max_side: Some(2048) },
            original: Some(PatchLimits { budget: Some(10_000), max_side: Some(6000) }),
            guide_percent,
            measured_percent: Some(120),
        }
    }

    #[test]
    fn tile_tokens_match_the_provider_guide() {
        for (width, height, large, mini) in [
            (1440, 900, 1105, 36835),
            (390, 844, 425, 14167),
            (1920, 1080, 1105, 36835),
            (128, 64, 255, 8500),
        ] {
            assert_eq!(GPT_4O.tokens(width, height, High), large, "{width}x{height}");
            assert_eq!(GPT_4O_MINI.tokens(width, height, High), mini, "{width}x{height}");
        }
        assert_eq!(GPT_4O.tokens(1440, 900, Low), 85);
        assert_eq!(GPT_4O.tokens(4096, 8192, High), 85 + 170 * 6, "768 by 1536 after shrinking");
        assert_eq!(GPT_4O.tokens(10_000, 100, High), 85 + 170 * 4, "2048 by 21 after shrinking");
    }

    #[test]
    fn patch_tokens_match_the_provider_guide() {
        for (width, height, at_162, at_120) in
            [(1440, 900, 2115, 1566), (390, 844, 569, 422), (1920, 1080, 2443, 1810)]
        {
            assert_eq!(patches(1536, 162).tokens(width, height, High), at_162);
            assert_eq!(patches(1536, 120).tokens(width, height, High), at_120);
        }
        assert_eq!(patches(2500, 120).tokens(1920, 1080, High), 2448);
    }

    #[test]
    fn larger_multiplier_and_budget_apply() {
        assert_eq!(patches(1536, 100).tokens(1440, 900, High), 1566);
        for detail in [Auto, Original] {
            assert_eq!(patches(1536, 120).tokens(1920, 1080, detail), 2448);
        }
    }

    #[test]
    fn claude_resizes_to_its_side_and_token_limits() {
        assert_eq!(CLAUDE_4.tokens(1440, 900, High), 1550);
        assert_eq!(CLAUDE_5.tokens(1440, 900, High), 1716);
        assert_eq!(CLAUDE_4.tokens(28, 29, High), 2);
    }

    #[test]
    fn gemini_tiles_are_two_thirds_of_the_shorter_side_within_their_limits() {
        for (width, height, tiles) in [
            (384, 384, 1),
            (960, 540, 6), // the guide's example
            (540, 960, 6),
            (385, 385, 4),
            (1440, 900, 6),
            (3840, 2160, 15), // tiles of 768
            (800, 100, 4),    // tiles of 256
        ] {
            assert_eq!(GEMINI_2.tokens(width, height, High), 258 * tiles, "{width}x{height}");
        }
        let third = ImageFormula::Gemini { small_tokens: 258, least_tokens: 1120, least_tile: 768 };
        assert_eq!(third.tokens(100, 100, High), 1120);
        assert_eq!(third.tokens(1440, 900, High), 1120);
        assert_eq!(third.tokens(3840, 2160, High), 258 * 15);
    }

    #[test]
    fn no_image_size_overflows_or_exceeds_the_limits() {
        let extremes = [0, 1, 31, 2047, 6001, 65_535, u32::MAX];
        for width in extremes {
            for height in extremes {
                assert!(GPT_4O.tokens(width, height, High) <= 85 + 170 * 8);
                assert!(patches(1536, 120).tokens(width, height, High) <= 1844);
                assert!(CLAUDE_4.tokens(width, height, High) <= 1568);
                assert!(GEMINI_2.tokens(width, height, High) >= 258);
            }
        }
    }
}
