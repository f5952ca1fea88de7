//! Tokens and cost of a call: the maximum, for reservations, and the expected values, for
//! estimates.

use crate::next_step_after_call::MAX_BILLED_CALLS;
use juror_types::{
    job::Judge,
    lane::Lane,
    model::{ModelFacts, PriceEntry, PromptCache, TextTokens},
    usage::{Money, Usage},
};

use serde::{Deserialize, Serialize};

/// Divisor of the output limit that gives the expected length of a reply, until runs have shown a
/// better one.
const EXPECTED_SHARE_OF_OUTPUT: u64 = 5;

/// Facts about a model before it is called.
#[derive(Clone, Debug)]
pub struct ModelTerms {
    /// Counting and parameters.
    pub facts: ModelFacts,
    /// Prices of its tokens.
    pub prices: PriceEntry,
    /// Lane of the calls.
    pub lane: Lane,
}

/// Tokens and cost of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// Maximum input tokens.
    pub input_tokens: u64,
    /// Maximum output tokens, thinking included.
    pub max_output_tokens: u64,
    /// Maximum cost of the call in any lane, since a server may ignore the lane.
    pub worst_cost: Money,
    /// Maximum cost of the job: every call that may be billed, all but the first with the larger
    /// output limit that follows a truncated reply.
    pub worst_job_cost: Money,
    /// Expected tokens.
    pub expected: Usage,
    /// Expected cost.
    pub expected_cost: Money,
}

impl ModelTerms {
    /// The terms of a model with these prices, whose calls are bought in this lane.
    pub fn new(facts: ModelFacts, prices: &PriceEntry, lane: Lane) -> Self {
        Self { facts, prices: prices.clone(), lane }
    }

    /// The output limit of the call after a reply that was truncated at `limit`: twice as large,
    /// within the model's maximum; none if it is at the maximum.
    pub fn larger_output_limit(&self, limit: u64) -> Option<u64> {
        let doubled = limit.saturating_mul(2);
        let larger = match u64::from(self.facts.max_output_tokens) {
            0 => doubled,
            most => doubled.min(most),
        };
        (larger > limit).then_some(larger)
    }
}

impl Bounds {
    /// The bounds of the same call with another output limit.
    pub fn with_output_limit(self, limit: u64, terms: &ModelTerms) -> Self {
        let worst_cost = terms.prices.price.worst_cost(self.input_tokens, limit);
        Self { max_output_tokens: limit, worst_cost, ..self }
    }
}

/// The bounds of a call with these texts and with images of these sizes (width, height), as they
/// are sent.
pub fn bounds(
    texts: TextTokens,
    sizes: &[(u32, u32)],
    judge: &Judge,
    terms: &ModelTerms,
) -> Bounds {
    let sizes = || sizes.iter().copied();
    let input_tokens = terms.facts.input_bound(texts, sizes(), judge.detail);
    let max_output_tokens =
        u64::from(judge.max_output_tokens) + u64::from(terms.facts.reasoning_allowance);
    let expected = Usage {
        input_tokens: terms.facts.expected_input(texts, sizes(), judge.detail),
        cached_input_tokens: 0,
        output_tokens: max_output_tokens / EXPECTED_SHARE_OF_OUTPUT,
    };
    let worst_cost = terms.prices.price.worst_cost(input_tokens, max_output_tokens);
    let larger = terms.larger_output_limit(max_output_tokens).unwrap_or(max_output_tokens);
    let worst_repeat = terms.prices.price.worst_cost(input_tokens, larger);
    let repeats = (1..MAX_BILLED_CALLS).map(|_| worst_repeat).sum::<Money>();
    // An explicit cache write happens once for all items, so an item's expected write is 0.
    let expected_writes = (terms.facts.prompt_cache == PromptCache::Explicit).then_some(0);
    Bounds {
        input_tokens,
        max_output_tokens,
        worst_cost,
        worst_job_cost: worst_cost + repeats,
        expected,
        expected_cost: terms.prices.price_in(terms.lane).cost(&expected, expected_writes),
    }
}
