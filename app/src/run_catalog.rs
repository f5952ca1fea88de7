//! Catalog of the runs in a directory, with their states and the figures of their reports.

use crate::journal_damage;
use juror_analysis::history::{HistoryError, PastRun, RunFigures, is_before, runs_in};
use juror_journal::{
    blessed::{BlessedRun, BlessedRuns},
    journal::{JournalError, RunFiles},
};
use juror_types::{id::RunId, run::RunRecord};
use parking_lot::Mutex;
use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

/// The runs of a runs directory. Its methods read files and so block.
#[derive(Debug)]
pub struct RunCatalog {
    runs_dir: PathBuf,
    /// Cached figures of reports.
    figures: FileCache<Option<Arc<RunFigures>>>,
    /// Cached results of the checks of journals.
    damage: FileCache<Option<String>>,
}

/// A run in the list.
#[derive(Clone, Debug)]
pub struct ListedRun {
    /// Record of the run.
    pub record: RunRecord,
    /// State of the run.
    pub state: RunState,
    /// True if it has a readable report, which may be outdated.
    pub has_report: bool,
    /// Figures of its report; `None` if it has none yet, an unreadable or an outdated one.
    pub figures: Option<Arc<RunFigures>>,
    /// Names that it is blessed by.
    pub baselines: Vec<String>,
}

impl ListedRun {
    /// The rubric, as in `semantic@1`.
    pub fn rubric_name(&self) -> String {
        format!("{}@{}", self.record.rubric.id, self.record.rubric.version)
    }
}

/// A run whose record cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedRun {
    /// Name of its folder.
    pub name: String,
    /// Description of the damage.
    pub reason: String,
}

/// Everything in a runs directory.
#[derive(Clone, Debug, Default)]
pub struct RunListing {
    /// Runs whose record can be read, newest first.
    pub runs: Vec<ListedRun>,
    /// Runs whose record cannot be read, by name.
    pub damaged: Vec<DamagedRun>,
}

/// State of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// A process works on it.
    Running,
    /// Every job is scored.
    Complete,
    /// No process works on it, and some jobs are not scored.
    Incomplete,
    /// Journal cannot be read.
    Damaged,
}

/// Version of a file: its length in bytes and its modification time; none if it does not exist.
pub type FileVersion = Option<(u64, SystemTime)>;

impl RunCatalog {
    /// A catalog that has read nothing yet.
    pub fn new(runs_dir: PathBuf) -> Self {
        Self { runs_dir, figures: FileCache::default(), damage: FileCache::default() }
    }

    /// Directory of the runs.
    pub fn runs_dir(&self) -> &Path {
        &self.runs_dir
    }

    /// All runs, including those whose record cannot be read.
    pub fn scan(&self) -> io::Result<RunListing> {
        let mut listing = RunListing::default();
        let blessed = self.blessed();
        for run in runs_in(&self.runs_dir)? {
            match run {
                Ok(files) => listing.runs.push(self.with_names(&files, &blessed)),
                Err(error) => listing.damaged.extend(damaged_by(&error)),
            }
        }
        listing.damaged.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(listing)
    }

    /// A run with its state, figures and names.
    pub fn listed(&self, files: &RunFiles) -> ListedRun {
        self.with_names(files, &self.blessed())
    }

    fn with_names(&self, files: &RunFiles, blessed: &[BlessedRun]) -> ListedRun {
        let figures = self.figures(files);
        let has_report = figures.is_some();
        let figures = figures.filter(|figures| figures.are_current(files));
        let record = files.record().clone();
        let scored = figures.as_ref().map_or(0, |figures| figures.scored);
        let state = match files.is_held() {
            true => RunState::Running,
            false if self.damage(files).is_some() => RunState::Damaged,
            false if scored >= record.jobs() && figures.is_some() => RunState::Complete,
            false => RunState::Incomplete,
        };
        let names = blessed.iter().filter(|blessed| blessed.run_id == record.run_id);
        let baselines = names.map(|blessed| blessed.name.clone()).collect();
        ListedRun { record, state, has_report, figures, baselines }
    }

    /// The blessed runs; none, with a warning, if they cannot be read.
    fn blessed(&self) -> Vec<BlessedRun> {
        BlessedRuns::new(&self.runs_dir)
            .list()
            .inspect_err(|error| tracing::warn!("blessed runs are not marked: {error}"))
            .unwrap_or_default()
    }

    /// Damage of a run's journal, cached until the journal changes.
    pub fn damage(&self, files: &RunFiles) -> Option<String> {
        let (run, journal) = (&files.record().run_id, files.path_of("results.jsonl"));
        self.damage.get_or_insert_with(run, &journal, || journal_damage::find_damage(&journal))
    }

    /// Records damage that was found by reading a run's journal in full.
    pub fn note_damage(&self, files: &RunFiles, reason: String) {
        let journal = files.path_of("results.jsonl");
        self.damage.insert(&files.record().run_id, &journal, Some(reason));
    }

    /// The files of a run.
    pub fn files(&self, run: &RunId) -> Result<RunFiles, JournalError> {
        let files = RunFiles::open(&self.runs_dir, run)?;
        match files.has_own_directory() {
            true => Ok(files),
            false => Err(JournalError::Missing(files.directory().to_owned())),
        }
    }

    /// Figures of a run's report, cached until the report changes.
    fn figures(&self, files: &RunFiles) -> Option<Arc<RunFigures>> {
        let run = &files.record().run_id;
        self.figures.get_or_insert_with(run, &files.path_of("report.json"), || {
            let read = PastRun::read(files)
                .inspect_err(|error: &HistoryError| tracing::warn!("{error}"))
                .ok()
                .flatten();
            read.map(|past| Arc::new(past.figures))
        })
    }
}

/// Runs of a list that were created before this one and belong to it, in the list's order.
pub fn runs_before<'a>(
    runs: &'a [ListedRun],
    own: &RunRecord,
    belongs: fn(&RunRecord, &RunRecord) -> bool,
) -> impl Iterator<Item = &'a ListedRun> {
    runs.iter().filter(move |run| is_before(&run.record, own) && belongs(&run.record, own))
}

/// The version of a file.
pub fn file_version(path: &Path) -> FileVersion {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

/// Values of runs, each valid while a file of its run is unchanged.
#[derive(Debug, Default)]
struct FileCache<T>(Mutex<HashMap<RunId, (FileVersion, T)>>);

impl<T: Clone> FileCache<T> {
    /// The cached value; computed if there is none or `file` has changed.
    fn get_or_insert_with(&self, run: &RunId, file: &Path, compute: impl FnOnce() -> T) -> T {
        let version = file_version(file);
        if let Some((_, value)) = self.0.lock().get(run).filter(|cached| cached.0 == version) {
            return value.clone();
        }
        let value = compute();
        self.0.lock().insert(run.clone(), (version, value.clone()));
        value
    }

    fn insert(&self, run: &RunId, file: &Path, value: T) {
        self.0.lock().insert(run.clone(), (file_version(file), value));
    }
}

/// The damaged run of an error; `None` for an error that concerns all runs.
fn damaged_by(error: &JournalError) -> Option<DamagedRun> {
    let path = match error {
        JournalError::Unreadable { path, .. }
        | JournalError::Schema { path, .. }
        | JournalError::Io { path, .. } => path,
        _ => return None,
    };
    let name = path.parent()?.file_name()?.to_string_lossy().into_owned();
    Some(DamagedRun { name, reason: error.in_its_run() })
}
