//! Pause of a run whose calls keep failing: after many consecutive items without a usable reply, or
//! after a long time in which the provider refused every call.

use juror_types::outcome::JobResult;
use parking_lot::Mutex;
use std::{collections::VecDeque, time::Duration};
use tokio::time::Instant;

/// Number of the last messages that a pause reason names.
const MAX_MESSAGES: usize = 3;
/// Time without an accepted call after which refusals are reported; a pause of this length is
/// reported at once.
const REPORT_AFTER: Duration = Duration::from_secs(5);
/// Time between two reports.
const REPORT_INTERVAL: Duration = Duration::from_secs(30);
/// Time without a wanted call after which a series of refusals ends.
const MAX_GAP: Duration = Duration::from_secs(15 * 60);

/// The bounds of a [`CircuitBreaker`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BreakerSettings {
    /// Number of consecutive items without a usable reply after which the run pauses; 0: never.
    pub max_unusable_in_a_row: u32,
    /// Time without an accepted call, while calls are refused, after which the run pauses; zero:
    /// never.
    pub max_refusal_time: Duration,
}

/// A circuit breaker for the calls of one run, as one process sees them. It decides when to pause,
/// and leaves the pause to its caller.
#[derive(Debug, Default)]
pub struct CircuitBreaker {
    settings: BreakerSettings,
    state: Mutex<BreakerState>,
}

/// Consequences of a refused call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusalEffect {
    /// True if the wait should be reported to the user now.
    pub report: bool,
    /// Time without an accepted call, if it reaches the bound and the run pauses. A pause requested
    /// by the provider counts as soon as it is as long as the bound.
    pub exceeded: Option<Duration>,
}

impl CircuitBreaker {
    /// A closed circuit without failures.
    pub fn new(settings: BreakerSettings) -> Self {
        Self { settings, state: Mutex::default() }
    }

    /// Counts the end of an item that this process called the judge for; returns true if it got no
    /// usable reply, after which [`check`](Self::check) decides.
    pub fn item_ended(&self, result: &JobResult) -> bool {
        let mut state = self.state.lock();
        match result.has_usable_reply() {
            Some(true) => {
                state.unusable = 0;
                state.messages.clear();
                false
            }
            Some(false) => {
                let message = result.error.as_ref().map(|error| error.message.as_str());
                state.count_unusable(message.unwrap_or_default());
                true
            }
            None => false,
        }
    }

    /// Opens the circuit if the number of consecutive items without a usable reply has reached the
    /// bound. `shared` is the number over all processes that judge the run, if they count it
    /// together; otherwise this process's own counts.
    pub fn check(&self, shared: Option<u32>) {
        let mut state = self.state.lock();
        let (bound, count) =
            (self.settings.max_unusable_in_a_row, shared.unwrap_or(state.unusable));
        if bound == 0 || count < bound {
            return;
        }
        state.unusable = 0;
        let messages: Vec<_> = state.messages.drain(..).collect();
        state.pause_reason = Some(format!(
            "{count} items in a row got no usable reply: {}; to pause later or never, change \
             judge.max_unusable_in_a_row",
            messages.join(" / ")
        ));
    }

    /// The reason to pause the run, once after each time that the bound was reached.
    pub fn take_pause_reason(&self) -> Option<String> {
        self.state.lock().pause_reason.take()
    }

    /// True if the bound was reached and the run is not paused yet.
    pub fn is_open(&self) -> bool {
        self.state.lock().pause_reason.is_some()
    }

    /// Ends a series of refusals, since the provider accepted a call.
    pub fn call_accepted(&self) {
        self.state.lock().refusals = None;
    }

    /// Continues a series of refusals, since a call is wanted, even if it is not admitted for long.
    pub fn call_wanted(&self) {
        let now = Instant::now();
        if let Some(row) = self.state.lock().refusals.as_mut().filter(|row| row.is_active(now)) {
            row.last = row.last.max(now);
        }
    }

    /// Counts a call that the provider refused or could not take; the next try comes after `pause`.
    pub fn call_refused(&self, pause: Duration) -> RefusalEffect {
        let now = Instant::now();
        let mut state = self.state.lock();
        let current = state.refusals.filter(|row| row.is_active(now));
        let mut row = current.unwrap_or(Refusals { began: now, last: now, reported: None });
        row.last = now.checked_add(pause).unwrap_or(now);
        let lasts = (now - row.began).max(pause);
        let is_long = lasts >= REPORT_AFTER || pause >= REPORT_AFTER;
        let report = is_long && row.reported.is_none_or(|at| now - at >= REPORT_INTERVAL);
        if report {
            row.reported = Some(now);
        }
        state.refusals = Some(row);
        let bound = self.settings.max_refusal_time;
        let exceeded = (!bound.is_zero() && lasts >= bound).then_some(lasts);
        RefusalEffect { report, exceeded }
    }
}

#[derive(Debug, Default)]
struct BreakerState {
    unusable: u32,
    messages: VecDeque<String>,
    pause_reason: Option<String>,
    refusals: Option<Refusals>,
}

/// A series of refusals without an accepted call between them.
#[derive(Clone, Copy, Debug)]
struct Refusals {
    began: Instant,
    /// The last time at which a call was wanted, or the time of its next attempt.
    last: Instant,
    reported: Option<Instant>,
}

impl Refusals {
    fn is_active(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.last) <= MAX_GAP
    }
}

