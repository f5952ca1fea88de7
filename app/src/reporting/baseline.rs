//! Baselines and comparisons with them.

use super::{
    baseline_warnings::{WarningTerms, warnings},
    run_lookup::find_run,
};
use crate::{
    error::AppError,
    rubrics,
    settings::{FlakyPolicy, LikelyClusterPolicy, Settings},
};
use jiff::Timestamp;
use juror_analysis::{
    compare_runs::{Side, check_rubrics, compare},
    comparison::{Comparison, Rules},
    compute_report::{ReportInput, compute_report},
    fold::Fold,
    metrics::AveragingPolicy,
    run_report::Report,
    stability::ItemStability,
};
use juror_journal::{
    blessed::{BlessedRun, results_digest},
    journal::RunFiles,
};
use juror_ledger::admission::RunAccount;
use juror_types::{id::RunId, job::RubricReference};

/// A run to compare against, with the rules of the comparison.
pub struct Baseline {
    files: RunFiles,
    /// Record of its blessing, if it was named by that.
    blessed: Option<BlessedRun>,
    rules: Rules,
    max_age_days: u32,
}

impl Baseline {
    /// Opens the run in this directory, or next to this file (its report, for example), or of this
    /// id in the runs directory, or blessed by this name.
    pub fn open(named: &str, settings: &Settings) -> Result<Self, AppError> {
        let found = find_run(named, &settings.run.runs_dir)?;
        let max_age_days = settings.compare.max_baseline_age_days;
        Ok(Self {
            files: found.files,
            blessed: found.blessed,
            rules: rules(settings),
            max_age_days,
        })
    }

    /// The run of `run.baseline`, if it is set.
    pub fn from_settings(settings: &Settings) -> Result<Option<Self>, AppError> {
        settings.run.baseline().map(|named| Self::open(named, settings)).transpose()
    }

    /// Files of the run.
    pub fn files(&self) -> &RunFiles {
        &self.files
    }

    /// Refuses a run by another rubric, and a baseline that lost results since it was blessed; call
    /// it before anything is spent.
    pub fn check(&self, head: &RunId, rubric: &RubricReference) -> Result<(), AppError> {
        let record = self.files.record();
        check_rubrics((&record.run_id, &record.rubric), (head, rubric))?;
        match &self.blessed {
            Some(blessed) if results_digest(&self.files)? != blessed.results_digest => {
                self.check_complete(blessed)
            }
            _ => Ok(()),
        }
    }

    /// Compares with a run that has a report.
    pub fn compared(
        &self,
        head: &RunFiles,
        report: &Report,
        stability: &ItemStability,
    ) -> Result<Comparison, AppError> {
        self.check(&report.run.id, &report.run.rubric)?;
        let own = self.report(&self.files)?;
        let base = Side { report: &own, files: &self.files };
        let other = Side { report, files: head };
        let mut comparison = compare(base, other, self.rules, stability)?;
        let terms = WarningTerms { max_age_days: self.max_age_days, now: Timestamp::now() };
        let blessed = self.blessed.as_ref();
        comparison.warnings.extend(warnings(&self.files, blessed, head.record(), terms)?);
        Ok(comparison)
    }

    /// Compares with a run.
    pub fn compared_with(&self, head: &RunFiles) -> Result<Comparison, AppError> {
        let record = head.record();
        self.check(&record.run_id, &record.rubric)?;
        let stability = stability(head, self.rules)?;
        self.compared(head, &self.report(head)?, &stability)
    }

    fn check_complete(&self, BlessedRun { name, run_id, .. }: &BlessedRun) -> Result<(), AppError> {
        let jobs = self.files.record().jobs();
        match jobs.saturating_sub(Fold::from_journal(&self.files)?.len()) {
            0 => Ok(()),
            missing => Err(AppError::invalid(format!(
                "{missing} of {jobs} results of run {run_id} are lost since it was blessed as {name}: \
                 restore its results.jsonl, or bless another run with: juror bless RUN --name {name}"
            ))),
        }
    }

    fn report(&self, files: &RunFiles) -> Result<Report, AppError> {
        report_of(files, None, self.rules.averaging)
    }
}

/// Rules of comparisons in the settings.
pub fn rules(settings: &Settings) -> Rules {
    Rules {
        margin: settings.compare.margin,
        strict: settings.compare.strict,
        max_lost: settings.compare.max_lost,
        fallen_by: settings.compare.fallen_by,
        fallen_share: settings.compare.fallen_share,
        flaky_runs: settings.compare.flaky_runs,
        leave_out_flaky: settings.compare.flaky == FlakyPolicy::LeaveOut,
        use_likely_clusters: settings.compare.likely_clusters == LikelyClusterPolicy::Use,
        averaging: settings.run.averaging_policy(),
    }
}

/// Stability of a run's items over the runs of the same items, rubric and judge.
pub fn stability(files: &RunFiles, rules: Rules) -> Result<ItemStability, AppError> {
    let (rubric, _) = rubrics::recorded(files.record())?;
    let Rules { flaky_runs, averaging, .. } = rules;
    ItemStability::from_run(files, flaky_runs, &rubric, averaging).map_err(AppError::from)
}

/// Report of a run's results, without a gate; costs are the ledger's where one is given.
pub fn report_of(
    files: &RunFiles,
    ledger: Option<RunAccount>,
    averaging: AveragingPolicy,
) -> Result<Report, AppError> {
    let (rubric, _) = rubrics::recorded(files.record())?;
    let input = ReportInput { ledger, ..ReportInput::new(&rubric, averaging) };
    compute_report(files, &input).map_err(AppError::from)
}
