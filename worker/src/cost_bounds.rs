//! Tokens and cost of a call: the maximum, for reservations, and the expected values, for
//! estimates.

use crate::retry_policy::MAX_BILLED_CALLS;
use juror_types::{
    job::Judge,
    lane::Lane,
    model::{ModelCapabilities, PriceEntry, PromptCache, TextTokens},
    outcome::{ErrorKind, JobError},
    usage::{Money, Price, Usage},
};
use serde::{Deserialize, Serialize};

/// Divisor of the output limit that gives the expected length of a reply, until runs have shown a
/// better one.
const EXPECTED_SHARE_OF_OUTPUT: u64 = 5;

/// Facts about a model before it is called.
#[derive(Clone, Debug)]
pub struct ModelTerms {
    /// Counting and parameters.
    pub facts: ModelCapabilities,
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
    /// Maximum cost of the call at [`ModelTerms::worst_price`].
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
    pub fn new(facts: ModelCapabilities, prices: &PriceEntry, lane: Lane) -> Self {
        Self { facts, prices: prices.clone(), lane }
    }

    /// The highest price that a call in this lane may cost: a server may ignore the lane `flex`, and
    /// `mixed` makes ordinary calls for what no batch has judged.
    pub fn worst_price(&self) -> &Price {
        match self.lane {
            Lane::Batch => self.prices.price_in(Lane::Batch),
            Lane::Realtime | Lane::Flex | Lane::Mixed => &self.prices.price,
        }
    }

    /// Error of a request that probably exceeds the model's context, which no budget would change.
    pub fn context_error(&self, bounds: &Bounds) -> Option<JobError> {
        let (tokens, most) = (bounds.expected.input_tokens, self.prices.max_input_tokens?);
        (tokens > most).then(|| {
            let model = &self.prices.model;
            let message = format!(
                "the request has about {tokens} input tokens, and model {model} takes at most {most}: \
                 shorten the item's code or tokens, or use a model with a larger context; if the \
                 model takes more, set max_input_tokens in juror.toml, [prices.{model:?}]"
            );
            JobError { kind: ErrorKind::Request, message }
        })
    }

    /// The output limit of the call after a reply that was truncated at `limit`: twice as large,
    /// within the model's maximum; `None` if it is at the maximum.
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
        let worst_cost = terms.worst_price().worst_cost(self.input_tokens, limit);
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
    let worst_cost = terms.worst_price().worst_cost(input_tokens, max_output_tokens);
    let larger = terms.larger_output_limit(max_output_tokens).unwrap_or(max_output_tokens);
    let worst_repeat = terms.worst_price().worst_cost(input_tokens, larger);
    let repeats = (1..MAX_BILLED_CALLS).map(|_| worst_repeat).sum::<Money>();
    // An explicit cache write happens once for all items, so an item's expected write is 0.
    let expected_writes = match terms.facts.prompt_cache {
        PromptCache::Automatic => None,
        PromptCache::Explicit | PromptCache::Marked => Some(0),
    };
    Bounds {
        input_tokens,
        max_output_tokens,
        worst_cost,
        worst_job_cost: worst_cost + repeats,
        expected,
        expected_cost: terms.prices.price_in(terms.lane).cost(&expected, expected_writes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_types::{
        job::{Detail, Provider},
        model::{Models, Prices},
    };

    /// Bounds of a call with 1,000 input tokens and 1,000 output tokens.
    fn bounds_of(model: &str, lane: Lane) -> Bounds {
        let facts = Models::builtin().facts(model).clone();
        let terms = ModelTerms::new(facts, Prices::builtin().find(model).unwrap(), lane);
        let judge = Judge {
            provider: Provider::OpenAi,
            model: model.to_owned(),
            temperature: None,
            detail: Detail::High,
            max_output_tokens: 1_000,
            strip_comments: false,
        };
        // The other 256 input tokens are framing.
        bounds(TextTokens { bound: 744, expected: 500 }, &[], &judge, &terms)
    }

    /// Worst case of such a call, and of its job.
    fn worst(lane: Lane) -> (String, String) {
        let bounds = bounds_of("gpt-4o", lane);
        (bounds.worst_cost.to_string(), bounds.worst_job_cost.to_string())
    }

    #[test]
    fn claude_is_expected_to_write_no_cache_and_reserved_as_if_it_did() {
        let bounds = bounds_of("claude-haiku-4-5", Lane::Realtime);
        // 500 x $1.00 and 200 x $5.00 a million; 1,000 x $1.25 and 1,000 x $5.00.
        assert_eq!(bounds.expected_cost.to_string(), "0.001500000");
        assert_eq!(bounds.worst_cost.to_string(), "0.006250000");
    }

    #[test]
    fn worst_case_is_at_the_highest_price_that_the_lane_may_cost() {
        // A call: 1,000 x $2.50 and 1,000 x $10.00 a million. The three that may follow have an
        // output limit of 2,000: 3 x (1,000 x $2.50 + 2,000 x $10.00).
        let realtime = ("0.012500000".to_owned(), "0.080000000".to_owned());
        // Batches cost half: $1.25 and $5.00 a million.
        let batch = ("0.006250000".to_owned(), "0.040000000".to_owned());
        assert_eq!(worst(Lane::Realtime), realtime);
        assert_eq!(worst(Lane::Batch), batch);
        assert_eq!(worst(Lane::Mixed), realtime, "no batch may come back in time");
        assert_eq!(worst(Lane::Flex), realtime, "a server may ignore the lane");
    }
}
