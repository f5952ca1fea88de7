//! Conformance suite of batch records.

use super::{
    BatchRecords, BatchRow, ROWS_OWNER, RowAdded, RowChange, RowState, ShardKey, ShardStep,
};
use crate::{
    admission::{Admission, AdmissionDecision, AdmissionRequest, Budget},
    test_requests,
};
use juror_types::{
    id::{JobId, LeaseId, OwnerId, RunId},
    usage::Money,
};
use std::time::Duration;

/// Lifetime of owners in these checks.
const TTL: Duration = Duration::from_secs(60);

/// Runs every check on an empty backend; `pass` moves its clock by milliseconds.
pub async fn check<Backend: BatchRecords + Admission>(records: &Backend, pass: &dyn Fn(i64)) {
    rows_are_added_closed_detached_and_removed(records).await;
    replaced_row_is_unchanged(records).await;
    shard_is_planned_without_rows_missing_from_its_file(records).await;
    a_shard_is_split(records).await;
    shard_keeps_its_last_step_until_collected(records).await;
    shard_of_an_expired_owner_is_taken_over(records, pass).await;
    leases_of_rows_outlive_their_process(records, pass).await;
}

fn row(name: &str, lease: &str) -> BatchRow {
    BatchRow {
        job: JobId::new(name),
        round: 1,
        lease: LeaseId::new(lease),
        open: true,
        record: format!("{{\"of\":\"{name} \\n\"}}"),
    }
}

fn here() -> OwnerId {
    OwnerId::new("here")
}

async fn filling(records: &dyn BatchRecords, run: &RunId) -> ShardKey {
    records.renew_owner(&here(), TTL).await.expect("the backend answers");
    let number = records.open_shard(run, &here()).await.expect("the backend answers");
    ShardKey { run: run.clone(), number, owner: here() }
}

async fn filled(records: &dyn BatchRecords, run: &RunId, names: &[&str]) -> ShardKey {
    let shard = filling(records, run).await;
    for name in names {
        let added = records.add_row(&shard, &row(name, name)).await.expect("the backend answers");
        assert_eq!(added, RowAdded::Added);
    }
    shard
}

async fn jobs(records: &dyn BatchRecords, shard: &ShardKey, state: RowState) -> Vec<String> {
    let rows = records.rows(&shard.run, shard.number, state, None, 100).await;
    rows.expect("the backend answers").iter().map(|row| row.job.to_string()).collect()
}

async fn stored(records: &dyn BatchRecords, run: &RunId, job: &str) -> Option<BatchRow> {
    records.row(run, &JobId::new(job)).await.expect("the backend answers")
}

async fn steps(records: &dyn BatchRecords, run: &RunId) -> Vec<(u32, ShardStep)> {
    records.shards(run).await.expect("the backend answers")
}

async fn set(records: &dyn BatchRecords, shard: &ShardKey, step: &ShardStep) -> bool {
    records.set_step(shard, step).await.expect("the backend answers")
}

async fn rows_are_added_closed_detached_and_removed(records: &dyn BatchRecords) {
    let (run, other) = (RunId::new("rows"), RunId::new("other"));
    let shard = filled(records, &run, &["c", "a", "b"]).await;
    filled(records, &other, &["z"]).await;
    assert_eq!(jobs(records, &shard, RowState::Open).await, ["a", "b", "c"]);
    let page = records.rows(&run, shard.number, RowState::Open, Some(&JobId::new("a")), 1).await;
    assert_eq!(page.expect("the backend answers"), [row("b", "b")]);

    let again = records.add_row(&shard, &row("a", "another")).await;
    assert_eq!(again.expect("the backend answers"), RowAdded::UnderWay);
    let repeated = records.add_row(&shard, &row("a", "a")).await;
    assert_eq!(repeated.expect("the backend answers"), RowAdded::Added);
    assert_eq!(stored(records, &run, "a").await, Some(row("a", "a")));

    // A row that is given up is recorded, but does not wait.
    let closed = BatchRow { open: false, record: "closed".to_owned(), ..row("a", "a") };
    records.change_row(&run, &closed, RowChange::Close).await.expect("the backend answers");
    assert_eq!(stored(records, &run, "a").await, Some(closed.clone()));
    assert_eq!(jobs(records, &shard, RowState::Open).await, ["b", "c"]);
    assert_eq!(jobs(records, &shard, RowState::Closed).await, ["a"]);
    records.change_row(&run, &closed, RowChange::Detach).await.expect("the backend answers");
    assert_eq!(jobs(records, &shard, RowState::Closed).await, Vec::<String>::new());
    assert_eq!(stored(records, &run, "a").await, Some(closed.clone()));

    // The next row replaces it.
    let next = row("a", "next");
    let added = records.add_row(&shard, &next).await.expect("the backend answers");
    assert_eq!(added, RowAdded::Added);
    assert_eq!(jobs(records, &shard, RowState::Open).await, ["a", "b", "c"]);
    records.change_row(&run, &next, RowChange::Remove).await.expect("the backend answers");
    assert_eq!(stored(records, &run, "a").await, None);
    assert_eq!(jobs(records, &shard, RowState::Open).await, ["b", "c"]);
    assert_eq!(stored(records, &other, "z").await, Some(row("z", "z")));
}

