//! Reading of the parts of `report.json` that history needs.

use super::{PastMetric, RunFigures};
use crate::{metrics::Interval, run_facts::is_from_cache};
use juror_files::data_roots::open_regular;
use juror_journal::journal::RunFiles;
use juror_types::{SCHEMA, id::RunId, run::RunRecord, usage::Money};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    io::{self, BufReader, Read as _},
    path::{Path, PathBuf},
};

/// Maximum size of a report in bytes, above that of a million items.
const MAX_REPORT_BYTES: u64 = 1 << 30;

/// A run with a report.
#[derive(Clone, Debug, PartialEq)]
pub struct PastRun {
    /// Record of the run.
    pub record: RunRecord,
    /// Figures of its last report.
    pub figures: RunFigures,
}

/// The error of reading a run's report. The run itself may be intact: `juror report` writes it
/// again.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum HistoryError {
    /// The results have changed since the report was written.
    #[error("report.json of run {0} is outdated; write it again with: juror report {0}")]
    Outdated(RunId),
    /// The report exists and cannot be read.
    #[error("{} cannot be read: {reason}; write it again with: juror report {run}", path.display())]
    Report { run: RunId, path: PathBuf, reason: String },
}

impl PastRun {
    /// Reads a run's figures from its current report; `None` if it has no report yet.
    pub fn read_current(files: &RunFiles) -> Result<Option<Self>, HistoryError> {
        match Self::read(files)? {
            Some(run) if !run.figures.are_current(files) => {
                Err(HistoryError::Outdated(run.record.run_id))
            }
            read => Ok(read),
        }
    }

    /// Reads a run's figures from its last report; `None` if it has no report yet. Its items are
    /// skipped.
    pub fn read(files: &RunFiles) -> Result<Option<Self>, HistoryError> {
        let (record, path) = (files.record().clone(), files.path_of("report.json"));
        let unreadable = |reason| HistoryError::Report {
            run: files.record().run_id.clone(),
            path: path.clone(),
            reason,
        };
        let report = read_report::<SavedReport>(&path);
        let Some(report) = report.map_err(|error| unreadable(error.to_string()))? else {
            return Ok(None);
        };
        if report.schema != u64::from(SCHEMA) {
            let found = report.schema;
            return Err(unreadable(format!("schema {found}, and this program reads {SCHEMA}")));
        }
        Ok(Some(Self { record, figures: report.figures() }))
    }
}

/// The parts of a `report.json` that later runs need.
#[derive(Clone, Debug, Deserialize)]
pub struct SavedReport {
    schema: u64,
    /// Facts of the run.
    pub run: SavedRun,
    overall: Value,
    intervals: BTreeMap<String, Interval>,
    coverage: SavedCoverage,
    /// Cost of the run.
    pub cost: SavedCost,
}

/// The run of a saved report.
#[derive(Clone, Debug, Deserialize)]
pub struct SavedRun {
    /// Its rubric.
    pub rubric: Option<SavedRubric>,
    /// Its judge; `None` with the judge off.
    pub judge: Option<SavedJudge>,
    /// Base URL of the judge; `None` if it is unknown.
    pub base_url: Option<String>,
    /// True if any verdict is the simulator's.
    pub simulated: bool,
    /// Time of its last result, RFC 3339 in UTC; empty in reports of earlier versions.
    #[serde(default)]
    pub finished_at: String,
    /// Absent in reports of earlier versions.
    journal_bytes: Option<u64>,
    /// Absent in reports of earlier versions.
    #[serde(default)]
    fingerprints: Vec<String>,
}

/// The rubric of a saved report.
#[derive(Clone, Debug, Deserialize)]
pub struct SavedRubric {
    /// Id of the rubric.
    pub id: String,
}

/// The judge of a saved report.
#[derive(Clone, Debug, Deserialize)]
pub struct SavedJudge {
    /// Name of the model.
    pub model: String,
}

/// The cost of a saved report.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct SavedCost {
    total_usd: Money,
    cached_verdicts: u64,
    /// Costs of results.
    pub results_usd: Option<Money>,
    /// Expected cost of the jobs with calls.
    pub estimated_usd: Option<Money>,
    /// Calls that are booked at their maximum cost.
    #[serde(default)]
    pub unmetered_calls: u64,
}

/// The needed parts of a `report.json`; `None` if it does not exist. Anything but a regular file of
/// at most the maximum size is an error.
pub fn read_report<Parts: DeserializeOwned>(path: &Path) -> io::Result<Option<Parts>> {
    let file = match open_regular(path, MAX_REPORT_BYTES) {
        Ok(file) => BufReader::new(file.take(MAX_REPORT_BYTES)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(Some(serde_json::from_reader(file)?))
}

/// The coverage of a saved report. Its counts by kind of error are left out: a newer program may
/// know more kinds.
#[derive(Clone, Copy, Debug, Deserialize)]
struct SavedCoverage {
    planned: u64,
    scored: u64,
}

impl SavedReport {
    /// The figure of a metric, by its path in `overall`.
    pub fn figure(&self, path: &str) -> Option<f64> {
        self.overall.pointer(&format!("/{}", path.replace('.', "/")))?.as_f64()
    }

    fn figures(&self) -> RunFigures {
        let Self { coverage, cost, run, .. } = self;
        let past = |(path, interval): (&String, &Interval)| {
            let Interval { n, low, high } = *interval;
            Some((path.clone(), PastMetric { value: self.figure(path)?, n, low, high }))
        };
        RunFigures {
            metrics: self.intervals.iter().filter_map(past).collect(),
            planned: coverage.planned,
            scored: coverage.scored,
            cost_usd: cost.total_usd,
            from_cache: is_from_cache(coverage.scored, cost.cached_verdicts),
            simulated: run.simulated,
            fingerprints: run.fingerprints.clone(),
            journal_bytes: run.journal_bytes,
        }
    }
}
