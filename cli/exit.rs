//! Exit codes of commands, and the error that they stand for.

pub use juror_app::error::AppError;

use juror_analysis::{
    comparison::{Comparison, Decision},
    gate::GateDecision,
    run_report::Report,
};
use std::process::ExitCode;

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

impl From<&AppError> for Exit {
    /// Exit code of an error: 2 for one that the user must fix, else 1.
    fn from(error: &AppError) -> Self {
        match error {
            AppError::Invalid(_)
            | AppError::Field { .. }
            | AppError::NameTaken(_)
            | AppError::NotFound(_)
            | AppError::Conflict(_) => Self::Usage,
            AppError::RunInUse(_) | AppError::Unavailable(_) | AppError::Internal(_) => Self::Error,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.number())
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
