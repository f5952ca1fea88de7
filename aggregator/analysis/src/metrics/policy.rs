//! Which jobs without a verdict enter a run's averages.

use crate::{format::counted, run_report::Coverage};
use juror_types::outcome::{CountAs, Outcome};

/// Policy on jobs without a verdict: how those that failed and those without output enter averages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AveragingPolicy {
    /// Failed jobs; excluded by default, since an outage of the judge is no regression.
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
    /// Whether the verdicts of jobs with this outcome count as zeros.
    pub(crate) fn counts_as_zero(self, outcome: Outcome) -> bool {
        match outcome {
            Outcome::Failed => self.failed == CountAs::Zero,
            Outcome::NoOutput => self.no_output == CountAs::Zero,
            Outcome::Scored | Outcome::Unscorable | Outcome::Skipped => false,
        }
    }

    /// Sentences on how the jobs of this coverage that have no verdict enter averages, where a
    /// reader cannot tell from the coverage alone.
    pub(crate) fn warnings(self, coverage: &Coverage) -> Vec<String> {
        let mut warnings = Vec::new();
        if coverage.no_output > 0 {
            let items = counted(coverage.no_output, "job");
            let (treatment, setting) = match self.no_output {
                CountAs::Zero => ("count them as zero", "zero"),
                CountAs::Excluded => ("leave them out", "excluded"),
            };
            warnings.push(format!(
                "the pipeline made no code for {items}, so nothing was judged there; averages {treatment} (missing_output = \"{setting}\")"
            ));
        }
        if self.failed == CountAs::Zero && coverage.failed > 0 {
            let jobs = counted(coverage.failed, "failed job");
            warnings.push(format!("averages count {jobs} as zero (failed_jobs = \"zero\")"));
        }
        warnings
    }
}
