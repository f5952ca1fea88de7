//! Assignment of faults to responses.

use crate::{
    deviation_share::Share,
    fault::Fault,
    random::{self, Random},
};
use juror_types::id::Digest;
use std::collections::HashMap;

/// Plan of faulty responses. A script for an item takes precedence, then the script by order of
/// arrival, then the rates.
#[derive(Clone, Debug, Default)]
pub struct FaultPlan {
    /// Shares of faults over all responses, at most 1 in total. The choice depends on the seed, the
    /// request and the number of its repetitions, so that a retry can succeed, and a second run of
    /// the simulator behaves equally.
    pub rates: Vec<Share<Fault>>,
    /// Faults by order of arrival, `None` for a good reply; after its end all are good.
    pub script: Vec<Option<Fault>>,
    /// Faults of single items by number of requests.
    pub items: Vec<ItemScript>,
    /// Seed of the choice.
    pub seed: u64,
}

/// The faults of one item.
#[derive(Clone, Debug)]
pub struct ItemScript {
    /// Requests that it applies to.
    pub item: ItemKey,
    /// The first reply's fault, the second one's, and so on; after its end all are good.
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
    /// Hash of the whole request content.
    pub(crate) seed: u64,
    pub(crate) texts: &'a [&'a str],
    pub(crate) images: &'a [Digest],
}

/// A plan with its progress.
#[derive(Debug)]
pub(crate) struct FaultState {
    plan: FaultPlan,
    arrived: usize,
    request_counts: HashMap<u64, u32>,
    item_request_counts: Vec<usize>,
}

impl FaultPlan {
    /// Total share of faults by rate.
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
        let item_request_counts = vec![0; plan.items.len()];
        Self { plan, arrived: 0, request_counts: HashMap::new(), item_request_counts }
    }

    /// The fault of the next reply to this request.
    pub(crate) fn choose(&mut self, key: &FaultKey<'_>) -> Option<Fault> {
        let order = self.arrived;
        self.arrived += 1;
        for (script, count) in self.plan.items.iter().zip(&mut self.item_request_counts) {
            if script.item.names(key) {
                *count += 1;
                return script.faults.get(*count - 1).copied().flatten();
            }
        }
        if let Some(scripted) = self.plan.script.get(order) {
            return *scripted;
        }
        self.by_rate(key.seed)
    }

    fn by_rate(&mut self, content: u64) -> Option<Fault> {
        if self.plan.rates.is_empty() {
            return None;
        }
        let count = self.request_counts.entry(content).or_default();
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
    fn names(&self, key: &FaultKey<'_>) -> bool {
        match self {
            Self::Image(digest) => key.images.contains(digest),
            Self::Text(text) => key.texts.iter().any(|part| part.contains(text)),
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
    fn fault_rates_are_accurate_and_reproducible_and_retries_differ() {
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
    fn item_script_takes_precedence_over_arrival_order() {
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
