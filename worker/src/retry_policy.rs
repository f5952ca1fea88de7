//! Retry policy: the decision after a call on its money and the next step. No other module retries
//! calls. `vision/openai/classify_error.rs` tells which replies are rate limits; what refusals mean
//! for other calls, and a next step that replaces a cooldown, are in
//! `judging/apply_backpressure.rs`, the wait for the next call in `judging/call_permission.rs`. A
//! rate limit of a batch's row counts as an attempt (`batch/row_settlement.rs`).

use crate::vision::{AccountProblem, CallEnd, Finish};
use juror_types::{outcome::ErrorKind, rubric::Rubric, usage::Usage, verdict::Verdict};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Number of calls without a reply after which a job fails.
pub const MAX_TRANSPORT_ATTEMPTS: u32 = 5;
/// Number of unusable replies after which a job is unscorable.
pub const MAX_REPLIES: u32 = 3;
/// Number of lost calls after which a job fails; the first is retried.
pub const MAX_LOST: u32 = 2;
/// Maximum number of calls of one job that may be billed: its replies, and a lost call between
/// them. A second lost call ends the job, instead of the last reply.
pub const MAX_BILLED_CALLS: u32 = MAX_REPLIES + MAX_LOST - 1;

/// Attempts at one job so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptTally {
    /// Calls that failed by a fault of network or provider.
    pub transport_attempts: u32,
    /// Calls with a reply, which are billed.
    pub answers: u32,
    /// Calls that were sent and had no response.
    pub lost: u32,
    /// Refusals by rate in a row; they count no attempt.
    pub refusals: u32,
    /// True if a truncated reply may be retried with a larger output limit; at most once.
    pub larger_output: bool,
}

impl AttemptTally {
    /// True if the next call should be given more time.
    pub fn slower(&self) -> bool {
        self.lost > 0
    }
}

/// Consequence of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// End of its lease.
    pub lease_end: LeaseEnd,
    /// Next step of its job.
    pub next: NextStep,
}

/// End of a call's lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseEnd {
    /// Nothing was billed.
    Release,
    /// This was billed; without figures, the worst case counts as billed.
    Settle(Option<Usage>),
    /// Cost unknown: it counts as billed at its worst case.
    PresumeSpent,
}

/// Next step of a job after a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// The reply is a verdict.
    Accept,
    /// Call again after this time. Counts an attempt.
    RetryAfter(Duration),
    /// Retry immediately: the reply was unusable.
    Retry,
    /// Retry immediately with a larger output limit: the reply was truncated at the present one.
    RetryLonger,
    /// Pause calls to this endpoint in all processes for this time. Counts no attempt.
    Cooldown(Duration),
    /// Call again as soon as a permit is free: too many calls were in flight, and the limit may be
    /// lower from now on. Counts no attempt.
    AwaitPermit,
    /// Pause the run: calls cannot succeed until a person acts. The job is kept.
    PauseRun(String),
    /// The job is requeued unchanged: its process is stopping. Counts no attempt.
    Requeue,
    /// The job has failed.
    Fail(ErrorKind, String),
    /// The judge gave no usable reply.
    Unscorable(String),
}

impl NextStep {
    /// True if the reply or the request was rejected permanently.
    pub fn rejects_reply(&self) -> bool {
        matches!(self, Self::Retry | Self::RetryLonger | Self::Fail(..) | Self::Unscorable(_))
    }
}

