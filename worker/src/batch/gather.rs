//! From a job to a row: everything that is free, then the row's record and its money.

use super::{BatchWork, row::RowRecord};
use crate::{
    batch_lane::BatchLane,
    context::{Context, JudgeSetup},
    evaluate::{Unasked, prepare_unasked, store_and_note},
    interruption::Interruption,
    question::PreparedQuestion,
    result_builder::ResultBuilder,
    retry::AttemptTally,
};
use juror_ledger::{
    admission::{AdmissionDecision, Ask},
    batches::BatchRow,
    store::FinishedJob,
};
use juror_types::{
    id::{JobId, LeaseId},
    job::Job,
    lane::Lane,
    outcome::{ErrorKind, JobResult},
};
use std::sync::Arc;

/// Result of gathering a job.
pub enum Gathered {
    /// It has its result without a call.
    Finished(Box<JobResult>),
    /// It stands in a batch already.
    UnderWay,
    /// It is asked in an ordinary call.
    Realtime(Box<Job>),
    /// It is a row whose money is held.
    Row(Box<PendingRow>),
    /// It is a row that has to wait for money.
    Waiting(Box<PendingRow>),
}

/// A row that is ready to be written into a shard.
pub struct PendingRow {
    /// The job.
    pub job: JobId,
    /// The line of the shard's file.
    pub line: Vec<u8>,
    ask: Ask,
    /// Ends the job where there is no money for it.
    builder: ResultBuilder,
}

/// Makes a row of a job, unless it can be finished without a call.
pub async fn gather(job: Job, work: &BatchWork) -> Result<Gathered, Interruption> {
    let BatchWork { context, lane, run, .. } = work;
    let known = lane.records.row(run, &job.job_id).await?.filter(|row| row.round == job.round);
    let earlier = match &known {
        Some(row) if row.open => return Ok(Gathered::UnderWay),
        Some(row) => Some(RowRecord::read(row)?),
        None => None,
    };
    let is_late = lane.falls_back && lane.is_over();
    if is_late || earlier.as_ref().is_some_and(|earlier| earlier.realtime) {
        return Ok(Gathered::Realtime(Box::new(job)));
    }
    let (asked, builder) = match prepare_unasked(&job, context).await? {
        Unasked::Finished(result) => return Ok(Gathered::Finished(result)),
        Unasked::ToAsk(asked, builder) => (*asked, *builder),
    };
    let Some(setup) = context.judge.as_deref() else {
        return Err(Interruption::UnknownRun("batches need a judge".to_owned()));
    };
    let (line, row, ask) = to_row(&job, asked, &builder, earlier, setup, context, lane)?;
    if line.len() as u64 > lane.max_bytes {
        return Ok(Gathered::Realtime(Box::new(job)));
    }
    // Before its money is held, so that a crash in between leaves nothing held for good.
    lane.records.add_row(run, row).await?;
    admit(Box::new(PendingRow { job: job.job_id, line, ask, builder }), work).await
}

fn to_row(
    job: &Job,
    mut asked: PreparedQuestion,
    builder: &ResultBuilder,
    earlier: Option<RowRecord>,
    setup: &JudgeSetup,
    context: &Context,
    lane: &BatchLane,
) -> Result<(Vec<u8>, BatchRow, Ask), Interruption> {
    let limit = asked.bounds.max_output_tokens;
    let unasked = AttemptTally {
        answers: builder.attempts(),
        larger_output: setup.terms.larger_output_limit(limit).is_some(),
        ..AttemptTally::default()
    };
    let raised = earlier.as_ref().is_some_and(|earlier| earlier.raised);
    let (tally, first) = match earlier {
        Some(earlier) => (earlier.tally, earlier.first),
        None => (unasked, None),
    };
    if raised {
        asked.raise_output_limit(&setup.terms);
    }
    let line = lane.provider.row(job.job_id.as_str(), &asked.request);
    let price = setup.terms.price_in(Lane::Batch);
    let worst_cost = price.worst_cost(asked.bounds.input_tokens, asked.bounds.max_output_tokens);
    let mut bounds = asked.bounds;
    bounds.worst_cost = worst_cost;
    let lease = LeaseId::random();
    let record = RowRecord {
        job: job.clone(),
        builder: builder.snapshot(),
        key: asked.key,
        bounds,
        tally,
        raised,
        first,
        realtime: false,
    };
    let ask = Ask {
        lease: lease.clone(),
        owner: context.owner.clone(),
        run: job.run_id.clone(),
        // Batches have limits of their own, which the provider tells when a batch is created.
        endpoint: format!("{} (batches)", setup.endpoint),
        input_tokens: 0,
        max_output_tokens: 0,
        worst_cost,
    };
    Ok((line, record.into_row(lease, true)?, ask))
}

/// Holds a row's money, or ends its job where there is none.
pub async fn admit(row: Box<PendingRow>, work: &BatchWork) -> Result<Gathered, Interruption> {
    let BatchWork { context, lane, run, .. } = work;
    match context.admission.try_admit(&row.ask).await? {
        AdmissionDecision::Admitted => Ok(Gathered::Row(row)),
        AdmissionDecision::Wait { .. } => Ok(Gathered::Waiting(row)),
        AdmissionDecision::NoBudget { reason } => {
            let PendingRow { job, builder, .. } = *row;
            let skipped: FinishedJob = builder.skipped(ErrorKind::Budget, reason);
            let result = store_and_note(skipped, context).await?;
            lane.records.remove_row(run, &job).await?;
            Ok(Gathered::Finished(Box::new(result)))
        }
        AdmissionDecision::NoRecord { reason } => Err(Interruption::UnknownRun(reason)),
    }
}

/// Gives up rows that were never sent: their money is free, and their jobs are as before.
pub async fn give_up(work: &Arc<BatchWork>) -> Result<(), Interruption> {
    let BatchWork { context, lane, run, .. } = &**work;
    loop {
        let rows = lane.records.open_rows(run, None, None, PAGE).await?;
        if rows.is_empty() {
            return Ok(());
        }
        for row in rows {
            context.admission.release(&row.lease).await?;
            lane.records.remove_row(run, &row.job).await?;
        }
    }
}

/// Rows that are looked at in one go.
pub const PAGE: u32 = 500;
