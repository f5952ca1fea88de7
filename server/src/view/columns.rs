//! The columns of scores that a run's table has.

use juror_types::{
    rubric::{Formula, Rubric},
    verdict::{Score, Verdict},
};

/// A column of scores.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The criterion, or the group of criteria.
    pub key: String,
    /// Its title.
    pub title: String,
    /// Kind of the column.
    pub kind: ColumnKind,
    /// The highest score.
    pub max: f64,
}

/// Subject of a column's scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// One criterion.
    Criterion,
    /// The mean of a group.
    Group,
}

/// The criteria of a sum, the groups of a rubric that has groups; none with the judge off.
pub fn columns(rubric: &Rubric, judged: bool) -> Vec<Column> {
    let max = f64::from(rubric.scale.max);
    let column = |key: &str, title: &str, kind| Column {
        key: key.to_owned(),
        title: title.to_owned(),
        kind,
        max,
    };
    match rubric.formula {
        _ if !judged => Vec::new(),
        Formula::SumOverMax => {
            let criteria = rubric.criteria.iter();
            criteria.map(|one| column(&one.key, &one.title, ColumnKind::Criterion)).collect()
        }
        Formula::WeightedGroups => {
            let groups = rubric.groups.iter();
            groups.map(|one| column(&one.key, &one.title, ColumnKind::Group)).collect()
        }
    }
}

impl Column {
    /// Its score in a verdict.
    pub fn score(&self, verdict: &Verdict) -> Option<f64> {
        match &verdict.score {
            Score::Sum { scores, .. } => scores.get(&self.key).map(|score| f64::from(*score)),
            Score::Groups { dimensions, .. } => {
                dimensions.get(&self.key).map(|dimension| dimension.score)
            }
        }
    }
}
