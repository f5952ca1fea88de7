//! What a call takes: at most, to reserve by, and probably, to plan by.

use juror_common::{
    job::Judge,
    model::{ModelFacts, TextTokens},
    usage::{Money, Price, Usage},
};

/// An answer probably takes this share of what it may take, until runs have shown better.
const EXPECTED_SHARE_OF_OUTPUT: u64 = 5;

/// What is known of a model before it is called.
#[derive(Clone, Debug)]
pub struct ModelTerms {
    /// How it counts, and which parameters it takes.
    pub facts: ModelFacts,
    /// What its tokens cost.
    pub price: Price,
}

/// What one call takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Most input tokens.
    pub input_tokens: u64,
    /// Most output tokens, thinking included.
    pub max_output_tokens: u64,
    /// The most that the call can cost.
    pub worst_cost: Money,
    /// Tokens that it will probably take.
    pub expected: Usage,
    /// What it will probably cost.
    pub expected_cost: Money,
}

/// The bounds of a call with texts that take so much and images of these sizes (width, height), as
/// they are sent.
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
    Bounds {
        input_tokens,
        max_output_tokens,
        worst_cost: terms.price.worst_cost(input_tokens, max_output_tokens),
        expected,
        expected_cost: terms.price.cost(&expected),
    }
}
