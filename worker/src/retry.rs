//! Decision after a call: its money, and the next step. The only retry layer there is.

use crate::vision::{AccountProblem, Answer, CallEnd, Finish};
use backoff::{ExponentialBackoff, backoff::Backoff as _};
use juror_types::{outcome::ErrorKind, rubric::Rubric, usage::Usage, verdict::Verdict};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Calls of one job that came to nothing, before it fails.
pub const MAX_TRANSPORT_ATTEMPTS: u32 = 5;
/// Answers of one job, before it is unscorable.
pub const MAX_ANSWERS: u32 = 3;
/// Calls of one job that may be lost, before it fails: the first is tried once more.
pub const MAX_LOST: u32 = 2;
/// Calls of one job that may be billed: its answers, and a lost call between them. A second lost
/// call ends the job, so it comes in place of the last answer.
pub const MAX_BILLED_CALLS: u32 = MAX_ANSWERS + MAX_LOST - 1;

/// Attempts to fetch one file, before its job fails.
pub const MAX_FETCH_ATTEMPTS: u32 = 3;
/// Longest wait for a file's server.
const MAX_FETCH_PAUSE: Duration = Duration::from_secs(10);

/// Attempts at one job so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptTally {
    /// Calls that came to nothing by the fault of network or provider.
    pub transport_attempts: u32,
    /// Calls that were answered, and so paid for.
    pub answers: u32,
    /// Calls that were sent and never answered.
    pub lost: u32,
    /// Refusals by rate in a row; they burn no attempt.
    pub refusals: u32,
    /// Whether a cut answer may be asked again with a larger output limit. Once at most.
    pub larger_output: bool,
}

impl AttemptTally {
    /// Whether the next call should be given more time.
    pub fn slower(&self) -> bool {
        self.lost > 0
    }
}

/// Consequence of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// End of its lease.
    pub money: LeaseEnd,
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
    /// Call again after this time. Burns an attempt.
    RetryAfter(Duration),
    /// Ask again at once: an answer came and could not be used.
    Retry,
    /// Ask again at once, with a larger output limit: the answer was cut at the present one.
    RetryLonger,
    /// No process calls this endpoint before this time has passed. Burns no attempt.
    Cooldown(Duration),
    /// Call again as soon as a permit is free: too many calls were in flight, and fewer may be from
    /// now on. Burns no attempt.
    AwaitPermit,
    /// No call of this run can succeed until a person mends something. The job is kept.
    PauseRun(String),
    /// The job goes back untouched: its process is stopping. Burns no attempt.
    Requeue,
    /// The job has failed.
    Fail(ErrorKind, String),
    /// The judge answered, and never usably.
    Unscorable(String),
}

impl NextStep {
    /// Whether the answer, or the request, was found to be of no use.
    pub fn gives_up_an_answer(&self) -> bool {
        matches!(self, Self::Retry | Self::RetryLonger | Self::Fail(..) | Self::Unscorable(_))
    }
}

/// Decides what follows from a call, and counts it. `reply_problem` says why an answer's content
/// is no verdict, if it is none. `delay` gives the pause before the n-th repetition, counted from
/// 0; see [`full_jitter`].
pub fn decide(
    end: &CallEnd,
    reply_problem: Option<&str>,
    tally: &mut AttemptTally,
    delay: impl FnOnce(u32) -> Duration,
) -> Step {
    if !matches!(end, CallEnd::RateLimited { .. } | CallEnd::Cancelled { .. }) {
        tally.refusals = 0;
    }
    match end {
        CallEnd::Answered(answer) => answered(answer, reply_problem, tally),
        CallEnd::BadAnswer { message, usage } => {
            Step { money: LeaseEnd::Settle(*usage), next: ask_again(message, tally) }
        }
        CallEnd::NotSent(message) => {
            let next = retry("the vision API cannot be reached", message, tally, delay);
            Step { money: LeaseEnd::Release, next }
        }
        CallEnd::Unavailable { status, message } => {
            let what = format!("the vision API failed with status {status}");
            Step { money: LeaseEnd::Release, next: retry(&what, message, tally, delay) }
        }
        CallEnd::NotCompletion(message) => {
            let what = "the vision API gave no completion";
            Step { money: LeaseEnd::Release, next: retry(what, message, tally, delay) }
        }
        CallEnd::Lost(message) => {
            tally.lost += 1;
            Step { money: LeaseEnd::PresumeSpent, next: lost(message, tally, delay) }
        }
        CallEnd::RateLimited { retry_after, .. } => {
            let pause = retry_after.unwrap_or_else(|| delay(tally.refusals));
            tally.refusals = tally.refusals.saturating_add(1);
            Step { money: LeaseEnd::Release, next: NextStep::Cooldown(pause) }
        }
        CallEnd::Account { problem, message } => {
            Step { money: LeaseEnd::Release, next: NextStep::PauseRun(reason(*problem, message)) }
        }
        CallEnd::Refused { status, message, usage } => Step {
            money: usage.map_or(LeaseEnd::Release, |usage| LeaseEnd::Settle(Some(usage))),
            next: NextStep::Fail(
                ErrorKind::Request,
                format!("the vision API refuses this request (status {status}): {message}"),
            ),
        },
        CallEnd::Cancelled { sent } => {
            let money = if *sent { LeaseEnd::PresumeSpent } else { LeaseEnd::Release };
            Step { money, next: NextStep::Requeue }
        }
    }
}

