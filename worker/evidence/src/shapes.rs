//! Shapes of a drawing, such as glyphs and edges of boxes, and their state in another picture.

use crate::{
    bounds::{pixels_of, shifts_within, union},
    connected_areas::{CELL, connected_groups},
    raster::{Raster, Rgb, channel_difference},
};

/// Contrast of neighbors at an edge.
const MIN_EDGE_CONTRAST: u8 = 24;
/// Minimum number of edge pixels of a shape.
const MIN_EDGE_PIXELS: usize = 12;
/// Minimum number of colors of a shape: a straight edge has two and looks the same in every
/// renderer.
const MIN_COLORS: usize = 6;
/// Maximum difference of equal samples, in levels.
const ROUNDING: u8 = 2;
/// Minimum number of pixels of repeated colors from which a change of colors is concluded.
const MIN_REPEATED: usize = 16;
/// Minimum share of a color's pixels that have one color in the other picture, in a recolored
/// shape.
const MIN_MAPPED: f64 = 0.97;

/// A connected shape.
#[derive(Debug)]
pub(crate) struct DrawnShape {
    /// Left and top of each of its cells.
    cells: Vec<[i32; 2]>,
    /// Width and height of the picture, where its last cells end.
    size: [i32; 2],
    /// Number of its edge pixels.
    pub edge_pixels: usize,
}

impl DrawnShape {
    /// Left, top, right and bottom of the shape's cells.
    pub fn bounds(&self) -> [i32; 4] {
        self.cells().reduce(union).unwrap_or_default()
    }

    /// Places of its pixels.
    pub fn places(&self) -> impl Iterator<Item = [i32; 2]> {
        self.cells().flat_map(pixels_of)
    }

    /// Left, top, right and bottom of its cells.
    fn cells(&self) -> impl Iterator<Item = [i32; 4]> {
        let ([width, height], side) = (self.size, CELL as i32);
        self.cells.iter().map(move |&[left, top]| {
            [left, top, (left + side).min(width), (top + side).min(height)]
        })
    }

    /// True if the other picture has the shape in place.
    pub fn is_in_place(&self, drawing: &Raster, other: &Raster) -> bool {
        self.is_at(drawing, other, [0, 0])
    }

    /// True if the other picture has the shape at most `reach` pixels away, or in other colors.
    pub fn is_changed_exactly(&self, reach: i32, drawing: &Raster, other: &Raster) -> bool {
        self.is_recolored(drawing, other)
            || shifts_within([reach; 2]).any(|shift| self.is_at(drawing, other, shift))
    }

    fn is_at(&self, drawing: &Raster, other: &Raster, [dx, dy]: [i32; 2]) -> bool {
        self.places().all(|[x, y]| {
            let shown = other.get(x + dx, y + dy);
            shown.is_some_and(|shown| channel_difference(drawing.at(x, y), shown) <= ROUNDING)
        })
    }

    /// True if each color of the shape became one other color, and the other way round. If its
    /// strongest colors stayed, only its antialiasing differs.
    fn is_recolored(&self, drawing: &Raster, other: &Raster) -> bool {
        let pairs = |one: &Raster, other: &Raster| {
            let pairs = self.places().map(|[x, y]| (one.at(x, y), other.at(x, y)));
            color_change(pairs.collect())
        };
        let is_change = |change: Option<u8>| change.is_some_and(|change| change > ROUNDING);
        is_change(pairs(drawing, other)) && is_change(pairs(other, drawing))
    }

    fn has_many_colors(&self, drawing: &Raster) -> bool {
        let mut colors: Vec<Rgb> = Vec::with_capacity(MIN_COLORS);
        self.places().any(|[x, y]| {
            let color = drawing.at(x, y);
            if !colors.contains(&color) {
                colors.push(color);
            }
            colors.len() >= MIN_COLORS
        })
    }
}

/// Shapes that differ between renderers: those with curves or letters.
pub(crate) fn shapes_of(drawing: &Raster) -> Vec<DrawnShape> {
    let mut shapes = contours_of(drawing);
    shapes.retain(|shape| shape.has_many_colors(drawing));
    shapes
}

