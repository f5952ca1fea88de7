//! Decision on one difference: worse, better, same or inconclusive.

use super::Difference;
use serde::{Deserialize, Serialize};

juror_types::serde_enum! {
    /// Decision on a difference, and of a comparison.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Decision {
        /// The whole 95 % interval of the difference is within ± the margin.
        Same = "same",
        /// The interval is above + the margin.
        Better = "better",
        /// The interval is below − the margin.
        Worse = "worse",
        /// The interval includes a margin: the data are not sufficient.
        Inconclusive = "inconclusive",
    }
}

impl Decision {
    /// The decision on a difference with this 95 % interval, by this margin.
    pub fn for_difference(difference: &Difference, margin: f64) -> Self {
        match (difference.low, difference.high) {
            (_, Some(high)) if high < -margin => Self::Worse,
            (Some(low), _) if low > margin => Self::Better,
            (Some(low), Some(high)) if low >= -margin && high <= margin => Self::Same,
            _ => Self::Inconclusive,
        }
    }

    /// As [`Self::for_difference`], for one of many tests: worse and better hold only if the
    /// adjusted p-value is at most 5 %.
    pub(crate) fn among_many(difference: &Difference, margin: f64, adjusted: Option<f64>) -> Self {
        match Self::for_difference(difference, margin) {
            Self::Worse | Self::Better if adjusted.is_none_or(|p_value| p_value > 0.05) => {
                Self::Inconclusive
            }
            decision => decision,
        }
    }

    /// The decision for a metric that is better when it is lower.
    pub(crate) fn reversed(self) -> Self {
        match self {
            Self::Better => Self::Worse,
            Self::Worse => Self::Better,
            Self::Same | Self::Inconclusive => self,
        }
    }
}