impl BreakerState {
    fn count_unusable(&mut self, message: &str) {
        self.unusable = self.unusable.saturating_add(1);
        if !self.messages.iter().any(|known| known == message) {
            self.messages.push_back(message.to_owned());
        }
        while self.messages.len() > MAX_MESSAGES {
            self.messages.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker_role::tests::fixture::job;
    use juror_types::{
        id::RunId,
        outcome::{ErrorKind, JobError, Outcome},
    };

    const MINUTE: Duration = Duration::from_secs(60);

    fn breaker(max_unusable_in_a_row: u32) -> CircuitBreaker {
        let max_refusal_time = 60 * MINUTE;
        CircuitBreaker::new(BreakerSettings { max_unusable_in_a_row, max_refusal_time })
    }

    /// Ends an item in the only process that judges the run.
    fn item_ended(breaker: &CircuitBreaker, result: &JobResult) {
        if breaker.item_ended(result) {
            breaker.check(None);
        }
    }

    fn ended(outcome: Outcome, error: Option<(ErrorKind, &str)>) -> JobResult {
        let error = error.map(|(kind, message)| JobError { kind, message: message.to_owned() });
        JobResult {
            attempts: 1,
            error,
            ..JobResult::empty(&job(&RunId::new("run"), "item"), outcome)
        }
    }

    #[test]
    fn consecutive_items_without_a_usable_reply_pause_the_run_with_their_messages() {
        let breaker = breaker(3);
        let cut = ended(Outcome::Unscorable, Some((ErrorKind::Reply, "it was cut")));
        let down = ended(Outcome::Failed, Some((ErrorKind::Api, "status 500")));
        let refused = ended(Outcome::Failed, Some((ErrorKind::Request, "policy")));
        for result in [&cut, &cut, &ended(Outcome::Scored, None), &cut, &refused, &down] {
            item_ended(&breaker, result);
        }
        assert_eq!(breaker.take_pause_reason(), None, "two in a row");
        item_ended(&breaker, &cut);
        assert!(breaker.is_open());
        let reason = breaker.take_pause_reason().unwrap();
        assert!(reason.starts_with("3 items in a row"), "{reason}");
        assert!(reason.contains("it was cut / status 500"), "{reason}");
        assert!(!breaker.is_open());
    }

    #[test]
    fn shared_failure_streak_spans_processes() {
        let breaker = breaker(3);
        let cut = ended(Outcome::Unscorable, Some((ErrorKind::Reply, "it was cut")));
        for _ in 0..5 {
            assert!(breaker.item_ended(&cut));
            breaker.check(Some(2));
        }
        assert!(!breaker.is_open(), "others got usable answers meanwhile");
        breaker.item_ended(&cut);
        breaker.check(Some(3));
        let reason = breaker.take_pause_reason().unwrap();
        assert!(reason.starts_with("3 items in a row"), "{reason}");
    }

    #[test]
    fn items_without_a_call_do_not_affect_the_streak() {
        let breaker = breaker(1);
        let cached = JobResult { cached: true, ..ended(Outcome::Scored, None) };
        let poison = ended(Outcome::Unscorable, Some((ErrorKind::Reply, "old")));
        item_ended(&breaker, &cached);
        item_ended(&breaker, &JobResult { attempts: 0, ..poison });
        assert!(!breaker.is_open());
    }

    #[test]
    fn zero_bound_never_pauses() {
        let breaker = breaker(0);
        for _ in 0..1_000 {
            item_ended(&breaker, &ended(Outcome::Unscorable, Some((ErrorKind::Reply, "no"))));
        }
        assert!(!breaker.is_open());
    }

    #[tokio::test(start_paused = true)]
    async fn refusals_are_reported_periodically_and_finally_exceed_the_bound() {
        let breaker = breaker(10);
        let mut reports = 0;
        let mut calls = 0;
        let exceeded = loop {
            let effect = breaker.call_refused(Duration::from_secs(1));
            reports += u32::from(effect.report);
            if let Some(lasts) = effect.exceeded {
                break lasts;
            }
            calls += 1;
            tokio::time::advance(Duration::from_secs(10)).await;
        };
        assert_eq!((exceeded, calls), (60 * MINUTE, 360));
        assert_eq!(reports, 120, "one in thirty seconds, the first after ten");
    }

    #[tokio::test(start_paused = true)]
    async fn accepted_call_or_a_long_silence_resets_the_streak() {
        let breaker = breaker(10);
        for _ in 0..20 {
            for _ in 0..59 {
                assert_eq!(breaker.call_refused(MINUTE).exceeded, None);
                tokio::time::advance(MINUTE).await;
            }
            breaker.call_accepted();
        }
        breaker.call_refused(MINUTE);
        tokio::time::advance(120 * MINUTE).await;
        assert_eq!(breaker.call_refused(MINUTE).exceeded, None);
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_calls_keep_a_streak_alive() {
        let breaker = breaker(10);
        breaker.call_refused(40 * MINUTE);
        tokio::time::advance(50 * MINUTE).await;
        breaker.call_wanted();
        tokio::time::advance(10 * MINUTE).await;
        assert_eq!(breaker.call_refused(MINUTE).exceeded, Some(60 * MINUTE));
        breaker.call_accepted();
        breaker.call_wanted();
        assert_eq!(breaker.call_refused(MINUTE).exceeded, None);
    }

    #[test]
    fn bound_is_exceeded_by_an_equally_long_retry_after() {
        let day = 24 * 60 * MINUTE;
        assert_eq!(breaker(10).call_refused(day).exceeded, Some(day));
    }

    #[tokio::test(start_paused = true)]
    async fn short_refusal_is_not_reported() {
        let breaker = breaker(10);
        assert!(!breaker.call_refused(Duration::from_millis(100)).report);
        assert!(breaker.call_refused(Duration::from_secs(20)).report);
    }
}
