//! Replies of version 1: scores, then issues and strengths as texts.

use super::{
    ReplyError,
    fields::{Object, get_object, get_score, get_statements, get_text},
};
use indexmap::IndexMap;
use juror_types::rubric::{Formula, JudgeAnswer, Rubric};

pub(super) fn read(rubric: &Rubric, object: &Object) -> Result<JudgeAnswer, ReplyError> {
    match rubric.formula {
        Formula::SumOverMax => sum(rubric, object),
        Formula::WeightedGroups => groups(rubric, object),
    }
}

fn sum(rubric: &Rubric, object: &Object) -> Result<JudgeAnswer, ReplyError> {
    let given = get_object(object, "scores", "scores")?;
    let mut scores = IndexMap::with_capacity(rubric.criteria.len());
    for criterion in &rubric.criteria {
        let place = format!("scores.{}", criterion.key);
        let score = get_score(rubric, given, &criterion.key, &place)?;
        scores.insert(criterion.key.clone(), (score, None));
    }
    Ok(JudgeAnswer {
        scores,
        issues: get_statements(object, "issues")?,
        strengths: get_statements(object, "strengths")?,
        ..JudgeAnswer::default()
    })
}

fn groups(rubric: &Rubric, object: &Object) -> Result<JudgeAnswer, ReplyError> {
    let groups = get_object(object, "scores", "scores")?;
    let mut scores = IndexMap::with_capacity(rubric.criteria.len());
    for group in &rubric.groups {
        let place = format!("scores.{}", group.key);
        let given = get_object(groups, &group.key, &place)?;
        let place = format!("{place}.sub_scores");
        let given = get_object(given, "sub_scores", &place)?;
        for criterion in rubric.criteria_of(&group.key) {
            let place = format!("{place}.{}", criterion.key);
            let given = get_object(given, &criterion.key, &place)?;
            let score = get_score(rubric, given, "score", &format!("{place}.score"))?;
            let rationale = get_text(given, "rationale", &format!("{place}.rationale"))?;
            scores.insert(criterion.key.clone(), (score, Some(rationale)));
        }
    }
    let overall_assessment = get_text(object, "overall_assessment", "overall_assessment")?;
    Ok(JudgeAnswer { scores, overall_assessment, ..JudgeAnswer::default() })
}
