//! Columns of the results: scores as the rubric has them, the stages that have data, and what each
//! job took.

use crate::sanitize::harmless;
use juror_analysis::{
    format::{decimals, dollars, figure},
    item_row::ItemRow,
    metrics::{Unit, score_of, title_of},
    run_report::Report,
};
use juror_types::{
    outcome::{JobResult, Outcome},
    rubric::Formula,
    stage::{Generation, Retrieval, TokenExtraction},
    usage::Money,
    verdict::{Score, Verdict},
};

/// One column of figures.
pub struct TableColumn<'a> {
    /// A short name.
    pub head: String,
    /// The whole name, where the head is not it.
    pub title: Option<String>,
    of: ColumnFigure<'a>,
}

/// Parts of a result that columns show.
#[derive(Clone, Copy)]
pub struct ResultFigures<'a> {
    verdict: Option<&'a Verdict>,
    tokens: Option<&'a TokenExtraction>,
    retrieval: Option<&'a Retrieval>,
    generation: Option<&'a Generation>,
    passed: Option<bool>,
    latency_ms: u64,
    cost_usd: Money,
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

impl<'a> From<&'a JobResult> for ResultFigures<'a> {
    fn from(result: &'a JobResult) -> Self {
        Self {
            verdict: verdict_of(result),
            tokens: result.token_extraction.as_ref(),
            retrieval: result.retrieval.as_ref(),
            generation: result.generation.as_ref(),
            passed: result.pipeline_success,
            latency_ms: result.total_latency_ms,
            cost_usd: result.cost_usd,
        }
    }
}

impl<'a> From<&'a ItemRow> for ResultFigures<'a> {
    fn from(row: &'a ItemRow) -> Self {
        Self {
            verdict: row.semantic.as_ref().filter(|_| row.outcome == Outcome::Scored),
            tokens: row.token_extraction.as_ref(),
            retrieval: row.retrieval.as_ref(),
            generation: row.generation.as_ref(),
            passed: row.pipeline_success,
            latency_ms: row.total_latency_ms,
            cost_usd: row.cost_usd,
        }
    }
}

/// The verdict of a job that is scored; zeros of one that failed are none.
pub fn verdict_of(result: &JobResult) -> Option<&Verdict> {
    result.semantic.as_ref().filter(|_| result.outcome == Outcome::Scored)
}

/// The columns of a run.
pub fn columns(report: &Report) -> Vec<TableColumn<'_>> {
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
    let has = |path: &str| {
        let mut metrics = report.metrics.iter();
        metrics.any(|metric| metric.definition.path == path && metric.value.is_some())
    };
    let others = [
        (has("token_extraction.accuracy"), "Tokens", ColumnFigure::Tokens),
        (has("retrieval.accuracy"), "Pattern", ColumnFigure::Pattern),
        (has("generation.compilation_rate"), "Compiles", ColumnFigure::Compiles),
        (has("generation.avg_quality_score"), "Quality", ColumnFigure::Quality),
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

    /// True for the score and its parts.
    pub(crate) fn is_score(&self) -> bool {
        use ColumnFigure::{Correctness, Criterion, Grade, Group};
        matches!(self.of, Correctness | Grade | Criterion(_) | Group(_))
    }

    /// True for a group of criteria.
    pub(crate) fn is_group(&self) -> bool {
        matches!(self.of, ColumnFigure::Group(_))
    }

    /// True if it sorts by number.
    pub fn is_number(&self) -> bool {
        use ColumnFigure::{Compiles, Grade, Passed, Pattern};
        !matches!(self.of, Grade | Pattern | Compiles | Passed)
    }

    /// Its cell for this result; a dash without data.
    pub fn cell<'r>(&self, result: impl Into<ResultFigures<'r>>) -> String {
        let result = result.into();
        let groups = || match &result.verdict?.score {
            Score::Groups { grade, dimensions, .. } => Some((grade, dimensions)),
            Score::Sum { .. } => None,
        };
        let share = |value: f64| figure(value, Unit::Share);
        let text = match self.of {
            ColumnFigure::Correctness => result.verdict.map(|it| share(it.correctness())),
            ColumnFigure::Criterion(key) => {
                let score = result.verdict.and_then(|verdict| score_of(verdict, key));
                score.map(|score| score.to_string())
            }
            ColumnFigure::Grade => groups().map(|(grade, _)| harmless(grade)),
            ColumnFigure::Group(key) => {
                let group = groups().and_then(|(_, dimensions)| dimensions.get(key));
                group.map(|group| decimals(group.score, 2))
            }
            ColumnFigure::Tokens => result.tokens.map(|stage| share(stage.accuracy)),
            ColumnFigure::Pattern => result.retrieval.map(|stage| yes_or_no(stage.correct)),
            ColumnFigure::Compiles => {
                result.generation.and_then(|stage| stage.code_compiles).map(yes_or_no)
            }
            ColumnFigure::Quality => {
                let quality = result.generation.and_then(|stage| stage.quality_score);
                quality.map(|score| figure(score, Unit::Score))
            }
            ColumnFigure::Passed => result.passed.map(yes_or_no),
            ColumnFigure::Seconds => Some(decimals(result.latency_ms as f64 / 1000.0, 2)),
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
