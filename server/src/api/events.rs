//! A run as it goes on, as server-sent events.
//!
//! News of a run as events. An event is put together when the reader is ready for it, so that
//! nothing waits for a slow one but the newest state, which all readers share.

use crate::api::{
    extract::{RunOf, blocking},
    openapi::published,
};
use crate::{
    live::{FinishedResult, FollowError, Follower, LiveUpdate},
    problem::Problem,
    state::AppState,
};
use axum::{
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use futures_util::stream;
use juror_types::{
    outcome::{JobError, Outcome},
    usage::Money,
};
use serde::Serialize;
use std::{convert::Infallible, fmt::Write as _, sync::Arc, time::Duration};
use tokio::time::{Instant, timeout};
use utoipa::ToSchema;

/// A stream that says nothing for so long gets a comment, so that nobody in between closes it.
const QUIET: Duration = Duration::from_secs(15);

/// A stream ends after so long, and whoever still listens comes back to where it was: one that has
/// stopped to read does not, and what little it is sent would tell it from others only after days.
const MAX_DURATION: Duration = Duration::from_secs(15 * 60);

/// One event of the stream.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it tells the document what the text of the stream holds")]
pub struct StreamEvent {
    event: EventName,
    /// Number of results that the run has by then.
    #[schema(required = false)]
    id: String,
    /// JSON: `Finished` of a result, `Progress` of progress, an empty object at the end.
    data: String,
}

#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(dead_code, reason = "it tells the document what the text of the stream holds")]
enum EventName {
    /// A result.
    Result,
    /// Progress.
    Progress,
    /// No process works on the run any more.
    Ended,
}

/// Progress of a run: the data of an event `progress`.
#[derive(Serialize, ToSchema)]
#[schema(as = Progress)]
pub struct ProgressEvent {
    /// Jobs in all.
    planned: u64,
    scored: u64,
    no_output: u64,
    unscorable: u64,
    failed: u64,
    skipped: u64,
    /// Jobs that have a result.
    done: u64,
    /// Cost of the results, superseded rounds included, and of what is presumed spent.
    #[schema(value_type = published::Money)]
    spent_usd: Money,
    /// Possible cost of calls in flight, at worst case.
    #[schema(value_type = published::Money)]
    in_flight_usd: Money,
    /// Budget of the run; null is unlimited.
    #[schema(value_type = Option<published::Money>)]
    budget_usd: Option<Money>,
    /// Results per second, lately.
    rate: Option<f64>,
    /// Seconds that the rest takes at this rate.
    seconds_left: Option<f64>,
    /// True if a process works on it.
    running: bool,
    /// Results since the last event that are not told one by one.
    missed: u64,
}

/// A result: the data of an event `result`.
#[derive(Serialize, ToSchema)]
#[schema(as = Finished)]
pub struct ResultEvent<'a> {
    screenshot_id: &'a str,
    repeat: u32,
    #[schema(value_type = published::Outcome)]
    outcome: Outcome,
    /// The verdict as one number from 0 to 1.
    score: Option<f64>,
    #[schema(value_type = published::Money)]
    cost_usd: Money,
    /// True if the verdict is the simulator's.
    simulated: bool,
    #[schema(value_type = Option<published::Error>)]
    error: Option<&'a JobError>,
}

/// A run as it goes on
///
/// Events `result` for each new result and `progress` for how things stand, their data in JSON
/// (schemas `Finished` and `Progress`); `ended` when no process works on the run any more. Ids
/// count results, so that `Last-Event-ID` goes on where a reader left; whoever has seen the end is
/// answered 204. A stream ends after a quarter of an hour without `ended`: come back then.
#[utoipa::path(
    get, path = "/runs/{run}/events", tag = "runs",
    params(("run" = String, Path, description = "The run's name"),
           ("last-event-id" = Option<String>, Header, description = "The last id that was seen")),
    responses((status = 200, description = "The stream", body = StreamEvent,
               content_type = "text/event-stream"),
              (status = 204, description = "All was told"),
              (status = 404, description = "No such run", body = Problem,
               content_type = "application/problem+json"))
)]
pub async fn follow(
    State(site): State<AppState>,
    RunOf(run): RunOf,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let seen = last_event(&headers);
    let live = Arc::clone(&site.live);
    let mut follower = blocking(move || Ok(live.follow(&run, seen)?)).await?;
    let Some(news) = follower.news().await else {
        let detail = "The run can be followed no more; the server stops, or its log says why.";
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail).retry_after(5));
    };
    if news.new == 0 && news.missed == 0 && seen.is_some() && !news.state.progress.is_running {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let is_running = news.state.progress.is_running;
    let until = Instant::now() + MAX_DURATION;
    let first = Reader { first: Some(news), follower, is_running, until };
    let events = stream::unfold(Some(first), |reader| async {
        let (text, reader) = reader?.next().await?;
        Some((Ok::<_, Infallible>(text), reader))
    });
    let kind = [(header::CONTENT_TYPE, "text/event-stream")];
    Ok((kind, Body::from_stream(events)).into_response())
}

