//! Policy for jobs without a verdict in a run's averages.

use juror_types::outcome::{CountAs, Outcome};

/// Treatment of failed jobs and of jobs without output in averages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AveragingPolicy {
    /// Failed jobs; excluded by default, since an outage of the judge is not a regression.
    pub failed: CountAs,
    /// Jobs without output; zero by default, since missing output is the worst output.
    pub no_output: CountAs,
}

impl Default for AveragingPolicy {
    fn default() -> Self {
        Self { failed: CountAs::Excluded, no_output: CountAs::Zero }
    }
}

impl AveragingPolicy {
    /// True if the verdicts of jobs with this outcome count as zeros.
    pub(crate) fn counts_as_zero(self, outcome: Outcome) -> bool {
        match outcome {
            Outcome::Failed => self.failed == CountAs::Zero,
            Outcome::NoOutput => self.no_output == CountAs::Zero,
            Outcome::Scored | Outcome::Unscorable | Outcome::Skipped => false,
        }
    }
}
