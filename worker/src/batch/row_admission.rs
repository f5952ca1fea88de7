//! Gathering of jobs: everything that costs nothing, then the row's record and the admission of its
//! money; and the release of both.

use super::{RunBatches, row::RowRecord};
use crate::{
    batch_lane::BatchLane,
    claim_job::{ClaimOutcome, claim},
    cost_bounds::Bounds,
    evaluate::{PreparationOutcome, prepare_without_call, store_and_record},
    interruption::Interruption,
    judge_request::PreparedRequest,
    judging::call_conclusion::FirstVerdict,
    result_builder::{BuilderSnapshot, ResultBuilder},
    run_context::JudgeSetup,
};
use juror_ledger::{
    admission::{AdmissionDecision, AdmissionRequest},
    batches::{BatchRow, RowChange},
    job_store::FinishedJob,
};
use juror_types::{
    event::Event,
    id::LeaseId,
    job::Job,
    lane::Lane,
    outcome::{ErrorKind, JobError, JobResult},
};
use std::sync::atomic::Ordering;

/// Result of gathering a job.
pub enum Gathered {
    /// The job has its result without a call.
    Finished(Box<JobResult>),
    /// The job is in a batch already.
    UnderWay,
    /// The job is judged in an ordinary call.
    Realtime,
    /// The job is a row with reserved budget.
    Row(Box<PendingRow>),
    /// The job is a row that has to wait for money.
    Waiting(Box<PendingRow>),
}

/// A row that is ready to be written into a shard.
pub struct PendingRow {
    /// The line of the shard's file.
    pub line: Vec<u8>,
    /// The row as it is recorded.
    pub row: BatchRow,
    ask: AdmissionRequest,
    /// Ends the job where there is no money for it.
    builder: ResultBuilder,
}

/// Makes a row of a job, unless it can be finished without a call.
pub async fn gather(job: &Job, work: &RunBatches) -> Result<Gathered, Interruption> {
    let RunBatches { context, lane, run, .. } = work;
    let known = lane.records.row(run, &job.job_id).await?;
    let earlier = match &known {
        Some(row) if row.open && row.round == job.round => return Ok(Gathered::UnderWay),
        // The open row of another round must finish first.
        Some(row) if row.open => return Err(Interruption::ClaimedElsewhere),
        Some(row) if row.round == job.round => Some(RowRecord::read(row)?),
        Some(_) | None => None,
    };
    let earlier = match earlier {
        Some(RowRecord { first: Some(first), builder, .. }) if lane.is_over() => {
            return end_with_first_verdict(job, first, builder, work).await;
        }
        earlier => earlier,
    };
    let is_late = lane.is_over() || earlier.as_ref().is_some_and(|earlier| earlier.realtime);
    if lane.falls_back && is_late {
        return Ok(Gathered::Realtime);
    }
    let (prepared, builder) = match prepare_without_call(job, context).await? {
        PreparationOutcome::Finished(result) => return Ok(Gathered::Finished(result)),
        PreparationOutcome::NeedsCall(prepared, builder) => (*prepared, *builder),
    };
    let setup = context.judge_of_batches()?;
    let (line, row, ask) = to_row(job, prepared, &builder, earlier, setup, lane)?;
    if line.len() as u64 > lane.max_bytes {
        if let Some(first) = RowRecord::read(&row)?.first {
            let scored = store_and_record(first.score(builder), context).await?;
            return Ok(Gathered::Finished(scored));
        }
        return oversize(line.len(), job, builder, work).await;
    }
    // Recorded before the money is reserved: a crash in between must not leak a reservation.
    if !work.add_row(&row).await? {
        return Ok(Gathered::UnderWay);
    }
    admit(Box::new(PendingRow { line, row, ask, builder }), work).await
}

/// Holds a row's money, or ends its job if the budget is exhausted.
pub async fn admit(row: Box<PendingRow>, work: &RunBatches) -> Result<Gathered, Interruption> {
    let context = &work.context;
    let decision = match context.admission.try_admit(&row.ask).await {
        Ok(decision) => decision,
        Err(error) => {
            give_up_row(&row.row, work).await?;
            return Err(error.into());
        }
    };
    match decision {
        AdmissionDecision::Admitted => Ok(Gathered::Row(row)),
        AdmissionDecision::Wait { .. } => Ok(Gathered::Waiting(row)),
        AdmissionDecision::NoBudget { reason } => {
            let PendingRow { row, builder, .. } = *row;
            let finished: FinishedJob = match RowRecord::read(&row)?.first {
                Some(first) => first.score(builder),
                None => builder.skipped(JobError { kind: ErrorKind::Budget, message: reason }),
            };
            let stored = store_and_record(finished, context).await;
            give_up_row(&row, work).await?;
            let result = stored?;
            work.lane.records.change_row(&work.run, &row, RowChange::Remove).await?;
            Ok(Gathered::Finished(result))
        }
        AdmissionDecision::NoRecord { reason } => {
            give_up_row(&row.row, work).await?;
            Err(Interruption::UnknownRun(reason))
        }
    }
}

