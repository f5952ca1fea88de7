//! Agreement of the judge with people. Pure, except for [`stored_calibration`], which reads existing
//! calibrations.
//!
//! docs/calibrate.md explains each figure.

mod agreement;
mod bootstrap;
mod calibration_scope;
mod contingency_table;
mod correlation;
mod figure;
mod human_labels;
mod ordinal_agreement;
mod pairing;
mod raters;
mod shortfall;
pub mod stored_calibration;
mod whole_score;

pub use agreement::Agreement;
pub use calibration_scope::CalibrationScope;
pub use figure::Figure;
pub use human_labels::{HumanLabels, LabelError};
pub use ordinal_agreement::Confusion;
pub use pairing::LabelCoverage;
pub use raters::RaterAgreement;

use crate::{
    format::counted,
    metrics::{score_key, title_of},
    results_by_item::results_by_item,
};
use juror_journal::journal::JournalError;
use juror_types::{
    SCHEMA,
    id::{Digest, RunId},
    outcome::JobResult,
    rubric::Rubric,
    run::RunRecord,
};
use ordinal_agreement::Steps;
use pairing::{Pairing, RatedColumn};
use serde::{Deserialize, Serialize};

/// Number of clusters below which intervals are unreliable.
const FEW_CLUSTERS: usize = 10;

/// Calibration of a judge against people: `calibration.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Version of this file.
    pub schema: u32,
    /// Time of its creation, RFC 3339 in UTC.
    pub created_at: String,
    /// Id of the run.
    pub run: RunId,
    /// Judge, rubric and preparation of images that it holds for.
    #[serde(rename = "binding")]
    pub scope: CalibrationScope,
    /// Base URL of the judge.
    pub base_url: Option<String>,
    /// Judgments of each item; the mean counts.
    pub repeat: u32,
    /// Source of the labels.
    pub labels: LabelSource,
    /// Overlap of labels and scores.
    pub coverage: LabelCoverage,
    /// Total score as a share from 0 to 1, in steps of a tenth.
    pub score: CriterionCalibration,
    /// Criteria, in points and whole steps.
    pub criteria: Vec<CriterionCalibration>,
    /// Warnings for the reader.
    pub warnings: Vec<String>,
}

/// Source of labels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelSource {
    /// The file as named; `None` if the labels came with the items.
    pub file: Option<String>,
    /// The file's digest.
    pub digest: Option<Digest>,
    /// Number of named raters.
    pub raters: u64,
    /// Number of ratings, one for each item and rater.
    pub ratings: u64,
}

/// Calibration of the judge on one criterion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CriterionCalibration {
    /// Key of the criterion in its rubric.
    pub key: String,
    /// Title in reports.
    pub title: String,
    /// Agreement of the judge with people.
    pub agreement: Agreement,
    /// Agreement of people with each other.
    pub people: RaterAgreement,
}

/// Input of a calibration.
#[derive(Clone, Copy, Debug)]
pub struct CalibrationInput<'a> {
    /// Record of the run.
    pub record: &'a RunRecord,
    /// Scope of the run's judge, of the same record.
    pub scope: &'a CalibrationScope,
    /// Base URL of the judge, as the run's report has it.
    pub base_url: Option<&'a str>,
    /// Rubric of the run.
    pub rubric: &'a Rubric,
    /// Ratings of people.
    pub labels: &'a HumanLabels,
    /// Their file.
    pub file: Option<&'a str>,
    /// Now, RFC 3339 in UTC.
    pub created_at: &'a str,
}

impl Calibration {
    /// Total score, followed by the criteria.
    pub fn all(&self) -> impl Iterator<Item = &CriterionCalibration> {
        std::iter::once(&self.score).chain(&self.criteria)
    }
}

/// Computes a calibration from current results, sorted by item, and the ratings of people.
pub fn calibrate(
    input: CalibrationInput<'_>,
    results: impl Iterator<Item = Result<JobResult, JournalError>>,
) -> Result<Calibration, JournalError> {
    let CalibrationInput { record, rubric, labels, .. } = input;
    let mut pairing = Pairing::new(rubric, labels);
    for item in results_by_item(results) {
        pairing.add(&item?);
    }
    let (whole, columns, coverage) = pairing.finish();
    let calibrated = |key: &str, column: &RatedColumn, steps: Steps| {
        let RatedColumn { paired, ratings } = column;
        CriterionCalibration {
            key: key.to_owned(),
            title: title_of(key),
            agreement: Agreement::from_pairs(paired, steps),
            people: RaterAgreement::from_ratings(ratings, &paired.clusters),
        }
    };
    let (least, most) = (f64::from(rubric.scale.min), f64::from(rubric.scale.max));
    let points = Steps { least, most, width: 1.0 };
    let criteria = rubric.criteria.iter().zip(&columns);
    let criteria = criteria.map(|(criterion, column)| calibrated(&criterion.key, column, points));
    let tenths = Steps { least: 0.0, most: 1.0, width: 0.1 };
    let mut calibration = Calibration {
        schema: SCHEMA,
        created_at: input.created_at.to_owned(),
        run: record.run_id.clone(),
        scope: input.scope.clone(),
        base_url: input.base_url.map(str::to_owned),
        repeat: record.repeat,
        labels: LabelSource {
            file: input.file.map(str::to_owned),
            digest: labels.digest,
            raters: labels.raters(),
            ratings: labels.ratings(),
        },
        score: calibrated(score_key(rubric), &whole, tenths),
        criteria: criteria.collect(),
        warnings: warnings(std::iter::once(&whole).chain(&columns), &coverage),
        coverage,
    };
    let shortfall = calibration.shortfall();
    let warning = shortfall.map(|reason| format!("the judge is not calibrated: {reason}"));
    calibration.warnings.extend(warning);
    Ok(calibration)
}

fn warnings<'a>(
    columns: impl Iterator<Item = &'a RatedColumn>,
    coverage: &LabelCoverage,
) -> Vec<String> {
    let mut warnings = Vec::new();
    for (ids, what) in [
        (&coverage.unknown, "the run has no such items"),
        (&coverage.not_scored, "the run did not score those items"),
    ] {
        if !ids.is_empty() {
            warnings.push(format!(
                "{} of the {} labeled ids are ignored: {what}",
                ids.len(),
                coverage.labelled_items
            ));
        }
    }
    let groups = |column: &RatedColumn| {
        let clusters = &column.paired.clusters;
        let mut named: Vec<usize> = clusters.iter().flatten().copied().collect();
        let alone = clusters.len() - named.len();
        named.sort_unstable();
        named.dedup();
        (!named.is_empty()).then_some(named.len() + alone)
    };
    let fewest = columns.filter_map(groups).min();
    warnings.extend(fewest.filter(|groups| *groups < FEW_CLUSTERS).map(|groups| {
        format!(
            "the intervals are based on {}: below {FEW_CLUSTERS} they are unreliable",
            counted(groups as u64, "cluster")
        )
    }));
    warnings
}

#[cfg(test)]
mod expected_tests;

#[cfg(test)]
pub(crate) mod tests;
