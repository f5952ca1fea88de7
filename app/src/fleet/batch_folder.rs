//! Folder of the batch files of a fleet's worker.

use crate::settings::Settings;
use juror_types::id::OwnerId;
use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

/// Name of the folder in the state folder. It is no run id, which cannot begin with a dot.
const BATCHES_FOLDER: &str = ".batches";
/// Time without a write after which a folder is removed: it was left by a killed worker, since no
/// batch takes as long.
const FOLDER_TTL: Duration = Duration::from_secs(3 * 24 * 60 * 60);

/// The folder of one worker, created with the first file and removed on drop.
pub struct BatchFolder(PathBuf);

impl BatchFolder {
    /// The worker's folder in the state folder. Removes the folders of killed workers.
    pub fn open(settings: &Settings, owner: &OwnerId) -> Self {
        let all = settings.run.state_dir().join(BATCHES_FOLDER);
        if let Err(error) = remove_stale(&all) {
            tracing::warn!(%error, folder = %all.display(), "old batch files cannot be removed");
        }
        Self(all.join(owner.as_str()))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for BatchFolder {
    fn drop(&mut self) {
        // A later worker removes the remaining files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn remove_stale(all: &Path) -> io::Result<()> {
    let folders = match fs::read_dir(all) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        folders => folders?,
    };
    for folder in folders {
        let folder = folder?;
        let age = SystemTime::now().duration_since(folder.metadata()?.modified()?);
        if age.is_ok_and(|age| age > FOLDER_TTL) {
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
        let long_ago = SystemTime::now() - FOLDER_TTL - Duration::from_secs(60);
        fs::File::open(all.join("old")).unwrap().set_modified(long_ago).unwrap();
        remove_stale(&all).unwrap();
        assert!(!all.join("old").exists());
        drop(BatchFolder(all.join("other")));
        assert!(all.join("new").exists());
        drop(BatchFolder(all.join("new")));
        assert!(!all.join("new").exists());
        remove_stale(&state.path().join("nothing here")).unwrap();
    }
}
