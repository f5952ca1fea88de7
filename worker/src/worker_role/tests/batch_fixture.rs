//! Batches of a run at a server of a test's.

use super::{
    fake_judge::FakeJudge,
    fixture::{JobFixture, semantic},
};
use crate::{batch::RunBatches, batch_lane::BatchLane, vision::openai::tests::client};
use juror_files::fetch_policy::FetchPolicy;
use juror_ledger::{
    admission::{Admission as _, Budget},
    sqlite::SqliteLedger,
};
use juror_types::id::OwnerId;
use std::{sync::Arc, time::Duration};

/// Work of one run in the lane `batch`, with the records of its shards.
pub struct BatchFixture {
    /// Keeps the folder of the records.
    _fixture: JobFixture,
    pub records: Arc<SqliteLedger>,
    pub work: Arc<RunBatches>,
}

impl BatchFixture {
    /// Batches at this base URL.
    pub async fn at(base_url: &str) -> Self {
        let (fixture, judge) = (JobFixture::new(1), FakeJudge::saying(Vec::new()));
        let run = fixture.open_run("night", &judge).await;
        let folder = fixture.folder.path();
        let records = Arc::new(SqliteLedger::open(&folder.join("shards.db")).unwrap());
        records.open_run(&run, Budget::Unlimited).await.unwrap();
        let lane = BatchLane {
            provider: Arc::new(client(base_url)),
            records: records.clone(),
            owner: OwnerId::new("here"),
            folder: folder.to_owned(),
            poll_min: Duration::from_millis(1),
            poll_max: Duration::from_millis(1),
            max_rows: 10,
            max_bytes: 1_000_000,
            public_hosts: FetchPolicy::default(),
            delete_files: false,
            falls_back: false,
            is_cancelled: false,
            until: None,
        };
        let context = Arc::new(fixture.context(&judge, semantic()));
        let queues = (fixture.jobs.clone() as _, fixture.results.clone() as _);
        let work = RunBatches::new(queues, context, Arc::new(lane), run, Arc::default());
        Self { _fixture: fixture, records, work: Arc::new(work) }
    }
}
