//! Two runs of the same items: did it get worse, where, and how sure is that? Pure.
//!
//! Items are paired by id and input, their repeats averaged first. The decisive metric is the
//! rubric's one number, as a share; docs/compare.md tells a reader what each figure means.

mod comparable;
mod comparison;
mod decision;
mod difference;
mod figures;
mod holm;
mod issues;
mod item;
mod lists;
mod markdown;
mod mcnemar;
mod output;
mod power;
mod scan;
mod settle;
mod words;

pub use comparable::{CompareError, check_rubrics};
pub use comparison::{ComparedRun, Comparison, MetricDifference, PassDifference};
pub use decision::Decision;
pub use difference::{Difference, Pairs};
pub use holm::holm;
pub use issues::{IssueChange, IssueChanges, issue_changes};
pub use lists::{ItemChange, ItemLists, NewFailure};
pub use markdown::render as render_markdown;
pub use mcnemar::PassTable;
pub use output::{ComparisonFormat, ComparisonOutputError, write_comparison};
pub use scan::Side;
pub use settle::Settling;

pub(crate) use comparable::judge_settings_that_differ;
pub(crate) use figures::{change, p_value, size};
pub(crate) use words::{failure_words, headline, item_counts, settling_words};

use crate::{journal::JournalError, metrics::AveragingPolicy};
use juror_common::{SCHEMA, outcome::JobResult};
use std::collections::BTreeSet;

/// How a comparison is decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// A change of the decisive metric, as a share, that does not matter.
    pub margin: f64,
    /// Whether a criterion that got worse decides too.
    pub strict: bool,
    /// Whether failed jobs count as zeros.
    pub averaging: AveragingPolicy,
}

/// Compares two runs of one rubric.
pub fn compare<R>(
    base: Side<'_, R>,
    head: Side<'_, R>,
    rules: Rules,
) -> Result<Comparison, CompareError>
where
    R: Iterator<Item = Result<JobResult, JournalError>>,
{
    let (before, after) = (base.report, head.report);
    check_rubrics((&before.run.id, &before.run.rubric), (&after.run.id, &after.run.rubric))?;
    let scanned = scan::scan(base, head, rules)?;
    let margin = rules.margin;
    let (decision, reason) =
        decision::decide(&scanned.decisive, &scanned.criteria, margin, rules.strict);
    let unsettled = scanned.decisive.decision == Decision::Inconclusive;
    let settling = unsettled.then(|| {
        settle::settling(&scanned.decisive.difference, margin, scanned.base, scanned.head)
    });
    // Where nobody was asked, that an issue was not named tells nothing.
    let both_judged = [before, after].iter().all(|report| report.coverage.scored > 0);
    let issues = match both_judged {
        true => issue_changes(&before.common_issues, &after.common_issues, margin),
        false => IssueChanges::default(),
    };
    let mut warnings = comparable::warnings(before, after);
    warnings.extend(scan_warnings(&scanned));
    Ok(Comparison {
        schema: SCHEMA,
        decision,
        reason,
        margin,
        strict: rules.strict,
        simulated: before.run.simulated || after.run.simulated,
        judge_differences: comparable::judge_differences(before, after),
        warnings,
        base: ComparedRun::of(before),
        head: ComparedRun::of(after),
        paired: scanned.paired,
        decisive: scanned.decisive,
        criteria: scanned.criteria,
        metrics: scanned.metrics,
        passes: scanned.passes,
        settling: settling.flatten(),
        items: scanned.items,
        issues,
    })
}

/// What a reader must know of the pairs.
fn scan_warnings(scanned: &scan::Scanned) -> Vec<String> {
    let mut warnings = Vec::new();
    let groups = scanned.decisive.difference.groups;
    if scanned.clusters > 0 && groups > 0 && groups < 10 {
        warnings
            .push(format!("the intervals rest on {groups} clusters: below 10 they tell little"));
    }
    if scanned.unverified > 0 {
        warnings.push(format!(
            "{} of the {} pairs are by id alone: the digest of the input is not known in both runs",
            scanned.unverified, scanned.paired
        ));
    }
    if let Some((before, after)) = &scanned.other_backends {
        let listed = |backends: &BTreeSet<String>| {
            backends.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
        };
        warnings.push(format!(
            "the provider answered by other backends: {} in the base, {} in the head",
            listed(before),
            listed(after)
        ));
    }
    warnings
}

#[cfg(test)]
mod expected_tests;
#[cfg(test)]
mod tests;
