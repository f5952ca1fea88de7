//! Selection of the items that become jobs: all that match the filters, or a random sample of them.

use super::PlanOptions;
use crate::{
    dataset::{Dataset, DatasetError},
    filter::Filter,
};
use juror_types::item::Item;
use sha2::{Digest as _, Sha256};
use std::collections::BinaryHeap;

/// Random sample of a dataset: the items with the smallest keys. A key depends only on seed and id,
/// so that added or moved lines change the sample as little as possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemSample {
    /// Number of items; a smaller dataset is used as a whole.
    pub items: u64,
    /// Seed of the selection.
    pub seed: u64,
}

impl ItemSample {
    fn key(self, id: &str) -> u128 {
        let digest =
            Sha256::new().chain_update(self.seed.to_be_bytes()).chain_update(id).finalize();
        digest.iter().take(16).fold(0, |key, byte| (key << 8) | u128::from(*byte))
    }
}

/// Filters and, for a sample, its largest key.
pub(super) struct ItemChoice {
    filters: Vec<Filter>,
    sample: Option<(ItemSample, u128)>,
    /// Number of items from which the sample was drawn; `None` without one.
    pub(super) sampled_from: Option<u64>,
}

impl ItemChoice {
    /// The selection of these options. A sample takes a pass over the dataset and 16 bytes per
    /// sampled item; broken lines are left to the caller's own pass.
    pub(super) fn new(dataset: &Dataset, options: &PlanOptions) -> Result<Self, DatasetError> {
        let filters = options.filters.clone();
        let Some(sample) = options.sample else {
            return Ok(Self { filters, sample: None, sampled_from: None });
        };
        let mut choice = Self { filters, sample: None, sampled_from: None };
        let mut smallest = BinaryHeap::new();
        let mut count = 0;
        for placed in dataset.items()?.flatten().filter(|placed| choice.holds(&placed.item)) {
            count += 1;
            smallest.push(sample.key(&placed.item.id));
            if smallest.len() as u64 > sample.items {
                smallest.pop();
            }
        }
        let largest = smallest.peek().copied().unwrap_or_default();
        choice.sample = Some((sample, largest));
        choice.sampled_from = Some(count);
        Ok(choice)
    }

    /// True if an item is selected.
    pub(super) fn holds(&self, item: &Item) -> bool {
        let is_sampled = || self.sample.is_none_or(|(sample, most)| sample.key(&item.id) <= most);
        self.filters.iter().all(|filter| filter.holds(item)) && is_sampled()
    }
}
