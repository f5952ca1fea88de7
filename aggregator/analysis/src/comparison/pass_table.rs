//! Items that pass in one run and fail in the other.

use serde::Serialize;

/// Paired items by whether they pass in each run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PassTable {
    /// Pass in both.
    pub both: u64,
    /// Pass in the base alone.
    pub only_base: u64,
    /// Pass in the head alone.
    pub only_head: u64,
    /// Pass in neither.
    pub neither: u64,
}

impl PassTable {
    /// Takes in an item.
    pub fn add(&mut self, base: bool, head: bool) {
        *match (base, head) {
            (true, true) => &mut self.both,
            (true, false) => &mut self.only_base,
            (false, true) => &mut self.only_head,
            (false, false) => &mut self.neither,
        } += 1;
    }

    /// Items.
    pub fn total(&self) -> u64 {
        self.both + self.only_base + self.only_head + self.neither
    }

    /// Shares that pass, in the base and in the head; none without items.
    pub fn rates(&self) -> Option<(f64, f64)> {
        let total = self.total() as f64;
        let share = |count: u64| count as f64 / total;
        (total > 0.0)
            .then(|| (share(self.both + self.only_base), share(self.both + self.only_head)))
    }
}
