//! End of a row: its money, and its job's result or next attempt.

use super::{RunBatches, row::RowRecord};
use crate::{
    batch_lane::BatchLane,
    claim_job::unclaimed,
    evaluate::{record_result, store_and_record},
    interruption::Interruption,
    judging::{
        EndedLease, Judged,
        call_conclusion::{CallConclusion, JobAfterCall},
        reply_for_cache,
    },
    result_builder::ResultBuilder,
    retry_policy::{MAX_TRANSPORT_ATTEMPTS, NextStep},
    run_context::{JudgeSetup, RunContext},
    run_deadline::skip_after_deadline,
    vision::CallEnd,
};
use juror_ledger::{
    batches::{BatchRow, RowChange},
    job_store::{Claim, ClaimKey, FinishedJob},
};
use juror_telemetry::CallCost;
use juror_types::{
    event::Event,
    lane::Lane,
    outcome::{BatchUsage, ErrorKind, JobError, JobResult},
};

#[derive(Clone, Debug)]
pub enum RowEnd {
    /// The row ran, with this end of its call.
    Ran(CallEnd),
    /// The row never ran, and cost nothing; the reason for people.
    NotRun(JobError),
    /// The batch is not valid, and nothing of it ran.
    Invalid(String),
}

impl RowEnd {
    /// End of a row that has not run by the time that the lane waits for batches.
    pub fn not_waited_for(lane: &BatchLane) -> Self {
        if !lane.is_cancelled {
            return Self::NotRun(skip_after_deadline());
        }
        let message = "the run was cancelled before this row ran".to_owned();
        Self::NotRun(JobError { kind: ErrorKind::Cancelled, message })
    }
}

/// Ends a row: settles its money, and stores the result if the job is finished. The row is kept
/// until the result is published. `batch_usage` goes into the result. Returns none if the job is
/// judged again, in another batch or in an ordinary call.
pub async fn finish(
    row: BatchRow,
    end: RowEnd,
    batch_usage: Option<BatchUsage>,
    work: &RunBatches,
) -> Result<Option<Box<JobResult>>, Interruption> {
    let RunBatches { context, lane, .. } = work;
    let record = RowRecord::read(&row)?;
    let claim = match context.store.claim(&unclaimed(&record.job), &context.owner).await? {
        Claim::Granted { fence, .. } => ClaimKey { fence, ..unclaimed(&record.job) },
        Claim::Done(result) => {
            // Usually settled with this result already; otherwise the result came from an ordinary
            // call.
            match end {
                RowEnd::Ran(_) => context.admission.presume_spent(&row.lease).await?,
                RowEnd::NotRun(_) | RowEnd::Invalid(_) => {
                    context.admission.release(&row.lease).await?;
                }
            }
            return Ok(Some(result));
        }
        Claim::Held => return Err(Interruption::ClaimedElsewhere),
    };
    let mut builder = ResultBuilder::restore(record.builder.clone(), context, claim.clone());
    builder.batch_usage(batch_usage);
    let setup = context.judge_of_batches()?;
    if !matches!(end, RowEnd::Ran(_))
        && let Some(judge) = &record.job.judge
    {
        context.metrics.row_ended(&judge.model, None, CallCost::Nothing);
    }
    let mut settler = RowSettler { work, context, setup, row, record, claim };
    if let Some(first) = settler.record.first.take_if(|_| !matches!(end, RowEnd::Ran(_))) {
        return settler.store_unbilled(first.score(builder)).await;
    }
    match end {
        RowEnd::Ran(end) => settler.settle_call(end, builder).await,
        RowEnd::NotRun(_) if lane.falls_back => {
            context.admission.release(&settler.row.lease).await?;
            settler.close_for_retry(true).await
        }
        RowEnd::NotRun(reason) => settler.store_unbilled(builder.skipped(reason)).await,
        RowEnd::Invalid(message) => {
            let message = format!("the provider rejected the batch as invalid: {message}");
            let error = JobError { kind: ErrorKind::Request, message };
            settler.store_unbilled(builder.failed(error)).await
        }
    }
}

struct RowSettler<'work> {
    work: &'work RunBatches,
    context: &'work RunContext,
    setup: &'work JudgeSetup,
    row: BatchRow,
    record: RowRecord,
    claim: ClaimKey,
}

