//! Thumbnails of items.

use super::{PageError, PageQuery, links, run_named};
use crate::{app_state::AppState, problem::Problem};
use axum::{
    extract::{Path, State},
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use juror_app::item_source::ItemSource;
use juror_report::{AttachmentRequest, Picture};
use juror_types::{id::RunId, outcome::JobResult, rubric::Rubric, run::RunRecord};
use maud::{Markup, html};
use std::sync::Arc;
use tokio::task::spawn_blocking;

/// Cache control of a thumbnail with a digest.
const IMMUTABLE: &str = "private, max-age=31536000, immutable";
/// Cache control of a thumbnail without a digest, whose file may change.
const CURRENT: &str = "private, max-age=60";
/// Seconds after which a refused request may be retried.
const RETRY_AFTER_SECONDS: u64 = 2;

/// The thumbnail of a result, linked to its page; empty for an item without images.
pub fn link(run: &RunId, result: &JobResult, url: &str) -> Markup {
    let Some(input) = result.item.inputs.last() else { return html! {} };
    let version =
        input.digest.map(|digest| ("v", digest.to_string().chars().rev().take(12).collect()));
    let repeat = (result.repeat > 0).then(|| ("repeat", result.repeat.to_string()));
    let query = links::query(version.into_iter().chain(repeat));
    html! {
        // The adjacent link has the item's name.
        a.thumb href=(url) tabindex="-1" aria-hidden="true" {
            img src=(links::thumbnail(run, &result.screenshot_id, &query)) alt="" width="64" height="48"
                loading="lazy" decoding="async";
        }
    }
}

/// Serves the thumbnail of an item's last image, which is the generated one if there are several.
pub async fn show(
    State(site): State<AppState>,
    Path((name, item)): Path<(String, String)>,
    query: PageQuery,
) -> Result<Response, PageError> {
    let run = run_named(&name)?;
    let view = site.views.get(&run).await?;
    let missing = || PageError::missing("There is no picture of this item.".to_owned());
    let place = view.place_of(&item, query.value("repeat").unwrap_or(0)).ok_or_else(missing)?;
    let Some(permit) = site.thumbnails.take().await else { return Ok(busy()) };
    let item_source = Arc::clone(&site.item_source);
    let making = spawn_blocking(move || {
        let _permit = permit;
        let result = view.result(place)?;
        let record = view.files.record();
        Ok::<_, PageError>(
            result.and_then(|result| picture(&*item_source, record, &view.report.rubric, result)),
        )
    });
    let picture = making.await??.ok_or_else(missing)?;
    Ok(picture_response(picture, if query.text("v").is_some() { IMMUTABLE } else { CURRENT }))
}

/// Serves the thumbnail of a run's first result.
pub async fn show_run(
    State(site): State<AppState>,
    Path(name): Path<String>,
) -> Result<Response, PageError> {
    let run = run_named(&name)?;
    let Some(permit) = site.thumbnails.take().await else { return Ok(busy()) };
    let (catalog, item_source) = (Arc::clone(&site.catalog), Arc::clone(&site.item_source));
    let making = spawn_blocking(move || {
        let _permit = permit;
        let files = catalog.files(&run)?;
        let Ok(rubric) = Rubric::parse(&files.record().rubric_text, "run.json") else {
            return Ok(None);
        };
        let first = files.results_from(0)?.next().transpose()?;
        let picture =
            first.and_then(|(_, first)| picture(&*item_source, files.record(), &rubric, first));
        Ok::<_, PageError>(picture)
    });
    let picture = making.await??;
    let picture =
        picture.ok_or_else(|| PageError::missing("There is no picture of this run.".to_owned()))?;
    Ok(picture_response(picture, CURRENT))
}

/// Renders the thumbnail of a result's last image; `None` if not available.
fn picture(
    item_source: &dyn ItemSource,
    record: &RunRecord,
    rubric: &Rubric,
    result: JobResult,
) -> Option<Picture> {
    let shown = AttachmentRequest::from(result);
    let mut found = item_source.attachments(record, rubric).gather(std::slice::from_ref(&shown));
    let attachment = found.remove(&shown.screenshot_id)?;
    attachment.pictures.into_iter().next_back()?.1.ok()
}

fn picture_response(picture: Picture, cache: &'static str) -> Response {
    let headers = [(header::CONTENT_TYPE, picture.media_type), (header::CACHE_CONTROL, cache)];
    (headers, picture.bytes).into_response()
}

fn busy() -> Response {
    let problem =
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "Too many thumbnails are being rendered.");
    problem.retry_after(RETRY_AFTER_SECONDS).into_response()
}
