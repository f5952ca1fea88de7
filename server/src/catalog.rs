//! Which runs there are, and how far each has come.

use juror_aggregator::{
    history::{HistoryError, PastRun, RunFigures, runs_in},
    journal::{JournalError, RunFiles},
};
use juror_common::{id::RunId, run::RunRecord};
use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

/// The runs of a runs directory. Reads files: call it where blocking is allowed.
#[derive(Debug)]
pub struct Catalog {
    runs_dir: PathBuf,
    /// What reports said when they were read last.
    figures: Mutex<HashMap<RunId, Remembered>>,
}

/// A run in the list.
#[derive(Clone, Debug)]
pub struct ListedRun {
    /// What it is.
    pub record: RunRecord,
    /// How far it has come.
    pub state: RunState,
    /// What its last report says; none if it has none yet, or an unreadable one.
    pub figures: Option<Arc<RunFigures>>,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// A process works on it.
    Running,
    /// Every job is scored.
    Complete,
    /// No process works on it, and jobs are left that are not scored.
    Incomplete,
}

#[derive(Debug)]
struct Remembered {
    stamp: Stamp,
    figures: Option<Arc<RunFigures>>,
}

/// Tells whether a file was written since: its length and when it changed; none if it is not there.
pub type Stamp = Option<(u64, SystemTime)>;

/// Whether a run lies in the folder of its name. A copy under another name would pass for the run
/// itself.
fn is_in_its_own_place(files: &RunFiles) -> bool {
    let (directory, run) = (files.directory(), &files.record().run_id);
    let named = directory.file_name().and_then(|name| name.to_str());
    if named != Some(run.as_str()) {
        tracing::warn!("{} is left out: its run.json is that of run {run}", directory.display());
    }
    named == Some(run.as_str())
}

/// The stamp of a file.
pub fn stamp(path: &Path) -> Stamp {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

impl Catalog {
    /// Nothing read yet.
    pub fn new(runs_dir: PathBuf) -> Self {
        Self { runs_dir, figures: Mutex::default() }
    }

    /// Where the runs are.
    pub fn runs_dir(&self) -> &Path {
        &self.runs_dir
    }

    /// All runs, newest first. A run that cannot be read is left out, and the log says so.
    pub fn list(&self) -> io::Result<Vec<ListedRun>> {
        let runs = runs_in(&self.runs_dir)?;
        let readable = runs.into_iter().filter_map(|run| {
            run.inspect_err(|error| tracing::warn!("a run is left out: {error}")).ok()
        });
        let readable = readable.filter(is_in_its_own_place);
        Ok(readable.map(|files| self.listed(&files)).collect())
    }

    /// A run as it stands in the list.
    pub fn listed(&self, files: &RunFiles) -> ListedRun {
        let figures = self.figures(files);
        let record = files.record().clone();
        let scored = figures.as_ref().map_or(0, |figures| figures.scored);
        let state = match files.is_held() {
            true => RunState::Running,
            false if scored >= record.jobs() && figures.is_some() => RunState::Complete,
            false => RunState::Incomplete,
        };
        ListedRun { record, state, figures }
    }

    /// The files of a run.
    pub fn files(&self, run: &RunId) -> Result<RunFiles, JournalError> {
        let files = RunFiles::open(&self.runs_dir, run)?;
        match is_in_its_own_place(&files) {
            true => Ok(files),
            false => Err(JournalError::Missing { directory: files.directory().to_owned() }),
        }
    }

    /// What a run's report says, read again only after it was written again.
    fn figures(&self, files: &RunFiles) -> Option<Arc<RunFigures>> {
        let run = &files.record().run_id;
        let stamp = stamp(&files.path_of("report.json"));
        let known = self
            .remembered()
            .get(run)
            .and_then(|known| (known.stamp == stamp).then(|| known.figures.clone()));
        known.unwrap_or_else(|| {
            let read = PastRun::read(files)
                .inspect_err(|error: &HistoryError| tracing::warn!("{error}"))
                .ok()
                .flatten();
            let figures = read.map(|past| Arc::new(past.figures));
            let remembered = Remembered { stamp, figures: figures.clone() };
            self.remembered().insert(run.clone(), remembered);
            figures
        })
    }

    fn remembered(&self) -> MutexGuard<'_, HashMap<RunId, Remembered>> {
        self.figures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
