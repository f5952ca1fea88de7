//! Layout of the results: the columns that tables and CSV have, and each result's cells.

mod cell;

pub use cell::{ResultCell, text_of};

use crate::{regions::region_text, sanitize::cut};
use juror_analysis::{
    metrics::{Unit, score_key, score_of, title_of},
    run_report::Report,
};
use juror_types::{
    outcome::JobResult,
    rubric::{Formula, Rubric},
    verdict::{Score, Verdict},
};

/// Longest first issue in a cell of a table, in characters.
pub const MAX_ISSUE: usize = 90;

/// A column of the results.
pub struct ResultColumn {
    /// Name in CSV.
    pub name: String,
    /// Key of the order by result.
    pub key: String,
    /// Short head in a table.
    pub head: String,
    /// Full title, if the header is abbreviated.
    pub title: Option<String>,
    /// Kind of its cells.
    pub kind: ResultColumnKind,
    /// True if the run has data for it, so that tables show it.
    pub is_shown: bool,
    cell: Box<CellOf>,
}

/// Kind of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultColumnKind {
    /// Id of the item.
    Item,
    /// Outcome of the job.
    Outcome,
    /// The total score.
    Total,
    /// The grade of the total score.
    Grade,
    /// The score of a criterion.
    Criterion,
    /// The mean of a group of criteria.
    Group,
    /// A figure of a stage or of the job.
    Figure,
    /// A word about a stage or about the job.
    Word,
    /// The first issue.
    Issue,
}

impl ResultColumn {
    /// A column that CSV alone has.
    pub(crate) fn for_csv(
        name: impl Into<String>,
        cell: impl Fn(&JobResult) -> Option<ResultCell> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), ..Self::new("", "", "", ResultColumnKind::Word, cell) }
    }

    fn new(
        name: &str,
        key: &str,
        head: &str,
        kind: ResultColumnKind,
        cell: impl Fn(&JobResult) -> Option<ResultCell> + Send + Sync + 'static,
    ) -> Self {
        let [name, key, head] = [name, key, head].map(str::to_owned);
        Self { name, key, head, title: None, kind, is_shown: true, cell: Box::new(cell) }
    }

    /// A column of the verdicts' scores, which goes by the first word of its key, as in `Visual`
    /// for `visual_similarity`.
    fn for_scores(
        key: &str,
        title: &str,
        kind: ResultColumnKind,
        cell: fn(&Verdict, &str) -> Option<ResultCell>,
    ) -> Self {
        let head = title_of(key.split('_').next().unwrap_or(key));
        let own = key.to_owned();
        let column = Self::new(key, key, &head, kind, move |result| cell(result.verdict()?, &own));
        Self { title: Some(title.to_owned()), ..column }
    }

    fn shown_if(self, is_shown: bool) -> Self {
        Self { is_shown, ..self }
    }

    /// The cell of this result; `None` without data.
    pub fn cell(&self, result: &JobResult) -> Option<ResultCell> {
        (self.cell)(result)
    }

    /// The cell's text for people; a dash without data.
    pub fn text(&self, result: &JobResult) -> String {
        text_of(self.cell(result).as_ref())
    }

    /// True if its cells are figures.
    pub fn is_number(&self) -> bool {
        use ResultColumnKind::{Criterion, Figure, Group, Total};
        matches!(self.kind, Total | Criterion | Group | Figure)
    }

    /// True for the scores of criteria and of groups.
    pub fn is_part(&self) -> bool {
        matches!(self.kind, ResultColumnKind::Criterion | ResultColumnKind::Group)
    }
}

/// Columns of a table in the order in which people read them, those without data included.
pub fn columns(report: &Report) -> Vec<ResultColumn> {
    let has = |path: &str| report.metric(path).is_some_and(|metric| metric.value.is_some());
    let is_judged = report.run.judge.is_some();
    let mut scores = totals(&report.rubric);
    if report.rubric.formula == Formula::SumOverMax {
        scores.extend(criteria(&report.rubric));
    }
    let issue = ResultColumn::new("", "issue", "First issue", ResultColumnKind::Issue, |result| {
        Some(ResultCell::Text(first_issue(result, MAX_ISSUE)))
    });
    // Last, since it makes rows high and the last columns are hidden in a narrow window.
    let mut columns = vec![item(report.run.repeat > 1), outcome(), issue];
    columns.extend(scores.into_iter().map(|column| column.shown_if(is_judged)));
    columns.extend([
        tokens().shown_if(has("token_extraction.accuracy")),
        pattern().shown_if(has("retrieval.accuracy")),
        compiles().shown_if(has("generation.compilation_rate")),
        quality().shown_if(has("generation.avg_quality_score")),
        pixels_equal().shown_if(!is_judged && has("evidence.pixels_equal")),
        passed(),
        time(),
        cost().shown_if(is_judged),
    ]);
    columns
}

/// Columns with data.
pub fn shown_columns(report: &Report) -> Vec<ResultColumn> {
    columns(report).into_iter().filter(|column| column.is_shown).collect()
}

/// Id of a result's item, with the number of the repeat where there are several.
pub fn item_name(report: &Report, result: &JobResult) -> String {
    item(report.run.repeat > 1).text(result)
}

