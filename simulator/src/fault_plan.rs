//! Assignment of faults to answers.

use crate::{
    deviation_share::Share,
    fault::Fault,
    random::{self, Random},
};
use juror_types::id::Digest;
use std::collections::HashMap;

/// Plan of faulty answers. A script for an item comes first, then the script by order of arrival,
/// then the rates.
#[derive(Clone, Debug, Default)]
pub struct FaultPlan {
    /// Shares of faults over all answers, in sum at most 1. The choice depends on the seed, the
    /// question and how often it was asked, so that asking again can succeed, and a second run of
    /// the simulator does the same.
    pub rates: Vec<Share<Fault>>,
    /// Faults by order of arrival, `None` for a good answer; after its end all are good.
    pub script: Vec<Option<Fault>>,
    /// Faults of single items, by how often they were asked.
    pub items: Vec<ItemScript>,
    /// Seed of the choice.
    pub seed: u64,
}

/// The faults of one item.
#[derive(Clone, Debug)]
pub struct ItemScript {
    /// Questions that it applies to.
    pub item: ItemKey,
    /// The first answer's fault, the second one's, and so on; after its end all are good.
    pub faults: Vec<Option<Fault>>,
}

/// Key of an item in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemKey {
    /// One of its images has this digest.
    Image(Digest),
    /// One of its texts contains this.
    Text(String),
}

/// Parts of a request that decide on its fault.
pub(crate) struct FaultKey<'a> {
    /// Of all its content.
    pub(crate) seed: u64,
    pub(crate) texts: &'a [&'a str],
    pub(crate) images: &'a [Digest],
}

/// A plan with its progress.
#[derive(Debug)]
pub(crate) struct FaultState {
    plan: FaultPlan,
    arrived: usize,
    asked: HashMap<u64, u32>,
    item_asked: Vec<usize>,
}

impl FaultPlan {
    /// The share of answers that go wrong by rate.
    pub(crate) fn total_rate(&self) -> f64 {
        self.rates.iter().map(|rate| rate.share).sum()
    }

    /// True if images have to be digested to know their items.
    pub(crate) fn knows_images(&self) -> bool {
        self.items.iter().any(|script| matches!(script.item, ItemKey::Image(_)))
    }
}

impl FaultState {
    pub(crate) fn new(plan: FaultPlan) -> Self {
        let item_asked = vec![0; plan.items.len()];
        Self { plan, arrived: 0, asked: HashMap::new(), item_asked }
    }

    /// The fault of the next answer to this request.
    pub(crate) fn choose(&mut self, asked: &FaultKey<'_>) -> Option<Fault> {
        let order = self.arrived;
        self.arrived += 1;
        for (script, count) in self.plan.items.iter().zip(&mut self.item_asked) {
            if script.item.names(asked) {
                *count += 1;
                return script.faults.get(*count - 1).copied().flatten();
            }
        }
        if let Some(scripted) = self.plan.script.get(order) {
            return *scripted;
        }
        self.by_rate(asked.seed)
    }

    fn by_rate(&mut self, content: u64) -> Option<Fault> {
        if self.plan.rates.is_empty() {
            return None;
        }
        let count = self.asked.entry(content).or_default();
        *count = count.wrapping_add(1);
        let seed = random::mix(random::mix(self.plan.seed, content), u64::from(*count));
        let mut rest = Random::new(seed).unit();
        self.plan.rates.iter().find_map(|rate| {
            rest -= rate.share;
            (rest < 0.0).then_some(rate.of)
        })
    }
}

impl ItemKey {
    fn names(&self, asked: &FaultKey<'_>) -> bool {
        match self {
            Self::Image(digest) => asked.images.contains(digest),
            Self::Text(text) => asked.texts.iter().any(|part| part.contains(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(seed: u64) -> FaultKey<'static> {
        FaultKey { seed, texts: &["a button"], images: &[] }
    }

    #[test]
    fn rates_hold_and_repeat_themselves_and_a_second_ask_differs() {
        let rates = vec![
            Share { of: Fault::ServerError, share: 0.1 },
            Share { of: Fault::Empty, share: 0.1 },
        ];
        let plan = FaultPlan { rates, ..FaultPlan::default() };
        let ask = |state: &mut FaultState| {
            (0..10_000).map(|seed| state.choose(&about(seed))).collect::<Vec<_>>()
        };
        let mut state = FaultState::new(plan.clone());
        let first = ask(&mut state);
        let spoiled = first.iter().filter(|fault| fault.is_some()).count();
        assert!((1_800..2_200).contains(&spoiled), "{spoiled}");
        assert_eq!(first, ask(&mut FaultState::new(plan.clone())));
        assert_ne!(first, ask(&mut state));
        let other = FaultPlan { seed: 1, ..plan };
        assert_ne!(first, ask(&mut FaultState::new(other)));
    }

    #[test]
    fn an_items_script_goes_before_the_order_of_arrival() {
        let plan = FaultPlan {
            script: vec![Some(Fault::Reset), None, Some(Fault::Empty)],
            items: vec![ItemScript {
                item: ItemKey::Text("card".into()),
                faults: vec![None, Some(Fault::Hang)],
            }],
            ..FaultPlan::default()
        };
        let mut state = FaultState::new(plan);
        let card = FaultKey { seed: 7, texts: &["this is", "a card"], images: &[] };
        assert_eq!(state.choose(&about(1)), Some(Fault::Reset));
        assert_eq!(state.choose(&card), None);
        assert_eq!(state.choose(&about(1)), Some(Fault::Empty));
        assert_eq!(state.choose(&card), Some(Fault::Hang));
        assert_eq!(state.choose(&card), None);
        assert_eq!(state.choose(&about(1)), None);
    }
}
