//! Tokens, their prices, and money.

mod money;
mod token_price;

pub use money::{InvalidMoney, Money};
pub(crate) use token_price::scaled_rate;
pub use token_price::{LONG_CONTEXT_FROM, Price};

use serde::{Deserialize, Serialize};

/// Tokens of one or more replies, as the provider counted them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// All input tokens, including cached ones.
    pub input_tokens: u64,
    /// Input tokens read from the provider's prompt cache.
    pub cached_input_tokens: u64,
    /// Output tokens, including reasoning.
    pub output_tokens: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.cached_input_tokens =
            self.cached_input_tokens.saturating_add(other.cached_input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
    }
}
