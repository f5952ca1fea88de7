//! What a model's tokens cost.

use super::{Money, Usage};
use serde::{Deserialize, Serialize};

/// Prices in micro-dollars per million tokens, which is pico-dollars a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// Input tokens.
    pub input: u64,
    /// Output tokens, reasoning included.
    pub output: u64,
    /// Input tokens from the provider's prompt cache; as `input` where not given.
    pub cached_input: Option<u64>,
    /// Input tokens that are written into the prompt cache, where that costs extra.
    pub cache_write: Option<u64>,
    /// Input tokens of a request beyond the provider's long-context limit.
    pub long_input: Option<u64>,
}

impl Price {
    /// What answers with this usage cost.
    pub fn cost(&self, usage: &Usage) -> Money {
        let cached = usage.cached_input_tokens.min(usage.input_tokens);
        let fresh = usage.input_tokens - cached;
        Money::times(self.input, fresh)
            + Money::times(self.cached_input.unwrap_or(self.input), cached)
            + Money::times(self.output, usage.output_tokens)
    }

    /// The most that a call with at most this many tokens can cost: every input token at the
    /// dearest rate that any of them could be billed at.
    pub fn worst_cost(&self, input_tokens: u64, output_tokens: u64) -> Money {
        let dearest = [self.cached_input, self.cache_write, self.long_input]
            .into_iter()
            .flatten()
            .fold(self.input, u64::max);
        Money::times(dearest, input_tokens) + Money::times(self.output, output_tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GPT_4O: Price = Price {
        input: 2_500_000,
        output: 10_000_000,
        cached_input: Some(1_250_000),
        cache_write: None,
        long_input: None,
    };

    #[test]
    fn a_call_costs_what_its_tokens_cost() {
        let usage = Usage { input_tokens: 1_523, cached_input_tokens: 0, output_tokens: 212 };
        assert_eq!(GPT_4O.cost(&usage).to_string(), "0.005927500");
        let cached = Usage { cached_input_tokens: 1_000, ..usage };
        assert_eq!(GPT_4O.cost(&cached).to_string(), "0.004677500");
    }

    #[test]
    fn the_worst_case_is_never_below_the_bill() {
        let dear = Price { cache_write: Some(3_000_000), ..GPT_4O };
        let usage = Usage { input_tokens: 1_000, cached_input_tokens: 0, output_tokens: 100 };
        assert!(dear.worst_cost(1_000, 100) >= dear.cost(&usage));
        assert_eq!(dear.worst_cost(1_000, 100).to_string(), "0.004000000");
    }
}
