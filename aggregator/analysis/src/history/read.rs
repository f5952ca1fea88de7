//! Reading of the parts of `report.json` that history needs.

use super::{PastMetric, RunFigures};
use crate::{metrics::Interval, run_facts::is_from_cache};
use juror_files::data_roots::open_regular;
use juror_journal::journal::{JournalError, RunFiles};
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
    /// The run's id.
    pub id: RunId,
    /// Record.
    pub record: RunRecord,
    /// Figures.
    pub figures: RunFigures,
}

/// The error of reading a run's report. The run itself may be intact: `juror report` writes it
/// again.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The run's record cannot be read.
    #[error(transparent)]
    Run(#[from] JournalError),
    /// The results have changed since the report was written.
    #[error("report.json of run {0} is outdated; write it again with: juror report {0}")]
    Outdated(RunId),
    /// The report exists and cannot be read.
    #[error("{} cannot be read: {reason}; write it again with: juror report {run}", path.display())]
    Report {
        /// The run.
        run: RunId,
        /// The file.
        path: PathBuf,
        /// The problem.
        reason: String,
    },
}

impl PastRun {
    /// Reads a run's figures from its current report; none if it has no report yet.
    pub fn read_current(files: &RunFiles) -> Result<Option<Self>, HistoryError> {
        match Self::read(files)? {
            Some(run) if !run.figures.are_current(files) => Err(HistoryError::Outdated(run.id)),
            read => Ok(read),
        }
    }

    /// Reads a run's figures from its last report; none if it has no report yet. Its items are
    /// skipped.
    pub fn read(files: &RunFiles) -> Result<Option<Self>, HistoryError> {
        let record = files.record().clone();
        let id = record.run_id.clone();
        let path = files.path_of("report.json");
        let unreadable =
            |reason| HistoryError::Report { run: id.clone(), path: path.clone(), reason };
        let report: Option<ReportFile> =
            read_report(&path).map_err(|error| unreadable(error.to_string()))?;
        let Some(report) = report else { return Ok(None) };
        if report.schema != u64::from(SCHEMA) {
            let found = report.schema;
            return Err(unreadable(format!("schema {found}, and this program reads {SCHEMA}")));
        }
        Ok(Some(Self { id, record, figures: report.figures() }))
    }
}

/// The needed parts of a `report.json`; none if it does not exist. Anything but a regular file of
/// at most the maximum size is an error.
pub fn read_report<Parts: DeserializeOwned>(path: &Path) -> io::Result<Option<Parts>> {
    let file = match open_regular(path, MAX_REPORT_BYTES) {
        Ok(file) => BufReader::new(file.take(MAX_REPORT_BYTES)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(Some(serde_json::from_reader(file)?))
}

#[derive(Deserialize)]
struct ReportFile {
    schema: u64,
    run: RunPart,
    overall: Value,
    intervals: BTreeMap<String, Interval>,
    coverage: CoveragePart,
    cost: CostPart,
}

#[derive(Deserialize)]
struct RunPart {
    simulated: bool,
    /// Absent in reports of earlier versions.
    journal_bytes: Option<u64>,
    /// Absent in reports of earlier versions.
    #[serde(default)]
    fingerprints: Vec<String>,
}

#[derive(Deserialize)]
struct CoveragePart {
    planned: u64,
    scored: u64,
}

#[derive(Deserialize)]
struct CostPart {
    total_usd: Money,
    cached_verdicts: u64,
}

impl ReportFile {
    fn figures(self) -> RunFigures {
        let Self { overall, intervals, coverage, cost, run, .. } = self;
        let of = |(path, Interval { n, low, high }): (String, Interval)| {
            let place = format!("/{}", path.replace('.', "/"));
            let value = overall.pointer(&place)?.as_f64()?;
            Some((path, PastMetric { value, n, low, high }))
        };
        RunFigures {
            metrics: intervals.into_iter().filter_map(of).collect(),
            planned: coverage.planned,
            scored: coverage.scored,
            cost_usd: cost.total_usd,
            from_cache: is_from_cache(coverage.scored, cost.cached_verdicts),
            simulated: run.simulated,
            fingerprints: run.fingerprints,
            journal_bytes: run.journal_bytes,
        }
    }
}
