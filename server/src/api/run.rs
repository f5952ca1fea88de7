//! The summary of a run.

use super::runs::Progression;
use crate::{
    api::extract::RunPath, app_state::AppState, problem::Problem, published, view::RunView,
};
use axum::{
    Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use juror_analysis::{
    gate::GateReport,
    issues::StatementGroup,
    metrics::Interval,
    run_facts::{Cost, Coverage, RunSummary},
};
use juror_report::topics::results::ResultColumn;
use juror_types::id::RunId;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// Summary of a run
#[utoipa::path(
    get, path = "/runs/{run}", tag = "runs",
    params(("run" = String, Path, description = "The run's name")),
    responses((status = 200, description = "Its report without its items", body = RunResponse))
)]
pub async fn show(
    State(site): State<AppState>,
    RunPath(run): RunPath,
) -> Result<Response, Problem> {
    let view = site.views.get(&run).await?;
    Ok(Json(RunResponse::from_view(&view)).into_response())
}

/// Summary of a run: its report without its items.
#[derive(Serialize, ToSchema)]
#[schema(as = RunResponse)]
struct RunResponse<'a> {
    #[schema(value_type = String)]
    id: &'a RunId,
    state: Progression,
    #[schema(value_type = published::RunSummary)]
    run: &'a RunSummary,
    #[schema(value_type = published::Overall)]
    overall: &'a Map<String, Value>,
    #[schema(value_type = published::Intervals)]
    intervals: indexmap::IndexMap<&'a str, Interval>,
    #[schema(value_type = published::Coverage)]
    coverage: &'a Coverage,
    #[schema(value_type = published::Cost)]
    cost: &'a Cost,
    #[schema(value_type = published::Targets)]
    targets: &'a Option<GateReport>,
    /// Columns of scores of its items.
    columns: Vec<ColumnResponse<'a>>,
    common_issues: Vec<Statement<'a>>,
    common_strengths: Vec<Statement<'a>>,
    /// Warnings for the reader.
    warnings: &'a [String],
}

/// A column of scores: a criterion, or a group of criteria.
#[derive(Serialize, ToSchema)]
#[schema(as = Column)]
struct ColumnResponse<'a> {
    key: &'a str,
    title: &'a str,
    /// The highest score.
    max: f64,
}

/// Common issue or strength of a run's items.
#[derive(Serialize, ToSchema)]
#[schema(as = Statement)]
struct Statement<'a> {
    /// Titles of kind and element, or the most central statement of a group by words; a filter of
    /// items.
    label: &'a str,
    /// `kind` if the judge named kind and element, else `words`.
    grouped_by: &'a str,
    /// Key of the findings' kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    /// Key of the findings' element.
    #[serde(skip_serializing_if = "Option::is_none")]
    element: Option<&'a str>,
    /// Number of items.
    count: u64,
    /// Share of the items with a verdict.
    share: f64,
    /// Other wordings of it, the most frequent first.
    examples: &'a [String],
    /// Items with the lowest scores, worst first.
    worst: Vec<&'a str>,
}

impl<'a> RunResponse<'a> {
    fn from_view(view: &'a RunView) -> Self {
        let report = &view.report;
        let statement = |group: &'a StatementGroup| Statement {
            label: &group.label,
            grouped_by: group.key.grouped_by(),
            kind: group.key.kind_and_element().map(|(kind, _)| kind),
            element: group.key.kind_and_element().map(|(_, element)| element),
            count: group.count,
            share: group.share,
            examples: &group.examples,
            worst: group.worst.iter().map(|item| report.items.id(*item)).collect(),
        };
        let column = |column: &'a ResultColumn| ColumnResponse {
            key: &column.key,
            title: column.title.as_deref().unwrap_or(&column.head),
            max: report.rubric.scale.max.into(),
        };
        let columns = view.columns.iter().filter(|column| column.is_shown && column.is_part());
        Self {
            id: &report.run.id,
            state: view.state.into(),
            run: &report.run,
            overall: &report.overall,
            intervals: report.intervals(),
            coverage: &report.coverage,
            cost: &report.cost,
            targets: &report.gate,
            columns: columns.map(column).collect(),
            common_issues: report.common_issues.iter().map(statement).collect(),
            common_strengths: report.common_strengths.iter().map(statement).collect(),
            warnings: &report.warnings,
        }
    }
}
