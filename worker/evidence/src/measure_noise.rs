//! The noise of a pair, measured on the shapes that both pictures show.

use crate::{
    difference::PixelDifference,
    pair_noise::{MIN_SHARE, PairNoise},
    raster::{ColorRange, Raster, channel_difference},
    shapes::{DrawnShape, shapes_of},
};

/// Minimum number of slightly different shapes that noise is measured on.
const MIN_SLIGHT: usize = 2;
/// Minimum number of pixels of a changed shape that exceed any noise, and their minimum share of
/// its edges.
const MIN_CHANGED: usize = 3;
const CHANGED_SHARE: f64 = 0.05;
/// Maximum shift of a shape that moved and is otherwise the same, in pixels.
const REACH: i32 = 12;
/// Maximum contrast of a flat pixel's neighbors.
const FLAT: u8 = 24;
/// Distance of the neighbors of a flat pixel: letters of another browser lie up to a pixel off, and
/// shine one further pixel out.
const NEAR: i32 = 1;
const NEAR_NOT_IN_PLACE: i32 = 2;
/// Levels above which a flat pixel has changed.
const MAX_FLAT_LEVELS: u8 = 16;
/// Maximum share of an edge's contrast by which a shape differs whose edges are in place.
const MAX_IN_PLACE: f64 = 0.08;
/// Maximum share of shapes with other edges in a picture whose edges count as in place.
const MAX_ASIDE: f64 = 0.05;
/// The same in a strongly compressed picture.
const MAX_ASIDE_COMPRESSED: f64 = 0.25;
/// Minimum share of the shapes of a compressed pair that are alike in pictures of one browser.
const MIN_ALIKE: f64 = 1.0 / 3.0;
/// Minimum share of the shapes' pixels that differ in such a picture: another browser differs at edges
/// alone.
const MIN_COMPRESSED: f64 = 1.0 / 3.0;

/// Measured noise of a pair, with figures that indicate its origin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MeasuredNoise {
    pub noise: PairNoise,
    /// True if a shape is the same in both pictures, or there are no shapes to compare: pictures
    /// without noise are of one browser then, as far as can be seen.
    pub has_equal_shapes: bool,
}

/// The noise of a pair. In pictures of one browser, a shape is either equal (in place, shifted or
/// recolored) or was changed; in pictures of different origin, most shapes are neither.
pub(crate) fn measure_noise(screenshot: &Raster, drawing: &Raster) -> MeasuredNoise {
    if screenshot == drawing {
        return MeasuredNoise { noise: PairNoise::NONE, has_equal_shapes: true };
    }
    let shapes = shapes_of(drawing);
    let is_in_place = |shape: &&DrawnShape| shape.is_in_place(drawing, screenshot);
    let (equal, other): (Vec<_>, Vec<_>) = shapes.iter().partition(is_in_place);
    let noise = noise_beside(&equal, other, screenshot, drawing);
    MeasuredNoise { noise, has_equal_shapes: shapes.is_empty() || !equal.is_empty() }
}

/// The noise of a pair whose drawing was compressed as the screenshot. In pictures of one browser,
/// shapes that were not changed are alike then up to the rounding of two encoders; in those of two
/// browsers, which have this measured noise, hardly any is.
pub(crate) fn noise_compressed_alike(
    measured: PairNoise,
    screenshot: &Raster,
    drawing: &Raster,
) -> PairNoise {
    let alike = PairNoise::COMPRESSED_ALIKE;
    if measured.has_edges_in_place {
        return PairNoise { share: measured.share.max(MIN_SHARE), ..alike };
    }
    let shapes = shapes_of(drawing);
    let difference = PixelDifference::new(screenshot, drawing, &alike);
    let is_alike = |shape: &&DrawnShape| shape.places().all(|[x, y]| difference.at(x, y) == 0);
    let same: Vec<&DrawnShape> = shapes.iter().filter(is_alike).collect();
    match same.len() as f64 >= MIN_ALIKE * shapes.len() as f64 {
        true => PairNoise { share: noise_in(&same, screenshot, drawing).share, ..alike },
        false => measured,
    }
}