/// Gives up a row that was not written: releases its money, and leaves its job as before, with the
/// attempts made so far.
pub async fn give_up_row(row: &BatchRow, work: &RunBatches) -> Result<(), Interruption> {
    let RunBatches { context, lane, run, .. } = work;
    context.admission.release(&row.lease).await?;
    lane.records.change_row(run, row, RowChange::Close).await?;
    lane.records.change_row(run, row, RowChange::Detach).await?;
    work.clear_pending(&row.job).await;
    Ok(())
}

/// Ends a job with its first verdict, since no batch is left for a second one.
async fn end_with_first_verdict(
    job: &Job,
    first: FirstVerdict,
    stored: BuilderSnapshot,
    work: &RunBatches,
) -> Result<Gathered, Interruption> {
    let context = &work.context;
    let builder = match claim(job, context).await? {
        ClaimOutcome::Finished(result) => return Ok(Gathered::Finished(result)),
        ClaimOutcome::Claimed(claimed) => claimed.builder.continue_stored(stored),
    };
    store_and_record(first.score(builder), context).await.map(Gathered::Finished)
}

/// Remedy for requests that are larger than a batch. A run keeps the size of its images.
const REMEDY: &str = "raise batch.max_bytes (up to the provider's limit), or start a new run with a \
                      smaller image.max_side";

/// Ends a job whose row is larger than a batch may be: an ordinary call costs twice as much, so only
/// a run that accepts such calls makes one.
async fn oversize(
    bytes: usize,
    job: &Job,
    builder: ResultBuilder,
    work: &RunBatches,
) -> Result<Gathered, Interruption> {
    let RunBatches { context, lane, .. } = work;
    let problem = format!(
        "the request of item {} has {bytes} bytes, and a batch at most {} (batch.max_bytes)",
        job.item.id, lane.max_bytes
    );
    if lane.falls_back {
        if !work.warned_of_oversize.swap(true, Ordering::Relaxed) {
            let warning = format!(
                "{problem}: it is sent in an ordinary call at the full price, as others of such a \
                 size; for the price of batches, {REMEDY}"
            );
            context.events.emit(Event::Warning(warning)).await;
        }
        return Ok(Gathered::Realtime);
    }
    let message = format!(
        "{problem}, so that only an ordinary call could send it, at the full price: {REMEDY}, or \
         retry with --lane mixed, which makes such calls"
    );
    let error = JobError { kind: ErrorKind::Request, message };
    store_and_record(builder.failed(error), context).await.map(Gathered::Finished)
}

fn to_row(
    job: &Job,
    mut prepared: PreparedRequest,
    builder: &ResultBuilder,
    earlier: Option<RowRecord>,
    setup: &JudgeSetup,
    lane: &BatchLane,
) -> Result<(Vec<u8>, BatchRow, AdmissionRequest), Interruption> {
    let raised = earlier.as_ref().is_some_and(|earlier| earlier.raised);
    // The earlier row may have been refused because its image URL was unreadable.
    let sends_bytes = earlier.as_ref().is_some_and(|earlier| earlier.by_url);
    let (tally, first) = match earlier {
        Some(earlier) => (earlier.tally, earlier.first),
        None => (prepared.first_tally(builder, &setup.terms), None),
    };
    if raised {
        prepared.raise_output_limit(&setup.terms);
    }
    let by_url = !sends_bytes && use_public_urls(&mut prepared, lane);
    let options = Some(lane.provider.row_options(&prepared.request));
    let line = lane.provider.row(job.job_id.as_str(), &prepared.request);
    let price = setup.terms.prices.price_in(Lane::Batch);
    let worst_cost =
        price.worst_cost(prepared.bounds.input_tokens, prepared.bounds.max_output_tokens);
    let lease = LeaseId::random();
    let record = RowRecord {
        job: job.clone(),
        builder: builder.snapshot(),
        cache_key: prepared.cache_key,
        bounds: Bounds { worst_cost, ..prepared.bounds },
        tally,
        raised,
        by_url,
        options,
        first,
        realtime: false,
    };
    let ask = setup.row_admission(&job.run_id, lease.clone(), worst_cost);
    Ok((line, record.into_row(lease, true)?, ask))
}

/// Replaces images on public hosts by their URLs, which the provider fetches; returns whether there
/// are any.
fn use_public_urls(prepared: &mut PreparedRequest, lane: &BatchLane) -> bool {
    for (image, url) in prepared.request.images.iter_mut().zip(&prepared.urls) {
        let public = url.as_ref().filter(|url| lane.public_hosts.host(url).is_ok());
        image.url = public.map(|url| url.as_str().to_owned());
    }
    prepared.request.images.iter().any(|image| image.url.is_some())
}
