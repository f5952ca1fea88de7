//! Records of batches in Redis.

use crate::{
    batches::{BatchRecords, BatchRow, RowAdded, RowChange, RowState, ShardKey, ShardStep},
    error::LedgerError,
    json::{JsonRecords, write_json},
    redis::{RedisLedger, encoding::milliseconds, failure::unexpected_reply, scripts},
};
use async_trait::async_trait;
use juror_types::id::{JobId, LeaseId, OwnerId, RunId};
use std::time::Duration;

#[async_trait]
impl BatchRecords for RedisLedger {
    async fn open_shard(&self, run: &RunId, owner: &OwnerId) -> Result<u32, LedgerError> {
        let arguments = [run.to_string(), owner.to_string(), write_json(&ShardStep::Filling)?];
        self.connection
            .perform_for(&scripts::OPEN_SHARD, &arguments, "open a shard", |number| {
                number.parse().ok()
            })
            .await
    }

    async fn add_row(&self, shard: &ShardKey, row: &BatchRow) -> Result<RowAdded, LedgerError> {
        let [run, number, owner] = named(shard);
        let arguments = [
            run,
            number,
            owner,
            write_json(&ShardStep::Filling)?,
            row.job.to_string(),
            row.round.to_string(),
            row.lease.to_string(),
            row.record.clone(),
        ];
        let added = |word: &str| match word {
            "added" => Some(RowAdded::Added),
            "under_way" => Some(RowAdded::UnderWay),
            "refused" => Some(RowAdded::Refused),
            _ => None,
        };
        let step = "add a row to a shard";
        self.connection.perform_for(&scripts::ADD_BATCH_ROW, &arguments, step, added).await
    }

    async fn row(&self, run: &RunId, job: &JobId) -> Result<Option<BatchRow>, LedgerError> {
        let mut command = redis::cmd("HGET");
        command.arg(self.connection.key(&format!("batch_rows:{run}"))).arg(job.as_str());
        let text: Option<String> = self.connection.command(&command).await?;
        let Some(text) = text else { return Ok(None) };
        let fields: Vec<&str> = text.splitn(FIELDS_PER_ROW, ' ').collect();
        let row = match *fields {
            [round, open, _, lease, record] => {
                row_from(&[job.as_str(), round, open, lease, record])
            }
            _ => None,
        };
        row.map(Some).ok_or_else(|| unexpected_reply("read the row of a job"))
    }

    async fn rows(
        &self,
        run: &RunId,
        number: u32,
        state: RowState,
        after: Option<&JobId>,
        limit: u32,
    ) -> Result<Vec<BatchRow>, LedgerError> {
        let arguments = [
            run.to_string(),
            number.to_string(),
            u8::from(state.is_open()).to_string(),
            after.map(JobId::to_string).unwrap_or_default(),
            limit.to_string(),
        ];
        let answer = self.connection.perform(&scripts::LIST_BATCH_ROWS, &arguments).await?;
        let fields: Vec<&str> = answer.iter().map(String::as_str).collect();
        let rows: Option<_> = fields.chunks(FIELDS_PER_ROW).map(row_from).collect();
        rows.ok_or_else(|| unexpected_reply("list the rows of a shard"))
    }

    async fn change_row(
        &self,
        run: &RunId,
        row: &BatchRow,
        change: RowChange,
    ) -> Result<(), LedgerError> {
        let (change, record) = match change {
            RowChange::Close => ("close", row.record.clone()),
            RowChange::Detach => ("detach", String::new()),
            RowChange::Remove => ("remove", String::new()),
        };
        let arguments = [
            run.to_string(),
            row.job.to_string(),
            row.lease.to_string(),
            change.to_owned(),
            record,
        ];
        self.connection.perform(&scripts::CHANGE_BATCH_ROW, &arguments).await.map(drop)
    }

    async fn plan_shard(
        &self,
        shard: &ShardKey,
        left_out: &[JobId],
        next: Option<u32>,
    ) -> Result<bool, LedgerError> {
        let mut arguments = named(shard).to_vec();
        arguments.push(write_json(&ShardStep::Planned)?);
        if let Some(next) = next {
            arguments.push(next.to_string());
            arguments.extend(left_out.iter().map(JobId::to_string));
        }
        self.connection.perform_check(&scripts::PLAN_SHARD, &arguments).await
    }

    async fn split_shard(
        &self,
        shard: &ShardKey,
        parts: &[(u32, Vec<JobId>)],
    ) -> Result<bool, LedgerError> {
        let mut arguments = named(shard).to_vec();
        arguments.push(write_json(&ShardStep::Planned)?);
        for (number, jobs) in parts {
            arguments.extend([number.to_string(), jobs.len().to_string()]);
            arguments.extend(jobs.iter().map(JobId::to_string));
        }
        self.connection.perform_check(&scripts::SPLIT_SHARD, &arguments).await
    }

    async fn set_step(&self, shard: &ShardKey, step: &ShardStep) -> Result<bool, LedgerError> {
        let [run, number, owner] = named(shard);
        let step = match step {
            ShardStep::Collected => String::new(),
            step => write_json(step)?,
        };
        self.connection.perform_check(&scripts::SET_SHARD_STEP, &[run, number, owner, step]).await
    }

    async fn shards(&self, run: &RunId) -> Result<Vec<(u32, ShardStep)>, LedgerError> {
        shards_from(&self.connection.perform(&scripts::LIST_SHARDS, &[run.to_string()]).await?)
    }