struct Reader {
    first: Option<LiveUpdate>,
    follower: Follower,
    is_running: bool,
    until: Instant,
}

impl Reader {
    /// The next event and the state after it; none once all is told.
    async fn next(mut self) -> Option<(Bytes, Option<Self>)> {
        let news = match self.first.take() {
            Some(news) => Some(news),
            None if Instant::now() >= self.until => return None,
            None => match timeout(QUIET, self.follower.news()).await {
                Ok(news) => news,
                Err(_) => return Some((Bytes::from_static(b":\n\n"), Some(self))),
            },
        };
        match news {
            Some(news) => {
                self.is_running = news.state.progress.is_running;
                Some((told(&news).into(), Some(self)))
            }
            // Without an end the reader comes back: the server stops, the run does not.
            None if self.is_running => None,
            None => Some((Bytes::from_static(b"event: ended\ndata: {}\n\n"), None)),
        }
    }
}

/// The events of some news.
fn told(LiveUpdate { state, new, missed }: &LiveUpdate) -> String {
    let mut text = String::new();
    for finished in state.recent.iter().skip(state.recent.len().saturating_sub(*new)) {
        write_event(&mut text, "result", finished.number, &ResultEvent::of(finished));
    }
    let (progress, counts) = (&state.progress, state.progress.counts);
    let event = ProgressEvent {
        planned: progress.planned,
        scored: counts.scored,
        no_output: counts.no_output,
        unscorable: counts.unscorable,
        failed: counts.failed,
        skipped: counts.skipped,
        done: progress.done(),
        spent_usd: progress.spent_usd,
        in_flight_usd: progress.in_flight_usd,
        budget_usd: progress.budget_usd,
        rate: progress.rate,
        seconds_left: progress.seconds_left,
        running: progress.is_running,
        missed: *missed,
    };
    write_event(&mut text, "progress", state.results, &event);
    text
}

fn write_event(text: &mut String, name: &str, id: u64, data: &impl Serialize) {
    // JSON has no line breaks of its own, and none of these types can fail to be written.
    let data = serde_json::to_string(data).unwrap_or_default();
    let _ = write!(text, "event: {name}\nid: {id}\ndata: {data}\n\n");
}

/// The number of the last event that a reader has seen.
fn last_event(headers: &HeaderMap) -> Option<u64> {
    headers.get("last-event-id")?.to_str().ok()?.trim().parse().ok()
}

impl<'a> ResultEvent<'a> {
    fn of(finished: &'a FinishedResult) -> Self {
        Self {
            screenshot_id: &finished.screenshot_id,
            repeat: finished.repeat,
            outcome: finished.outcome,
            score: finished.score,
            cost_usd: finished.cost_usd,
            simulated: finished.simulated,
            error: finished.error.as_ref(),
        }
    }
}

impl From<FollowError> for Problem {
    fn from(error: FollowError) -> Self {
        match error {
            FollowError::Journal(error) => error.into(),
            FollowError::Full => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string()).retry_after(30)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::MAX_DURATION;
    use crate::test_site::{TestSite, get};
    use juror_journal::journal::RunDirectory;
    use juror_types::id::RunId;
    use tokio::time::{Instant, timeout};

    #[tokio::test(start_paused = true)]
    async fn a_stream_of_a_run_that_goes_on_ends_by_and_by_without_saying_that_the_run_has() {
        let site = TestSite::new();
        let router = site.add("long", 1, 1, true).open();
        let runs_dir = site.path("");
        let _held = RunDirectory::open(&runs_dir, &RunId::parse("long").unwrap()).unwrap();
        let begun = Instant::now();
        let stream = timeout(MAX_DURATION * 4, get(&router, "/api/v1/runs/long/events", &[])).await;
        let stream = stream.unwrap();
        assert!(begun.elapsed() >= MAX_DURATION);
        assert!(stream.body.contains("event: progress"), "{}", stream.body);
        assert!(stream.body.ends_with(":\n\n") && !stream.body.contains("event: ended"));
    }
}
