//! Connected areas of marked pixels.

use crate::bounds::{grown, intersection, pixels_of, union};

/// Width and height of the cells that are connected, in pixels.
pub(crate) const CELL: usize = 4;

/// A connected area: its box (left, top, right, bottom) and the sum of its pixels' weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MarkedArea {
    pub bounds: [i32; 4],
    pub weight: u64,
    pub count: u32,
}

impl MarkedArea {
    /// The area of both, across what lies between them.
    pub fn joined(self, other: Self) -> Self {
        Self {
            bounds: union(self.bounds, other.bounds),
            weight: self.weight + other.weight,
            count: self.count + other.count,
        }
    }
}

/// The marked pixels of each cell of a picture.
pub(crate) struct MarkedCells {
    pub areas: Vec<Option<MarkedArea>>,
    pub columns: usize,
}

impl MarkedCells {
    pub fn new(weights: &[u8], width: u32) -> Self {
        let width = (width as usize).max(1);
        let columns = width.div_ceil(CELL);
        let rows = weights.len().div_ceil(width).div_ceil(CELL);
        let mut areas: Vec<Option<MarkedArea>> = vec![None; columns * rows];
        for (y, row) in weights.chunks(width).enumerate() {
            if row.iter().all(|weight| *weight == 0) {
                continue;
            }
            for (x, &weight) in row.iter().enumerate().filter(|(_, weight)| **weight > 0) {
                let (left, top) = (x as i32, y as i32);
                let bounds = [left, top, left + 1, top + 1];
                let pixel = MarkedArea { bounds, weight: u64::from(weight), count: 1 };
                if let Some(area) = areas.get_mut(y / CELL * columns + x / CELL) {
                    *area = Some(area.map_or(pixel, |area| area.joined(pixel)));
                }
            }
        }
        Self { areas, columns }
    }

    pub fn get(&self, cell: usize) -> Option<MarkedArea> {
        self.areas.get(cell).copied().flatten()
    }

    /// Groups of cells with marks, as those of [`connected_groups`].
    pub fn groups(&self, gap: i32) -> Vec<Vec<usize>> {
        let marks = self.areas.iter().map(Option::is_some);
        connected_groups(marks.collect(), self.columns, gap)
    }
}

/// Areas of pixels with a weight, joined across at most `gap` cells, in reading order of their
/// first pixel.
pub(crate) fn connected_areas(weights: &[u8], width: u32, gap: i32) -> Vec<MarkedArea> {
    let cells = MarkedCells::new(weights, width);
    let areas = cells.groups(gap).into_iter().filter_map(|group| {
        let members = group.into_iter().filter_map(|cell| cells.get(cell));
        members.reduce(MarkedArea::joined)
    });
    areas.collect()
}

/// Groups of marked cells, joined across at most `gap` cells, in reading order of their first cell.
pub(crate) fn connected_groups(mut marks: Vec<bool>, columns: usize, gap: i32) -> Vec<Vec<usize>> {
    let rows = marks.len() / columns.max(1);
    let mut take = |cell: usize| marks.get_mut(cell).is_some_and(std::mem::take);
    let mut groups = Vec::new();
    for start in 0..columns * rows {
        let mut group: Vec<usize> = take(start).then_some(start).into_iter().collect();
        let mut done = 0;
        while let Some(&cell) = group.get(done) {
            let (x, y) = ((cell % columns) as i32, (cell / columns) as i32);
            let near = grown([x, y, x + 1, y + 1], gap);
            let near = intersection(near, [0, 0, columns as i32, rows as i32]);
            let near = pixels_of(near).map(|[x, y]| y as usize * columns + x as usize);
            near.filter(|&cell| take(cell)).for_each(|cell| group.push(cell));
            done += 1;
        }
        groups.extend((!group.is_empty()).then_some(group));
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_near_is_one_area() {
        let mut weights = vec![0; 64 * 32];
        for (x, y) in [(3, 3), (9, 3), (40, 20)] {
            weights[y * 64 + x] = 7;
        }
        let areas = connected_areas(&weights, 64, 2);
        let boxes: Vec<[i32; 4]> = areas.iter().map(|area| area.bounds).collect();
        assert_eq!(boxes, [[3, 3, 10, 4], [40, 20, 41, 21]]);
        assert_eq!((areas[0].weight, areas[0].count), (14, 2));
    }
}
