//! Computation of a verdict from a judge's scores. A model's own totals are never used.

use super::{
    Criterion, Formula, ReplyVersion, Rubric, contradiction_checks::contradictions_within_reply,
};
use crate::{
    finding::Finding,
    verdict::{Dimension, Score, SubScore, Verdict},
};
use indexmap::IndexMap;

/// A parsed reply of the judge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParsedReply {
    /// Score and, where the form has one, rationale by criterion.
    pub scores: IndexMap<String, (u32, Option<String>)>,
    /// Defects; version 2 only.
    pub findings: Vec<Finding>,
    /// Texts of the item that try to instruct the judge; version 2 only.
    pub suspected_instructions: Vec<String>,
    /// Defects as texts; `sum_over_max` of version 1 only.
    pub issues: Vec<String>,
    /// Strengths; not read for `weighted_groups` of version 1.
    pub strengths: Vec<String>,
    /// The summary; not read for `sum_over_max`.
    pub overall_assessment: String,
}

/// The error of a reply without a verdict.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum AnswerError {
    /// A criterion has no score.
    #[error("the score of {key:?} is missing")]
    Missing { key: String },
    /// A score lies outside the rubric's scale.
    #[error("the score of {key:?} is {score}, outside the scale of {min} to {max}")]
    OutOfRange {
        key: String,
        /// The judge's score.
        score: u32,
        /// The scale's worst score.
        min: u32,
        /// The scale's best score.
        max: u32,
    },
}

/// Computes the verdict of a reply.
///
/// `sum_over_max`: `total_score` = Σ weight × score, `max_score` = Σ weight × scale.max, and
/// semantic_correctness is the one over the other. On a scale that does not start at 0, the worst
/// correctness is therefore min / max, not 0, just as in `weighted_groups`.
///
/// `weighted_groups`: a group's score is the mean of its criteria, `weighted_total` = Σ weight ×
/// group score, `percentage` = 100 × `weighted_total` / Σ weight × scale.max, and the grade is the
/// best whose bound the percentage reaches (an empty text in a rubric without grades).
///
/// Issues are the statements of the findings. By version 1 of `weighted_groups` they are the
/// rationales of scores in the lowest quarter of the scale (2 and less of 1 to 5), and strengths
/// those of the top score; by version 2 too where no strengths are requested.
///
/// Totals and their quotients are rounded to nine decimals at the very end, so that 90 percent is
/// exactly 90.
pub fn score(rubric: &Rubric, answer: ParsedReply) -> Result<Verdict, AnswerError> {
    let mut answer = answer;
    for criterion in &rubric.criteria {
        check_score(rubric, criterion, &answer)?;
    }
    let contradictions = contradictions_within_reply(rubric, &answer);
    let mut verdict = match rubric.formula {
        Formula::SumOverMax => {
            let score = sum_over_max(rubric, &answer);
            let rationales = rationales(&answer.scores);
            let (issues, strengths) = (answer.issues, answer.strengths);
            Verdict { issues, strengths, rationales, ..Verdict::new(rubric.name(), score) }
        }
        Formula::WeightedGroups => {
            let dimensions = dimensions(rubric, &mut answer);
            let issues = remarks(rubric, &dimensions, |score| in_lowest_quarter(rubric, score));
            let top = remarks(rubric, &dimensions, |score| score == rubric.scale.max);
            let score = weighted_groups(rubric, dimensions, answer.overall_assessment);
            let strengths = if answer.strengths.is_empty() { top } else { answer.strengths };
            Verdict { issues, strengths, ..Verdict::new(rubric.name(), score) }
        }
    };
    if rubric.reply == ReplyVersion::Two {
        verdict.issues = answer.findings.iter().map(|finding| finding.statement.clone()).collect();
        verdict.findings = answer.findings;
        verdict.suspected_instructions = answer.suspected_instructions;
    }
    verdict.contradictions = contradictions;
    Ok(verdict)
}

/// The verdict of a job that failed or had no output: all scores zero, with the reason as its only
/// issue. The settings `failed_jobs` and `missing_output` decide how averages count it.
pub fn zero(rubric: &Rubric, message: &str) -> Verdict {
    let scores = rubric.criteria.iter().map(|criterion| (criterion.key.clone(), (0, None)));
    let mut answer = ParsedReply { scores: scores.collect(), ..ParsedReply::default() };
    let score = match rubric.formula {
        Formula::SumOverMax => sum_over_max(rubric, &answer),
        Formula::WeightedGroups => {
            let dimensions = dimensions(rubric, &mut answer);
            weighted_groups(rubric, dimensions, String::new())
        }
    };
    let issues = vec![format!("not judged: {message}")];
    Verdict { issues, ..Verdict::new(rubric.name(), score) }
}

