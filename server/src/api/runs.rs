//! The list of runs.

use crate::{
    api::extract::{StrictQuery, blocking},
    app_state::AppState,
    problem::Problem,
    published,
};
use axum::{Json, extract::State};
use juror_analysis::history::{PastMetric, RunFigures};
use juror_app::{
    run_catalog::{DamagedRun, ListedRun, RunListing, RunState},
    run_request::QueuedRun,
};
use juror_types::{
    id::RunId,
    job::{Judge, RubricReference},
    run::DatasetRecord,
    usage::Money,
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, sync::Arc};
use utoipa::ToSchema;

/// Limit of the list.
#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct RunsQuery {
    /// Maximum number of runs, the newest first; default: 100.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
}

/// The newest runs.
#[derive(Serialize, ToSchema)]
pub struct RunsResponse {
    /// Number of all runs.
    total: usize,
    /// The newest runs, newest first.
    runs: Vec<RunInList>,
    /// Runs whose record cannot be read, by name.
    damaged: Vec<DamagedResponse>,
}

/// A run in the list.
#[derive(Serialize, ToSchema)]
pub struct RunInList {
    /// Id of the run.
    #[schema(value_type = String)]
    pub id: RunId,
    state: Progression,
    /// True if it is being cancelled and finishes its calls in flight.
    cancelling: bool,
    /// Time of its creation, RFC 3339 in UTC.
    created_at: String,
    #[schema(value_type = published::Dataset)]
    dataset: DatasetRecord,
    #[schema(value_type = published::Rubric)]
    rubric: RubricReference,
    #[schema(value_type = published::Judge)]
    judge: Option<Judge>,
    /// Number of judgments of each item.
    repeat: u32,
    /// Number of planned jobs.
    planned: u64,
    /// Budget; null is unlimited.
    #[schema(value_type = Option<published::Money>)]
    budget_usd: Option<Money>,
    /// Figures of its report; null if it has none yet, or if its results have changed since.
    figures: Option<Figures>,
    /// Names of the run as a baseline.
    baselines: Vec<String>,
    /// Number of published jobs, only for a fleet's run without a run directory yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    published: Option<u64>,
}

/// Progress of a run.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[schema(as = RunState)]
#[serde(rename_all = "snake_case")]
pub(super) enum Progression {
    /// A process works on it.
    Running,
    /// Every job is scored.
    Complete,
    /// No process works on it, and some jobs are not scored.
    Incomplete,
    /// Journal cannot be read.
    Damaged,
}

/// Figures of a run's report.
#[derive(Serialize, ToSchema)]
pub struct Figures {
    /// Metrics with data, by path in `overall`.
    pub metrics: BTreeMap<String, MetricFigure>,
    scored: u64,
    #[schema(value_type = published::Money)]
    cost_usd: Money,
    /// True if its scores were made up by the simulator.
    simulated: bool,
}

/// Metric of a run.
#[derive(Serialize, ToSchema)]
pub struct MetricFigure {
    /// Value in the metric's unit.
    value: f64,
    /// Number of items.
    n: u64,
    /// Lower end of its 95 % interval; null without enough data.
    #[schema(required = true)]
    low: Option<f64>,
    /// Upper end of its 95 % interval; null without enough data.
    #[schema(required = true)]
    high: Option<f64>,
}

impl From<ListedRun> for RunInList {
    fn from(ListedRun { record, state, has_report: _, figures, baselines }: ListedRun) -> Self {
        Self {
            state: state.into(),
            planned: record.jobs(),
            id: record.run_id,
            created_at: record.created_at,
            dataset: record.dataset,
            rubric: record.rubric,
            judge: record.judge,
            repeat: record.repeat,
            budget_usd: record.budget_usd,
            figures: figures.map(|figures| Figures::from_run(&figures, None)),
            baselines,
            published: None,
            cancelling: false,
        }
    }
}

impl From<QueuedRun> for RunInList {
    fn from(QueuedRun { record, published }: QueuedRun) -> Self {
        let (state, baselines) = (RunState::Running, Vec::new());
        let listed = ListedRun { record, state, has_report: false, figures: None, baselines };
        Self { published: Some(published), ..listed.into() }
    }
}

impl Figures {
    /// Figures of all metrics, or of one.
    pub fn from_run(figures: &RunFigures, metric: Option<&str>) -> Self {
        let metrics = figures.metrics.iter();
        let metrics = metrics.filter(|(path, _)| metric.is_none_or(|metric| metric == **path));
        let figure = |(path, figure): (&String, &PastMetric)| {
            let PastMetric { value, n, low, high } = *figure;
            (path.clone(), MetricFigure { value, n, low, high })
        };
        Self {
            metrics: metrics.map(figure).collect(),
            scored: figures.scored,
            cost_usd: figures.cost_usd,
            simulated: figures.simulated,
        }
    }
}

impl From<RunState> for Progression {
    fn from(state: RunState) -> Self {
        match state {
            RunState::Running => Self::Running,
            RunState::Complete => Self::Complete,
            RunState::Incomplete => Self::Incomplete,
            RunState::Damaged => Self::Damaged,
        }
    }
}

/// All runs, newest first
#[utoipa::path(
    get, path = "/runs", tag = "runs", params(RunsQuery),
    responses((status = 200, description = "The newest runs", body = RunsResponse))
)]
pub async fn list(
    State(site): State<AppState>,
    StrictQuery(query): StrictQuery<RunsQuery>,
) -> Result<Json<RunsResponse>, Problem> {
    let limit = super::items::within(query.limit, 100, 1_000, "limit")?;
    let RunListing { runs, damaged } = site.listing().await?;
    let total = runs.len();
    let in_list = |run: ListedRun| {
        let cancelling = site.is_cancelling(run.state, &run.record.run_id);
        RunInList { cancelling, ..run.into() }
    };
    let runs = runs.into_iter().take(limit).map(in_list).collect();
    let answer = |run: DamagedRun| DamagedResponse { id: run.name, reason: run.reason };
    Ok(Json(RunsResponse { total, runs, damaged: damaged.into_iter().map(answer).collect() }))
}

/// A run for the list.
pub async fn listed(site: &AppState, run: &RunId) -> Result<RunInList, Problem> {
    let (catalog, run) = (Arc::clone(&site.catalog), run.clone());
    let listed = blocking(move || Ok(catalog.listed(&catalog.files(&run)?))).await?;
    let cancelling = site.is_cancelling(listed.state, &listed.record.run_id);
    Ok(RunInList { cancelling, ..listed.into() })
}

/// A run whose record cannot be read.
#[derive(Serialize, ToSchema)]
#[schema(as = DamagedRun)]
struct DamagedResponse {
    /// Name of its folder.
    id: String,
    /// Description of the damage.
    reason: String,
}
