//! Judged items with their lowest scores, and the worst items of groups of statements.

use crate::{issues::StatementGroup, item_index::ItemIndex};
use std::num::NonZeroU16;

/// Number of worst items of a group.
const WORST_OF_GROUP: usize = 3;

/// The items with a verdict, each once, with their lowest scores.
#[derive(Default)]
pub struct JudgedItems {
    /// Scores as shares of [`JudgedItems::WHOLE`]; items without a verdict have none.
    scores: Vec<Option<NonZeroU16>>,
    pub count: u64,
}

impl JudgedItems {
    const WHOLE: f64 = 65_534.0;

    pub fn add(&mut self, item: u32, share: f64) {
        let position = item as usize;
        if self.scores.len() <= position {
            self.scores.resize(position + 1, None);
        }
        let score = NonZeroU16::MIN.saturating_add((share.clamp(0.0, 1.0) * Self::WHOLE) as u16);
        if let Some(known) = self.scores.get_mut(position) {
            self.count += u64::from(known.is_none());
            *known = Some(known.map_or(score, |lowest| lowest.min(score)));
        }
    }

    fn score(&self, item: u32) -> Option<NonZeroU16> {
        self.scores.get(item as usize).copied().flatten()
    }
}

/// Sorts a group's items by their ids, and selects the worst. Items are numbered in the order of
/// their results, on which no report may depend.
pub fn order_items(group: &mut StatementGroup, items: &ItemIndex, judged: &JudgedItems) {
    group.items.sort_unstable_by(|one, other| items.id(*one).cmp(items.id(*other)));
    let mut worst: Vec<u32> = Vec::with_capacity(WORST_OF_GROUP + 1);
    for item in &group.items {
        let score = judged.score(*item);
        let place = worst.partition_point(|known| judged.score(*known) <= score);
        if place < WORST_OF_GROUP {
            worst.insert(place, *item);
            worst.truncate(WORST_OF_GROUP);
        }
    }
    group.worst = worst;
}
