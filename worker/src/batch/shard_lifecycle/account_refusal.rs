//! A batch that its account's problem refused: its shard waits for a person.

use super::{NextMove, ShardLifecycle};
use crate::{vision::BatchError, worker_error::WorkerError};
use juror_ledger::batches::ShardStep;

impl ShardLifecycle {
    /// Pauses the run with the jobs of this batch kept. It ran nothing, so a resumed run creates
    /// another one of its file; a lane that no longer waits for batches ends its rows.
    pub(super) async fn refused_by_account(
        &mut self,
        file: &str,
        batch: &str,
        error: BatchError,
    ) -> Result<NextMove, WorkerError> {
        let uploaded = ShardStep::Uploaded { file: file.to_owned() };
        if self.work.lane.is_over() {
            return Ok(NextMove::Step(uploaded));
        }
        let created = ShardStep::Created { file: file.to_owned(), batch: batch.to_owned() };
        self.presume_second_hold(&created).await?;
        self.record(&uploaded).await?;
        self.wait_after(error).await?;
        Ok(NextMove::Step(uploaded))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{interruption::Interruption, worker_role::tests::batch_fixture::BatchFixture};
    use juror_ledger::batches::BatchRecords as _;
    use juror_services::web::{WebResponse, WebServer};
    use juror_types::id::OwnerId;
    use serde_json::json;

    #[tokio::test]
    async fn batch_refused_by_its_account_pauses_the_run_and_can_be_created_anew() {
        let errors = json!([{"code": "billing_hard_limit_reached", "message": "it is reached"}]);
        let failed = json!({"id": "batch-1", "input_file_id": "file-1", "status": "failed",
                            "errors": {"data": errors}});
        let server = WebServer::start(move |_| WebResponse::file(failed.to_string().as_bytes()));
        let batches = BatchFixture::at(&format!("http://{}/v1", server.address())).await;
        let (work, records) = (&batches.work, &batches.records);
        let number = records.open_shard(&work.run, &OwnerId::new("here")).await.unwrap();
        let step = ShardStep::Created { file: "file-1".to_owned(), batch: "batch-1".to_owned() };
        assert!(records.set_step(&work.shard(number), &step).await.unwrap());

        let Err(end) = ShardLifecycle::new(work, number).run(step).await else {
            panic!("the run goes on")
        };
        let WorkerError::Interrupted(Interruption::Paused(reason)) = end else { panic!("{end}") };
        assert!(reason.contains("no funds") && reason.contains("it is reached"), "{reason}");
        let uploaded = ShardStep::Uploaded { file: "file-1".to_owned() };
        assert_eq!(records.shards(&work.run).await.unwrap(), [(number, uploaded)]);
    }
}
