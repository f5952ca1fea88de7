//! Comparisons of a fleet's runs with their baselines, in the aggregator.

use super::baseline::{Baseline, rules, stability};
use crate::{error::AppError, settings::Settings};
use juror_aggregator::fleet::BaselineComparer;
use juror_analysis::{comparison::Comparison, run_report::Report};
use juror_journal::journal::RunFiles;

/// Comparer with the aggregator's settings, which searches baselines in its runs directory.
#[derive(Debug)]
pub struct FleetBaselines {
    settings: Settings,
}

impl FleetBaselines {
    /// A comparer with these settings.
    pub fn new(settings: Settings) -> Self {
        Self { settings }
    }

    fn compared(
        &self,
        named: &str,
        files: &RunFiles,
        report: &Report,
    ) -> Result<Comparison, AppError> {
        let baseline = Baseline::open(named, &self.settings)?;
        let stability = stability(files, rules(&self.settings))?;
        baseline.compared(files, report, &stability)
    }
}

impl BaselineComparer for FleetBaselines {
    fn compare(&self, files: &RunFiles, report: &Report) -> Result<Option<Comparison>, String> {
        let Some(named) = &files.record().baseline else { return Ok(None) };
        self.compared(named, files, report).map(Some).map_err(|error| error.to_string())
    }
}
