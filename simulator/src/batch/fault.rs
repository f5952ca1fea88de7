//! Faults of batches, by name.

use std::str::FromStr;

macro_rules! batch_faults {
    ($($variant:ident = $name:literal: $description:literal;)*) => {
        /// Something that goes wrong with a batch or with its rows.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum BatchFault {
            $(#[doc = $description] $variant,)*
        }

        impl BatchFault {
            /// Every fault.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name on the command line and in the statistics.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// One line on what happens.
            pub fn description(self) -> &'static str {
                match self {
                    $(Self::$variant => $description,)*
                }
            }
        }
    };
}

batch_faults! {
    ValidationFailed = "validation-failed": "the batch fails validation, with the line at fault; nothing runs";
    CreationLimit = "creation-limit": "429 for the first creation of a batch";
    CreationLost = "creation-lost": "the first creation succeeds, and its answer never arrives";
    LateTokenLimit = "late-token-limit": "the limit of enqueued tokens fails the batch instead of refusing its creation";
    Expired = "expired": "rows are not run within 24 hours; give the share of rows, as in expired=0.5";
    Missing = "missing": "rows run and are billed, and stand in neither file (share of rows)";
    Doubled = "doubled": "rows stand in the output file twice (share of rows)";
    Shuffled = "shuffled": "the output file has the rows in reverse";
    FailedRow = "failed-row": "rows end with a status of 500 and error null (share of rows)";
    RefusedRow = "refused-row": "rows end without a response, with an error of their own (share of rows)";
    NoUsage = "no-batch-usage": "the batch does not tell its usage";
    WrongUsage = "wrong-batch-usage": "the batch tells twice the usage of its rows";
}

/// A fault and the share of batches or rows that meet it; written `shuffled` or `expired=0.5`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchFaultRate {
    /// The fault.
    pub fault: BatchFault,
    /// 0 to 1.
    pub share: f64,
}

impl From<BatchFault> for BatchFaultRate {
    fn from(fault: BatchFault) -> Self {
        Self { fault, share: 1.0 }
    }
}

impl FromStr for BatchFaultRate {
    type Err = InvalidBatchFault;

    fn from_str(text: &str) -> Result<Self, InvalidBatchFault> {
        let (name, share) = text.split_once('=').map_or((text, None), |(n, s)| (n, Some(s)));
        let known = BatchFault::ALL.iter().find(|fault| fault.name() == name);
        let fault = *known.ok_or_else(|| InvalidBatchFault::Name(name.to_owned()))?;
        let Some(share) = share else { return Ok(fault.into()) };
        let parsed = share.parse().ok().filter(|share| (0.0..=1.0).contains(share));
        let share = parsed.ok_or_else(|| InvalidBatchFault::Share(share.to_owned()))?;
        Ok(Self { fault, share })
    }
}

/// Text that names no fault of batches.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidBatchFault {
    /// An unknown name.
    #[error(
        "no fault of batches is called {0:?}; `juror simulate --batch-fault list` prints them all"
    )]
    Name(String),
    /// A share that is none.
    #[error("{0:?} is no share: write a number from 0 to 1, as in expired=0.5")]
    Share(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back_and_a_share_is_a_number_from_0_to_1() {
        for fault in BatchFault::ALL {
            assert_eq!(fault.name().parse(), Ok(BatchFaultRate::from(*fault)));
        }
        let rate: BatchFaultRate = "expired=0.25".parse().unwrap();
        assert_eq!(rate, BatchFaultRate { fault: BatchFault::Expired, share: 0.25 });
        for bad in ["expired=", "expired=2", "expire"] {
            assert!(bad.parse::<BatchFaultRate>().is_err(), "{bad}");
        }
    }
}
