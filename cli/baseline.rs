//! The run that another one is compared against.

use crate::{
    args::BaselineFlags,
    commands::rubric,
    exit::{Exit, Failure},
    finish::journal_failure,
};
use juror_analysis::{
    compare::{CompareError, Side, check_rubrics, compare},
    comparison::{Comparison, Decision, Rules},
    fold::Fold,
    run_report::Report,
    summary::{SummaryInput, summarize},
};
use juror_app::settings::{LikelyClusterPolicy, Settings};
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
    pub fn open(named: &str, settings: &Settings) -> Result<Self, Failure> {
        Ok(Self { files: open_run(named, &settings.run.runs_dir)?, rules: rules(settings) })
    }

    /// The run that is named, if one is.
    pub fn named(named: Option<&str>, settings: &Settings) -> Result<Option<Self>, Failure> {
        named.map(|named| Self::open(named, settings)).transpose()
    }

    /// The run's files.
    pub fn files(&self) -> &RunFiles {
        &self.files
    }

    /// Refuses a run by another rubric; ask before it is paid for.
    pub fn check(&self, head: &RunId, rubric: &RubricReference) -> Result<(), Failure> {
        let record = self.files.record();
        check_rubrics((&record.run_id, &record.rubric), (head, rubric)).map_err(compare_failure)
    }

    /// What became of this run in another one, of which there is a report.
    pub fn compared(&self, head: &RunFiles, report: &Report) -> Result<Comparison, Failure> {
        self.check(&report.run.id, &report.run.rubric)?;
        let own = self.report(&self.files)?;
        let base =
            Side { report: &own, results: own.items.read(&self.files).map_err(journal_failure)? };
        let head = Side { report, results: report.items.read(head).map_err(journal_failure)? };
        compare(base, head, self.rules).map_err(compare_failure)
    }

    /// What became of this run in another one.
    pub fn compared_with(&self, head: &RunFiles) -> Result<Comparison, Failure> {
        let record = head.record();
        self.check(&record.run_id, &record.rubric)?;
        self.compared(head, &self.report(head)?)
    }

    fn report(&self, files: &RunFiles) -> Result<Report, Failure> {
        report_of(files, self.rules.averaging)
    }
}

/// Refuses flags of a comparison where no comparison is asked for.
pub fn check_flags(flags: &BaselineFlags) -> Result<(), Failure> {
    let comparing = &flags.comparing;
    let given = [
        ("--strict", comparing.strict),
        ("--margin", comparing.margin.is_some()),
        ("--max-lost", comparing.max_lost.is_some()),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given && flags.baseline.is_none()) {
        Some((flag, _)) => Err(Failure::usage(format!(
            "{flag} decides a comparison, and none is asked for: add --baseline RUN, or leave out \
             {flag}"
        ))),
        None => Ok(()),
    }
}

/// How comparisons are decided by these settings.
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

/// What a run's results say, without what the ledger knows of its cost.
pub fn report_of(
    files: &RunFiles,
    averaging: juror_analysis::metrics::AveragingPolicy,
) -> Result<Report, Failure> {
    let (rubric, _) = rubric::recorded(files.record())?;
    let input = SummaryInput {
        counted: &Fold::of_journal(files).map_err(journal_failure)?.counted(),
        rubric: &rubric,
        ledger: None,
        gate: None,
        earlier: &[],
        averaging,
        finished_at: jiff::Timestamp::now().to_string(),
    };
    summarize(files, &input).map_err(journal_failure)
}

/// The files of a run by its id in the runs directory, or by a path.
pub fn open_run(named: &str, runs_dir: &Path) -> Result<RunFiles, Failure> {
    if let Ok(run) = RunId::parse(named)
        && runs_dir.join(named).join("run.json").exists()
    {
        return RunFiles::open(runs_dir, &run).map_err(journal_failure);
    }
    let path = Path::new(named);
    let directory = if path.is_file() { path.parent().unwrap_or(path) } else { path };
    if !directory.is_dir() {
        return Err(Failure::usage(format!(
            "there is no run {named:?} in {}, and no run directory of that path; `juror runs` \
             lists the runs",
            runs_dir.display()
        )));
    }
    RunFiles::open_directory(directory).map_err(journal_failure)
}

/// The exit code that a comparison asks for.
pub fn exit_of(comparison: &Comparison) -> Exit {
    match comparison.decision {
        Decision::Worse => Exit::Gate,
        Decision::Inconclusive if comparison.strict => Exit::Inconclusive,
        Decision::Inconclusive | Decision::Same | Decision::Better => Exit::Done,
    }
}

fn compare_failure(error: CompareError) -> Failure {
    match error {
        CompareError::Journal(error) => journal_failure(error),
        CompareError::Rubric { .. } => Failure::usage(error),
    }
}
