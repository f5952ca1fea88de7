//! Starting and estimating runs.

use super::{
    evaluation_metrics::LONG_RUN_SECONDS,
    runs::{RunInList, listed},
};
use crate::{
    api::extract::{JsonBody, run_id},
    app_state::AppState,
    problem::Problem,
    published,
};
use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use juror_app::run_request::{RunEstimate, RunRequest};
use juror_types::{evidence::EvidenceMode, id::RunId, lane::Lane, usage::Money};
use serde::{Deserialize, Serialize};
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use utoipa::ToSchema;

/// Request to start a run. Endpoint, key and commands come from the server's settings.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RunRequestBody {
    /// Path of the dataset, relative to one of the server's data roots.
    dataset: String,
    /// Name of a rubric; default: the server's setting.
    rubric: Option<String>,
    /// True if a vision model judges, which costs money.
    #[serde(default)]
    enable_llm_judge: bool,
    /// Vision model; default: the server's setting.
    model: Option<String>,
    /// Lane of the calls: `flex` and `batch` cost half as much and take longer, `mixed` is batches
    /// first; default: the server's setting.
    #[schema(value_type = Option<String>, pattern = "^(realtime|flex|batch|mixed)$")]
    lane: Option<Lane>,
    /// Maximum cost of the run; required with the judge on.
    #[schema(value_type = Option<String>, pattern = "^([0-9]{1,6}|[1-8][0-9]{6})(\\.[0-9]{1,12})?$")]
    budget_usd: Option<Money>,
    /// Number of items in a random sample, after the filters; the same seed chooses the same items.
    #[schema(value_type = Option<u64>, minimum = 1)]
    sample: Option<NonZeroU64>,
    /// Seed of the sample; default: 0.
    #[schema(value_type = Option<u64>)]
    seed: Option<u64>,
    /// Number of first items, after the filters and the sample.
    #[schema(value_type = Option<u64>, minimum = 1)]
    limit: Option<NonZeroU64>,
    /// Conditions that items must all meet, each `KEY=VALUE`.
    #[serde(default)]
    filters: Vec<String>,
    /// Number of judgments of each item.
    #[schema(value_type = Option<u32>, minimum = 1, maximum = 100)]
    repeat: Option<NonZeroU32>,
    /// Maximum number of requests per minute.
    #[schema(value_type = Option<u64>, minimum = 1)]
    rpm: Option<NonZeroU64>,
    /// Maximum number of tokens per minute.
    #[schema(value_type = Option<u64>, minimum = 1)]
    tpm: Option<NonZeroU64>,
    /// Maximum number of calls in flight.
    #[schema(value_type = Option<u32>, minimum = 1)]
    max_concurrency: Option<NonZeroUsize>,
    /// True to copy the judged inputs into the run directory, so that they can be shown after the
    /// dataset has changed; default: the server's setting. Not for a fleet.
    keep_inputs: Option<bool>,
    /// Mode of measured evidence: `facts` renders and measures the generated code, `full` also
    /// sends the pictures to the judge; default: the server's setting.
    #[schema(value_type = Option<String>, pattern = "^(none|facts|full)$")]
    evidence: Option<EvidenceMode>,
    /// Run to compare with, by its id or blessed name; default: the server's setting. Not for a
    /// fleet.
    #[schema(pattern = "^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$")]
    baseline: Option<String>,
    /// Id of the run; default: made from date and time.
    #[schema(pattern = "^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$")]
    run_id: Option<String>,
}

/// Estimate of a run.
#[derive(Serialize, ToSchema)]
#[schema(as = Estimate)]
pub struct EstimateResponse {
    /// Number of items.
    items: u64,
    /// Number of jobs.
    jobs: u64,
    /// Number of calls, without those whose reply is cached.
    calls: u64,
    /// Number of jobs whose reply is cached.
    cached: u64,
    /// Expected cost.
    #[schema(value_type = published::Money)]
    expected_usd: Money,
    /// Maximum cost, with every possible retry.
    #[schema(value_type = published::Money)]
    worst_case_usd: Money,
    /// Expected duration in seconds.
    expected_seconds: f64,
    /// Warnings to show before the start.
    warnings: Vec<String>,
}

