//! Conformance suite of batch records.

#![expect(clippy::expect_used, reason = "a check fails by panicking")]

use super::{BatchRecords, BatchRow, ShardStep};
use juror_types::id::{JobId, LeaseId, RunId};

/// Runs every check on an empty backend.
pub async fn check(records: &dyn BatchRecords) {
    rows_of_no_shard_are_planned_split_and_removed(records).await;
    a_shard_is_known_by_its_last_step_until_it_is_collected(records).await;
}

fn row(name: &str, open: bool) -> BatchRow {
    BatchRow {
        job: JobId::new(name),
        round: 1,
        lease: LeaseId::new(format!("lease-{name}")),
        open,
        record: format!("{{\"of\":\"{name}\"}}"),
    }
}

async fn jobs(records: &dyn BatchRecords, run: &RunId, shard: Option<u32>) -> Vec<String> {
    let rows = records.open_rows(run, shard, None, 100).await.expect("the backend answers");
    rows.iter().map(|row| row.job.to_string()).collect()
}

async fn rows_of_no_shard_are_planned_split_and_removed(records: &dyn BatchRecords) {
    let (run, other) = (RunId::new("rows"), RunId::new("other"));
    for name in ["c", "a", "b"] {
        records.add_row(&run, row(name, true)).await.expect("the backend answers");
    }
    records.add_row(&other, row("z", true)).await.expect("the backend answers");
    assert_eq!(jobs(records, &run, None).await, ["a", "b", "c"]);
    let page = records
        .open_rows(&run, None, Some(&JobId::new("a")), 1)
        .await
        .expect("the backend answers");
    assert_eq!(page, [row("b", true)]);

    let id = JobId::new;
    records
        .plan_shards(&run, &[(1, vec![id("a"), id("b")])], None)
        .await
        .expect("the backend answers");
    assert_eq!(jobs(records, &run, None).await, ["c"]);
    assert_eq!(jobs(records, &run, Some(1)).await, ["a", "b"]);

    // It is split into two of its halves.
    let halves = [(2, vec![id("b")]), (3, vec![id("a")])];
    records.plan_shards(&run, &halves, Some(1)).await.expect("the backend answers");
    let numbers: Vec<u32> = records
        .shards(&run)
        .await
        .expect("the backend answers")
        .into_iter()
        .map(|(number, _)| number)
        .collect();
    assert_eq!(numbers, [2, 3]);

    // A row that came to nothing is known, but waits for nothing; the next one takes its place.
    records.add_row(&run, row("a", false)).await.expect("the backend answers");
    assert_eq!(jobs(records, &run, Some(3)).await, Vec::<String>::new());
    assert_eq!(
        records.row(&run, &JobId::new("a")).await.expect("the backend answers"),
        Some(row("a", false))
    );
    records.add_row(&run, row("a", true)).await.expect("the backend answers");
    assert_eq!(jobs(records, &run, None).await, ["a", "c"]);
    records.remove_row(&run, &JobId::new("a")).await.expect("the backend answers");
    assert_eq!(records.row(&run, &JobId::new("a")).await.expect("the backend answers"), None);
    assert_eq!(jobs(records, &other, None).await, ["z"]);
}

async fn a_shard_is_known_by_its_last_step_until_it_is_collected(records: &dyn BatchRecords) {
    let run = RunId::new("steps");
    records.add_row(&run, row("a", true)).await.expect("the backend answers");
    records
        .plan_shards(&run, &[(7, vec![JobId::new("a")])], None)
        .await
        .expect("the backend answers");
    assert_eq!(records.shards(&run).await.expect("the backend answers"), [(7, ShardStep::Planned)]);
    let (file, batch) = ("file-1".to_owned(), "batch_1".to_owned());
    for step in [
        ShardStep::Uploaded { file: file.clone() },
        ShardStep::Creating { file: file.clone() },
        ShardStep::Created { file: file.clone(), batch: batch.clone() },
        ShardStep::Ended { file, batch },
    ] {
        records.set_step(&run, 7, &step).await.expect("the backend answers");
        assert_eq!(records.shards(&run).await.expect("the backend answers"), [(7, step)]);
    }
    records.set_step(&run, 7, &ShardStep::Collected).await.expect("the backend answers");
    assert_eq!(records.shards(&run).await.expect("the backend answers"), []);
}
