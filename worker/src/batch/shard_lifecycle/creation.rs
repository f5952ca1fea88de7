//! The batch of a shard: its file is uploaded, and the batch created, once.

use super::{NextMove, ShardLifecycle};
use crate::{
    batch::{
        lost_batch::{find_lost_batch, second_lease},
        row_settlement::RowEnd,
    },
    interruption::WorkerError,
    vision::{BatchError, BatchMark, CallEnd},
};
use juror_ledger::batches::ShardStep;
use std::sync::Arc;

/// The next attempt at a batch, or the end of it.
enum CreationAttempt {
    /// Search the batch of an attempt without an answer.
    Search,
    Create,
    Ended(NextMove),
}

impl CreationAttempt {
    fn created(file: &str, batch: String) -> Self {
        Self::Ended(NextMove::Step(ShardStep::Created { file: file.to_owned(), batch }))
    }

    fn lost(reason: String) -> Self {
        Self::Ended(NextMove::End(RowEnd::Ran(CallEnd::Lost(reason))))
    }
}

impl ShardLifecycle {
    pub(super) async fn upload(&mut self) -> Result<NextMove, WorkerError> {
        let path = self.path();
        loop {
            if let Some(next) = self.interruption() {
                return Ok(next);
            }
            let work = Arc::clone(&self.work);
            let uploading = work.lane.provider.upload(&path);
            match work.context.shutdown.drain.run_until_cancelled(uploading).await {
                None => return Ok(NextMove::Leave),
                Some(Ok(file)) => return Ok(NextMove::Step(ShardStep::Uploaded { file })),
                Some(Err(BatchError::Refused { message, .. })) => {
                    return Ok(NextMove::End(RowEnd::Invalid(message)));
                }
                Some(Err(error)) => self.wait_after(error).await?,
            }
        }
    }

    /// Creates the batch. `unsure` is true if an earlier attempt may have created it.
    pub(super) async fn create(
        &mut self,
        file: String,
        unsure: bool,
    ) -> Result<NextMove, WorkerError> {
        let next = self.try_create(&file, unsure).await?;
        if self.unanswered > 0 && !matches!(next, NextMove::Leave) {
            // What was not released: an earlier creation may run too.
            let second = second_lease(&self.work.run, &file);
            self.work.context.admission.presume_spent(&second).await?;
        }
        Ok(next)
    }

    async fn try_create(&mut self, file: &str, unsure: bool) -> Result<NextMove, WorkerError> {
        let mut attempt = if unsure { CreationAttempt::Search } else { CreationAttempt::Create };
        loop {
            attempt = match attempt {
                CreationAttempt::Search => self.search(file).await?,
                CreationAttempt::Create => self.create_once(file).await?,
                CreationAttempt::Ended(next) => return Ok(next),
            };
        }
    }

    /// Searches the batch that an earlier attempt may have created.
    async fn search(&mut self, file: &str) -> Result<CreationAttempt, WorkerError> {
        let work = Arc::clone(&self.work);
        let (unanswered, pause) = (self.unanswered, work.lane.poll_min);
        match find_lost_batch(&*work.lane.provider, file, unanswered, pause).await {
            Ok(Some(batch)) => {
                self.release_unused_hold(file).await?;
                Ok(CreationAttempt::created(file, batch))
            }
            Ok(None) => Ok(CreationAttempt::Create),
            // Its outcome will stay unknown.
            Err(BatchError::Unsearchable(reason)) if work.lane.is_over() => {
                self.release_unused_hold(file).await?;
                Ok(CreationAttempt::lost(reason))
            }
            Err(error) => {
                self.wait_after(error).await?;
                let is_over = work.context.shutdown.drain.is_cancelled() || work.lane.is_over();
                Ok(if is_over {
                    CreationAttempt::Ended(NextMove::Leave)
                } else {
                    CreationAttempt::Search
                })
            }
        }
    }

    /// Asks the provider once to create the batch.
    async fn create_once(&mut self, file: &str) -> Result<CreationAttempt, WorkerError> {
        match self.interruption() {
            // The batch that no list has may run all the same.
            Some(NextMove::End(_)) if self.unanswered > 0 => {
                self.release_unused_hold(file).await?;
                let reason = format!("the creation of a batch of file {file} had no answer");
                return Ok(CreationAttempt::lost(reason));
            }
            Some(next) => return Ok(CreationAttempt::Ended(next)),
            None if self.unanswered > 0 => self.hold_again(file).await?,
            None => {}
        }
        let unanswered = self.unanswered + 1;
        self.record(&ShardStep::Creating { file: file.to_owned(), unanswered }).await?;
        let work = Arc::clone(&self.work);
        let mark = BatchMark { run: work.run.to_string(), shard: self.number };
        let creating = work.lane.provider.create(file, &mark);
        let Some(answer) = work.context.shutdown.now.run_until_cancelled(creating).await else {
            return Ok(CreationAttempt::Ended(NextMove::Leave));
        };
        match answer {
            Ok(batch) => {
                if self.unanswered > 0 {
                    // Recorded first: the search takes long, and a kill would lose the batch.
                    let (of, id) = (file.to_owned(), batch.clone());
                    self.record(&ShardStep::Created { file: of, batch: id }).await?;
                    self.release_if_listed(file, &batch).await?;
                }
                Ok(CreationAttempt::created(file, batch))
            }
            Err(BatchError::Refused { message, .. }) => {
                Ok(CreationAttempt::Ended(NextMove::End(RowEnd::Invalid(message))))
            }
            Err(BatchError::TokenLimit(refusal)) => {
                self.record(&self.before_creation(file)).await?;
                let is_split = self.over_token_limit(refusal).await?;
                Ok(if is_split {
                    CreationAttempt::Ended(NextMove::Split)
                } else {
                    CreationAttempt::Create
                })
            }
            Err(error @ BatchError::Lost(_)) => {
                self.unanswered = unanswered;
                self.wait_after(error).await?;
                Ok(CreationAttempt::Search)
            }
            Err(error) => {
                self.record(&self.before_creation(file)).await?;
                let is_unsure = matches!(error, BatchError::Unavailable(_));
                self.wait_after(error).await?;
                Ok(if is_unsure { CreationAttempt::Search } else { CreationAttempt::Create })
            }
        }
    }

    /// The step of a shard whose last creation was answered, and created nothing.
    fn before_creation(&self, file: &str) -> ShardStep {
        let file = file.to_owned();
        match self.unanswered {
            0 => ShardStep::Uploaded { file },
            unanswered => ShardStep::Creating { file, unanswered },
        }
    }
}
