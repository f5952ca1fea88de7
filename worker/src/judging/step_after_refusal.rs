//! Refusals by the provider: fewer concurrent calls, a warning, or a pause of the run.

use crate::{
    concurrency::{Lowered, Permit, Signal},
    judging::Judging,
    next_step_after_call::NextStep,
    run_context::RunContext,
    vision::{Call, CallEnd},
};
use juror_types::event::Event;
use std::time::Duration;

impl Judging<'_> {
    /// Reports a call to the concurrency limiter and the circuit breaker, and replaces the next
    /// step if lower concurrency is the remedy, or if the provider has refused for too long.
    pub(crate) async fn step_after_refusal(
        &self,
        permit: &Permit,
        call: &Call,
        next: NextStep,
    ) -> NextStep {
        let RunContext { breaker, events, .. } = self.context;
        let lowered = report(permit, call);
        let problem = match &call.end {
            CallEnd::Answered(_) | CallEnd::BadAnswer { .. } | CallEnd::Refused { .. } => {
                breaker.call_accepted();
                return next;
            }
            CallEnd::Account { .. } | CallEnd::Cancelled { .. } | CallEnd::Lost(_) => return next,
            CallEnd::RateLimited { message, .. } => {
                format!("the provider refused a call (429: {message})")
            }
            CallEnd::Unavailable { status, message } => {
                format!("the provider failed ({status}: {message})")
            }
            CallEnd::NotSent(message) => format!("the provider is unreachable ({message})"),
            CallEnd::NotCompletion(message) => {
                format!("the provider's reply is not a completion ({message})")
            }
        };
        let next = match (next, &lowered) {
            (NextStep::Cooldown(_), Some(_)) => NextStep::AwaitPermit,
            (next, _) => next,
        };
        if lowered.is_some_and(|lowered| lowered.is_first) {
            events.emit(Event::Warning(too_many_at_once(&problem))).await;
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

fn too_many_at_once(problem: &str) -> String {
    format!(
        "{problem} without a wait or limits: the number of concurrent calls is lowered; if the \
         provider limits concurrent calls, set -j to that number, if calls per minute, set --rpm"
    )
}

/// Reports a call to the concurrency limiter; returns whether this is the first time, if too many
/// calls were in flight.
fn report(permit: &Permit, call: &Call) -> Option<Lowered> {
    let signal = match &call.end {
        CallEnd::Answered(_) | CallEnd::BadAnswer { .. } | CallEnd::Refused { .. } => {
            Signal::Answered
        }
        CallEnd::RateLimited { retry_after: None, .. } if !call.limits.are_reported() => {
            Signal::Crowded
        }
        CallEnd::RateLimited { .. } => Signal::Refused,
        CallEnd::Unavailable { .. }
        | CallEnd::NotSent(_)
        | CallEnd::Lost(_)
        | CallEnd::NotCompletion(_) => Signal::Unavailable,
        CallEnd::Account { .. } | CallEnd::Cancelled { .. } => return None,
    };
    permit.report(signal, call.latency)
}
