//! The lock of a run directory, and the sign by which others see that it is held.
//!
//! Whether somebody holds the lock is told to nobody who does not try to take it, and whoever
//! tries, even for a moment, could turn a process away that means to judge. So the holder sets a
//! sign on the same file: a lock of the kind that can be asked about without being taken. Processes
//! in other containers see it too, where `/proc/locks` names those of the own container alone.

use super::JournalError;
use juror_files::local::open_regular;
use std::{
    fs::{File, OpenOptions, TryLockError},
    path::Path,
};

pub(super) const LOCK_FILE: &str = ".lock";

/// Takes the lock of a run directory. It ends with the file that is returned.
pub fn take(directory: &Path) -> Result<File, JournalError> {
    let path = directory.join(LOCK_FILE);
    let file =
        try_lock(&path)?.ok_or_else(|| JournalError::InUse { directory: directory.to_owned() })?;
    sign::set(&file);
    Ok(file)
}

/// Locks a file, which is made if it is missing; none if somebody else holds it.
pub fn try_lock(path: &Path) -> Result<Option<File>, JournalError> {
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(|error| JournalError::io("open", path, error))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(JournalError::io("lock", path, error)),
    }
}

/// True if a process of this machine holds the lock of a run directory. Needs no more than to read.
pub fn is_held(directory: &Path) -> bool {
    open_regular(&directory.join(LOCK_FILE), u64::MAX).is_ok_and(|file| sign::is_set(&file))
}

#[cfg(target_os = "linux")]
mod sign {
    use nix::{
        fcntl::{FcntlArg, fcntl},
        libc::{F_UNLCK, F_WRLCK, SEEK_SET, c_short, flock},
    };
    use std::fs::File;

    pub fn set(file: &File) {
        // A file system that knows no such locks shows a run as one that nobody works on, no more.
        let _ = fcntl(file, FcntlArg::F_OFD_SETLK(&whole_file()));
    }

    pub fn is_set(file: &File) -> bool {
        let mut lock = whole_file();
        let asked = fcntl(file, FcntlArg::F_OFD_GETLK(&mut lock));
        asked.is_ok() && lock.l_type != F_UNLCK as c_short
    }

    fn whole_file() -> flock {
        let (kind, from) = (F_WRLCK as c_short, SEEK_SET as c_short);
        flock { l_type: kind, l_whence: from, l_start: 0, l_len: 0, l_pid: 0 }
    }
}

/// Elsewhere there is no such sign, and nobody is seen to hold a lock.
#[cfg(not(target_os = "linux"))]
mod sign {
    use std::fs::File;

    pub fn set(_file: &File) {}

    pub fn is_set(_file: &File) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_seen_as_long_as_it_is_held() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_held(folder.path()), "there is no file");
        let lock = take(folder.path()).unwrap();
        assert!(is_held(folder.path()));
        assert!(is_held(folder.path()), "whoever asks takes nothing away");
        drop(lock);
        assert!(!is_held(folder.path()), "it was let go");
    }

    #[test]
    fn whoever_asks_holds_nothing() {
        let folder = tempfile::tempdir().unwrap();
        drop(take(folder.path()).unwrap());
        let asking = File::open(folder.path().join(LOCK_FILE)).unwrap();
        assert!(!sign::is_set(&asking));
        let lock = take(folder.path()).unwrap();
        assert!(sign::is_set(&asking));
        assert!(matches!(take(folder.path()), Err(JournalError::InUse { .. })));
        drop(lock);
    }
}
