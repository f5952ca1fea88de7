//! Values of labels: bounded sets, whatever jobs, providers and queues contain.

use juror_types::usage::{Money, Usage};
use parking_lot::Mutex;
use std::collections::HashSet;

juror_types::named_enum! {
    /// Result of a call to the vision API.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CallResult {
        /// A verdict.
        Answered = "answered",
        /// A reply without a verdict.
        Unusable = "unusable",
        /// The request did not reach the provider.
        NotSent = "not_sent",
        /// Refused by rate limit.
        RateLimited = "rate_limited",
        /// The provider refuses calls of this account.
        Account = "account",
        /// The provider refuses this request permanently.
        Refused = "refused",
        /// The provider could not reply.
        Unavailable = "unavailable",
        /// The call was sent, and no reply came.
        Lost = "lost",
        /// Cancelled because the worker stops.
        Cancelled = "cancelled",
    }
}

juror_types::named_enum! {
    /// Event in the life of a shard.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ShardEvent {
        /// Its batch was created.
        Created = "created",
        /// All of its rows are finished.
        Collected = "collected",
        /// Its processing was resumed, after a pause or from a process that is gone.
        TakenUp = "taken_up",
        /// Its rows were returned before anything was sent.
        GivenUp = "given_up",
    }
}

juror_types::named_enum! {
    /// Result of measuring an item.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum EvidenceFinding {
        /// The images have no differing region.
        NoRegion = "no_region",
        /// The images have at least one differing region.
        Regions = "regions",
        /// The code cannot be rendered.
        Unrenderable = "unrenderable",
        /// Nothing was measured: no renderer, or a screenshot that is too large.
        Unmeasured = "unmeasured",
    }
}

/// Cost of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallCost {
    /// The call cost nothing: its lease was released.
    Nothing,
    /// Billed usage and amount.
    Billed(Usage, Money),
    /// Cost unknown: its worst case counts as spent.
    Presumed(Money),
}

/// Names from outside, such as a job's model: the first ones are kept, all further ones are
/// `other`.
#[derive(Debug, Default)]
pub(super) struct FirstNames(Mutex<HashSet<String>>);

impl FirstNames {
    /// Maximum number of kept names.
    pub(super) const MAX: usize = 32;
    /// Maximum length of a kept name, in bytes.
    const MAX_LENGTH: usize = 100;

    /// The label of this name.
    pub(super) fn label<'name>(&self, name: &'name str) -> &'name str {
        let mut known = self.0.lock();
        let keeps = known.contains(name)
            || (known.len() < Self::MAX
                && name.len() <= Self::MAX_LENGTH
                && known.insert(name.to_owned()));
        if keeps { name } else { "other" }
    }
}

juror_types::named_enum! {
    /// Content of a queue.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum MessageKind {
        /// A job.
        Job = "job",
        /// A result.
        Result = "result",
    }
}

juror_types::named_enum! {
    /// Scope of a budget.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum BudgetScope {
        /// A single run; of several, the one with the smallest remaining budget.
        Run = "run",
        /// All runs of a day.
        Day = "day",
        /// All runs of a month.
        Month = "month",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_values_beyond_the_limit_collapse_into_one() {
        let names = FirstNames::default();
        assert_eq!(names.label(&"x".repeat(101)), "other");
        for number in 0..FirstNames::MAX {
            let name = format!("model-{number}");
            assert_eq!(names.label(&name), name);
        }
        assert_eq!(names.label("one-more"), "other");
        assert_eq!(names.label("model-0"), "model-0");
    }
}