/// Shapes that contrast with their surroundings, in reading order.
pub(crate) fn contours_of(drawing: &Raster) -> Vec<DrawnShape> {
    let (width, height) = (drawing.width() as usize, drawing.height() as usize);
    let (columns, rows) = (width.div_ceil(CELL).max(1), height.div_ceil(CELL));
    let mut edge_pixels = vec![0u8; columns * rows];
    for y in 0..height {
        let (row, below) = (drawing.row(y as u32), drawing.row((y + 1).min(height - 1) as u32));
        for (x, (&here, &under)) in row.iter().zip(below).enumerate() {
            let beside = row.get(x + 1).copied().unwrap_or(here);
            let is_edge = here != beside && channel_difference(here, beside) > MIN_EDGE_CONTRAST
                || here != under && channel_difference(here, under) > MIN_EDGE_CONTRAST;
            if is_edge && let Some(count) = edge_pixels.get_mut(y / CELL * columns + x / CELL) {
                *count += 1;
            }
        }
    }
    let marks = edge_pixels.iter().map(|count| *count > 0).collect();
    let shapes = connected_groups(marks, columns, 1).into_iter().filter_map(|group| {
        let counts = group.iter().filter_map(|&cell| edge_pixels.get(cell));
        let edge_pixels: usize = counts.map(|&count| usize::from(count)).sum();
        let place = |cell| [cell % columns, cell / columns].map(|part| (part * CELL) as i32);
        let cells = group.into_iter().map(place).collect();
        let size = [width as i32, height as i32];
        (edge_pixels >= MIN_EDGE_PIXELS).then_some(DrawnShape { cells, size, edge_pixels })
    });
    shapes.collect()
}

/// The larger change of the most frequent color and of the one farthest from it; `None` if a color
/// became several.
fn color_change(mut pairs: Vec<(Rgb, Rgb)>) -> Option<u8> {
    pairs.sort_unstable();
    let mut colors: Vec<(Rgb, Rgb, usize)> = Vec::new();
    let (mut repeated, mut mapped, mut largest) = (0, 0, (0, 0));
    for pixels in pairs.chunk_by(|(one, _), (other, _)| one == other) {
        let runs = pixels.chunk_by(|(_, one), (_, other)| one == other);
        let usual = runs.max_by_key(|run| run.len()).and_then(<[_]>::first);
        let Some(&(color, shown)) = usual else { continue };
        let alike = pixels.iter().filter(|(_, own)| channel_difference(*own, shown) <= ROUNDING);
        if pixels.len() > 1 {
            repeated += pixels.len();
            let alike = alike.count();
            mapped += alike;
            if pixels.len() > largest.0 {
                largest = (pixels.len(), alike);
            }
        }
        colors.push((color, shown, pixels.len()));
    }
    // What is behind a shape is mostly alike anyway.
    let (repeated, mapped) = (repeated - largest.0, mapped - largest.1);
    if repeated < MIN_REPEATED || (mapped as f64) < MIN_MAPPED * repeated as f64 {
        return None;
    }
    let &(behind, new_behind, _) = colors.iter().max_by_key(|(.., count)| *count)?;
    let farthest = colors.iter().max_by_key(|(color, ..)| channel_difference(*color, behind));
    let &(ink, new_ink, _) = farthest?;
    Some(channel_difference(behind, new_behind).max(channel_difference(ink, new_ink)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk with an edge of this many levels.
    fn disk(center: i32, levels: i32, ink: u8) -> Raster {
        let mut picture = Raster::filled(60, 60, [255; 3]);
        for y in 0..60 {
            for x in 0..60 {
                let (dx, dy) = (x - center, y - center);
                let distance = f64::from(dx * dx + dy * dy).sqrt();
                let share = (f64::from(levels) * (12.5 - distance)).round() / f64::from(levels);
                let color = 255.0 - share.clamp(0.0, 1.0) * (255.0 - f64::from(ink));
                picture.fill([x as u32, y as u32, 1, 1], [color as u8; 3]);
            }
        }
        picture
    }

    #[test]
    fn a_shape_is_in_place_or_elsewhere_or_in_other_colors() {
        let drawing = disk(30, 20, 30);
        let [shape] = &shapes_of(&drawing)[..] else { panic!() };
        assert!(shape.is_in_place(&drawing, &drawing));
        for changed in [disk(25, 20, 30), disk(30, 20, 90)] {
            assert!(!shape.is_in_place(&drawing, &changed));
            assert!(shape.is_changed_exactly(12, &drawing, &changed));
        }
        assert!(!shape.is_changed_exactly(12, &drawing, &disk(30, 3, 30)));
        assert!(!shape.is_changed_exactly(12, &drawing, &drawing.smoothed()));
    }

    #[test]
    fn a_straight_rim_is_no_shape_to_go_by() {
        let mut picture = Raster::filled(60, 60, [255; 3]);
        picture.fill([10, 10, 30, 30], [20; 3]);
        assert_eq!(shapes_of(&picture).len(), 0);
    }
}