/// The noise of shapes that are not equal, if it is that of most.
fn noise_beside(
    equal: &[&DrawnShape],
    other: Vec<&DrawnShape>,
    screenshot: &Raster,
    drawing: &Raster,
) -> PairNoise {
    if other.len() < MIN_SLIGHT.max(equal.len()) {
        return PairNoise::NONE;
    }
    let difference = PixelDifference::new(screenshot, drawing, &PairNoise::USUAL);
    let is_changed = |shape: &DrawnShape| {
        let pixels = shape.places().filter(|&[x, y]| difference.at(x, y) > 0).count();
        pixels as f64 >= MIN_CHANGED as f64 + CHANGED_SHARE * shape.edge_pixels as f64
    };
    let (exact, other): (Vec<&DrawnShape>, Vec<&DrawnShape>) =
        other.into_iter().partition(|shape| shape.is_changed_exactly(REACH, drawing, screenshot));
    let slight: Vec<&DrawnShape> = other.into_iter().filter(|shape| !is_changed(shape)).collect();
    if slight.len() < MIN_SLIGHT.max(equal.len() + exact.len()) {
        return PairNoise::NONE;
    }
    noise_in(&slight, screenshot, drawing)
}

/// The noise measured on these shapes.
fn noise_in(shapes: &[&DrawnShape], screenshot: &Raster, drawing: &Raster) -> PairNoise {
    let levels = |[x, y]: [i32; 2]| channel_difference(drawing.at(x, y), screenshot.at(x, y));
    let (mut differing, mut all) = (0usize, 0usize);
    for place in shapes.iter().flat_map(|shape| shape.places()) {
        all += 1;
        differing += usize::from(levels(place) > PairNoise::NONE.flat_levels);
    }
    let share = differing as f64 / all.max(1) as f64;
    let has_edges_in_place = match aside_share(shapes, screenshot, drawing) {
        ..=MAX_ASIDE => true,
        aside => aside <= MAX_ASIDE_COMPRESSED && share >= MIN_COMPRESSED,
    };
    let reach = if has_edges_in_place { NEAR } else { NEAR_NOT_IN_PLACE };
    let flat_levels = |shape: &DrawnShape| {
        let slight = shape.places().filter(|place| levels(*place) <= MAX_FLAT_LEVELS);
        slight.filter(|place| is_flat(*place, reach, drawing)).map(levels).max().unwrap_or(0)
    };
    let flat_levels: f64 = shapes.iter().map(|shape| f64::from(flat_levels(shape))).sum();
    PairNoise {
        share: ((share * 1e4).round() / 1e4).max(MIN_SHARE),
        flat_levels: (4.0 + flat_levels / shapes.len() as f64).clamp(5.0, 14.0) as u8,
        ..if has_edges_in_place { PairNoise::IN_PLACE } else { PairNoise::USUAL }
    }
}

/// True if no pixel at most this far away, across or down, contrasts.
fn is_flat([x, y]: [i32; 2], reach: i32, drawing: &Raster) -> bool {
    let here = drawing.at(x, y);
    let steps = (1..=reach).flat_map(|step| [(step, 0), (0, step), (-step, 0), (0, -step)]);
    let mut near = steps.filter_map(|(dx, dy)| drawing.get(x + dx, y + dy));
    near.all(|near| channel_difference(here, near) <= FLAT)
}