fn rationales(scores: &IndexMap<String, (u32, Option<String>)>) -> IndexMap<String, String> {
    let given = |(key, (_, why)): (&String, &(u32, Option<String>))| {
        why.as_ref().map(|why| (key.clone(), why.clone()))
    };
    scores.iter().filter_map(given).collect()
}

fn check_score(
    rubric: &Rubric,
    criterion: &Criterion,
    answer: &ParsedReply,
) -> Result<(), AnswerError> {
    let key = &criterion.key;
    let (min, max) = (rubric.scale.min, rubric.scale.max);
    match answer.scores.get(key) {
        None => Err(AnswerError::Missing { key: key.clone() }),
        Some((score, _)) if (min..=max).contains(score) => Ok(()),
        Some((score, _)) => {
            Err(AnswerError::OutOfRange { key: key.clone(), score: *score, min, max })
        }
    }
}

fn sum_over_max(rubric: &Rubric, answer: &ParsedReply) -> Score {
    let mut scores = IndexMap::with_capacity(rubric.criteria.len());
    let (mut total_score, mut max_score) = (0.0, 0.0);
    for criterion in &rubric.criteria {
        let score = answer.scores.get(&criterion.key).map_or(0, |(score, _)| *score);
        total_score += criterion.weight * f64::from(score);
        max_score += criterion.weight * f64::from(rubric.scale.max);
        scores.insert(criterion.key.clone(), score);
    }
    Score::Sum {
        semantic_correctness: nine_decimals(total_score / max_score),
        scores,
        total_score: nine_decimals(total_score),
        max_score: nine_decimals(max_score),
    }
}

fn dimensions(rubric: &Rubric, answer: &mut ParsedReply) -> IndexMap<String, Dimension> {
    let mut dimensions = IndexMap::with_capacity(rubric.groups.len());
    for group in &rubric.groups {
        let mut sub_scores = IndexMap::new();
        for criterion in rubric.criteria_of(&group.key) {
            if let Some((score, rationale)) = answer.scores.get_mut(&criterion.key) {
                let rationale = rationale.take().unwrap_or_default();
                sub_scores.insert(criterion.key.clone(), SubScore { score: *score, rationale });
            }
        }
        let sum: f64 = sub_scores.values().map(|sub_score| f64::from(sub_score.score)).sum();
        let score = sum / sub_scores.len().max(1) as f64;
        dimensions.insert(group.key.clone(), Dimension { score, sub_scores });
    }
    dimensions
}

fn weighted_groups(
    rubric: &Rubric,
    dimensions: IndexMap<String, Dimension>,
    overall_assessment: String,
) -> Score {
    let (mut total, mut most) = (0.0, 0.0);
    for group in &rubric.groups {
        total += group.weight * dimensions.get(&group.key).map_or(0.0, |group| group.score);
        most += group.weight * f64::from(rubric.scale.max);
    }
    let percentage = nine_decimals(100.0 * total / most);
    let grade = rubric.grades.iter().find(|grade| percentage >= grade.from);
    Score::Groups {
        dimensions,
        weighted_total: nine_decimals(total),
        percentage,
        grade: grade.map(|grade| grade.name.clone()).unwrap_or_default(),
        overall_assessment,
    }
}

/// The rationales of the selected scores, each with its criterion's title.
fn remarks(
    rubric: &Rubric,
    dimensions: &IndexMap<String, Dimension>,
    chosen: impl Fn(u32) -> bool,
) -> Vec<String> {
    let mut remarks = Vec::new();
    for criterion in &rubric.criteria {
        let group = criterion.group.as_ref().and_then(|group| dimensions.get(group));
        let sub_score = group.and_then(|group| group.sub_scores.get(&criterion.key));
        if let Some(SubScore { rationale, .. }) = sub_score.filter(|found| chosen(found.score)) {
            remarks.push(match rationale.as_str() {
                "" => criterion.title.clone(),
                rationale => format!("{}: {rationale}", criterion.title),
            });
        }
    }
    remarks
}

fn in_lowest_quarter(rubric: &Rubric, score: u32) -> bool {
    let (min, max) = (rubric.scale.min, rubric.scale.max);
    score.saturating_sub(min).saturating_mul(4) <= max.saturating_sub(min)
}

/// Rounds to nine decimals: weights and counts are small, so smaller differences are rounding
/// errors of binary fractions.
fn nine_decimals(number: f64) -> f64 {
    (number * 1e9).round() / 1e9
}

#[cfg(test)]
mod tests;