impl RunRequestBody {
    fn api_request(self) -> Result<RunRequest, Problem> {
        let run_id = self.run_id.as_deref().map(run_id).transpose();
        let unusable =
            |problem: Problem| Problem::unprocessable(format!("run_id: {}", problem.detail));
        Ok(RunRequest {
            dataset: self.dataset,
            rubric: self.rubric,
            enable_llm_judge: self.enable_llm_judge,
            model: self.model,
            lane: self.lane,
            budget_usd: not_negative(self.budget_usd)?,
            sample: self.sample.map(NonZeroU64::get),
            seed: self.seed,
            limit: self.limit.map(NonZeroU64::get),
            filters: self.filters,
            repeat: self.repeat.map(NonZeroU32::get),
            rpm: self.rpm.map(NonZeroU64::get),
            tpm: self.tpm.map(NonZeroU64::get),
            max_concurrency: self.max_concurrency.map(NonZeroUsize::get),
            keep_inputs: self.keep_inputs,
            evidence: self.evidence,
            baseline: self.baseline,
            run_id: run_id.map_err(unusable)?,
        })
    }
}

impl From<RunEstimate> for EstimateResponse {
    fn from(estimate: RunEstimate) -> Self {
        let mut warnings = estimate.warnings;
        if estimate.expected_seconds > LONG_RUN_SECONDS {
            let seconds = estimate.expected_seconds;
            warnings.push(format!("This run will take about {seconds:.0} s."));
        }
        Self {
            items: estimate.items,
            jobs: estimate.jobs,
            calls: estimate.calls,
            cached: estimate.cached,
            expected_usd: estimate.expected_usd,
            worst_case_usd: estimate.worst_case_usd,
            expected_seconds: estimate.expected_seconds,
            warnings,
        }
    }
}

/// Starts a run in the background
#[utoipa::path(
    post, path = "/runs", tag = "starting", request_body = RunRequestBody,
    responses((status = 202, body = Option<RunInList>,
               description = "Started; null if the run has no directory yet and its fleet is \
                              unavailable",
               headers(("location" = String, description = "URL of the run"))),
              (status = 404, description = "No such dataset"),
              (status = 409, description = "Conflicts with the run's current state"))
)]
pub async fn start(
    State(site): State<AppState>,
    JsonBody(request): JsonBody<RunRequestBody>,
) -> Result<Response, Problem> {
    let requested = request.api_request()?;
    if requested.enable_llm_judge && requested.budget_usd.is_none() {
        let detail = "A judged run costs money: set its maximum cost as budget_usd, as in \"5.00\". \
                      POST /api/v1/estimate estimates its cost.";
        return Err(Problem::unprocessable(detail));
    }
    let run = site.launcher.start(&requested).await?;
    accepted(&site, &run).await
}

/// Estimate of a run; makes no call and costs nothing
#[utoipa::path(
    post, path = "/estimate", tag = "starting", request_body = RunRequestBody,
    responses((status = 200, description = "The estimate", body = EstimateResponse),
              (status = 404, description = "No such dataset"),
              (status = 409, description = "Conflicts with the run's current state"))
)]
pub async fn estimate(
    State(site): State<AppState>,
    JsonBody(request): JsonBody<RunRequestBody>,
) -> Result<Json<EstimateResponse>, Problem> {
    let estimate = site.launcher.estimate(&request.api_request()?).await?;
    Ok(Json(estimate.into()))
}

/// The run in the list, or in its fleet if it has no directory yet; null if the fleet is
/// unavailable.
pub(super) async fn accepted(site: &AppState, run: &RunId) -> Result<Response, Problem> {
    let place = [(header::LOCATION, format!("/api/v1/runs/{run}"))];
    let listed = match listed(site, run).await {
        Err(problem) if problem.status() == StatusCode::NOT_FOUND => {
            site.launcher.queued_run(run).await.map(RunInList::from)
        }
        listed => Some(listed?),
    };
    Ok((StatusCode::ACCEPTED, place, Json(listed)).into_response())
}

pub(super) fn not_negative(budget: Option<Money>) -> Result<Option<Money>, Problem> {
    match budget {
        Some(budget) if budget < Money::ZERO => {
            Err(Problem::unprocessable("budget_usd must be 0 or more."))
        }
        budget => Ok(budget),
    }
}
