//! Comparisons of two runs, and trends of metrics.

use super::{items::within, runs::Figures};
use crate::{
    api::extract::{StrictQuery, run_id},
    app_state::AppState,
    comparisons::NotCompared,
    problem::Problem,
    published,
};
use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use juror_analysis::{compare_runs::CompareError, comparison::Rules, history::are_comparable};
use juror_app::run_catalog::{ListedRun, runs_before};
use juror_types::id::RunId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Query of a comparison: its runs and rules.
#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct CompareQuery {
    /// The run that is compared against.
    #[param(pattern = "^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$")]
    base: String,
    /// The run that is compared.
    #[param(pattern = "^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$")]
    head: String,
    /// Largest change that does not matter, as a share; default: the server's setting.
    #[param(minimum = 0, maximum = 1)]
    margin: Option<f64>,
    /// True if a criterion that got worse decides too; default: the server's setting.
    strict: Option<bool>,
    /// Maximum share of the base's items that may be lost; above it the comparison is at best
    /// inconclusive; default: the server's setting.
    #[param(minimum = 0, maximum = 1)]
    max_lost: Option<f64>,
}

impl From<NotCompared> for Problem {
    fn from(error: NotCompared) -> Self {
        let message = error.to_string();
        match error {
            NotCompared::Impossible(CompareError::Journal(error)) => error.into(),
            NotCompared::Impossible(_) => Self::new(StatusCode::CONFLICT, message),
            NotCompared::Busy | NotCompared::Interrupted => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, message).retry_after(5)
            }
        }
    }
}

/// Runs and metrics of a trend.
#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct TrendQuery {
    /// The last run of the series; default: the latest one with a report.
    #[param(pattern = "^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$")]
    run: Option<String>,
    /// Maximum number of runs; default: 20.
    #[param(minimum = 1, maximum = 1000)]
    last: Option<usize>,
    /// Path in `overall` of a single metric; runs without it are left out.
    metric: Option<String>,
}

/// Runs of the same items, rubric and judge, oldest first.
#[derive(Serialize, ToSchema)]
pub struct TrendResponse {
    runs: Vec<TrendRun>,
}

/// Comparison of two runs
#[utoipa::path(
    get, path = "/compare", tag = "runs", params(CompareQuery),
    responses((status = 200, description = "The comparison", body = published::Comparison),
              (status = 404, description = "No such run"),
              (status = 409, description = "The runs have different rubrics"))
)]
pub async fn comparison(
    State(site): State<AppState>,
    StrictQuery(query): StrictQuery<CompareQuery>,
) -> Result<Response, Problem> {
    let share = |name, share: f64| match (0.0..=1.0).contains(&share) {
        true => Ok(share),
        false => Err(Problem::bad_request(format!("{name} is 0 to 1."))),
    };
    let margin = share("margin", query.margin.unwrap_or(site.rules.margin))?;
    let max_lost = share("max_lost", query.max_lost.unwrap_or(site.rules.max_lost))?;
    let strict = query.strict.unwrap_or(site.rules.strict);
    let rules = Rules { margin, strict, max_lost, ..site.rules };
    let base = site.views.get(&run_id(&query.base)?).await?;
    let head = site.views.get(&run_id(&query.head)?).await?;
    let compared = site.comparisons.get(&base, &head, rules).await?;
    Ok(Json(&*compared).into_response())
}

/// Metrics over runs of the same items, rubric and judge
#[utoipa::path(
    get, path = "/trend", tag = "runs", params(TrendQuery),
    responses((status = 200, description = "The runs, oldest first", body = TrendResponse),
              (status = 404, description = "No such run, or it has no report yet"),
              (status = 422, description = "A metric of which no run has data"))
)]
pub async fn trend(
    State(site): State<AppState>,
    StrictQuery(query): StrictQuery<TrendQuery>,
) -> Result<Json<TrendResponse>, Problem> {
    let last = within(query.last, 20, 1_000, "last")?;
    let runs = site.runs().await?;
    let newest = match &query.run {
        Some(run) => Some(reported(&runs, &run_id(run)?)?),
        None => runs.iter().find(|run| run.figures.is_some()),
    };
    let Some(newest) = newest else { return Ok(Json(TrendResponse { runs: Vec::new() })) };
    let all = std::iter::once(newest).chain(runs_before(&runs, &newest.record, are_comparable));
    let metric = query.metric.as_deref();
    let rows = all.filter_map(|run| TrendRun::from_run(run, metric));
    let mut runs: Vec<TrendRun> = rows.take(last).collect();
    if let (Some(metric), []) = (metric, runs.as_slice()) {
        return Err(without_data(metric, newest));
    }
    runs.reverse();
    Ok(Json(TrendResponse { runs }))
}

/// Figures of a run.
#[derive(Serialize, ToSchema)]
struct TrendRun {
    #[schema(value_type = String)]
    id: RunId,
    /// Time of its creation, RFC 3339 in UTC.
    created_at: String,
    figures: Figures,
}

impl TrendRun {
    fn from_run(run: &ListedRun, metric: Option<&str>) -> Option<Self> {
        let figures = Figures::from_run(run.figures.as_deref()?, metric);
        let has_it = metric.is_none() || !figures.metrics.is_empty();
        let (id, created_at) = (run.record.run_id.clone(), run.record.created_at.clone());
        has_it.then_some(Self { id, created_at, figures })
    }
}

fn without_data(metric: &str, newest: &ListedRun) -> Problem {
    let known = newest.figures.iter().flat_map(|figures| figures.metrics.keys());
    let known: Vec<&str> = known.map(String::as_str).collect();
    Problem::unprocessable(format!(
        "No run has data of the metric {metric:?}; use one of {}.",
        known.join(", ")
    ))
}

fn reported<'a>(runs: &'a [ListedRun], run: &RunId) -> Result<&'a ListedRun, Problem> {
    let found = runs.iter().find(|known| known.record.run_id == *run);
    found.filter(|run| run.figures.is_some()).ok_or_else(|| {
        Problem::missing(format!(
            "There is no report of run {run}; if it has ended, write one with: juror report {run}"
        ))
    })
}
