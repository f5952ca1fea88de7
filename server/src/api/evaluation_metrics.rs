//! `GET /evaluation/metrics`, for the dashboard of a pipeline.

use crate::{
    api::extract::{StrictQuery, run_id},
    app_state::AppState,
    problem::Problem,
    view::RunView,
};
use axum::{Json, extract::State};
use juror_analysis::run_facts::Coverage;
use juror_app::run_catalog::RunState;
use juror_types::id::RunId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// Duration of a run in seconds above which there is a warning.
pub const LONG_RUN_SECONDS: f64 = 30.0;

/// Query of metrics.
#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct MetricsQuery {
    /// True to include the metrics of the judge, which are those of a judged run: reading makes no
    /// call.
    #[serde(default)]
    enable_llm_judge: bool,
    /// The run; default: the latest one with these metrics.
    #[param(value_type = Option<String>, pattern = "^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$")]
    run: Option<String>,
}

/// A run's metrics.
#[derive(Serialize, ToSchema)]
pub struct MetricsResponse {
    /// As `overall` of a report; `semantic` only if requested.
    #[schema(value_type = OverallResponse)]
    overall: Map<String, Value>,
    /// Warnings; omitted if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    warnings: Vec<String>,
}

/// Metrics of a run, the latest by default
///
/// Reading never starts paid work.
#[utoipa::path(
    get, path = "/evaluation/metrics", tag = "runs", params(MetricsQuery),
    responses((status = 200, description = "The run's metrics", body = MetricsResponse),
              (status = 404, description = "No such run, or none with a judge"))
)]
pub async fn metrics(
    State(site): State<AppState>,
    StrictQuery(query): StrictQuery<MetricsQuery>,
) -> Result<Json<MetricsResponse>, Problem> {
    let run = match &query.run {
        Some(run) => run_id(run)?,
        None => latest(&site, query.enable_llm_judge).await?,
    };
    let view = site.views.get(&run).await?;
    let has_verdicts = !view.report.overall.get("semantic").is_none_or(Value::is_null);
    if query.enable_llm_judge && !has_verdicts {
        let Coverage { scored, planned, .. } = view.report.coverage;
        return Err(no_verdicts(&format!(
            "Run {run} has no verdicts of a judge: {scored} of {planned} jobs are scored."
        )));
    }
    let mut overall = view.report.overall.clone();
    if !query.enable_llm_judge {
        overall.shift_remove("semantic");
    }
    let mut warnings = warnings(&view);
    if !query.enable_llm_judge && has_verdicts {
        let warning = "pipeline_success_rate includes the judge's verdicts: the run was judged.";
        warnings.push(warning.to_owned());
    }
    Ok(Json(MetricsResponse { overall, warnings }))
}

/// A run's metrics; null without data.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it documents the fields of a map")]
struct OverallResponse {
    /// Share of items that passed every stage with data.
    #[schema(required = true)]
    pipeline_success_rate: Option<f64>,
    /// Mean time from a job's start to its end, in milliseconds.
    #[schema(required = true)]
    avg_latency_ms: Option<f64>,
    /// Token extraction: `accuracy`.
    #[schema(required = true)]
    token_extraction: Option<Map<String, Value>>,
    /// Retrieval: `accuracy`.
    #[schema(required = true)]
    retrieval: Option<Map<String, Value>>,
    /// Generation: `compilation_rate` and `avg_quality_score`.
    #[schema(required = true)]
    generation: Option<Map<String, Value>>,
    /// `avg_semantic_correctness` or `avg_percentage`, then the rubric's metrics.
    #[schema(required = false)]
    semantic: Map<String, Value>,
}

/// The latest run, with a judge if `judged`; runs with a report take precedence over active ones.
async fn latest(site: &AppState, judged: bool) -> Result<RunId, Problem> {
    let mut runs = site.runs().await?;
    // A damaged run is skipped unless it is named.
    runs.retain(|run| run.state != RunState::Damaged);
    if judged {
        // A run whose jobs all failed counts too: an older run is not the current state.
        runs.retain(|run| run.record.judge.is_some());
    }
    // Without any report, the latest active run.
    let reported = runs.iter().find(|run| run.has_report);
    match reported.or(runs.first()) {
        Some(run) => Ok(run.record.run_id.clone()),
        None if judged => Err(no_verdicts("No run has a judge.")),
        None => Err(Problem::missing("There is no run yet: POST /api/v1/runs starts one.")),
    }
}

fn no_verdicts(message: &str) -> Problem {
    Problem::missing(format!(
        "{message} Start a judged run with POST /api/v1/runs, enable_llm_judge and a \
    budget_usd, or with: juror run DATASET --enable-llm-judge"
    ))
}

fn warnings(view: &RunView) -> Vec<String> {
    let run = &view.report.run;
    let mut warnings = Vec::new();
    if run.simulated {
        warnings.push("SIMULATED: scores of this run were made up by the simulator.".to_owned());
    }
    let is_running = view.state == RunState::Running;
    let took = run.judging.as_ref().map(|judging| judging.active_ms as f64 / 1_000.0);
    if let Some(seconds) = took.filter(|seconds| *seconds > LONG_RUN_SECONDS) {
        let verb = if is_running { "has taken" } else { "took" };
        warnings.push(format!(
            "This run {verb} {seconds:.0} s: start runs ahead of time and read them here."
        ));
    }
    if !view.report.coverage.is_complete() {
        let (scored, planned) = (view.report.coverage.scored, view.report.coverage.planned);
        warnings.push(format!("Only {scored} of {planned} jobs are scored."));
    }
    warnings
}
