//! Beginning, continuing and cancelling runs, and what they would take.

use super::{
    metrics::LONG,
    runs::{RunInList, listed},
};
use crate::{
    api::{
        extract::{JsonBody, RunOf, run_id},
        openapi::published,
    },
    problem::Problem,
    state::AppState,
};
use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use juror_app::request::{RunEstimate, RunSpecification};
use juror_types::{evidence::EvidenceMode, id::RunId, usage::Money};
use serde::{Deserialize, Serialize};
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use utoipa::ToSchema;

/// A run that is asked for. It names no endpoint, key or command: those are this server's settings.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RunRequest {
    /// A path relative to one of the folders that this server takes datasets from.
    dataset: String,
    /// The name of a rubric; the server's own one if it is left out.
    #[serde(default)]
    rubric: Option<String>,
    /// True if a vision model judges, which costs money.
    #[serde(default)]
    enable_llm_judge: bool,
    /// The vision model; the server's own one if it is left out.
    #[serde(default)]
    model: Option<String>,
    /// The most that the run may cost; required with the judge on.
    #[serde(default)]
    #[schema(value_type = Option<String>, pattern = "^[0-9]{1,6}(\\.[0-9]{1,12})?$")]
    budget_usd: Option<Money>,
    /// Only so many items at random, after the filters; the same seed chooses the same items.
    #[serde(default)]
    #[schema(value_type = Option<u64>, minimum = 1)]
    sample: Option<NonZeroU64>,
    /// Seed of the sample; 0 if it is left out.
    #[serde(default)]
    #[schema(value_type = Option<u64>)]
    seed: Option<u64>,
    /// Only the first so many items, after the filters and the sample.
    #[serde(default)]
    #[schema(value_type = Option<u64>, minimum = 1)]
    limit: Option<NonZeroU64>,
    /// Only items for which all of these hold, each `KEY=VALUE`.
    #[serde(default)]
    filters: Vec<String>,
    /// Judgements of each item.
    #[serde(default)]
    #[schema(value_type = Option<u32>, minimum = 1, maximum = 100)]
    repeat: Option<NonZeroU32>,
    /// Requests per minute at most.
    #[serde(default)]
    #[schema(value_type = Option<u64>, minimum = 1)]
    rpm: Option<NonZeroU64>,
    /// Tokens per minute at most.
    #[serde(default)]
    #[schema(value_type = Option<u64>, minimum = 1)]
    tpm: Option<NonZeroU64>,
    /// Calls in flight at most.
    #[serde(default)]
    #[schema(value_type = Option<u32>, minimum = 1)]
    max_concurrency: Option<NonZeroUsize>,
    /// True if the very bytes that are judged are kept in the run directory, so that they can be
    /// shown when the dataset has changed; the server's own setting if it is left out. A fleet
    /// keeps none.
    #[serde(default)]
    keep_inputs: Option<bool>,
    /// Mode of measured evidence: `facts` renders and measures the generated code, `full` also
    /// sends the pictures to the judge; the server's own setting if it is left out.
    #[serde(default)]
    #[schema(value_type = Option<String>, pattern = "^(none|facts|full)$")]
    evidence: Option<EvidenceMode>,
    /// The run that it is compared with, by the name that it is blessed by or by its id; the
    /// server's own setting if it is left out. A fleet compares with none.
    #[serde(default)]
    #[schema(pattern = "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$")]
    baseline: Option<String>,
    /// The run's name; one is made from date and time if it is left out.
    #[serde(default)]
    #[schema(pattern = "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$")]
    run_id: Option<String>,
}

/// Request to resume a run.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ResumeRequest {
    /// The most that the run may cost from now on; as before if it is left out.
    #[serde(default)]
    #[schema(value_type = Option<String>, pattern = "^[0-9]{1,6}(\\.[0-9]{1,12})?$")]
    budget_usd: Option<Money>,
}

/// Estimate of a run.
#[derive(Serialize, ToSchema)]
#[schema(as = Estimate)]
pub struct EstimateAnswer {
    /// Items that would be judged.
    items: u64,
    /// Jobs that they make.
    jobs: u64,
    /// Calls that would go out; answers in the cache need none.
    calls: u64,
    /// Jobs whose answer is in the cache.
    cached: u64,
    /// Cost, probably.
    #[schema(value_type = published::Money)]
    expected_usd: Money,
    /// Cost at most, with every call that may be repeated.
    #[schema(value_type = published::Money)]
    worst_case_usd: Money,
    /// Probable duration.
    expected_seconds: f64,
    /// Warnings for those who start it.
    warnings: Vec<String>,
}

