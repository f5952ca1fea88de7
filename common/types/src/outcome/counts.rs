//! Numbers of jobs by outcome.

use super::Outcome;
use serde::{Deserialize, Serialize};

/// Numbers of jobs by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeCounts {
    /// Jobs that are scored.
    pub scored: u64,
    /// Jobs without output: their code was not generated.
    pub no_output: u64,
    /// Jobs without a usable reply of the judge.
    pub unscorable: u64,
    /// Jobs that could not be judged.
    pub failed: u64,
    /// Jobs that were not tried.
    pub skipped: u64,
}

impl OutcomeCounts {
    /// Number of jobs with a result.
    pub fn total(self) -> u64 {
        self.scored + self.unscored()
    }

    /// Number of jobs with a result that are not scored.
    pub fn unscored(self) -> u64 {
        self.no_output + self.unscorable + self.failed + self.skipped
    }

    /// The number of jobs with this outcome.
    pub fn count_mut(&mut self, outcome: Outcome) -> &mut u64 {
        match outcome {
            Outcome::Scored => &mut self.scored,
            Outcome::NoOutput => &mut self.no_output,
            Outcome::Unscorable => &mut self.unscorable,
            Outcome::Failed => &mut self.failed,
            Outcome::Skipped => &mut self.skipped,
        }
    }
}