    async fn runs_with_shards(&self) -> Result<Vec<RunId>, LedgerError> {
        let runs = self.connection.perform(&scripts::LIST_BATCH_RUNS, &[]).await?;
        Ok(runs.into_iter().map(RunId::new).collect())
    }

    async fn renew_owner(&self, owner: &OwnerId, ttl: Duration) -> Result<(), LedgerError> {
        let arguments = [owner.to_string(), milliseconds(ttl)];
        self.connection.perform(&scripts::RENEW_SHARD_OWNER, &arguments).await.map(drop)
    }

    async fn remove_owner(&self, owner: &OwnerId) -> Result<(), LedgerError> {
        let arguments = [owner.to_string(), String::new()];
        self.connection.perform(&scripts::RENEW_SHARD_OWNER, &arguments).await.map(drop)
    }

    async fn take_over(
        &self,
        run: &RunId,
        owner: &OwnerId,
    ) -> Result<Vec<(u32, ShardStep)>, LedgerError> {
        let arguments = [run.to_string(), owner.to_string()];
        shards_from(&self.connection.perform(&scripts::TAKE_OVER_SHARDS, &arguments).await?)
    }
}

/// Number of fields of a row in a script's reply.
const FIELDS_PER_ROW: usize = 5;

fn named(shard: &ShardKey) -> [String; 3] {
    [shard.run.to_string(), shard.number.to_string(), shard.owner.to_string()]
}

fn row_from(fields: &[&str]) -> Option<BatchRow> {
    let [job, round, open, lease, record] = *fields else { return None };
    Some(BatchRow {
        job: JobId::new(job),
        round: round.parse().ok()?,
        lease: LeaseId::new(lease),
        open: open == "1",
        record: record.to_owned(),
    })
}

fn shards_from(answer: &[String]) -> Result<Vec<(u32, ShardStep)>, LedgerError> {
    let shard = |pair: &[String]| {
        let known = pair.first().and_then(|number| number.parse().ok()).zip(pair.get(1));
        let (number, step) = known.ok_or_else(|| unexpected_reply("list the shards of a run"))?;
        Ok((number, JsonRecords::REDIS.read(step, || format!("step of shard {number}"))?))
    };
    answer.chunks(2).map(shard).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        admission::{
            Admission as _, AdmissionDecision, AdmissionRequest, Budget,
            tests::differential::TestClock,
        },
        batches::{ROWS_OWNER, conformance},
        redis::test_server::TestRedis,
    };
    use juror_types::usage::Money;

    #[tokio::test]
    async fn store_conforms() {
        let (redis, clock) = (TestRedis::shared(), TestClock::new());
        let backend = RedisLedger::open_with_clock(redis.settings(), clock.shared()).await.unwrap();
        conformance::check(&backend, &|milliseconds| clock.pass(milliseconds)).await;
        backend.close().await;
    }

    #[tokio::test]
    async fn restart_restores_no_lease_ended_by_another_process() {
        let redis = TestRedis::durable();
        let open = async || RedisLedger::open(redis.settings()).await.unwrap();
        let (here, there) = (open().await, open().await);
        let run = RunId::new("nightly");
        here.open_run(&run, Budget::Unlimited).await.unwrap();
        let request = AdmissionRequest {
            owner: OwnerId::new(ROWS_OWNER),
            ..crate::test_requests::request("row", "", 20)
        };
        assert_eq!(here.try_admit(&request).await.unwrap(), AdmissionDecision::Admitted);
        there.release(&request.lease).await.unwrap();
        redis.kill();
        redis.start_again();
        while here.sweep().await.is_err() {
            tokio::task::yield_now().await;
        }
        assert_eq!(here.ledger(&run).await.unwrap().unwrap().outstanding, Money::ZERO);
        here.close().await;
        there.close().await;
    }

    #[tokio::test]
    async fn keys_of_a_run_expire_with_it() {
        let redis = TestRedis::shared();
        let backend = RedisLedger::open(redis.settings()).await.unwrap();
        let (run, owner) = (RunId::new("nightly"), OwnerId::new("here"));
        let record = crate::redis::run_tests::record();
        backend.announce_run(&record).await.unwrap();
        let number = backend.open_shard(&run, &owner).await.unwrap();
        let shard = ShardKey { run: run.clone(), number, owner };
        let row = BatchRow {
            job: JobId::new("job"),
            round: 0,
            lease: LeaseId::new("lease"),
            open: true,
            record: String::new(),
        };
        backend.add_row(&shard, &row).await.unwrap();
        let left = |kind: &str| -> i64 {
            redis.command(&["TTL", &format!("{}:{kind}:{run}", redis.namespace)]).parse().unwrap()
        };
        let kinds = ["batch_rows", "batch_places", "batch_shards"];
        assert_eq!(kinds.map(left), [-1; 3]);
        backend.close_run(&run, 1).await.unwrap();
        assert!(kinds.map(left).iter().all(|seconds| *seconds > 0));
        backend.announce_run(&record).await.unwrap();
        assert_eq!(kinds.map(left), [-1; 3]);
        // An owner that renews itself keeps the shard.
        backend.close_run(&run, 1).await.unwrap();
        for kind in kinds {
            redis.command(&["EXPIRE", &format!("{}:{kind}:{run}", redis.namespace), "60"]);
        }
        backend.take_over(&run, &shard.owner).await.unwrap();
        assert!(kinds.map(left).iter().all(|seconds| *seconds > 60));
        // An expired shard belongs to no run.
        for kind in kinds {
            redis.command(&["DEL", &format!("{}:{kind}:{run}", redis.namespace)]);
        }
        assert_eq!(backend.runs_with_shards().await.unwrap(), []);
        backend.close().await;
    }
}
