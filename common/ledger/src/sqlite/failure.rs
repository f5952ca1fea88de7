//! Failures of the database and their messages.

use crate::error::LedgerError;
use rusqlite::{ErrorCode, types::Type};
use std::path::Path;

/// The error for the caller: file, cause and remedy.
pub fn explain(error: &rusqlite::Error, file: &Path) -> LedgerError {
    let file = file.display();
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => LedgerError::Unavailable(format!(
            "the disk that holds {file} is full: free some space there"
        )),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => LedgerError::Unavailable(
            format!("{file} is locked by another process: wait until it is done, or end it"),
        ),
        Some(ErrorCode::SystemIoFailure) => LedgerError::Unavailable(format!(
            "{file} cannot be read or written ({error}): check the disk, its quota and its free space"
        )),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => LedgerError::Broken(format!(
            "{file} is damaged or not a database ({error}): restore it from a backup, or move it away to start a new one without the record of what was spent"
        )),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            LedgerError::Broken(format!(
                "{file} cannot be opened for writing ({error}): check its folder and permissions, or choose another folder with --state"
            ))
        }
        _ => LedgerError::Broken(format!(
            "{file} cannot be used ({error}): restore it from a backup, or choose another folder with --state"
        )),
    }
}

/// The error of a thread that cannot be started.
pub fn thread_error(error: &std::io::Error) -> LedgerError {
    LedgerError::Unavailable(format!(
        "no thread can be started ({error}): end other programs, or raise the limit on processes"
    ))
}

/// The error of a commit that may not be on disk, with its cause.
pub fn not_synced(cause: &str) -> LedgerError {
    LedgerError::Unavailable(format!(
        "a commit cannot be synced to disk ({cause}): check the disk, its quota and its free space"
    ))
}

/// Error of a column whose text cannot be parsed.
pub(crate) fn unreadable(
    column: usize,
    cause: impl std::error::Error + Send + Sync + 'static,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(cause))
}
