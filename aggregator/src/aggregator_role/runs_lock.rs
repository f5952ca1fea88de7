//! Active and standby aggregators: the holder of the lock of the runs directory is active.

use super::AggregatorError;
use juror_journal::journal::{JournalError, lock};
use juror_types::shutdown::Shutdown;
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    time::Duration,
};
use tokio::{sync::watch, time::sleep};

/// Lock file in the runs directory.
const LOCK_FILE: &str = ".aggregator.lock";

/// Role of an aggregator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LockRole {
    /// The aggregator has not tried the lock yet.
    #[default]
    Starting,
    /// Another aggregator holds the lock; this one takes over when that one ends.
    Standby,
    /// The aggregator holds the lock, and the fleet's results belong to its directory.
    Active,
}

/// The lock of a runs directory. It ends with the process.
#[derive(Debug)]
pub struct RunsLock {
    runs_dir: PathBuf,
    _file: File,
}

impl RunsLock {
    /// Waits until it has acquired the lock, trying after each `interval`; none on a shutdown
    /// before. Meanwhile the aggregator is a standby.
    ///
    /// # Errors
    /// [`AggregatorError::RunsDirectory`] if the directory is not usable.
    pub async fn wait(
        runs_dir: &Path,
        interval: Duration,
        shutdown: &Shutdown,
        role: &watch::Sender<LockRole>,
    ) -> Result<Option<Self>, AggregatorError> {
        loop {
            if let Some(file) = try_lock(runs_dir).map_err(AggregatorError::RunsDirectory)? {
                return Ok(Some(Self { runs_dir: runs_dir.to_owned(), _file: file }));
            }
            role.send_if_modified(|now| {
                std::mem::replace(now, LockRole::Standby) != LockRole::Standby
            });
            tokio::select! {
                biased;
                () = shutdown.drain.cancelled() => return Ok(None),
                () = sleep(interval) => {}
            }
        }
    }

    /// True if an aggregator is or was active in this directory.
    pub fn is_known(runs_dir: &Path) -> bool {
        runs_dir.join(LOCK_FILE).exists()
    }

    /// Directory that is locked.
    pub fn runs_dir(&self) -> &Path {
        &self.runs_dir
    }
}

fn try_lock(runs_dir: &Path) -> Result<Option<File>, JournalError> {
    fs::create_dir_all(runs_dir).map_err(|error| JournalError::io("create", runs_dir, error))?;
    lock::try_lock(&runs_dir.join(LOCK_FILE))
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn standby_takes_over_when_the_active_process_ends() {
        let runs = tempfile::tempdir().unwrap();
        let runs_dir = runs.path().join("runs");
        assert!(!RunsLock::is_known(&runs_dir));
        let shutdown = Shutdown::new();
        let (reported, role) = watch::channel(LockRole::default());
        let first =
            RunsLock::wait(&runs_dir, INTERVAL, &shutdown, &reported).await.unwrap().unwrap();
        assert_eq!((first.runs_dir(), *role.borrow()), (&*runs_dir, LockRole::Starting));
        let (reported, mut role) = watch::channel(LockRole::default());
        let ending = async {
            role.wait_for(|role| *role == LockRole::Standby).await.unwrap();
            drop(first);
        };
        let waiting = RunsLock::wait(&runs_dir, INTERVAL, &shutdown, &reported);
        let (second, ()) = tokio::join!(waiting, ending);
        assert!(second.unwrap().is_some() && RunsLock::is_known(&runs_dir));
    }

    #[tokio::test(start_paused = true)]
    async fn standby_stops_on_request() {
        let runs = tempfile::tempdir().unwrap();
        let (reported, _) = watch::channel(LockRole::default());
        let shutdown = Shutdown::new();
        let _first = RunsLock::wait(runs.path(), INTERVAL, &shutdown, &reported).await.unwrap();
        shutdown.escalate();
        let second = RunsLock::wait(runs.path(), INTERVAL, &shutdown, &reported).await.unwrap();
        assert!(second.is_none());
    }
}
