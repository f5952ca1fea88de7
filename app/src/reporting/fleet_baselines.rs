//! Baselines of a fleet's runs, by which its aggregator compares them.

use super::baseline::{Baseline, rules, stability};
use crate::{error::AppError, settings::Settings};
use juror_aggregator::fleet::BaselineComparer;
use juror_analysis::{comparison::Comparison, run_report::Report};
use juror_journal::journal::RunFiles;

/// Comparer by the settings of the aggregator, in whose runs directory baselines are looked for.
#[derive(Debug)]
pub struct FleetBaselines {
    settings: Settings,
}

impl FleetBaselines {
    /// A comparer by these settings.
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
