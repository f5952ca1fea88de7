//! The ledgers that a process has used, so that one that vanishes is not replaced by an empty one,
//! which would forget what was spent today.

use crate::error::AppError;
use juror_types::file_identity::FileIdentity;
use parking_lot::Mutex;
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

/// Ledgers by their path.
#[derive(Debug, Default)]
pub struct UsedLedgers(Mutex<HashMap<PathBuf, FileIdentity>>);

impl UsedLedgers {
    /// Records the ledger at a path, if there is one.
    pub fn note(&self, path: &Path) {
        if let Some(ledger) = FileIdentity::from_path(path) {
            self.0.lock().insert(path.to_owned(), ledger);
        }
    }

    /// Refuses a ledger that has vanished, or that another file has replaced, since it was used.
    pub fn check(&self, path: &Path) -> Result<(), AppError> {
        match self.0.lock().get(path) {
            Some(used) if FileIdentity::from_path(path).as_ref() != Some(used) => {
                Err(AppError::unavailable(format!(
                    "the ledger {} was removed or replaced while this server runs, so what it spent \
                     would not count: restore the folder, or restart the server to begin anew",
                    path.display()
                )))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_removed_or_replaced_ledger_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("juror.db");
        let used = UsedLedgers::default();
        used.note(&path);
        used.check(&path).expect("a ledger that was never used may be created");
        fs::write(&path, "").unwrap();
        used.note(&path);
        used.check(&path).unwrap();
        fs::rename(&path, folder.path().join("moved")).unwrap();
        assert!(used.check(&path).unwrap_err().to_string().contains("was removed or replaced"));
        fs::write(&path, "").unwrap();
        assert!(used.check(&path).is_err());
        fs::rename(folder.path().join("moved"), &path).unwrap();
        used.check(&path).unwrap();
    }
}
