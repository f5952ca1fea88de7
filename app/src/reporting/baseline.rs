//! The run that another one is compared against.

use crate::{
    error::AppError,
    rubrics,
    settings::{LikelyClusterPolicy, Settings},
};
use juror_analysis::{
    compare::{Side, check_rubrics, compare},
    comparison::{Comparison, Rules},
    fold::Fold,
    run_report::Report,
    summary::{SummaryInput, summarize},
};
use juror_journal::journal::RunFiles;
use juror_types::{id::RunId, job::RubricReference};
use std::path::Path;

/// A run that is there to be compared, and how that is decided.
pub struct Baseline {
    files: RunFiles,
    rules: Rules,
}

impl Baseline {
    /// The run of this id in the runs directory, or in this directory, or that this file (its
    /// report, say) lies beside.
    pub fn open(named: &str, settings: &Settings) -> Result<Self, AppError> {
        Ok(Self { files: open_run(named, &settings.run.runs_dir)?, rules: rules(settings) })
    }

    /// The run that is named, if one is.
    pub fn named(named: Option<&str>, settings: &Settings) -> Result<Option<Self>, AppError> {
        named.map(|named| Self::open(named, settings)).transpose()
    }

    /// The run's files.
    pub fn files(&self) -> &RunFiles {
        &self.files
    }

    /// Refuses a run by another rubric; ask before it is paid for.
    pub fn check(&self, head: &RunId, rubric: &RubricReference) -> Result<(), AppError> {
        let record = self.files.record();
        check_rubrics((&record.run_id, &record.rubric), (head, rubric)).map_err(AppError::from)
    }

    /// Comparison of this run with another one, of which there is a report.
    pub fn compared(&self, head: &RunFiles, report: &Report) -> Result<Comparison, AppError> {
        self.check(&report.run.id, &report.run.rubric)?;
        let own = self.report(&self.files)?;
        let base =
            Side { report: &own, results: own.items.read(&self.files).map_err(AppError::from)? };
        let head = Side { report, results: report.items.read(head).map_err(AppError::from)? };
        compare(base, head, self.rules).map_err(AppError::from)
    }

    /// Comparison of this run with another one.
    pub fn compared_with(&self, head: &RunFiles) -> Result<Comparison, AppError> {
        let record = head.record();
        self.check(&record.run_id, &record.rubric)?;
        self.compared(head, &self.report(head)?)
    }

    fn report(&self, files: &RunFiles) -> Result<Report, AppError> {
        report_of(files, self.rules.averaging)
    }
}

/// Rules of comparisons by these settings.
pub fn rules(settings: &Settings) -> Rules {
    Rules {
        margin: settings.compare.margin,
        strict: settings.compare.strict,
        max_lost: settings.compare.max_lost,
        fallen_by: settings.compare.fallen_by,
        fallen_share: settings.compare.fallen_share,
        use_likely_clusters: settings.compare.likely_clusters == LikelyClusterPolicy::Use,
        averaging: settings.run.averaging_policy(),
    }
}

/// Report of a run's results, without what the ledger knows of its cost.
pub fn report_of(
    files: &RunFiles,
    averaging: juror_analysis::metrics::AveragingPolicy,
) -> Result<Report, AppError> {
    let (rubric, _) = rubrics::recorded(files.record())?;
    let input = SummaryInput {
        counted: &Fold::of_journal(files).map_err(AppError::from)?.counted(),
        rubric: &rubric,
        ledger: None,
        gate: None,
        earlier: &[],
        averaging,
        finished_at: jiff::Timestamp::now().to_string(),
    };
    summarize(files, &input).map_err(AppError::from)
}

/// The files of a run by its id in the runs directory, or by a path.
pub fn open_run(named: &str, runs_dir: &Path) -> Result<RunFiles, AppError> {
    if let Ok(run) = RunId::parse(named)
        && runs_dir.join(named).join("run.json").exists()
    {
        return RunFiles::open(runs_dir, &run).map_err(AppError::from);
    }
    let path = Path::new(named);
    let directory = if path.is_file() { path.parent().unwrap_or(path) } else { path };
    if !directory.is_dir() {
        return Err(AppError::invalid(format!(
            "there is no run {named:?} in {}, and no run directory of that path; `juror runs` \
             lists the runs",
            runs_dir.display()
        )));
    }
    RunFiles::open_directory(directory).map_err(AppError::from)
}
