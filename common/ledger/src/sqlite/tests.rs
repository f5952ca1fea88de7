mod files;

use super::*;
use crate::{
    admission::{self, Admission, AdmissionDecision, Budget, Observation, Period},
    budgets::BudgetRecords as _,
    job_store::{self, JobStore},
    test_requests::{bill, claim, figures, request, run},
};
use juror_types::{
    id::{LeaseId, OwnerId},
    usage::Money,
};
use std::{
    path::PathBuf,
    sync::atomic::{AtomicI64, Ordering},
};
use tempfile::TempDir;
use tokio::task::JoinSet;

pub(super) struct Folder {
    folder: TempDir,
    clock: Arc<AtomicI64>,
}

impl Folder {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder, clock: Arc::new(AtomicI64::new(1_795_000_000_000)) }
    }

    pub(super) fn file(&self) -> PathBuf {
        self.folder.path().join("juror.db")
    }

    pub(super) fn open(&self) -> SqliteLedger {
        let clock = self.clock.clone();
        SqliteLedger::open_with_clock(&self.file(), Arc::new(move || clock.load(Ordering::SeqCst)))
            .unwrap()
    }

    fn now(&self) -> i64 {
        self.clock.load(Ordering::SeqCst)
    }

    pub(super) fn pass(&self, milliseconds: i64) {
        self.clock.fetch_add(milliseconds, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn store_conforms() {
    let folder = tempfile::tempdir().unwrap();
    let number = AtomicI64::new(0);
    let make = async || {
        let name = format!("{}.db", number.fetch_add(1, Ordering::SeqCst));
        Arc::new(SqliteLedger::open(&folder.path().join(name)).unwrap())
    };
    admission::conformance::check_all(&make).await;
    job_store::conformance::check_all(&make).await;
}

#[tokio::test]
async fn crash_loses_no_cost_and_adoption_presumes_calls_in_flight() {
    let folder = Folder::new();
    let backend = folder.open();
    backend.open_run(&run(), Budget::Cap(Money::from_pico(100))).await.unwrap();
    for lease in ["settled", "in flight"] {
        backend.try_admit(&request(lease, "crashed", 20)).await.unwrap();
    }
    let before = claim(&backend, "job").await;
    backend.settle(bill("settled", 15, &before)).await.unwrap();
    drop(backend);

    let backend = folder.open();
    assert_eq!(figures(&backend).await, [15, 0, 15, 20]);
    assert_eq!(backend.adopt(&run(), &OwnerId::new("next")).await.unwrap(), 1);
    assert_eq!(figures(&backend).await, [35, 20, 15, 0]);
    let settled = backend.settle(bill("in flight", 5, &before)).await.unwrap();
    assert!(settled.may_publish, "the claim was not taken over");
    assert_eq!(
        figures(&backend).await,
        [20, 0, 20, 0],
        "a bill found later replaces the presumption"
    );
    backend.close().await;
}

#[tokio::test]
async fn two_processes_share_a_day_and_leases_of_the_silent_one_are_presumed() {
    let folder = Folder::new();
    let (one, two) = (folder.open(), folder.open());
    one.open_run(&run(), Budget::Unlimited).await.unwrap();
    let day = Budget::Cap(Money::from_pico(100));
    one.set_cap(&Period::Day.into(), day).await.unwrap();
    assert_eq!(two.cap(&Period::Day.into()).await.unwrap(), Some(day));
    assert_eq!(one.try_admit(&request("a", "one", 80)).await.unwrap(), AdmissionDecision::Admitted);
    assert!(matches!(
        two.try_admit(&request("b", "two", 30)).await.unwrap(),
        AdmissionDecision::Wait { .. }
    ));
    assert_eq!(two.try_admit(&request("c", "two", 20)).await.unwrap(), held_by_earlier());
    two.release(&LeaseId::new("b")).await.unwrap();
    assert_eq!(two.try_admit(&request("c", "two", 20)).await.unwrap(), AdmissionDecision::Admitted);
    folder.pass(admission::state_machine::OWNER_TIMEOUT / 2);
    one.sweep().await.unwrap();
    folder.pass(admission::state_machine::OWNER_TIMEOUT / 2 + 1);
    one.sweep().await.unwrap();
    assert_eq!(figures(&one).await, [20, 20, 0, 80], "two was silent for too long");
    two.sweep().await.unwrap();
    let day = admission::BudgetCalendar::UTC.day_of(folder.now());
    let day = admission::SharedBudget::from(Period::Day).scope(day);
    let [day] = two.spending(&[day]).await.unwrap().try_into().unwrap();
    assert_eq!(day.budget, Some(Budget::Cap(Money::from_pico(100))));
    assert_eq!(day.account.committed, Money::from_pico(20));
    one.close().await;
    two.close().await;
}

fn held_by_earlier() -> AdmissionDecision {
    AdmissionDecision::Wait { retry_after: None, reason: admission::WaitReason::Budget }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_callers_share_commits_and_accounts_balance() {
    let folder = Folder::new();
    let backend = Arc::new(folder.open());
    backend.open_run(&run(), Budget::Unlimited).await.unwrap();
    let mut callers = JoinSet::new();
    for caller in 0..64 {
        let backend = backend.clone();
        callers.spawn(async move {
            let claim = claim(&*backend, &format!("job-{caller}")).await;
            for call in 0..10 {
                let lease = format!("{caller}-{call}");
                let decision = backend.try_admit(&request(&lease, "here", 10)).await.unwrap();
                assert_eq!(decision, AdmissionDecision::Admitted);
                assert!(backend.settle(bill(&lease, 7, &claim)).await.unwrap().may_publish);
            }
        });
    }
    callers.join_all().await;
    assert_eq!(figures(&*backend).await, [64 * 10 * 7, 0, 64 * 10 * 7, 0]);
    backend.close().await;
    let refused = backend.try_admit(&request("late", "here", 1)).await;
    assert!(matches!(refused, Err(LedgerError::Broken(_))), "{refused:?}");
}

#[tokio::test]
async fn failed_operation_leaves_other_operations_and_memory_unchanged() {
    let folder = Folder::new();
    let backend = folder.open();
    backend.open_run(&run(), Budget::Unlimited).await.unwrap();
    let failing = backend.writer.perform(|connection, memory| {
        memory.owners.insert(OwnerId::new("nobody"));
        connection.execute("INSERT INTO budgets VALUES ('x', 1), ('x', 1)", [])
    });
    let request = request("a", "here", 10);
    let (failed, admitted) = tokio::join!(failing, backend.try_admit(&request));
    let Err(LedgerError::Broken(message)) = failed else { panic!("a duplicate key") };
    assert!(message.contains("juror.db"), "{message}");
    assert_eq!(admitted.unwrap(), AdmissionDecision::Admitted);
    let owners = backend.writer.perform(|_, memory| Ok(memory.owners.clone())).await.unwrap();
    assert_eq!(owners.into_iter().collect::<Vec<_>>(), [OwnerId::new("here")]);
    backend.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_callers_leave_less_than_one_call_of_a_cap() {
    let folder = Folder::new();
    let backend = Arc::new(folder.open());
    let room = Arc::new(admission::AdmissionQueue::new());
    backend.open_run(&run(), Budget::Cap(Money::from_pico(1_000))).await.unwrap();
    let mut callers = JoinSet::new();
    for number in 0..640 {
        let (backend, room) = (backend.clone(), room.clone());
        callers.spawn(async move {
            let claim = claim(&*backend, &format!("job-{number}")).await;
            let request = request(&number.to_string(), "here", 100);
            let token = tokio_util::sync::CancellationToken::new();
            let admittance = room.admit(&*backend, || request.clone(), &token).await.unwrap();
            if admittance == admission::AdmissionOutcome::Admitted {
                backend.settle(bill(&number.to_string(), 7, &claim)).await.unwrap();
            }
        });
    }
    callers.join_all().await;
    let [committed, _, _, outstanding] = figures(&*backend).await;
    assert!(committed > 900 && committed <= 1_000, "{committed} of 1000 spent");
    assert_eq!(outstanding, 0);
    backend.close().await;
}

#[tokio::test]
async fn only_changes_wake_waiters() {
    let folder = Folder::new();
    let backend = folder.open();
    let mut changes = backend.changes();
    let reported = Observation {
        endpoint: "judge".to_owned(),
        requests_per_minute: Some(500),
        ..Observation::default()
    };
    for news in [true, false] {
        changes.borrow_and_update();
        backend.observe(&reported).await.unwrap();
        assert_eq!(changes.has_changed().unwrap(), news);
    }
    backend.close().await;
}

#[tokio::test]
async fn limits_count_as_reported_only_once_they_are_recorded() {
    let folder = Folder::new();
    let backend = folder.open();
    backend.close().await;
    let reported = Observation {
        endpoint: "judge".to_owned(),
        requests_per_minute: Some(500),
        ..Observation::default()
    };
    for _ in 0..2 {
        assert!(backend.observe(&reported).await.is_err());
    }
}

#[tokio::test]
async fn ended_leases_expire_and_their_cost_remains() {
    let folder = Folder::new();
    let backend = folder.open();
    backend.open_run(&run(), Budget::Cap(Money::from_pico(100))).await.unwrap();
    for lease in ["settled", "presumed", "in flight"] {
        backend.try_admit(&request(lease, "here", 20)).await.unwrap();
    }
    let job = claim(&backend, "job").await;
    backend.settle(bill("settled", 15, &job)).await.unwrap();
    backend.presume_spent(&LeaseId::new("presumed")).await.unwrap();
    let leases = || {
        let connection = rusqlite::Connection::open(folder.file()).unwrap();
        connection.query_row("SELECT count(*) FROM leases", [], |row| row.get::<_, i64>(0)).unwrap()
    };
    const DAY: i64 = 24 * 60 * 60 * 1_000;
    folder.pass(6 * DAY);
    backend.sweep().await.unwrap();
    assert_eq!(leases(), 3, "they may be settled again");
    backend.settle(bill("settled", 15, &job)).await.unwrap();
    let before = figures(&backend).await;
    assert_eq!(before, [35, 20, 15, 20]);

    folder.pass(2 * DAY);
    backend.sweep().await.unwrap();
    assert_eq!(leases(), 1, "the lease in flight is kept");
    assert_eq!(figures(&backend).await, before);
    backend.settle(bill("in flight", 5, &job)).await.unwrap();
    assert_eq!(figures(&backend).await, [40, 20, 20, 0]);

    folder.pass(8 * DAY);
    backend.open_run(&run(), Budget::Unlimited).await.unwrap();
    assert_eq!(leases(), 0, "a process without a heartbeat clears as well");
    backend.close().await;
}