impl RowSettler<'_> {
    async fn settle_call(
        mut self,
        end: CallEnd,
        mut builder: ResultBuilder,
    ) -> Result<Option<Box<JobResult>>, Interruption> {
        let Self { context, setup, .. } = self;
        let Some(judge) = self.record.job.judge.clone() else {
            return Err(Interruption::UnknownRun("a job in a batch has no judge".to_owned()));
        };
        let end = match end {
            // A cooldown would resubmit the row without limit, so a refusal by rate counts as an
            // attempt.
            CallEnd::RateLimited { message, .. } => CallEnd::Unavailable { status: 429, message },
            end => end,
        };
        let mut decision =
            CallConclusion::new(&end, &judge.model, setup, context, &mut self.record.tally);
        if self.record.by_url
            && matches!((&end, &decision.next), (CallEnd::Refused { .. }, NextStep::Fail(..)))
        {
            // The retry sends the image bytes instead of URLs.
            decision.next = NextStep::Retry;
        }
        decision.next = self.next_without_refused_option(&end, decision.next).await;
        let (lease, bounds) = ((self.row.lease.clone(), decision.lease_end), &self.record.bounds);
        let sent = (&end, Lane::Batch);
        let lease = EndedLease::new(lease, sent, bounds, setup, &context.events).await;
        let result = end.result(decision.verdict.is_some());
        context.metrics.row_ended(&judge.model, Some(result), lease.cost(bounds));
        builder.called(&judge, &end, lease.bill.as_ref(), bounds);
        // The provider may have read another image at the URL than the one of the cache's key.
        let reply_to_cache =
            reply_for_cache(self.record.cache_key, &judge, setup, &end, lease.bill)
                .filter(|_| !self.record.by_url);
        let ended = decision.end_job(builder, reply_to_cache, &mut self.record.first);
        let next = match self.without_call(ended) {
            JobAfterCall::Finished(finished) => {
                return self.store_billed(lease, finished).await;
            }
            JobAfterCall::Unfinished(next, _) => next,
        };
        lease.record(&*context.admission, &self.claim, None).await?;
        self.record.raised |= next == NextStep::RetryLonger;
        // An ordinary call knows no first verdict.
        let realtime = self.work.lane.falls_back && self.record.first.is_none();
        let ended = self.close_for_retry(realtime).await?;
        match next {
            NextStep::PauseRun(reason) => {
                context.shutdown.drain.cancel();
                Err(Interruption::Paused(reason))
            }
            _ => Ok(ended),
        }
    }

    /// A retry in place of a failure if the row's refusal names a parameter that a further row omits,
    /// as an ordinary call does. Counts an attempt, since that row may be another worker's.
    async fn next_without_refused_option(&mut self, end: &CallEnd, next: NextStep) -> NextStep {
        let (NextStep::Fail(..), Some(sent)) = (&next, self.record.options) else { return next };
        let Some(dropped) = self.work.lane.provider.drop_refused(sent, end) else { return next };
        if let Some(warning) = dropped.warning {
            self.context.events.emit(Event::Warning(warning)).await;
        }
        let tally = &mut self.record.tally;
        tally.transport_attempts += 1;
        if tally.transport_attempts < MAX_TRANSPORT_ATTEMPTS { NextStep::Retry } else { next }
    }

    /// The first verdict as the job's result where no batch is left for a second one.
    fn without_call(&mut self, ended: JobAfterCall) -> JobAfterCall {
        match ended {
            JobAfterCall::Unfinished(next, builder) if self.work.lane.is_over() => {
                match self.record.first.take() {
                    Some(first) => JobAfterCall::Finished(first.score(builder)),
                    None => JobAfterCall::Unfinished(next, builder),
                }
            }
            ended => ended,
        }
    }

    /// Stores a result together with the bill of its row.
    async fn store_billed(
        self,
        lease: EndedLease,
        finished: FinishedJob,
    ) -> Result<Option<Box<JobResult>>, Interruption> {
        match lease.record_with_job(&*self.context.admission, finished).await? {
            Judged::Stored(result) => {
                record_result(&result, self.context).await;
                Ok(Some(result))
            }
            Judged::Unstored(finished) => self.store(*finished).await,
        }
    }

    /// Stores a result of a row that cost nothing.
    async fn store_unbilled(
        self,
        finished: FinishedJob,
    ) -> Result<Option<Box<JobResult>>, Interruption> {
        self.context.admission.release(&self.row.lease).await?;
        self.store(finished).await
    }

    async fn store(self, finished: FinishedJob) -> Result<Option<Box<JobResult>>, Interruption> {
        store_and_record(finished, self.context).await.map(Some)
    }

    /// Closes the row, so that its job is retried.
    async fn close_for_retry(
        mut self,
        realtime: bool,
    ) -> Result<Option<Box<JobResult>>, Interruption> {
        self.record.realtime = realtime;
        let row = self.record.into_row(self.row.lease, false)?;
        self.work.lane.records.change_row(&self.work.run, &row, RowChange::Close).await?;
        self.context.store.requeue(&self.claim).await?;
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        batch::row_admission::{Gathered, PendingRow, gather},
        worker_role::tests::{batch_fixture::BatchFixture, fixture::job},
    };
    use serde_json::{Value, json};

    async fn row_of(batches: &BatchFixture) -> PendingRow {
        match gather(&job(&batches.work.run, "a"), &batches.work).await.unwrap() {
            Gathered::Row(row) => *row,
            _ => panic!("no row"),
        }
    }

    /// Ends a row as refused with this message; returns true if its job is judged again.
    async fn is_retried(batches: &BatchFixture, row: PendingRow, message: &str) -> bool {
        let refused = CallEnd::Refused { status: 400, message: message.to_owned(), usage: None };
        let end = finish(row.row, RowEnd::Ran(refused), None, &batches.work).await;
        end.unwrap().is_none()
    }

    #[tokio::test]
    async fn row_refused_for_its_reply_format_is_sent_with_a_looser_one() {
        let batches = BatchFixture::at("http://127.0.0.1:9/v1").await;
        for format in [json!("json_schema"), json!("json_object"), Value::Null] {
            let row = row_of(&batches).await;
            let line: Value = serde_json::from_slice(&row.line).unwrap();
            assert_eq!(line["body"]["response_format"]["type"], format);
            let is_retried = is_retried(&batches, row, "response_format: unknown").await;
            assert_eq!(is_retried, format != Value::Null);
        }
    }

    #[tokio::test]
    async fn other_refusals_of_a_row_fail_its_job() {
        let batches = BatchFixture::at("http://127.0.0.1:9/v1").await;
        let row = row_of(&batches).await;
        assert!(!is_retried(&batches, row, "invalid image").await);
    }
}