/// Why a verdict is asked for once more, where the rubric wants that (`findings.ask_again`): the first
/// answer contradicts itself. The second is taken as it is.
pub fn contradiction(
    rubric: &Rubric,
    verdict: Option<&Verdict>,
    tally: &AttemptTally,
) -> Option<String> {
    let is_first = tally.answers == 0;
    let broken = verdict.filter(|_| rubric.findings.ask_again && is_first)?.contradictions.first();
    broken.map(|rule| format!("the verdict contradicts itself: {}", rule.title()))
}

/// The pause after so many attempts to fetch a file; none if they are enough. `asked` is what the
/// file's server asks for.
pub fn before_the_next_fetch(
    attempts: u32,
    asked: Option<Duration>,
    delay: impl FnOnce(u32) -> Duration,
) -> Option<Duration> {
    let asked = asked.unwrap_or_default().min(MAX_FETCH_PAUSE);
    (attempts < MAX_FETCH_ATTEMPTS).then(|| delay(attempts.saturating_sub(1)).max(asked))
}

/// A pause before the n-th repetition, counted from 0: anything from nothing to 1 s, 2 s, 4 s and
/// so on, up to 30 s, all equally likely, so that many callers do not come back together.
/// <https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/>, "full jitter".
pub fn full_jitter(repetition: u32) -> Duration {
    const FIRST_CEILING: Duration = Duration::from_secs(1);
    const LAST_CEILING: Duration = Duration::from_secs(30);
    let ceiling = FIRST_CEILING.saturating_mul(2_u32.saturating_pow(repetition)).min(LAST_CEILING);
    // Half the ceiling, give or take all of it.
    let mut delays = ExponentialBackoff {
        current_interval: ceiling / 2,
        randomization_factor: 1.0,
        max_elapsed_time: None,
        ..ExponentialBackoff::default()
    };
    delays.next_backoff().unwrap_or(ceiling).min(ceiling)
}

fn answered(answer: &Answer, reply_problem: Option<&str>, tally: &mut AttemptTally) -> Step {
    let next = match reply_problem {
        None => {
            tally.answers += 1;
            NextStep::Accept
        }
        Some(problem) if answer.finish == Finish::Length => ask_longer(problem, tally),
        Some(problem) => ask_again(problem, tally),
    };
    Step { money: LeaseEnd::Settle(answer.usage), next }
}

fn ask_again(problem: &str, tally: &mut AttemptTally) -> NextStep {
    tally.answers += 1;
    if tally.answers < MAX_ANSWERS {
        return NextStep::Retry;
    }
    unscorable(problem, tally)
}

fn unscorable(problem: &str, tally: &AttemptTally) -> NextStep {
    NextStep::Unscorable(match tally.answers {
        1 => format!("the only answer is not usable: {problem}"),
        count => format!("{count} answers and none usable; the last: {problem}"),
    })
}

/// Next step after an answer that was cut at the output limit: the same limit would cut it again.
fn ask_longer(problem: &str, tally: &mut AttemptTally) -> NextStep {
    tally.answers += 1;
    if tally.larger_output && tally.answers < MAX_ANSWERS {
        tally.larger_output = false;
        return NextStep::RetryLonger;
    }
    unscorable(problem, tally)
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
        return retry("the vision API gave no answer", message, tally, delay);
    }
    tally.transport_attempts += 1;
    let lost = tally.lost;
    NextStep::Fail(
        ErrorKind::Api,
        format!("{lost} calls were sent and never answered; the last: {message}"),
    )
}

fn reason(problem: AccountProblem, message: &str) -> String {
    match problem {
        AccountProblem::Certificate => format!("{problem}: {message}"),
        _ => format!("{problem}; it says: {message}"),
    }
}

#[cfg(test)]
mod tests;
