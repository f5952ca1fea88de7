//! Numbering and counting of groups of items, in bounded memory.

use super::{MAX_GROUPS, MIN_ITEMS};
use std::collections::HashMap;

/// Maximum number of stored group names.
const MAX_LABELS: usize = 1_000;
/// Maximum number of groups named as examples.
const MAX_EXAMPLES: usize = 3;

/// Numbers of groups by the hash of their common feature.
#[derive(Clone, Debug, Default)]
pub(crate) struct GroupNumbers(HashMap<u64, usize>);

/// Counts of items by group.
#[derive(Debug, Default)]
pub(super) struct GroupCounts {
    numbers: GroupNumbers,
    /// Items of each group.
    sizes: Vec<u32>,
    labels: Vec<String>,
    pub(super) items: u64,
}

impl GroupNumbers {
    /// The number of a group; none beyond [`MAX_GROUPS`].
    pub(crate) fn number(&mut self, key: u64) -> Option<usize> {
        let next = self.0.len();
        if next >= MAX_GROUPS {
            return self.0.get(&key).copied();
        }
        Some(*self.0.entry(key).or_insert(next))
    }
}

impl GroupCounts {
    /// Adds a result of an item, `is_new` for the item's first; returns the number of its group.
    pub(super) fn add(
        &mut self,
        key: Option<u64>,
        is_new: bool,
        label: impl FnOnce() -> String,
    ) -> Option<usize> {
        self.items += u64::from(is_new);
        let number = self.numbers.number(key?)?;
        if self.sizes.len() <= number {
            self.sizes.resize(number + 1, 0);
            if self.labels.len() < MAX_LABELS {
                self.labels.push(label());
            }
        }
        if let Some(size) = self.sizes.get_mut(number) {
            *size += u32::from(is_new);
        }
        Some(number)
    }

    /// Items in groups of at least two.
    pub(super) fn grouped_items(&self) -> u64 {
        self.sizes.iter().filter(|size| **size > 1).map(|size| u64::from(*size)).sum()
    }

    /// Groups of at least two items.
    pub(super) fn clusters(&self) -> u64 {
        self.sizes.iter().filter(|size| **size > 1).count() as u64
    }

    /// True if the groups are sensible: they contain at least a quarter of the items, the largest
    /// at most four fifths, and there are at least three groups or single items.
    pub(super) fn are_likely(&self) -> bool {
        let largest = self.sizes.iter().copied().max().map_or(0, u64::from);
        let grouped = self.grouped_items();
        let parts = self.clusters() + self.items.saturating_sub(grouped);
        self.items >= MIN_ITEMS
            && 4 * grouped >= self.items
            && 5 * largest <= 4 * self.items
            && parts >= 3
    }

    /// Names of the largest groups.
    pub(super) fn largest(&self) -> Vec<String> {
        let mut named: Vec<_> = self.sizes.iter().zip(&self.labels).collect();
        named.retain(|(size, _)| **size > 1);
        named.sort_by(|left, right| right.0.cmp(left.0).then(left.1.cmp(right.1)));
        named.into_iter().take(MAX_EXAMPLES).map(|(_, label)| label.clone()).collect()
    }
}