async fn replaced_row_is_unchanged(records: &dyn BatchRecords) {
    let run = RunId::new("replaced");
    let first = filled(records, &run, &["a"]).await;
    let old = BatchRow { open: false, ..row("a", "a") };
    records.change_row(&run, &old, RowChange::Close).await.expect("the backend answers");
    let second = filling(records, &run).await;
    let new = row("a", "new");
    let added = records.add_row(&second, &new).await.expect("the backend answers");
    assert_eq!(added, RowAdded::Added);
    assert_eq!(jobs(records, &first, RowState::Closed).await, Vec::<String>::new());
    records.change_row(&run, &old, RowChange::Close).await.expect("the backend answers");
    records.change_row(&run, &old, RowChange::Detach).await.expect("the backend answers");
    records.change_row(&run, &old, RowChange::Remove).await.expect("the backend answers");
    assert_eq!(stored(records, &run, "a").await, Some(new.clone()));
    // Nor is an open row detached.
    records.change_row(&run, &new, RowChange::Detach).await.expect("the backend answers");
    assert_eq!(jobs(records, &second, RowState::Open).await, ["a"]);
}

async fn shard_is_planned_without_rows_missing_from_its_file(records: &dyn BatchRecords) {
    let run = RunId::new("planned");
    let shard = filled(records, &run, &["a", "b", "c"]).await;
    let next = filling(records, &run).await;
    assert_ne!(shard.number, next.number);
    let left_out = [JobId::new("b"), JobId::new("never added")];
    let planned = records.plan_shard(&shard, &left_out, Some(next.number)).await;
    assert!(planned.expect("the backend answers"));
    assert_eq!(jobs(records, &shard, RowState::Open).await, ["a", "c"]);
    assert_eq!(jobs(records, &next, RowState::Open).await, ["b"]);
    let known = [(shard.number, ShardStep::Planned), (next.number, ShardStep::Filling)];
    assert_eq!(steps(records, &run).await, known);
    let late = records.add_row(&shard, &row("d", "d")).await.expect("the backend answers");
    assert_eq!(late, RowAdded::Refused);
    assert_eq!(stored(records, &run, "d").await, None);
}

async fn a_shard_is_split(records: &dyn BatchRecords) {
    let run = RunId::new("split");
    let shard = filled(records, &run, &["a", "b", "c"]).await;
    let id = JobId::new;
    let (one, two) = (filling(records, &run).await, filling(records, &run).await);
    let parts = [(one.number, vec![id("b")]), (two.number, vec![id("a"), id("c")])];
    let stranger = ShardKey { owner: OwnerId::new("there"), ..shard.clone() };
    assert!(!records.split_shard(&stranger, &parts).await.expect("the backend answers"));
    assert_eq!(jobs(records, &shard, RowState::Open).await, ["a", "b", "c"]);
    assert!(records.split_shard(&shard, &parts).await.expect("the backend answers"));
    assert_eq!(jobs(records, &one, RowState::Open).await, ["b"]);
    assert_eq!(jobs(records, &two, RowState::Open).await, ["a", "c"]);
    let known = [(one.number, ShardStep::Planned), (two.number, ShardStep::Planned)];
    assert_eq!(steps(records, &run).await, known);
}