/// Share of the shapes that do not have their edges in the same pixels of both pictures.
fn aside_share(shapes: &[&DrawnShape], screenshot: &Raster, drawing: &Raster) -> f64 {
    let (screenshot, drawing) = (screenshot.smoothed(), drawing.smoothed());
    let differs = |shape: &&&DrawnShape| {
        shape.places().any(|[x, y]| {
            let difference = channel_difference(screenshot.at(x, y), drawing.at(x, y));
            let beyond = difference.saturating_sub(PairNoise::USUAL.flat_levels);
            let ColorRange { low, high } = drawing.range_around([x, y], 1);
            let contrast = channel_difference(low, high);
            contrast >= FLAT && f64::from(beyond) > MAX_IN_PLACE * f64::from(contrast)
        })
    };
    shapes.iter().filter(differs).count() as f64 / shapes.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture_pair::PicturePair;
    use juror_types::evidence::EvidenceSource;

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
        assert_eq!(measure_noise(&screenshot, &drawing).noise, PairNoise::NONE);
        assert_eq!(measure_noise(&drawing, &drawing).noise, PairNoise::NONE);
        let moved = drawing.window([5, 3], [160, 160], [255; 3]);
        assert_eq!(measure_noise(&moved, &drawing).noise, PairNoise::NONE);
    }

    #[test]
    fn light_two_pixels_beside_letters_is_no_noise_of_flat_areas() {
        let drawing = page();
        let mut screenshot = drawing.clone();
        let is_ink = |x: i32, y: i32| drawing.get(x, y).is_some_and(|color| color != [255; 3]);
        for (x, y) in (0..160).flat_map(|y| (0..160).map(move |x| (x, y))) {
            let ring = |reach: i32| {
                [(reach, 0), (0, reach), (-reach, 0), (0, -reach)].map(|(dx, dy)| (x + dx, y + dy))
            };
            let has_ink = |places: [(i32, i32); 4]| places.iter().any(|&(x, y)| is_ink(x, y));
            let color = match drawing.at(x, y) {
                [255, ..] if has_ink(ring(1)) || !has_ink(ring(2)) => continue,
                [255, ..] => [245; 3],
                [ink, ..] => [ink + 30 + 20 * ((x + y) % 2) as u8; 3],
            };
            screenshot.fill([x as u32, y as u32, 1, 1], color);
        }
        let noise = measure_noise(&screenshot, &drawing).noise;
        assert!(!noise.has_edges_in_place && !noise.is_none(), "{noise:?}");
        assert_eq!(noise.flat_levels, 5);
    }

    #[test]
    fn changes_of_many_shapes_are_no_noise_of_a_pair_compressed_alike() {
        let drawing = page();
        let mut screenshot = drawing.clone();
        for (x, y) in (0..160).flat_map(|y| (0..160).map(move |x| (x, y))) {
            let [ink, ..] = drawing.at(x, y);
            // Rounded otherwise by another encoder; most words of another color.
            let level = if ink == 255 { ink } else { ink + if y < 80 { 40 } else { 3 } };
            screenshot.fill([x as u32, y as u32, 1, 1], [level; 3]);
        }
        let alike = noise_compressed_alike(PairNoise::USUAL, &screenshot, &drawing);
        assert!(alike.has_edges_in_place && alike.flat_levels == 6, "{alike:?}");
        let other_browser = drawing.window([0, 1], [160, 160], [255; 3]);
        let noise = noise_compressed_alike(PairNoise::USUAL, &other_browser, &drawing);
        assert_eq!(noise, PairNoise::USUAL);
    }

    #[test]
    fn shapes_that_are_blurred_throughout_are_noise() {
        let noise = measure_noise(&page().smoothed(), &page()).noise;
        assert!(noise.share > 0.1, "{noise:?}");
        let (screenshot, drawing) = (page().smoothed(), page());
        let evidence =
            PicturePair::new(&screenshot, &drawing).measure(EvidenceSource::Rendered, None);
        let recorded = (evidence.noise, evidence.noise_levels);
        assert_eq!(recorded, (noise.share, Some(noise.flat_levels)));
    }

    #[test]
    fn edges_aside_are_another_browser_unless_the_picture_differs_throughout() {
        let drawing = page();
        let lower = drawing.window([0, 1], [160, 160], [255; 3]);
        let (mut other_browser, mut compressed) = (drawing.clone(), drawing.clone());
        for (x, y) in (0..160).flat_map(|y| (0..160).map(move |x| (x, y))) {
            let is_aside = (x / 20 + y / 20 * 8) % 10 == 0;
            let [ink, ..] = if is_aside { &lower } else { &drawing }.at(x, y);
            let level = if ink < 60 { ink + 8 + 12 * ((x + y) % 2) as u8 } else { ink };
            let pixel = [x as u32, y as u32, 1, 1];
            other_browser.fill(pixel, [level; 3]);
            compressed.fill(pixel, [level - 6 * ((x + y) % 2) as u8; 3]);
        }
        let in_place = |shot| measure_noise(shot, &drawing).noise.has_edges_in_place;
        assert!(!measure_noise(&other_browser, &drawing).noise.is_none());
        assert!(!in_place(&other_browser) && in_place(&compressed));
        assert!(!measure_noise(&compressed, &drawing).noise.is_none());
    }
}
