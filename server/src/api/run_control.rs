//! Cancelling and resuming runs.

use super::{
    runs::{RunInList, listed},
    start_run::{accepted, not_negative},
};
use crate::{
    api::extract::{JsonBody, RunPath},
    app_state::AppState,
    problem::Problem,
};
use axum::{extract::State, response::Response};
use juror_types::usage::Money;
use serde::Deserialize;
use utoipa::ToSchema;

/// Request to resume a run.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ResumeRequest {
    /// New maximum of the run's total cost; default: unchanged.
    #[schema(value_type = Option<String>, pattern = "^([0-9]{1,6}|[1-8][0-9]{6})(\\.[0-9]{1,12})?$")]
    budget_usd: Option<Money>,
}

/// Cancels a run: calls in flight are finished, no more are started
#[utoipa::path(
    post, path = "/runs/{run}/cancel", tag = "starting",
    params(("run" = String, Path, description = "The run's name")),
    responses((status = 202, body = Option<RunInList>,
               description = "Cancelling; null if the run has no directory yet and its fleet is \
                              unavailable"),
              (status = 409, description = "The run is not active here"))
)]
pub async fn cancel(
    State(site): State<AppState>,
    RunPath(run): RunPath,
) -> Result<Response, Problem> {
    site.launcher.cancel(&run).await?;
    accepted(&site, &run).await
}

/// Resumes a run with unscored jobs
#[utoipa::path(
    post, path = "/runs/{run}/resume", tag = "starting", request_body = ResumeRequest,
    params(("run" = String, Path, description = "The run's name")),
    responses((status = 202, description = "Resumed", body = RunInList),
              (status = 409, description = "The run is active already, or complete"))
)]
pub async fn resume(
    State(site): State<AppState>,
    RunPath(run): RunPath,
    JsonBody(request): JsonBody<ResumeRequest>,
) -> Result<Response, Problem> {
    listed(&site, &run).await?;
    site.launcher.resume(&run, not_negative(request.budget_usd)?).await?;
    accepted(&site, &run).await
}
