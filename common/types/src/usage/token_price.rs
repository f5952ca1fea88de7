//! Price of a model's tokens.

use super::{Money, Usage};
use serde::{Deserialize, Serialize};

/// Prices in micro-dollars per million tokens, which is pico-dollars per token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// Input tokens.
    pub input: u64,
    /// Output tokens, reasoning included.
    pub output: u64,
    /// Input tokens from the provider's prompt cache; as `input` where not given.
    pub cached_input: Option<u64>,
    /// Input tokens written into the prompt cache, where that costs extra.
    pub cache_write: Option<u64>,
    /// Input tokens of a request beyond [`LONG_CONTEXT_FROM`].
    pub long_input: Option<u64>,
}

/// Input tokens above which a request costs the long-context rates, where a model has them.
/// Gemini's limit; OpenAI's is 272,000, so that in between the cost is overestimated.
pub const LONG_CONTEXT_FROM: u64 = 200_000;

impl Price {
    /// Cost of a reply with this usage. `cache_write_tokens` are the input tokens that the reply
    /// reports as written into the prompt cache. Some providers write without reporting it: then
    /// all input that was not read from the cache counts as written, so that no bill is higher.
    pub fn cost(&self, usage: &Usage, cache_write_tokens: Option<u64>) -> Money {
        let rates = self.rates_of_a_request(usage.input_tokens);
        let cached = usage.cached_input_tokens.min(usage.input_tokens);
        let fresh = usage.input_tokens - cached;
        let written = cache_write_tokens.unwrap_or(fresh).min(fresh);
        let write_rate = rates.input.max(rates.cache_write.unwrap_or(0));
        Money::times(write_rate, written)
            + Money::times(rates.input, fresh - written)
            + Money::times(rates.cached_input.unwrap_or(rates.input), cached)
            + Money::times(rates.output, usage.output_tokens)
    }

    /// Maximum cost of a call with at most this many tokens: every input token at the highest rate
    /// that may apply.
    pub fn worst_cost(&self, input_tokens: u64, output_tokens: u64) -> Money {
        let rates = self.rates_of_a_request(input_tokens);
        let dearest = [rates.cached_input, rates.cache_write]
            .into_iter()
            .flatten()
            .fold(rates.input, u64::max);
        Money::times(dearest, input_tokens) + Money::times(rates.output, output_tokens)
    }

    /// Rates of a long or short request. Price tables give the long-context rate of input only; the
    /// other rates rise by the same factor, which is what providers publish or more.
    fn rates_of_a_request(&self, input_tokens: u64) -> Self {
        let Some(long) = self.long_input.filter(|_| input_tokens > LONG_CONTEXT_FROM) else {
            return *self;
        };
        let risen = |rate: u64| scaled_rate(rate, long.max(self.input), self.input);
        Self {
            input: long,
            output: risen(self.output),
            cached_input: self.cached_input.map(risen),
            cache_write: self.cache_write.map(risen),
            long_input: self.long_input,
        }
    }
}

/// `rate` × `part` / `whole`, rounded up.
pub(crate) fn scaled_rate(rate: u64, part: u64, whole: u64) -> u64 {
    let product = u128::from(rate) * u128::from(part);
    u64::try_from(product.div_ceil(u128::from(whole.max(1)))).unwrap_or(u64::MAX)
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
    fn call_cost_is_the_price_of_its_tokens() {
        let usage = Usage { input_tokens: 1_523, cached_input_tokens: 0, output_tokens: 212 };
        assert_eq!(GPT_4O.cost(&usage, None).to_string(), "0.005927500");
        let cached = Usage { cached_input_tokens: 1_000, ..usage };
        assert_eq!(GPT_4O.cost(&cached, None).to_string(), "0.004677500");
    }

    #[test]
    fn worst_case_is_never_below_the_actual_cost() {
        let dear = Price { cache_write: Some(3_000_000), ..GPT_4O };
        let usage = Usage { input_tokens: 1_000, cached_input_tokens: 0, output_tokens: 100 };
        assert!(dear.worst_cost(1_000, 100) >= dear.cost(&usage, None));
        assert_eq!(dear.worst_cost(1_000, 100).to_string(), "0.004000000");
        assert_eq!(
            dear.cost(&usage, None),
            dear.worst_cost(1_000, 100),
            "it may have been written"
        );
    }

    #[test]
    fn cache_writes_are_reported_or_assumed_for_all_tokens() {
        let price = Price { cache_write: Some(3_125_000), ..GPT_4O };
        let usage = Usage { input_tokens: 2_000, cached_input_tokens: 500, output_tokens: 0 };
        let cost = |written| price.cost(&usage, written).to_string();
        assert_eq!(cost(Some(0)), "0.004375000");
        assert_eq!(cost(Some(1_000)), "0.005000000");
        assert_eq!(cost(None), "0.005312500");
        assert_eq!(cost(Some(9_999)), cost(None), "no more than was not read");
    }

    #[test]
    fn long_context_price_applies_to_the_whole_request() {
        let price = Price { long_input: Some(5_000_000), ..GPT_4O };
        assert_eq!(price.worst_cost(1_000, 100), GPT_4O.worst_cost(1_000, 100));
        let long =
            Usage { input_tokens: 300_000, cached_input_tokens: 100_000, output_tokens: 1_000 };
        assert_eq!(price.cost(&long, None).to_string(), "1.270000000");
        assert_eq!(price.worst_cost(300_000, 1_000).to_string(), "1.520000000");
    }
}
