//! The lock of a run directory.
//!
//! `flock` cannot be queried without acquiring it, and a probe that acquires it, even for a moment,
//! could turn away a process that means to judge. So the holder also sets an OFD lock on the same
//! file, which can be queried. It is visible in other containers too, whereas `/proc/locks` lists
//! only those of the own container.

use super::JournalError;
use juror_files::data_roots::open_regular;
use std::{
    fs::{File, OpenOptions, TryLockError},
    path::Path,
};

pub(super) const LOCK_FILE: &str = ".lock";

/// The held lock of a run directory.
#[derive(Debug)]
pub(super) struct DirectoryLock(File);

impl Drop for DirectoryLock {
    /// Releases the lock explicitly. Between fork and exec, a child holds a copy of the file
    /// descriptor, so closing ours alone would not release the lock.
    fn drop(&mut self) {
        ofd_lock::clear(&self.0);
        let _ = self.0.unlock();
    }
}

/// Acquires the lock of a run directory.
pub(super) fn take(directory: &Path) -> Result<DirectoryLock, JournalError> {
    let path = directory.join(LOCK_FILE);
    let file = try_lock(&path)?.ok_or_else(|| JournalError::InUse(directory.to_owned()))?;
    ofd_lock::set(&file);
    Ok(DirectoryLock(file))
}

/// Locks a file, creating it if missing; `None` if another process holds the lock.
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

/// True if a process of this machine holds the lock of a run directory. Needs only read access.
pub fn is_held(directory: &Path) -> bool {
    open_regular(&directory.join(LOCK_FILE), u64::MAX).is_ok_and(|file| ofd_lock::is_set(&file))
}

/// The OFD lock. A lock of an open file description (`fcntl` with `F_OFD_SETLK`) belongs to the open
/// file, not to the process as other `fcntl` locks do, and any process can query it.
#[cfg(target_os = "linux")]
mod ofd_lock {
    use nix::{
        fcntl::{FcntlArg, fcntl},
        libc::{F_UNLCK, F_WRLCK, SEEK_SET, c_int, c_short, flock},
    };
    use std::fs::File;

    pub fn set(file: &File) {
        // On a file system without such locks, the run appears as not in use.
        let _ = fcntl(file, FcntlArg::F_OFD_SETLK(&whole_file(F_WRLCK)));
    }

    pub fn clear(file: &File) {
        let _ = fcntl(file, FcntlArg::F_OFD_SETLK(&whole_file(F_UNLCK)));
    }

    pub fn is_set(file: &File) -> bool {
        let mut lock = whole_file(F_WRLCK);
        let asked = fcntl(file, FcntlArg::F_OFD_GETLK(&mut lock));
        asked.is_ok() && lock.l_type != F_UNLCK as c_short
    }

    fn whole_file(kind: c_int) -> flock {
        let (kind, from) = (kind as c_short, SEEK_SET as c_short);
        flock { l_type: kind, l_whence: from, l_start: 0, l_len: 0, l_pid: 0 }
    }
}

/// Other systems have no OFD locks: no run appears as in use.
#[cfg(not(target_os = "linux"))]
mod ofd_lock {
    use std::fs::File;

    pub fn set(_file: &File) {}

    pub fn clear(_file: &File) {}

    pub fn is_set(_file: &File) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_is_visible_while_it_is_held() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_held(folder.path()), "there is no file");
        let lock = take(folder.path()).unwrap();
        assert!(is_held(folder.path()));
        assert!(is_held(folder.path()), "the query does not release it");
        drop(lock);
        assert!(!is_held(folder.path()), "it was let go");
    }

    #[test]
    fn a_process_that_shares_the_file_does_not_keep_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let lock = take(folder.path()).unwrap();
        let shared = lock.0.try_clone().unwrap();
        drop(lock);
        assert!(!is_held(folder.path()));
        take(folder.path()).unwrap();
        drop(shared);
    }

    #[test]
    fn lock_query_acquires_nothing() {
        let folder = tempfile::tempdir().unwrap();
        drop(take(folder.path()).unwrap());
        let asking = File::open(folder.path().join(LOCK_FILE)).unwrap();
        assert!(!ofd_lock::is_set(&asking));
        let lock = take(folder.path()).unwrap();
        assert!(ofd_lock::is_set(&asking));
        assert!(matches!(take(folder.path()), Err(JournalError::InUse { .. })));
        drop(lock);
    }
}
