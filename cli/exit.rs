//! Exit codes and failures of commands.

use juror_analysis::{
    comparison::{Comparison, Decision},
    gate::GateDecision,
    run_report::Report,
};
use juror_app::{error::AppError, settings::SettingsError};
use juror_types::error_chain::with_causes;
use std::{error::Error, fmt, process::ExitCode};

/// Exit code of the command. If several apply, the first of this order wins: usage, error, gate,
/// incomplete, inconclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// 0: done, and the gate met.
    Done,
    /// 4: an inconclusive comparison with `--strict`.
    Inconclusive,
    /// 3: finished incomplete; some jobs had no output, failed, were unscorable or skipped.
    Incomplete,
    /// 100: the gate was not met, or the run is worse than its baseline.
    Gate,
    /// 1: an error, or a paused run.
    Error,
    /// 2: usage or settings.
    Usage,
}

impl Exit {
    /// Exit code of a run of this process that has this report.
    pub fn from_run(report: &Report, is_paused: bool) -> Self {
        let exit = Self::from_report(report);
        if is_paused { exit.max(Self::Error) } else { exit }
    }

    /// Exit code of a run's report.
    pub fn from_report(report: &Report) -> Self {
        let complete = if report.coverage.is_complete() { Self::Done } else { Self::Incomplete };
        let gate = match &report.gate {
            Some(gate) if gate.decision == GateDecision::Missed => Self::Gate,
            _ => Self::Done,
        };
        let comparison = report.comparison.as_ref().map_or(Self::Done, Self::from_comparison);
        complete.max(gate).max(comparison)
    }

    /// Exit code of a comparison.
    pub fn from_comparison(comparison: &Comparison) -> Self {
        match comparison.decision {
            Decision::Worse => Self::Gate,
            Decision::Inconclusive if comparison.strict => Self::Inconclusive,
            Decision::Inconclusive | Decision::Same | Decision::Better => Self::Done,
        }
    }

    fn number(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Error => 1,
            Self::Usage => 2,
            Self::Incomplete => 3,
            Self::Inconclusive => 4,
            Self::Gate => 100,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.number())
    }
}

/// Failure of a command: exit code and message.
#[derive(Debug)]
pub struct Failure {
    /// The code to exit with.
    pub exit: Exit,
    message: String,
}

impl Failure {
    /// Error in the command line, the settings or the input, which the user must fix.
    pub fn usage(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { exit: Exit::Usage, message: with_causes(cause.into().as_ref()) }
    }

    /// Any other error.
    pub fn error(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { exit: Exit::Error, message: with_causes(cause.into().as_ref()) }
    }
}

impl From<AppError> for Failure {
    /// Exit code of an error: 2 for one that the user must fix, else 1.
    fn from(error: AppError) -> Self {
        let exit = match error {
            AppError::Invalid(_)
            | AppError::Field { .. }
            | AppError::NameTaken(_)
            | AppError::NotFound(_)
            | AppError::Conflict(_) => Exit::Usage,
            AppError::RunInUse(_) | AppError::Unavailable(_) | AppError::Internal(_) => Exit::Error,
        };
        Self { exit, message: error.to_string() }
    }
}

impl From<SettingsError> for Failure {
    fn from(error: SettingsError) -> Self {
        AppError::from(error).into()
    }
}

impl Error for Failure {}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documented_order_decides_between_exit_codes() {
        let strongest_first = [
            Exit::Usage,
            Exit::Error,
            Exit::Gate,
            Exit::Incomplete,
            Exit::Inconclusive,
            Exit::Done,
        ];
        for (position, stronger) in strongest_first.iter().enumerate() {
            for weaker in strongest_first.iter().skip(position) {
                assert_eq!(*stronger.max(weaker), *stronger);
                assert_eq!(*weaker.max(stronger), *stronger);
            }
        }
        let numbers: Vec<u8> = strongest_first.iter().map(|exit| exit.number()).collect();
        assert_eq!(numbers, [2, 1, 100, 3, 4, 0]);
    }
}