/// Text of the main problem of a result, truncated to `longest`; empty without one. If judge and
/// compiler report none, it is the first measured region.
pub fn first_issue(result: &JobResult, longest: usize) -> String {
    let issues = result.verdict().map(|verdict| verdict.issues.as_slice()).unwrap_or_default();
    let compiler = result.generation.as_ref().and_then(|stage| stage.error.as_deref());
    match (&result.error, issues) {
        (Some(error), _) => cut(&format!("{}: {}", error.kind.name(), error.message), longest),
        (None, []) => {
            let region =
                || Some(region_text(result.evidence.as_ref()?.measured()?.regions.first()?));
            let issue = compiler.map(str::to_owned).or_else(region);
            cut(&issue.unwrap_or_default(), longest)
        }
        (None, [only]) => cut(only, longest),
        (None, [first, others @ ..]) => format!("{} (+{})", cut(first, longest), others.len()),
    }
}

pub(crate) fn item(is_repeated: bool) -> ResultColumn {
    ResultColumn::new("screenshot_id", "id", "Item", ResultColumnKind::Item, move |result| {
        Some(ResultCell::Item(result.screenshot_id.clone(), is_repeated.then_some(result.repeat)))
    })
}

pub(crate) fn outcome() -> ResultColumn {
    ResultColumn::new("outcome", "outcome", "Outcome", ResultColumnKind::Outcome, |result| {
        Some(ResultCell::Outcome(result.outcome))
    })
}

/// Columns of the total score, and, in a rubric with groups, of its grade and the groups' means.
pub(crate) fn totals(rubric: &Rubric) -> Vec<ResultColumn> {
    let name = score_key(rubric);
    let total = ResultColumn::new(name, "score", "Score", ResultColumnKind::Total, |result| {
        Some(match result.verdict()?.score {
            Score::Sum { semantic_correctness: share, .. } => {
                ResultCell::Figure(share, Unit::Share)
            }
            Score::Groups { percentage, .. } => ResultCell::Figure(percentage, Unit::Percent),
        })
    });
    if rubric.formula == Formula::SumOverMax {
        return vec![total];
    }
    let grade = ResultColumn::new("grade", "grade", "Grade", ResultColumnKind::Grade, |result| {
        let verdict = result.verdict()?;
        let Score::Groups { grade, .. } = &verdict.score else { return None };
        Some(ResultCell::Grade(grade.clone(), verdict.correctness()))
    });
    let groups = rubric.groups.iter().map(|group| {
        ResultColumn::for_scores(
            &group.key,
            &group.title,
            ResultColumnKind::Group,
            |verdict, key| {
                let Score::Groups { dimensions, .. } = &verdict.score else { return None };
                Some(ResultCell::Mean(dimensions.get(key)?.score))
            },
        )
    });
    [total, grade].into_iter().chain(groups).collect()
}

pub(crate) fn criteria(rubric: &Rubric) -> impl Iterator<Item = ResultColumn> {
    rubric.criteria.iter().map(|criterion| {
        let (key, title) = (&criterion.key, &criterion.title);
        ResultColumn::for_scores(key, title, ResultColumnKind::Criterion, |verdict, key| {
            Some(ResultCell::Count(score_of(verdict, key)?.into()))
        })
    })
}

pub(crate) fn tokens() -> ResultColumn {
    ResultColumn::new("token_accuracy", "tokens", "Tokens", ResultColumnKind::Figure, |result| {
        Some(ResultCell::Figure(result.token_extraction.as_ref()?.accuracy, Unit::Share))
    })
}

pub(crate) fn pattern() -> ResultColumn {
    ResultColumn::new("retrieval_correct", "pattern", "Pattern", ResultColumnKind::Word, |result| {
        Some(ResultCell::Holds(result.retrieval.as_ref()?.correct))
    })
}

pub(crate) fn compiles() -> ResultColumn {
    ResultColumn::new("code_compiles", "compiles", "Compiles", ResultColumnKind::Word, |result| {
        Some(ResultCell::Holds(result.generation.as_ref()?.code_compiles?))
    })
}

pub(crate) fn quality() -> ResultColumn {
    ResultColumn::new("quality_score", "quality", "Quality", ResultColumnKind::Figure, |result| {
        Some(ResultCell::Figure(result.generation.as_ref()?.quality_score?, Unit::Score))
    })
}

pub(crate) fn passed() -> ResultColumn {
    ResultColumn::new("pipeline_success", "passed", "Passed", ResultColumnKind::Word, |result| {
        Some(ResultCell::Holds(result.pipeline_success?))
    })
}

pub(crate) fn time() -> ResultColumn {
    ResultColumn::new(
        "total_latency_ms",
        "latency",
        "Time, s",
        ResultColumnKind::Figure,
        |result| Some(ResultCell::Time(result.total_latency_ms)),
    )
}

pub(crate) fn cost() -> ResultColumn {
    ResultColumn::new("cost_usd", "cost", "Cost, $", ResultColumnKind::Figure, |result| {
        Some(ResultCell::Cost(result.cost_usd))
    })
}

type CellOf = dyn Fn(&JobResult) -> Option<ResultCell> + Send + Sync;

fn pixels_equal() -> ResultColumn {
    let figure = ResultColumnKind::Figure;
    let column = ResultColumn::new("pixels_equal", "pixels", "Equal", figure, |result| {
        let measured = result.evidence.as_ref()?.measured()?;
        Some(ResultCell::Figure(measured.pixels_equal, Unit::Share))
    });
    ResultColumn { title: Some("Pixels Equal".to_owned()), ..column }
}
