//! Errors of operations on runs, by the reaction of the caller.

use crate::{run_request::RequestField, settings::SettingsError};
use juror_aggregator::aggregator_role::AggregatorError;
use juror_analysis::{
    calibration::{LabelError, stored_calibration::CalibrationFileError},
    compare_runs::CompareError,
};
use juror_journal::journal::JournalError;
use juror_ledger::error::LedgerError;
use juror_queue::QueueError;
use juror_types::{error_chain::with_causes, id::RunId};
use std::error::Error;

/// Seconds after which an unavailable operation may be retried.
const RETRY_AFTER_SECONDS: u64 = 10;

/// An error, whose message includes those of its causes.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum AppError {
    /// Invalid settings, request or input, which the user must fix.
    #[error("{}", message(.0))]
    Invalid(#[source] Cause),
    /// Invalid field of a request. The message contains the remedy, but not the field's name.
    #[error("{}: {message}", field.name())]
    Field {
        field: RequestField,
        /// Description of the problem.
        message: String,
    },
    /// The name of another run.
    #[error("run {0} exists already: use another run_id, or resume it")]
    NameTaken(RunId),
    /// Unknown run or dataset.
    #[error("{}", message(.0))]
    NotFound(#[source] Cause),
    /// Conflict with the current state of a run: it exists, is active, or is complete.
    #[error("{}", message(.0))]
    Conflict(#[source] Cause),
    /// A run directory that another process writes to, until that one ends.
    #[error("{0}")]
    RunInUse(#[source] JournalError),
    /// Unavailable server or ledger; the same request may succeed later.
    #[error("{}", message(.0))]
    Unavailable(#[source] Cause),
    /// Failure of this process or its machine, for its operator.
    #[error("{}", message(.0))]
    Internal(#[source] Cause),
}

impl AppError {
    /// An error of settings, request or input.
    pub fn invalid(cause: impl Into<Cause>) -> Self {
        Self::Invalid(cause.into())
    }

    /// An error of one field of a request.
    pub fn for_field(field: RequestField, message: impl Into<String>) -> Self {
        Self::Field { field, message: message.into() }
    }

    /// Seconds after which the same request may succeed; `None` if a retry cannot help.
    pub fn retry_after(&self) -> Option<u64> {
        matches!(self, Self::Unavailable(_)).then_some(RETRY_AFTER_SECONDS)
    }

    /// A missing run or dataset.
    pub fn not_found(cause: impl Into<Cause>) -> Self {
        Self::NotFound(cause.into())
    }

    /// A conflict with the state of a run.
    pub fn conflict(cause: impl Into<Cause>) -> Self {
        Self::Conflict(cause.into())
    }

    /// An operation that may succeed later.
    pub fn unavailable(cause: impl Into<Cause>) -> Self {
        Self::Unavailable(cause.into())
    }

    /// A failure of this process or its machine.
    pub fn internal(cause: impl Into<Cause>) -> Self {
        Self::Internal(cause.into())
    }
}

impl From<SettingsError> for AppError {
    fn from(error: SettingsError) -> Self {
        Self::invalid(error)
    }
}

impl From<JournalError> for AppError {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::Missing { .. } => Self::not_found(error),
            JournalError::Exists { .. } | JournalError::Occupied { .. } => Self::conflict(error),
            JournalError::InUse { .. } => Self::RunInUse(error),
            _ => Self::internal(error),
        }
    }
}

impl From<LedgerError> for AppError {
    fn from(error: LedgerError) -> Self {
        match error {
            LedgerError::Broken(_) => Self::invalid(error),
            LedgerError::Unavailable(_) => Self::unavailable(error),
        }
    }
}

impl From<QueueError> for AppError {
    fn from(error: QueueError) -> Self {
        match error {
            QueueError::Refused(_) => Self::invalid(error),
            QueueError::Closed | QueueError::Unavailable(_) => Self::unavailable(error),
        }
    }
}

impl From<AggregatorError> for AppError {
    fn from(error: AggregatorError) -> Self {
        match error {
            AggregatorError::Elsewhere { .. } => Self::conflict(error),
            AggregatorError::Backend(LedgerError::Broken(_)) => Self::invalid(error),
            _ => Self::internal(error),
        }
    }
}

impl From<CompareError> for AppError {
    fn from(error: CompareError) -> Self {
        match error {
            CompareError::Journal(error) => error.into(),
            CompareError::Rubric(_) => Self::invalid(error),
        }
    }
}

impl From<LabelError> for AppError {
    fn from(error: LabelError) -> Self {
        Self::invalid(error)
    }
}

impl From<CalibrationFileError> for AppError {
    fn from(error: CalibrationFileError) -> Self {
        match error {
            CalibrationFileError::Write { .. } => Self::internal(error),
            _ => Self::invalid(error),
        }
    }
}

/// Cause of an error. Its message names the thing, the place and the remedy.
type Cause = Box<dyn Error + Send + Sync>;

fn message(cause: &Cause) -> String {
    with_causes(cause.as_ref())
}
