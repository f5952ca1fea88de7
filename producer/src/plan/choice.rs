//! Choice of the items of a dataset that become jobs: all that match the filters, or a random part
//! of them.

use super::PlanOptions;
use crate::{
    dataset::{Dataset, DatasetError},
    filter::Filter,
};
use juror_types::item::Item;
use sha2::{Digest as _, Sha256};
use std::collections::BinaryHeap;

/// Random part of a dataset: the items whose keys are the smallest. A key depends on seed and id
/// alone, so that lines which are added or moved change as little of a sample as possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemSample {
    /// Number of items; a smaller dataset is taken whole.
    pub items: u64,
    /// Another seed chooses other items.
    pub seed: u64,
}

impl ItemSample {
    fn key(self, id: &str) -> u128 {
        let digest =
            Sha256::new().chain_update(self.seed.to_be_bytes()).chain_update(id).finalize();
        digest.iter().take(16).fold(0, |key, byte| (key << 8) | u128::from(*byte))
    }
}

/// Filters and, where a sample is asked for, the largest key that is in it.
pub(super) struct Choice {
    filters: Vec<Filter>,
    sample: Option<(ItemSample, u128)>,
    /// Number of items the sample was drawn from; none without one.
    pub(super) sampled_from: Option<u64>,
}

impl Choice {
    /// The choice that these options make. A sample takes a pass over the dataset and 16 bytes an
    /// item of the sample; broken lines are left to the caller's own pass.
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

    /// True if an item is chosen.
    pub(super) fn holds(&self, item: &Item) -> bool {
        let is_sampled = || self.sample.is_none_or(|(sample, most)| sample.key(&item.id) <= most);
        self.filters.iter().all(|filter| filter.holds(item)) && is_sampled()
    }
}
