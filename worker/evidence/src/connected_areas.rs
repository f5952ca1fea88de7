//! Connected areas of marked pixels.

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
        let ([a, b, c, d], [e, f, g, h]) = (self.bounds, other.bounds);
        Self {
            bounds: [a.min(e), b.min(f), c.max(g), d.max(h)],
            weight: self.weight + other.weight,
            count: self.count + other.count,
        }
    }
}

/// Areas of pixels with a weight, joined across at most `gap` cells, in reading order of their
/// first pixel.
pub(crate) fn connected_areas(weights: &[u8], width: u32, gap: i32) -> Vec<MarkedArea> {
    let columns = (width as usize).div_ceil(CELL).max(1);
    let cells = marked_cells(weights, width as usize, columns);
    let mut areas = Vec::new();
    let mut marks: Vec<bool> = cells.iter().map(Option::is_some).collect();
    for group in connected_groups(&mut marks, columns, gap) {
        let members = group.iter().filter_map(|&cell| cells.get(cell).copied().flatten());
        areas.extend(members.reduce(MarkedArea::joined));
    }
    areas
}

/// Groups of marked cells, joined across at most `gap` cells, in reading order of their first cell;
/// clears the marks.
pub(crate) fn connected_groups(marks: &mut [bool], columns: usize, gap: i32) -> Vec<Vec<usize>> {
    let rows = marks.len() / columns.max(1);
    let mut groups = Vec::new();
    for start in 0..marks.len() {
        if !take(marks, start) {
            continue;
        }
        let (mut group, mut open) = (vec![start], vec![start]);
        while let Some(cell) = open.pop() {
            let (x, y) = ((cell % columns) as i32, (cell / columns) as i32);
            for y in (y - gap).max(0)..(y + gap + 1).min(rows as i32) {
                for x in (x - gap).max(0)..(x + gap + 1).min(columns as i32) {
                    let near = y as usize * columns + x as usize;
                    if take(marks, near) {
                        group.push(near);
                        open.push(near);
                    }
                }
            }
        }
        groups.push(group);
    }
    groups
}

fn take(marks: &mut [bool], place: usize) -> bool {
    marks.get_mut(place).is_some_and(std::mem::take)
}

fn marked_cells(weights: &[u8], width: usize, columns: usize) -> Vec<Option<MarkedArea>> {
    let rows = weights.len().div_ceil(width.max(1)).div_ceil(CELL);
    let mut cells: Vec<Option<MarkedArea>> = vec![None; columns * rows];
    for (y, row) in weights.chunks(width.max(1)).enumerate() {
        if row.iter().all(|weight| *weight == 0) {
            continue;
        }
        for (x, &weight) in row.iter().enumerate().filter(|(_, weight)| **weight > 0) {
            let (left, top) = (x as i32, y as i32);
            let bounds = [left, top, left + 1, top + 1];
            let pixel = MarkedArea { bounds, weight: u64::from(weight), count: 1 };
            if let Some(cell) = cells.get_mut(y / CELL * columns + x / CELL) {
                *cell = Some(cell.map_or(pixel, |area| area.joined(pixel)));
            }
        }
    }
    cells
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
