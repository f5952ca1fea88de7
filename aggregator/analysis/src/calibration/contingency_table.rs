//! Table of distinct pairs of the judge's and the people's values: sorted once, so that thousands
//! of resamples only count.

use crate::metrics::round_stable;

/// Pairs of values, with their numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    /// The judge's values, ascending, each once.
    pub(super) judge: Vec<f64>,
    /// The people's values, ascending, each once.
    pub(super) people: Vec<f64>,
    /// The pairs that occur, by the judge's value and then the people's.
    pub(super) cells: Vec<Cell>,
    /// Each item's cell.
    cell_of: Vec<usize>,
}

/// A pair of values, by their places in the table's lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cell {
    pub(super) judge: usize,
    pub(super) people: usize,
}

impl Table {
    /// The table of these items. Values are rounded to nine decimals, so that means of the same
    /// ratings in another order are ties.
    pub(super) fn from_scores(judge: &[f64], people: &[f64]) -> Self {
        let (judge_values, people_values) = (distinct(judge), distinct(people));
        let place = |values: &[f64], value: f64| {
            values
                .binary_search_by(|known| known.total_cmp(&round_stable(value)))
                .unwrap_or_else(|at| at)
        };
        let of_items: Vec<Cell> = judge
            .iter()
            .zip(people)
            .map(|(judge, people)| Cell {
                judge: place(&judge_values, *judge),
                people: place(&people_values, *people),
            })
            .collect();
        let mut cells = of_items.clone();
        cells.sort_unstable();
        cells.dedup();
        let cell_of =
            of_items.iter().map(|cell| cells.binary_search(cell).unwrap_or_else(|at| at)).collect();
        Self { judge: judge_values, people: people_values, cells, cell_of }
    }

    /// Number of items.
    pub(super) fn items(&self) -> usize {
        self.cell_of.len()
    }

    /// Count of each cell, where each item occurs this many times.
    pub(super) fn counts(&self, times: &[u32]) -> Vec<f64> {
        let mut counts = vec![0.0; self.cells.len()];
        for (cell, times) in self.cell_of.iter().zip(times) {
            if let Some(count) = counts.get_mut(*cell) {
                *count += f64::from(*times);
            }
        }
        counts
    }

    /// The cells with nonzero counts.
    pub(super) fn counted<'a>(&'a self, counts: &'a [f64]) -> impl Iterator<Item = (Cell, f64)> {
        let all = self.cells.iter().copied().zip(counts.iter().copied());
        all.filter(|(_, count)| *count > 0.0)
    }
}

fn distinct(values: &[f64]) -> Vec<f64> {
    let mut values: Vec<f64> = values.iter().map(|value| round_stable(*value)).collect();
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
    values
}