async fn shard_keeps_its_last_step_until_collected(records: &dyn BatchRecords) {
    let run = RunId::new("steps");
    let shard = filled(records, &run, &["a"]).await;
    let number = shard.number;
    assert_eq!(steps(records, &run).await, [(number, ShardStep::Filling)]);
    let (file, batch) = ("file-1".to_owned(), "batch_1".to_owned());
    for step in [
        ShardStep::GivenUp,
        ShardStep::Planned,
        ShardStep::Uploaded { file: file.clone() },
        ShardStep::Creating { file: file.clone(), unanswered: 2 },
        ShardStep::Created { file: file.clone(), batch: batch.clone() },
        ShardStep::Ended { file, batch },
    ] {
        assert!(set(records, &shard, &step).await);
        assert_eq!(steps(records, &run).await, [(number, step)]);
        let late = records.add_row(&shard, &row("late", "late")).await;
        assert_eq!(late.expect("the backend answers"), RowAdded::Refused);
    }
    let runs = records.runs_with_shards().await.expect("the backend answers");
    assert!(runs.contains(&run));
    assert!(set(records, &shard, &ShardStep::Collected).await);
    assert_eq!(steps(records, &run).await, []);
    let runs = records.runs_with_shards().await.expect("the backend answers");
    assert!(!runs.contains(&run), "{runs:?}");
    assert!(!set(records, &shard, &ShardStep::Planned).await, "it is forgotten");
    assert_eq!(filling(records, &run).await.number, number + 1, "no number is given twice");
}

async fn shard_of_an_expired_owner_is_taken_over(records: &dyn BatchRecords, pass: &dyn Fn(i64)) {
    let (run, there) = (RunId::new("owners"), OwnerId::new("there"));
    let shard = filled(records, &run, &["a"]).await;
    records.renew_owner(&there, TTL).await.expect("the backend answers");
    let take = async || records.take_over(&run, &there).await.expect("the backend answers");
    pass(60_000);
    assert_eq!(take().await, [], "its owner lives");
    records.renew_owner(&here(), TTL).await.expect("the backend answers");
    pass(60_000);
    assert_eq!(take().await, [], "its owner has said so again");
    pass(1);
    let taken = [(shard.number, ShardStep::Filling)];
    assert_eq!(take().await, taken);
    assert_eq!(take().await, taken, "earlier shards keep their owner");

    // A late owner is refused before any write.
    records.renew_owner(&here(), TTL).await.expect("the backend answers");
    assert!(!set(records, &shard, &ShardStep::Planned).await);
    let planned = records.plan_shard(&shard, &[], None).await.expect("the backend answers");
    assert!(!planned);
    let late = records.add_row(&shard, &row("b", "b")).await.expect("the backend answers");
    assert_eq!(late, RowAdded::Refused);
    assert_eq!(steps(records, &run).await, taken);
    let now = ShardKey { owner: there.clone(), ..shard };
    assert!(set(records, &now, &ShardStep::Planned).await);

    // A resigned owner is gone immediately.
    let back = async || records.take_over(&run, &here()).await.expect("the backend answers");
    records.renew_owner(&there, TTL).await.expect("the backend answers");
    assert_eq!(back().await, []);
    records.remove_owner(&there).await.expect("the backend answers");
    assert_eq!(back().await, [(now.number, ShardStep::Planned)]);
}

async fn leases_of_rows_outlive_their_process<Backend: BatchRecords + Admission>(
    records: &Backend,
    pass: &dyn Fn(i64),
) {
    let run = RunId::new("leases");
    let cap = Budget::Cap(Money::from_pico(100));
    records.open_run(&run, cap).await.expect("the backend answers");
    filled(records, &run, &["in a batch"]).await;
    let request = test_requests::request("in a batch", ROWS_OWNER, 20);
    let request = AdmissionRequest { run: run.clone(), ..request };
    let of_no_row = AdmissionRequest { lease: LeaseId::new("of no row"), ..request.clone() };
    for request in [&request, &of_no_row] {
        let admitted = records.try_admit(request).await.expect("the backend answers");
        assert_eq!(admitted, AdmissionDecision::Admitted);
    }
    pass(3_600_000);
    records.sweep().await.expect("the backend answers");
    let held = async || {
        let ledger = records.ledger(&run).await.expect("the backend answers");
        let ledger = ledger.expect("the run is open");
        (ledger.committed.pico(), ledger.outstanding.pico())
    };
    assert_eq!(held().await, (0, 40));
    records.presume_spent(&request.lease).await.expect("the backend answers");
    assert_eq!(held().await, (20, 20));
}