/// Decides the next step after a call, and counts the call. `reply_problem` is the reason why a
/// reply is not a verdict, if it is not one. `delay` returns the pause before the n-th
/// repetition, counted from 0; see `jitter.rs`.
pub fn decide(
    end: &CallEnd,
    reply_problem: Option<&str>,
    tally: &mut AttemptTally,
    delay: impl FnOnce(u32) -> Duration,
) -> Step {
    if !matches!(end, CallEnd::RateLimited { .. } | CallEnd::Cancelled { .. }) {
        tally.refusals = 0;
    }
    let (lease_end, next) = match end {
        CallEnd::Completed(answer) => {
            let next = match reply_problem {
                Some(problem) => retry_reply(problem, answer.finish == Finish::Length, tally),
                None => {
                    tally.answers += 1;
                    NextStep::Accept
                }
            };
            (LeaseEnd::Settle(answer.usage), next)
        }
        CallEnd::UnusableReply { message, usage } => {
            (LeaseEnd::Settle(*usage), retry_reply(message, false, tally))
        }
        CallEnd::NotSent(message) => {
            let what = "the vision API cannot be reached";
            (LeaseEnd::Release, retry(what, message, tally, delay))
        }
        CallEnd::Unavailable { status, message } => {
            let what = format!("the vision API failed with status {status}");
            (LeaseEnd::Release, retry(&what, message, tally, delay))
        }
        CallEnd::NotCompletion(message) => {
            let what = "the vision API returned no completion";
            (LeaseEnd::Release, retry(what, message, tally, delay))
        }
        CallEnd::Lost(message) => {
            tally.lost += 1;
            (LeaseEnd::PresumeSpent, lost(message, tally, delay))
        }
        CallEnd::RateLimited { retry_after, .. } => {
            let pause = retry_after.unwrap_or_else(|| delay(tally.refusals));
            tally.refusals = tally.refusals.saturating_add(1);
            (LeaseEnd::Release, NextStep::Cooldown(pause))
        }
        CallEnd::Account { problem, message } => {
            (LeaseEnd::Release, NextStep::PauseRun(reason(*problem, message)))
        }
        CallEnd::Refused { status, message, usage } => {
            let message =
                format!("the vision API refused this request (status {status}): {message}");
            let lease_end = usage.map_or(LeaseEnd::Release, |usage| LeaseEnd::Settle(Some(usage)));
            (lease_end, NextStep::Fail(ErrorKind::Request, message))
        }
        CallEnd::Cancelled { sent: true } => (LeaseEnd::PresumeSpent, NextStep::Requeue),
        CallEnd::Cancelled { sent: false } => (LeaseEnd::Release, NextStep::Requeue),
    };
    Step { lease_end, next }
}

/// Reason to request a verdict once more, if the rubric is configured so (`findings.ask_again`):
/// the first reply contradicts itself. The second is accepted unconditionally.
pub fn contradiction(
    rubric: &Rubric,
    verdict: Option<&Verdict>,
    tally: &AttemptTally,
) -> Option<String> {
    let is_first = tally.answers == 0;
    let broken = verdict.filter(|_| rubric.findings.ask_again && is_first)?.contradictions.first();
    broken.map(|rule| format!("the verdict contradicts itself: {}", rule.title()))
}

/// Next step after an unusable reply. Another one with the output limit at which it was truncated
/// would be truncated again.
fn retry_reply(problem: &str, truncated: bool, tally: &mut AttemptTally) -> NextStep {
    tally.answers += 1;
    if tally.answers < MAX_REPLIES {
        if !truncated {
            return NextStep::Retry;
        }
        if std::mem::take(&mut tally.larger_output) {
            return NextStep::RetryLonger;
        }
    }
    NextStep::Unscorable(match tally.answers {
        1 => format!("the only reply is not usable: {problem}"),
        count => format!("none of {count} replies is usable; the last: {problem}"),
    })
}

fn retry(
    what: &str,
    message: &str,
    tally: &mut AttemptTally,
    delay: impl FnOnce(u32) -> Duration,
) -> NextStep {
    let repetition = tally.transport_attempts;
    tally.transport_attempts += 1;
    if tally.transport_attempts < MAX_TRANSPORT_ATTEMPTS {
        return NextStep::RetryAfter(delay(repetition));
    }
    let attempts = tally.transport_attempts;
    NextStep::Fail(ErrorKind::Api, format!("{what} after {attempts} attempts: {message}"))
}

fn lost(message: &str, tally: &mut AttemptTally, delay: impl FnOnce(u32) -> Duration) -> NextStep {
    if tally.lost < MAX_LOST {
        return retry("the vision API did not reply", message, tally, delay);
    }
    tally.transport_attempts += 1;
    let lost = tally.lost;
    NextStep::Fail(
        ErrorKind::Api,
        format!("{lost} calls were sent without a reply; the last: {message}"),
    )
}

fn reason(problem: AccountProblem, message: &str) -> String {
    match problem {
        AccountProblem::Certificate => format!("{problem}: {message}"),
        _ => format!("{problem}; its message: {message}"),
    }
}

#[cfg(test)]
mod tests;
