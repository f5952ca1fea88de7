//! Compatibility of two runs for a comparison, and the differences that a reader must know.

use crate::{
    distinct_names::DistinctNames, judge_settings::judge_settings_that_differ, run_report::Report,
};
use juror_journal::journal::JournalError;
use juror_types::{id::RunId, job::RubricReference};

/// Reason why two runs are not compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// The runs were judged by different rubrics, so their scores mean different things.
    #[error("{0}")]
    Rubric(String),
    /// Results cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Refuses two runs with incompatible scores; check before a run costs anything.
pub fn check_rubrics(
    (base_run, base): (&RunId, &RubricReference),
    (head_run, head): (&RunId, &RubricReference),
) -> Result<(), CompareError> {
    if base.digest == head.digest {
        return Ok(());
    }
    Err(CompareError::Rubric(format!(
        "run {base_run} was judged by rubric {} and run {head_run} by {}: their scores do not mean \
         the same; judge one of the datasets again by the other's rubric",
        base.label(),
        head.label()
    )))
}

/// Differences of the judges of two runs, each as a sentence; empty for one and the same judge.
/// `names` has a description, and the names in the results of the base and of the head.
pub(crate) fn judge_differences(
    base: &Report,
    head: &Report,
    names: [(&str, &DistinctNames, &DistinctNames); 2],
) -> Vec<String> {
    let mut differences = Vec::new();
    match (&base.run.judge, &head.run.judge) {
        (Some(base), Some(head)) => {
            differences.extend(judge_settings_that_differ(base, head).into_iter().map(
                |(what, base, head)| format!("{what}: {base} in the base, {head} in the head"),
            ))
        }
        (None, None) => {}
        (Some(_), None) => differences.push(without_judge("head")),
        (None, Some(_)) => differences.push(without_judge("base")),
    }
    match (base.run.simulated, head.run.simulated) {
        (true, false) => differences.push("the base was judged by the simulator".to_owned()),
        (false, true) => differences.push("the head was judged by the simulator".to_owned()),
        _ => {}
    }
    differences.extend(names.into_iter().filter_map(name_difference));
    differences
}

/// Warnings for the reader.
pub(crate) fn warnings(base: &Report, head: &Report) -> Vec<String> {
    let mut warnings = Vec::new();
    for (name, report) in [("base", base), ("head", head)] {
        let coverage = &report.coverage;
        let missing = coverage.planned.saturating_sub(coverage.scored);
        if missing > 0 {
            warnings.push(format!(
                "{missing} of the {} jobs of the {name} are not scored{}",
                coverage.planned,
                if coverage.no_output > 0 {
                    format!(", {} of them without generated code", coverage.no_output)
                } else {
                    String::new()
                }
            ));
        }
    }
    for (name, report) in [("base", base), ("head", head)] {
        if report.uncounted_issues > 0 {
            warnings.push(format!(
                "{} issues of the {name} have no known kind and exceed the limit, so they are not \
                 counted: such issues may wrongly appear as new, gone or changed",
                report.uncounted_issues
            ));
        }
    }
    let (base_repeat, head_repeat) = (base.run.repeat, head.run.repeat);
    if base_repeat != head_repeat {
        warnings.push(format!(
            "judgments of each item differ: {base_repeat} in the base, {head_repeat} in the head"
        ));
    }
    warnings
}

fn without_judge(run: &str) -> String {
    format!(
        "the {run} was run with the judge off: no verdict is compared, and items fail or pass by their \
         files and deterministic stages alone"
    )
}

/// Difference of the names in the results of two runs; `None` if they agree, or where a run has
/// none.
fn name_difference((what, base, head): (&str, &DistinctNames, &DistinctNames)) -> Option<String> {
    let is_known = !base.is_empty() && !head.is_empty();
    (is_known && base != head)
        .then(|| format!("{what}: {} in the base, {} in the head", base.listed(), head.listed()))
}