/// Begins a run, which goes on by itself
#[utoipa::path(
    post, path = "/runs", tag = "starting", request_body = RunRequest,
    responses((status = 202, body = Option<RunInList>,
               description = "It has begun; null if nothing of it is here yet and its fleet \
                              cannot be asked",
               headers(("location" = String, description = "Where the run is"))),
              (status = 404, description = "No such dataset", body = Problem,
               content_type = "application/problem+json"),
              (status = 409, description = "It does not fit how things stand", body = Problem,
               content_type = "application/problem+json"))
)]
pub async fn start(
    State(site): State<AppState>,
    JsonBody(request): JsonBody<RunRequest>,
) -> Result<Response, Problem> {
    let asked = request.asked()?;
    if asked.enable_llm_judge && asked.budget_usd.is_none() {
        let detail = "A run with the judge on costs money: say with budget_usd how much it may be, \
                      as in \"5.00\". POST /api/v1/estimate tells what it would take.";
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, detail));
    }
    let run = site.starter.start(&asked).await?;
    accepted(&site, &run).await
}

/// Estimate of a run; asks no judge and costs nothing
#[utoipa::path(
    post, path = "/estimate", tag = "starting", request_body = RunRequest,
    responses((status = 200, description = "The estimate", body = EstimateAnswer),
              (status = 404, description = "No such dataset", body = Problem,
               content_type = "application/problem+json"),
              (status = 409, description = "It does not fit how things stand", body = Problem,
               content_type = "application/problem+json"))
)]
pub async fn estimate(
    State(site): State<AppState>,
    JsonBody(request): JsonBody<RunRequest>,
) -> Result<Json<EstimateAnswer>, Problem> {
    let estimate = site.starter.estimate(&request.asked()?).await?;
    Ok(Json(estimate.into()))
}

/// Stops a run: calls in flight are finished, nothing new is begun
#[utoipa::path(
    post, path = "/runs/{run}/cancel", tag = "starting",
    params(("run" = String, Path, description = "The run's name")),
    responses((status = 202, body = Option<RunInList>,
               description = "It ends; null if nothing of it is here yet and its fleet cannot be \
                              asked"),
              (status = 404, description = "No such run", body = Problem,
               content_type = "application/problem+json"),
              (status = 409, description = "It does not go on here", body = Problem,
               content_type = "application/problem+json"))
)]
pub async fn cancel(State(site): State<AppState>, RunOf(run): RunOf) -> Result<Response, Problem> {
    site.starter.cancel(&run).await?;
    accepted(&site, &run).await
}

/// Goes on with a run that has jobs left to score
#[utoipa::path(
    post, path = "/runs/{run}/resume", tag = "starting", request_body = ResumeRequest,
    params(("run" = String, Path, description = "The run's name")),
    responses((status = 202, description = "It goes on", body = RunInList),
              (status = 404, description = "No such run", body = Problem,
               content_type = "application/problem+json"),
              (status = 409, description = "It goes on already, or is complete", body = Problem,
               content_type = "application/problem+json"))
)]
pub async fn resume(
    State(site): State<AppState>,
    RunOf(run): RunOf,
    JsonBody(request): JsonBody<ResumeRequest>,
) -> Result<Response, Problem> {
    listed(&site, &run).await?;
    site.starter.resume(&run, not_negative(request.budget_usd)?).await?;
    accepted(&site, &run).await
}

/// The run as it is listed, or as its fleet knows it while that has written nothing of it; null if
/// the fleet cannot be asked now.
async fn accepted(site: &AppState, run: &RunId) -> Result<Response, Problem> {
    let place = [(header::LOCATION, format!("/api/v1/runs/{run}"))];
    let listed = match listed(site, run).await {
        Err(problem) if problem.status() == StatusCode::NOT_FOUND => {
            site.starter.awaited(run).await.map(RunInList::from)
        }
        listed => Some(listed?),
    };
    Ok((StatusCode::ACCEPTED, place, Json(listed)).into_response())
}

fn not_negative(budget: Option<Money>) -> Result<Option<Money>, Problem> {
    match budget {
        Some(budget) if budget < Money::ZERO => {
            let detail = "budget_usd: a budget is 0 or more.";
            Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, detail))
        }
        budget => Ok(budget),
    }
}

impl RunRequest {
    fn asked(self) -> Result<RunSpecification, Problem> {
        let run_id = self.run_id.as_deref().map(run_id).transpose();
        let unusable = |problem: Problem| {
            Problem::new(StatusCode::UNPROCESSABLE_ENTITY, format!("run_id: {}", problem.detail))
        };
        Ok(RunSpecification {
            dataset: self.dataset,
            rubric: self.rubric,
            enable_llm_judge: self.enable_llm_judge,
            model: self.model,
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

impl From<RunEstimate> for EstimateAnswer {
    fn from(estimate: RunEstimate) -> Self {
        let mut warnings = estimate.warnings;
        if estimate.expected_seconds > LONG {
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
