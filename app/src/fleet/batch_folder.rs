//! The folder of the files that a fleet's worker uploads and downloads for batches.

use crate::settings::Settings;
use juror_types::id::OwnerId;
use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

/// Name of the folder in the state folder. No run can have it, since no run id begins with a dot.
const BATCHES_FOLDER: &str = ".batches";
/// Time after which a folder that nobody writes into was left by a worker that was killed: no batch
/// takes so long.
const LEFT_BEHIND_AFTER: Duration = Duration::from_secs(3 * 24 * 60 * 60);

/// The folder of one worker, which goes with it. It is made with the first file.
pub struct BatchFolder(PathBuf);

impl BatchFolder {
    /// The worker's own folder in the state folder. Removes what killed workers left there.
    pub fn open(settings: &Settings, owner: &OwnerId) -> Self {
        let state = settings.run.state_dir.as_ref().unwrap_or(&settings.run.runs_dir);
        let all = state.join(BATCHES_FOLDER);
        if let Err(error) = remove_left_behind(&all) {
            tracing::warn!(%error, folder = %all.display(), "old files of batches cannot be removed");
        }
        Self(all.join(owner.as_str()))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for BatchFolder {
    fn drop(&mut self) {
        // What stays behind is removed by a later worker.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn remove_left_behind(all: &Path) -> io::Result<()> {
    let folders = match fs::read_dir(all) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        folders => folders?,
    };
    for folder in folders {
        let folder = folder?;
        let age = SystemTime::now().duration_since(folder.metadata()?.modified()?);
        if age.is_ok_and(|age| age > LEFT_BEHIND_AFTER) {
            fs::remove_dir_all(folder.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_that_are_old_are_removed() {
        let state = tempfile::tempdir().unwrap();
        let all = state.path().join(BATCHES_FOLDER);
        for name in ["old", "new"] {
            fs::create_dir_all(all.join(name)).unwrap();
            fs::write(all.join(name).join("night-1.jsonl"), "{}\n").unwrap();
        }
        let long_ago = SystemTime::now() - LEFT_BEHIND_AFTER - Duration::from_secs(60);
        fs::File::open(all.join("old")).unwrap().set_modified(long_ago).unwrap();
        remove_left_behind(&all).unwrap();
        assert!(!all.join("old").exists());
        drop(BatchFolder(all.join("other")));
        assert!(all.join("new").exists());
        drop(BatchFolder(all.join("new")));
        assert!(!all.join("new").exists());
        remove_left_behind(&state.path().join("nothing here")).unwrap();
    }
}
