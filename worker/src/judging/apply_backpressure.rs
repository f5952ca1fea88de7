//! Refusals by the provider: fewer concurrent calls, a warning, or a pause of the run.

use crate::{
    concurrency::{Permit, Signal},
    judging::Judging,
    retry_policy::NextStep,
    run_context::RunContext,
    vision::{Call, CallEnd},
};
use juror_types::event::Event;
use std::time::Duration;

impl Judging<'_> {
    /// Reports a call to the concurrency limiter and the circuit breaker, and replaces the next
    /// step if lower concurrency is the remedy, or if the provider has refused for too long.
    pub(crate) async fn apply_backpressure(
        &self,
        permit: &Permit,
        call: &Call,
        next: NextStep,
    ) -> NextStep {
        let RunContext { breaker, events, .. } = self.context;
        let Some((signal, problem)) = observed(call) else { return next };
        if signal == Signal::Answered {
            breaker.call_accepted();
        }
        let lowered = permit.report(signal, call.latency);
        let Some(problem) = problem else { return next };
        let next = match (next, &lowered) {
            (NextStep::Cooldown(_), Some(_)) => NextStep::AwaitPermit,
            (next, _) => next,
        };
        if lowered.is_some_and(|lowered| lowered.is_first) {
            let warning = format!(
                "{problem} without a wait or limits: the number of concurrent calls is lowered; if \
                 the provider limits concurrent calls, set -j to that number, if calls per minute, \
                 set --rpm"
            );
            events.emit(Event::Warning(warning)).await;
        }
        let pause = match next {
            NextStep::Cooldown(pause) | NextStep::RetryAfter(pause) => pause,
            _ => Duration::ZERO,
        };
        let effect = breaker.call_refused(pause);
        if let Some(lasts) = effect.exceeded {
            let minutes = lasts.as_secs() / 60;
            return NextStep::PauseRun(match lasts == pause {
                true => format!("no call is accepted for the next {minutes} minutes: {problem}"),
                false => format!("no call was accepted for {minutes} minutes: {problem}"),
            });
        }
        if effect.report {
            events.emit(Event::Waiting { reason: problem, pause }).await;
        }
        next
    }
}

/// The state of the provider by the end of a call, and its problem if it did not answer; `None` for
/// an end that shows no state.
fn observed(call: &Call) -> Option<(Signal, Option<String>)> {
    Some(match &call.end {
        CallEnd::Completed(_) | CallEnd::UnusableReply { .. } | CallEnd::Refused { .. } => {
            (Signal::Answered, None)
        }
        CallEnd::Account { .. } | CallEnd::Cancelled { .. } => return None,
        CallEnd::Lost(_) => (Signal::Unavailable, None),
        CallEnd::RateLimited { retry_after, message } => {
            let is_explained = retry_after.is_some() || call.limits.are_reported();
            let signal = if is_explained { Signal::Refused } else { Signal::Crowded };
            (signal, Some(format!("the provider refused a call (429: {message})")))
        }
        CallEnd::Unavailable { status, message } => {
            let problem = format!("the provider failed ({status}: {message})");
            (Signal::Unavailable, Some(problem))
        }
        CallEnd::NotSent(message) => {
            (Signal::Unavailable, Some(format!("the provider is unreachable ({message})")))
        }
        CallEnd::NotCompletion(message) => {
            let problem = format!("the provider's reply is not a completion ({message})");
            (Signal::Unavailable, Some(problem))
        }
    })
}
