//! Waiting for conditions outside of the test's process: by events of the file system where there
//! are some, and by polling otherwise.

use std::{
    path::Path,
    time::{Duration, Instant},
};

/// Time limit of a wait, far above the duration of any step, so that a hanging test fails.
const MAX_WAIT: Duration = Duration::from_secs(120);
/// Interval between two looks at what announces no change.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Polls until there is a value. Only for what announces no change to a client: lengths of
/// RabbitMQ's queues, listening sockets, replies of commands.
#[track_caller]
pub fn poll<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + MAX_WAIT;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "timed out: {what}");
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Waits until a file meets a condition, which is checked at every change in its folder; neither
/// of them needs to exist yet.
#[cfg(target_os = "linux")]
#[track_caller]
pub fn await_file(path: &Path, condition: impl Fn(&Path) -> bool) {
    let deadline = Instant::now() + MAX_WAIT;
    let folder = path.parent().expect("a file in a folder");
    let changes = file_changes::FileChanges::new();
    loop {
        let watched = folder.ancestors().find(|folder| changes.watch(folder));
        if condition(path) {
            return;
        }
        // A folder that came before its parent was watched is found in the next round.
        if watched != folder.ancestors().find(|folder| folder.exists()) {
            continue;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        assert!(changes.next(left), "timed out: {}", path.display());
    }
}

/// Waits until a file meets a condition.
#[cfg(not(target_os = "linux"))]
#[track_caller]
pub fn await_file(path: &Path, condition: impl Fn(&Path) -> bool) {
    poll(&path.display().to_string(), || condition(path).then_some(()));
}

#[cfg(target_os = "linux")]
mod file_changes {
    use rustix::{
        event::{PollFd, PollFlags, Timespec, poll},
        fd::OwnedFd,
        fs::inotify::{self, CreateFlags, WatchFlags},
        io::{Errno, read},
    };
    use std::{path::Path, time::Duration};

    /// Changes in watched folders.
    pub(super) struct FileChanges(OwnedFd);

    impl FileChanges {
        pub(super) fn new() -> Self {
            Self(inotify::init(CreateFlags::CLOEXEC).expect("inotify"))
        }

        /// Watches a folder from now on; false if there is none.
        pub(super) fn watch(&self, folder: &Path) -> bool {
            let events = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::MODIFY;
            match inotify::add_watch(&self.0, folder, events) {
                Ok(_) => true,
                Err(Errno::NOENT) => false,
                Err(error) => panic!("watching {}: {error}", folder.display()),
            }
        }

        /// Waits for changes; false after the time limit.
        pub(super) fn next(&self, within: Duration) -> bool {
            let limit = Timespec::try_from(within).expect("a short time");
            let mut waiting = [PollFd::new(&self.0, PollFlags::IN)];
            match poll(&mut waiting, Some(&limit)) {
                Ok(0) => false,
                // All at once: it is the state behind them that matters.
                Ok(_) => read(&self.0, &mut [0; 16 * 1_024]).is_ok(),
                // A signal, such as that of a child's end.
                Err(Errno::INTR) => true,
                Err(error) => panic!("waiting for changes of files: {error}"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn file_is_awaited_before_its_folder_exists() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("of/a/test.txt");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
                fs::write(&file, "").expect("an empty file");
                fs::write(&file, "content").expect("its content");
            });
            await_file(&file, |path| fs::read(path).is_ok_and(|text| text == b"content"));
        });
    }
}
