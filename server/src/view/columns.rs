//! Columns of scores in a run's table.

use juror_types::{
    rubric::{Formula, Rubric},
    verdict::{Score, Verdict},
};

/// A column of scores.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Key of the criterion or group.
    pub key: String,
    /// Title of the criterion or group.
    pub title: String,
    /// Kind of the column.
    pub kind: ColumnKind,
    /// Maximum score.
    pub max: f64,
}

/// Subject of a column's scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// One criterion.
    Criterion,
    /// Mean of a group of criteria.
    Group,
}

/// Columns of a rubric: its criteria, or its groups if it has some; none with the judge off.
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
    /// The column's score in a verdict.
    pub fn score(&self, verdict: &Verdict) -> Option<f64> {
        match &verdict.score {
            Score::Sum { scores, .. } => scores.get(&self.key).map(|score| f64::from(*score)),
            Score::Groups { dimensions, .. } => {
                dimensions.get(&self.key).map(|dimension| dimension.score)
            }
        }
    }
}
