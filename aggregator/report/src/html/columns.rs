//! The table's columns of figures: scores as the rubric has them, the stages that have data, and
//! what each job took.

use crate::html::page_plan::{StageColumns, verdict_of};
use crate::sanitize::harmless;
use juror_analysis::{
    format::{decimals, dollars, figure},
    metrics::{Unit, score_of, title_of},
    run_report::Report,
};
use juror_types::{outcome::JobResult, rubric::Formula, verdict::Score};

/// One column of figures.
pub struct TableColumn<'a> {
    /// A short name.
    pub head: String,
    /// The whole name, where the head is not it.
    pub title: Option<String>,
    of: ColumnFigure<'a>,
}

enum ColumnFigure<'a> {
    Correctness,
    Grade,
    Criterion(&'a str),
    Group(&'a str),
    Tokens,
    Pattern,
    Compiles,
    Quality,
    Passed,
    Seconds,
    Dollars,
}

/// The columns of a run.
pub fn columns(report: &Report, stages: StageColumns) -> Vec<TableColumn<'_>> {
    let plain = |head: &str, of| TableColumn { head: head.to_owned(), title: None, of };
    let mut columns = Vec::new();
    if report.run.judge.is_some() {
        columns.push(plain("Score", ColumnFigure::Correctness));
        let rubric = &report.rubric;
        match rubric.formula {
            Formula::SumOverMax => columns.extend(rubric.criteria.iter().map(|criterion| {
                named(&criterion.key, &criterion.title, ColumnFigure::Criterion(&criterion.key))
            })),
            Formula::WeightedGroups => {
                columns.push(plain("Grade", ColumnFigure::Grade));
                let groups = rubric.groups.iter();
                columns.extend(
                    groups.map(|group| {
                        named(&group.key, &group.title, ColumnFigure::Group(&group.key))
                    }),
                );
            }
        }
    }
    let others = [
        (stages.tokens, "Tokens", ColumnFigure::Tokens),
        (stages.retrieval, "Pattern", ColumnFigure::Pattern),
        (stages.compiles, "Compiles", ColumnFigure::Compiles),
        (stages.quality, "Quality", ColumnFigure::Quality),
        (true, "Passed", ColumnFigure::Passed),
        (true, "Time, s", ColumnFigure::Seconds),
        (report.run.judge.is_some(), "Cost, $", ColumnFigure::Dollars),
    ];
    columns.extend(
        others.into_iter().filter(|(has_data, ..)| *has_data).map(|(_, head, of)| plain(head, of)),
    );
    columns
}

impl TableColumn<'_> {
    /// Name of its content: a criterion's or a group's key, or the column's own.
    pub fn key(&self) -> &str {
        match self.of {
            ColumnFigure::Criterion(key) | ColumnFigure::Group(key) => key,
            ColumnFigure::Correctness => "score",
            ColumnFigure::Grade => "grade",
            ColumnFigure::Tokens => "tokens",
            ColumnFigure::Pattern => "pattern",
            ColumnFigure::Compiles => "compiles",
            ColumnFigure::Quality => "quality",
            ColumnFigure::Passed => "passed",
            ColumnFigure::Seconds => "latency",
            ColumnFigure::Dollars => "cost",
        }
    }

    /// Whether it sorts by number.
    pub fn is_number(&self) -> bool {
        !matches!(
            self.of,
            ColumnFigure::Grade
                | ColumnFigure::Pattern
                | ColumnFigure::Compiles
                | ColumnFigure::Passed
        )
    }

    /// Its cell for this result; a dash without data.
    pub fn cell(&self, result: &JobResult) -> String {
        let verdict = verdict_of(result);
        let generation = result.generation.as_ref();
        let text = match self.of {
            ColumnFigure::Correctness => {
                verdict.map(|verdict| figure(verdict.correctness(), Unit::Share))
            }
            ColumnFigure::Criterion(key) => {
                verdict.and_then(|verdict| score_of(verdict, key)).map(|score| score.to_string())
            }
            ColumnFigure::Grade | ColumnFigure::Group(_) => {
                match verdict.map(|verdict| &verdict.score) {
                    Some(Score::Groups { grade, dimensions, .. }) => match self.of {
                        ColumnFigure::Group(key) => {
                            dimensions.get(key).map(|group| decimals(group.score, 2))
                        }
                        _ => Some(harmless(grade)),
                    },
                    _ => None,
                }
            }
            ColumnFigure::Tokens => {
                result.token_extraction.as_ref().map(|stage| figure(stage.accuracy, Unit::Share))
            }
            ColumnFigure::Pattern => {
                result.retrieval.as_ref().map(|stage| yes_or_no(stage.correct))
            }
            ColumnFigure::Compiles => {
                generation.and_then(|stage| stage.code_compiles).map(yes_or_no)
            }
            ColumnFigure::Quality => generation
                .and_then(|stage| stage.quality_score)
                .map(|score| figure(score, Unit::Score)),
            ColumnFigure::Passed => result.pipeline_success.map(yes_or_no),
            ColumnFigure::Seconds => Some(decimals(result.total_latency_ms as f64 / 1000.0, 2)),
            ColumnFigure::Dollars => {
                Some(dollars(result.cost_usd).trim_start_matches('$').to_owned())
            }
        };
        text.unwrap_or_else(|| "–".into())
    }
}

fn yes_or_no(value: bool) -> String {
    if value { "yes".into() } else { "no".into() }
}

/// A column that goes by the first word of its key, as in `Visual` for `visual_similarity`.
fn named<'a>(key: &str, title: &str, of: ColumnFigure<'a>) -> TableColumn<'a> {
    let head = harmless(&title_of(key.split('_').next().unwrap_or(key)));
    TableColumn { head, title: Some(harmless(title)), of }
}
