//! Conclusion of a call, ordinary or in a batch: its verdict, its money, and the end of its job.
//! `retry_policy.rs` decides the next step.

use crate::{
    jitter::full_jitter,
    parse_reply,
    result_builder::{RecordedAnswer, ResultBuilder},
    retry_policy::{self, AttemptTally, LeaseEnd, NextStep, Step},
    run_context::{JudgeSetup, RunContext},
    vision::CallEnd,
};
use juror_ledger::job_store::{CachedReply, FinishedJob};
use juror_types::{id::Digest, outcome::JobError, rubric::Rubric, verdict::Verdict};
use serde::{Deserialize, Serialize};

pub(crate) struct CallConclusion {
    pub(crate) verdict: Option<Verdict>,
    /// True if the verdict contradicts itself, so that the judge is called once more.
    pub(crate) asks_once_more: bool,
    pub(crate) lease_end: LeaseEnd,
    pub(crate) next: NextStep,
}

pub(crate) enum JobAfterCall {
    /// The call was its last one.
    Finished(FinishedJob),
    /// The judge is to be called again after this step.
    Unfinished(NextStep, ResultBuilder),
}

/// Contradictory verdict, kept while the judge is called once more. It stands if the second reply
/// is unusable.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FirstVerdict {
    pub(crate) verdict: Verdict,
    pub(crate) answer: RecordedAnswer,
    #[serde(rename = "remember")]
    pub(crate) reply_to_cache: Option<(Digest, CachedReply)>,
}

impl FirstVerdict {
    /// Ends a job with this verdict.
    pub(crate) fn score(self, mut builder: ResultBuilder) -> FinishedJob {
        builder.restore_reply(self.answer);
        FinishedJob { reply_to_cache: self.reply_to_cache, ..builder.scored(self.verdict) }
    }
}

impl CallConclusion {
    /// The decision after a call of `model`, which the tally counts.
    pub(crate) fn new(
        end: &CallEnd,
        model: &str,
        setup: &JudgeSetup,
        context: &RunContext,
        tally: &mut AttemptTally,
    ) -> Self {
        let (verdict, problem) = verdict_in(end, &context.rubric);
        let contradiction = retry_policy::contradiction(&context.rubric, verdict.as_ref(), tally);
        let asks_once_more = contradiction.is_some();
        let problem = problem.or(contradiction);
        let Step { lease_end, next } =
            retry_policy::decide(end, problem.as_deref(), tally, full_jitter);
        let next = refuse_other_model(setup, model, end, next);
        Self { verdict, asks_once_more, lease_end, next }
    }

    /// Ends the job if the call was its last one. A verdict that contradicts itself becomes
    /// `first`, which scores the job if the second reply is rejected.
    pub(crate) fn end_job(
        self,
        builder: ResultBuilder,
        reply_to_cache: Option<(Digest, CachedReply)>,
        first: &mut Option<FirstVerdict>,
    ) -> JobAfterCall {
        let Self { verdict, asks_once_more, next, .. } = self;
        if let (true, Some(verdict)) = (asks_once_more, verdict.clone()) {
            let (answer, reply_to_cache) = (builder.recorded_reply(), reply_to_cache.clone());
            *first = Some(FirstVerdict { verdict, answer, reply_to_cache });
        } else if next.rejects_reply()
            && let Some(first) = first.take()
        {
            return JobAfterCall::Finished(first.score(builder));
        }
        JobAfterCall::Finished(match (next, verdict) {
            (NextStep::Accept, Some(verdict)) => {
                FinishedJob { reply_to_cache, ..builder.scored(verdict) }
            }
            (NextStep::Unscorable(message), _) => builder.unscorable(message),
            (NextStep::Fail(kind, message), _) => builder.failed(JobError { kind, message }),
            (next, _) => return JobAfterCall::Unfinished(next, builder),
        })
    }
}

/// The verdict of a reply, or the reason why it has none.
fn verdict_in(end: &CallEnd, rubric: &Rubric) -> (Option<Verdict>, Option<String>) {
    let Some(answer) = end.answer() else { return (None, None) };
    let read = |content| parse_reply::read(rubric, content).map_err(|error| error.to_string());
    match parse_reply::reply_text(answer).and_then(read) {
        Ok(verdict) => (Some(verdict), None),
        Err(problem) => (None, Some(problem)),
    }
}

/// Pauses the run if another model replied and the settings refuse that.
fn refuse_other_model(
    setup: &JudgeSetup,
    requested: &str,
    end: &CallEnd,
    next: NextStep,
) -> NextStep {
    match setup.pricing.other_model(end).filter(|_| setup.refuse_other_model) {
        Some(model) => NextStep::PauseRun(format!(
            "model {model} replies in place of {requested}, and judge.other_model is \
             \"refuse\"; disable the gateway's fallback, or set it to \"warn\""
        )),
        None => next,
    }
}
