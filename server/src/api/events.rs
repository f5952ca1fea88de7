//! Progress of a run as server-sent events.
//!
//! An event is formatted when the client is ready for it, so that a slow client buffers only the
//! newest state, which all clients share.

use crate::{
    api::extract::{RunPath, blocking},
    app_state::AppState,
    live::{Follower, LiveUpdate},
    problem::Problem,
    published,
};
use axum::{
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use futures_util::{StreamExt as _, stream};
use juror_types::usage::Money;
use serde::Serialize;
use std::{convert::Infallible, fmt::Write as _, sync::Arc, time::Duration};
use tokio::time::{Instant, timeout};
use utoipa::ToSchema;

/// Interval of comments in an idle stream, which keep proxies from closing it.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// Maximum duration of a stream. An active client reconnects with its last event id; one that
/// stopped reading does not, and would be detected only after days.
const MAX_STREAM_DURATION: Duration = Duration::from_secs(15 * 60);

/// One event of the stream.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it documents the text of the stream")]
pub struct StreamEvent {
    event: EventName,
    /// Number of results of the run so far.
    #[schema(required = false)]
    id: String,
    /// JSON: `Finished` of a result, `Progress` of progress, an empty object at the end.
    data: String,
}

/// Progress of a run: the data of an event `progress`.
#[derive(Serialize, ToSchema)]
#[schema(as = Progress)]
pub struct ProgressEvent {
    /// Number of all jobs.
    planned: u64,
    scored: u64,
    no_output: u64,
    unscorable: u64,
    failed: u64,
    skipped: u64,
    /// Number of jobs with a result.
    done: u64,
    /// Cost of the results, including superseded rounds and presumed spending.
    #[schema(value_type = published::Money)]
    spent_usd: Money,
    /// Worst-case cost of calls in flight.
    #[schema(value_type = published::Money)]
    in_flight_usd: Money,
    /// Budget of the run; null is unlimited.
    #[schema(value_type = Option<published::Money>)]
    budget_usd: Option<Money>,
    /// Current rate, in results per second.
    rate: Option<f64>,
    /// Seconds to the end at this rate.
    seconds_left: Option<f64>,
    /// True if a process works on it.
    running: bool,
    /// Number of results since the last event that had no separate event.
    missed: u64,
}

/// Events of a run
///
/// `result` for each new result, `progress` for the current state, with data in JSON (schemas
/// `Finished` and `Progress`), and `ended` when no process works on the run. Ids count results, so
/// that a client resumes with `Last-Event-ID`; after the end the response is 204. A stream ends
/// after a quarter of an hour without `ended`: reconnect then.
#[utoipa::path(
    get, path = "/runs/{run}/events", tag = "runs",
    params(("run" = String, Path, description = "The run's name"),
           ("last-event-id" = Option<String>, Header, description = "Id of the last received event")),
    responses((status = 200, description = "The stream", body = StreamEvent,
               content_type = "text/event-stream"),
              (status = 204, description = "No more events"))
)]
pub async fn follow(
    State(site): State<AppState>,
    RunPath(run): RunPath,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let seen = last_event(&headers);
    let live = Arc::clone(&site.live);
    let mut follower = blocking(move || live.follow(&run, seen)).await?;
    let Some(update) = follower.next().await else {
        let detail = "The run cannot be followed: the server is stopping, or see its log.";
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail).retry_after(5));
    };
    let is_running = update.state.progress.is_running;
    if update.new == 0 && update.missed == 0 && seen.is_some() && !is_running {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let reader = EventReader { follower, is_running, until: Instant::now() + MAX_STREAM_DURATION };
    let further = stream::unfold(Some(reader), |reader| async { reader?.next().await });
    let events = stream::iter([Bytes::from(events_text(&update))]).chain(further);
    let kind = [(header::CONTENT_TYPE, "text/event-stream")];
    Ok((kind, Body::from_stream(events.map(Ok::<_, Infallible>))).into_response())
}

#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(dead_code, reason = "it documents the text of the stream")]
enum EventName {
    /// A result.
    Result,
    /// Progress.
    Progress,
    /// No process works on the run.
    Ended,
}

struct EventReader {
    follower: Follower,
    is_running: bool,
    until: Instant,
}

impl EventReader {
    /// The next event and the reader after it; `None` at the end.
    async fn next(mut self) -> Option<(Bytes, Option<Self>)> {
        if Instant::now() >= self.until {
            return None;
        }
        match timeout(KEEP_ALIVE_INTERVAL, self.follower.next()).await {
            Err(_) => Some((Bytes::from_static(b":\n\n"), Some(self))),
            Ok(Some(update)) => {
                self.is_running = update.state.progress.is_running;
                Some((events_text(&update).into(), Some(self)))
            }
            // The server stops, the run does not: without `ended` the client reconnects.
            Ok(None) if self.is_running => None,
            Ok(None) => Some((Bytes::from_static(b"event: ended\ndata: {}\n\n"), None)),
        }
    }
}

fn events_text(LiveUpdate { state, new, missed }: &LiveUpdate) -> String {
    let mut text = String::new();
    for finished in state.recent.iter().skip(state.recent.len().saturating_sub(*new)) {
        write_event(&mut text, "result", finished.number, finished);
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
    // Compact JSON has no line breaks, and these types cannot fail to serialize.
    let data = serde_json::to_string(data).unwrap_or_default();
    let _ = write!(text, "event: {name}\nid: {id}\ndata: {data}\n\n");
}

/// Id of the last event that the client received.
fn last_event(headers: &HeaderMap) -> Option<u64> {
    headers.get("last-event-id")?.to_str().ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::MAX_STREAM_DURATION;
    use crate::test_site::{TestSite, get};
    use juror_journal::journal::JournalWriter;
    use juror_types::id::RunId;
    use tokio::time::{Instant, timeout};

    #[tokio::test(start_paused = true)]
    async fn a_long_stream_of_an_active_run_ends_without_the_event_ended() {
        let site = TestSite::new();
        let router = site.add("long", 1, 1, true).open();
        let runs_dir = site.path("");
        let _held = JournalWriter::open(&runs_dir, &RunId::parse("long").unwrap()).unwrap();
        let begun = Instant::now();
        let stream =
            timeout(MAX_STREAM_DURATION * 4, get(&router, "/api/v1/runs/long/events", &[])).await;
        let stream = stream.unwrap();
        assert!(begun.elapsed() >= MAX_STREAM_DURATION);
        assert!(stream.body.contains("event: progress"), "{}", stream.body);
        assert!(stream.body.ends_with(":\n\n") && !stream.body.contains("event: ended"));
    }
}
