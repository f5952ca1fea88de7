//! Differences of a pair that come from how its pictures were made, not from what they show.

use crate::raster::{Raster, channel_difference};

/// Width and height of the tiles that the noise is estimated from.
const TILE: i32 = 16;
/// Fewer tiles with rims than this say nothing of noise.
const MIN_TILES: usize = 12;
/// Pixels at rims that a tile has at least.
const MIN_RIMS: usize = 24;
/// Share of the tiles that are equal in pictures of one browser.
const MIN_EXACT: f64 = 0.12;
/// Pixels by which equal tiles may lie apart.
const REACH: i32 = 12;
/// Samples that differ by this much or less say nothing of noise.
const ROUNDING: u8 = 2;

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
    pub const NONE: Self = Self { share: 0.0, flat_levels: ROUNDING, rim_share: 0.0 };

    /// The noise of a pair. Pictures of one browser have tiles that are equal, at some shift or in other
    /// colors, whatever was changed elsewhere; pictures from elsewhere have none.
    pub fn of(screenshot: &Raster, drawing: &Raster) -> Self {
        let tiles = tiles_with_rims(screenshot, drawing);
        if tiles.len() < MIN_TILES {
            return Self::NONE;
        }
        let exact = tiles.iter().filter(|tile| tile.is_exact).count();
        if exact as f64 >= MIN_EXACT * tiles.len() as f64 {
            return Self::NONE;
        }
        let mean =
            |value: fn(&Tile) -> f64| tiles.iter().map(value).sum::<f64>() / tiles.len() as f64;
        let flat = mean(|tile| f64::from(tile.flat_levels));
        Self {
            share: (mean(|tile| tile.share) * 1e4).round() / 1e4,
            flat_levels: (4.0 + 2.0 * flat).clamp(5.0, 14.0) as u8,
            rim_share: 0.3,
        }
    }

    pub fn is_none(&self) -> bool {
        self.share <= 0.0
    }
}

struct Tile {
    is_exact: bool,
    share: f64,
    flat_levels: u8,
}

fn tiles_with_rims(screenshot: &Raster, drawing: &Raster) -> Vec<Tile> {
    let (width, height) = (drawing.width() as i32, drawing.height() as i32);
    let mut tiles = Vec::new();
    for top in (0..=height - TILE).step_by(TILE as usize) {
        for left in (0..=width - TILE).step_by(TILE as usize) {
            tiles.extend(tile(screenshot, drawing, [left, top]));
        }
    }
    tiles
}

fn tile(screenshot: &Raster, drawing: &Raster, [left, top]: [i32; 2]) -> Option<Tile> {
    let (mut rims, mut differing, mut flat_levels) = (0usize, 0usize, 0u8);
    for y in top..top + TILE {
        for x in left..left + TILE {
            let here = drawing.at(x, y);
            let is_rim = [(1, 0), (0, 1)].iter().any(|&(dx, dy)| {
                drawing.get(x + dx, y + dy).is_some_and(|near| channel_difference(here, near) > 24)
            });
            let difference = channel_difference(here, screenshot.at(x, y));
            rims += usize::from(is_rim);
            differing += usize::from(difference > ROUNDING);
            if !is_rim && difference <= 16 {
                flat_levels = flat_levels.max(difference);
            }
        }
    }
    let area = (TILE * TILE) as f64;
    (rims >= MIN_RIMS).then(|| {
        let is_exact = is_recolored(screenshot, drawing, [left, top])
            || is_elsewhere(screenshot, drawing, [left, top]);
        Tile { is_exact, share: differing as f64 / area, flat_levels }
    })
}

/// Whether each color of the drawing's tile became one color of the screenshot's.
fn is_recolored(screenshot: &Raster, drawing: &Raster, [left, top]: [i32; 2]) -> bool {
    let mut pairs: Vec<_> = (top..top + TILE)
        .flat_map(|y| (left..left + TILE).map(move |x| (drawing.at(x, y), screenshot.at(x, y))))
        .collect();
    pairs.sort_unstable();
    let colors = pairs.chunk_by(|(one, _), (other, _)| one == other);
    let largest = colors.clone().map(<[_]>::len).max().unwrap_or_default();
    let (mut alike, mut all) = (0usize, 0usize);
    for color in colors.filter(|color| color.len() > 1 && color.len() < largest) {
        let shown =
            color.chunk_by(|(_, one), (_, other)| channel_difference(*one, *other) <= ROUNDING);
        alike += shown.map(<[_]>::len).max().unwrap_or_default();
        all += color.len();
    }
    all >= 8 && alike as f64 >= 0.97 * all as f64
}

/// Whether the drawing's tile is in the screenshot, some pixels away.
fn is_elsewhere(screenshot: &Raster, drawing: &Raster, [left, top]: [i32; 2]) -> bool {
    let is_equal = |dx: i32, dy: i32| {
        let mut places = (0..TILE).flat_map(|y| (0..TILE).map(move |x| (left + x, top + y)));
        places.all(|(x, y)| {
            channel_difference(drawing.at(x, y), screenshot.at(x + dx, y + dy)) <= ROUNDING
        })
    };
    (-REACH..=REACH).any(|dy| (-REACH..=REACH).any(|dx| is_equal(dx, dy)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> Raster {
        let mut picture = Raster::filled(160, 160, [255; 3]);
        for line in 0..20 {
            for word in 0..20 {
                picture.fill([word * 8 + 1, line * 8 + 2, 4, 3], [30; 3]);
            }
        }
        picture
    }

    #[test]
    fn pictures_of_one_browser_have_no_noise_whatever_was_changed() {
        let drawing = page();
        let mut screenshot = drawing.clone();
        screenshot.fill([0, 0, 160, 100], [200, 30, 30]);
        assert_eq!(PairNoise::of(&screenshot, &drawing), PairNoise::NONE);
        assert_eq!(PairNoise::of(&drawing, &drawing), PairNoise::NONE);
    }

    #[test]
    fn glyphs_that_are_blurred_throughout_are_noise() {
        let noise = PairNoise::of(&page().smoothed(), &page());
        assert!(noise.share > 0.1, "{noise:?}");
    }
}
