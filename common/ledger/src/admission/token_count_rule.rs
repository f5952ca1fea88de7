//! Rules by which providers count tokens against their limits.

juror_types::named_enum! {
    /// The rule by which a provider counts a request against its tokens per minute.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum CountRule {
        /// Input alone.
        Input = "input",
        /// The larger of its input and its output limit.
        Larger = "larger",
        /// The sum of its input and its output limit.
        Sum = "sum",
    }
}

/// Token counting of an endpoint, as processes have learned it from its replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenCounting {
    /// The rule, once a process has learned it.
    pub rule: Option<CountRule>,
    /// Billed input tokens per expected one, in thousandths; `None` before the first bill.
    pub input_scale: Option<u64>,
    /// Maximum of the remaining tokens that the provider reported under its present limit.
    pub fullest: Option<u64>,
}

impl CountRule {
    /// Tokens of a request: the input that counts, and the part of its output limit.
    pub fn tokens(self, input: u64, output_limit: u64) -> (u64, u64) {
        match self {
            Self::Input => (input, 0),
            Self::Larger => (input, output_limit.saturating_sub(input)),
            Self::Sum => (input, output_limit),
        }
    }

    /// The next rule that counts less, if there is one.
    pub fn lower(self) -> Option<Self> {
        Self::ALL.into_iter().rev().find(|rule| *rule < self)
    }

    /// The next rule that counts more, if there is one.
    pub fn higher(self) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| *rule > self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_tokens_follow_the_rule() {
        assert_eq!(CountRule::Input.tokens(900, 1_000), (900, 0));
        assert_eq!(CountRule::Larger.tokens(900, 1_000), (900, 100));
        assert_eq!(CountRule::Larger.tokens(1_500, 1_000), (1_500, 0));
        assert_eq!(CountRule::Sum.tokens(900, 1_000), (900, 1_000));
    }

    #[test]
    fn token_count_rules_have_distinct_names() {
        for rule in CountRule::ALL {
            assert_eq!(CountRule::from_name(rule.name()), Some(rule));
        }
        assert_eq!(CountRule::from_name("requests"), None);
    }
}
