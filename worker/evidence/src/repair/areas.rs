//! Areas in which a page differs, and those of them that a change of the page touches.

use crate::{
    connected_areas::{CELL, MarkedCells},
    difference::PixelDifference,
    raster::Raster,
};

/// Maximum distance of the differences of one area, in cells.
const GAP: i32 = 1;

/// Connected areas of a drawing's differences from its screenshot.
#[derive(Debug, Default)]
pub(super) struct DifferenceAreas {
    /// Area of each cell; `None` if nothing differs.
    areas: Vec<Option<usize>>,
    columns: usize,
    /// Sum of the differences of each area.
    weights: Vec<u64>,
}

impl DifferenceAreas {
    pub fn new(difference: &PixelDifference<'_>) -> Self {
        let cells = MarkedCells::new(&difference.weights, difference.drawing.width());
        let groups = cells.groups(GAP);
        let mut areas = vec![None; cells.areas.len()];
        for (area, group) in groups.iter().enumerate() {
            for &cell in group {
                if let Some(own) = areas.get_mut(cell) {
                    *own = Some(area);
                }
            }
        }
        let weight = |group: &Vec<usize>| {
            group.iter().filter_map(|&cell| cells.get(cell)).map(|area| area.weight).sum()
        };
        Self { areas, columns: cells.columns, weights: groups.iter().map(weight).collect() }
    }

    /// Sum of the differences of all areas in which another drawing differs from this one.
    pub fn touched(&self, drawing: &Raster, other: &Raster) -> u64 {
        let width = (drawing.width() as usize).max(1);
        let mut is_touched = vec![false; self.weights.len()];
        let pairs = drawing.pixels().iter().zip(other.pixels());
        for (place, _) in pairs.enumerate().filter(|(_, (one, other))| one != other) {
            let area = self.areas.get(cell_of(place, width, self.columns)).copied().flatten();
            if let Some(is_touched) = area.and_then(|area| is_touched.get_mut(area)) {
                *is_touched = true;
            }
        }
        let touched = self.weights.iter().zip(is_touched).filter(|(_, is_touched)| *is_touched);
        touched.map(|(weight, _)| weight).sum()
    }
}

/// Share that a change removes of the difference of the areas that it touches, at most 1; down to -1
/// if it adds more than it removes.
pub(super) fn gain(before: u64, remaining: u64, touched: u64) -> f64 {
    ((before as f64 - remaining as f64) / touched.max(1) as f64).clamp(-1.0, 1.0)
}

fn cell_of(place: usize, width: usize, columns: usize) -> usize {
    place / width / CELL * columns + place % width / CELL
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pair_noise::PairNoise;

    #[test]
    fn a_change_touches_whole_areas() {
        let drawing = Raster::filled(80, 40, [255; 3]);
        let mut screenshot = drawing.clone();
        screenshot.fill([4, 4, 20, 10], [0; 3]);
        screenshot.fill([50, 4, 20, 10], [0; 3]);
        let difference = PixelDifference::new(&screenshot, &drawing, &PairNoise::NONE);
        let areas = DifferenceAreas::new(&difference);
        let mut half = drawing.clone();
        half.fill([4, 4, 10, 10], [0; 3]);
        let touched = areas.touched(&drawing, &half);
        assert_eq!(touched * 2, difference.total());
        let remaining = PixelDifference::new(&screenshot, &half, &PairNoise::NONE).total();
        assert_eq!(gain(difference.total(), remaining, touched), 0.5);
        assert_eq!(areas.touched(&drawing, &drawing), 0);
    }
}
