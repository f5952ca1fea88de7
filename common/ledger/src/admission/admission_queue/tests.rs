use super::super::{Budget, Limits, Observation, RunAccount, Settled, Settlement};
use super::*;
use crate::test_requests;
use async_trait::async_trait;
use juror_types::{id::LeaseId, usage::Money};
use std::sync::atomic::AtomicUsize;
use tokio::task::JoinSet;

/// Admission that admits as many calls as it has tickets.
struct Tickets {
    left: Mutex<usize>,
    reason: WaitReason,
    retry_after: Option<Duration>,
    requests: AtomicUsize,
    released: AtomicUsize,
    admitted: Mutex<Vec<LeaseId>>,
    tokens: Mutex<Vec<u64>>,
    changes: watch::Sender<u64>,
}

impl Tickets {
    fn new(left: usize, reason: WaitReason, retry_after: Option<Duration>) -> Arc<Self> {
        Arc::new(Self {
            left: Mutex::new(left),
            reason,
            retry_after,
            requests: AtomicUsize::new(0),
            released: AtomicUsize::new(0),
            admitted: Mutex::default(),
            tokens: Mutex::default(),
            changes: watch::Sender::new(0),
        })
    }

    fn add(&self, tickets: usize) {
        *self.left.lock() += tickets;
        self.changes.send_modify(|change| *change += 1);
    }
}

#[async_trait]
impl Admission for Tickets {
    async fn try_admit(
        &self,
        request: &AdmissionRequest,
    ) -> Result<AdmissionDecision, LedgerError> {
        let decision = {
            let mut left = self.left.lock();
            if *left > 0 {
                *left -= 1;
                self.admitted.lock().push(request.lease.clone());
                self.tokens.lock().push(request.input_tokens);
                AdmissionDecision::Admitted
            } else {
                AdmissionDecision::Wait { retry_after: self.retry_after, reason: self.reason }
            }
        };
        self.requests.fetch_add(1, Ordering::SeqCst);
        // A change between decision and answer must not be lost.
        tokio::task::yield_now().await;
        Ok(decision)
    }

    async fn release(&self, _: &LeaseId) -> Result<(), LedgerError> {
        self.released.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    async fn open_run_again(&self, _: &RunId, _: Budget, _: Money) -> Result<(), LedgerError> {
        Ok(())
    }
    async fn set_limits(&self, _: &str, _: Limits) -> Result<(), LedgerError> {
        Ok(())
    }
    async fn settle(&self, _: Settlement) -> Result<Settled, LedgerError> {
        Ok(Settled { may_publish: true, overrun: Money::ZERO })
    }
    async fn presume_spent(&self, _: &LeaseId) -> Result<(), LedgerError> {
        Ok(())
    }
    async fn sweep(&self) -> Result<(), LedgerError> {
        Ok(())
    }
    async fn observe(&self, _: &Observation) -> Result<(), LedgerError> {
        Ok(())
    }
    async fn ledger(&self, _: &RunId) -> Result<Option<RunAccount>, LedgerError> {
        Ok(None)
    }
}

fn request(number: usize) -> AdmissionRequest {
    test_requests::request(&format!("{number:04}"), "here", 0)
}

fn admit_all(
    tickets: &Arc<Tickets>,
    count: usize,
    token: &CancellationToken,
) -> JoinSet<AdmissionOutcome> {
    let headroom = Arc::new(AdmissionQueue::new());
    let mut callers = JoinSet::new();
    for number in 0..count {
        let (headroom, tickets, token) = (headroom.clone(), tickets.clone(), token.clone());
        callers.spawn(async move {
            let admittance = headroom.admit(&*tickets, || request(number), &token).await.unwrap();
            assert!(headroom.queues.lock().len() <= 1);
            admittance
        });
    }
    callers
}

#[tokio::test(start_paused = true)]
async fn a_thousand_callers_are_admitted_in_order_with_few_requests() {
    let tickets = Tickets::new(0, WaitReason::Budget, None);
    let mut callers = admit_all(&tickets, 1_000, &CancellationToken::new());
    for served in 1..=1_000 {
        tickets.add(1);
        assert_eq!(callers.join_next().await.unwrap().unwrap(), AdmissionOutcome::Admitted);
        assert_eq!(tickets.admitted.lock().len(), served);
    }
    let questions = tickets.requests.load(Ordering::SeqCst);
    assert!(questions <= 1_000 * 4, "{questions} requests");
    let admitted = tickets.admitted.lock();
    for (position, lease) in admitted.iter().enumerate() {
        let number: usize = lease.as_str().parse().unwrap();
        assert_eq!(number, position, "each in its turn");
    }
}

#[tokio::test(start_paused = true)]
async fn change_during_a_request_is_not_lost() {
    let tickets = Tickets::new(0, WaitReason::Budget, Some(Duration::from_secs(1_000)));
    let begun = Instant::now();
    let mut callers = admit_all(&tickets, 1, &CancellationToken::new());
    while tickets.requests.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    tickets.add(1);
    assert_eq!(callers.join_next().await.unwrap().unwrap(), AdmissionOutcome::Admitted);
    assert_eq!(begun.elapsed(), Duration::ZERO, "the clock need not move");
}

#[tokio::test(start_paused = true)]
async fn rate_limited_callers_pass_with_time_alone() {
    let tickets = Tickets::new(0, WaitReason::Requests, Some(Duration::from_millis(250)));
    let mut callers = admit_all(&tickets, 1, &CancellationToken::new());
    *tickets.left.lock() = 1;
    tickets.requests.store(1, Ordering::SeqCst);
    assert_eq!(callers.join_next().await.unwrap().unwrap(), AdmissionOutcome::Admitted);
}

#[tokio::test(start_paused = true)]
async fn rate_limited_callers_retry_only_when_due() {
    let tickets = Tickets::new(0, WaitReason::Tokens, Some(Duration::from_millis(250)));
    let mut callers = admit_all(&tickets, 100, &CancellationToken::new());
    tokio::time::advance(Duration::from_millis(1)).await;
    while tickets.requests.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    // Settlements of other processes wake no waiter.
    for _ in 0..50 {
        tickets.add(0);
        tokio::task::yield_now().await;
    }
    assert_eq!(tickets.requests.load(Ordering::SeqCst), 1);
    tickets.add(100);
    while let Some(admittance) = callers.join_next().await {
        assert_eq!(admittance.unwrap(), AdmissionOutcome::Admitted);
    }
    assert_eq!(tickets.requests.load(Ordering::SeqCst), 101, "one request per grant");
}

#[tokio::test(start_paused = true)]
async fn budget_released_by_another_process_is_found() {
    let tickets = Tickets::new(0, WaitReason::Budget, None);
    let mut callers = admit_all(&tickets, 2, &CancellationToken::new());
    tokio::time::advance(Duration::from_millis(10)).await;
    *tickets.left.lock() = 2;
    while let Some(admittance) = callers.join_next().await {
        assert_eq!(admittance.unwrap(), AdmissionOutcome::Admitted);
    }
}

#[tokio::test(start_paused = true)]
async fn cancelled_callers_leave_the_queue() {
    let tickets = Tickets::new(0, WaitReason::Budget, None);
    let token = CancellationToken::new();
    let mut callers = admit_all(&tickets, 100, &token);
    while tickets.requests.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    token.cancel();
    while let Some(admittance) = callers.join_next().await {
        assert_eq!(admittance.unwrap(), AdmissionOutcome::Cancelled);
    }
    assert_eq!(tickets.released.load(Ordering::SeqCst), 1, "only one has made a request");
}

#[tokio::test(start_paused = true)]
async fn cooldown_of_any_length_is_waited_for() {
    let tickets = Tickets::new(0, WaitReason::Cooldown, Some(Duration::from_secs(7_000)));
    let mut callers = admit_all(&tickets, 2, &CancellationToken::new());
    sleep(Duration::from_secs(6_900)).await;
    assert_eq!(tickets.requests.load(Ordering::SeqCst), 2, "once an hour");
    *tickets.left.lock() = 2;
    while let Some(admittance) = callers.join_next().await {
        assert_eq!(admittance.unwrap(), AdmissionOutcome::Admitted);
    }
}

#[tokio::test(start_paused = true)]
async fn waits_are_counted_by_their_last_reason() {
    let metrics = Arc::new(Metrics::recording());
    let headroom = AdmissionQueue::measured(Arc::clone(&metrics));
    let tickets = Tickets::new(1, WaitReason::Tokens, Some(Duration::from_secs(30)));
    let token = CancellationToken::new();
    assert_eq!(
        headroom.admit(&*tickets, || request(0), &token).await.unwrap(),
        AdmissionOutcome::Admitted
    );
    let refilling = async {
        sleep(Duration::from_secs(20)).await;
        assert!(metrics.render().contains("\njuror_admission_waiting 1\n"));
        *tickets.left.lock() = 1;
    };
    let waiting = headroom.admit(&*tickets, || request(1), &token);
    let (admittance, ()) = tokio::join!(waiting, refilling);
    assert_eq!(admittance.unwrap(), AdmissionOutcome::Admitted);
    let text = metrics.render();
    for sample in [
        "bucket{reason=\"turn\",le=\"0.01\"} 1",
        "bucket{reason=\"tokens\",le=\"15\"} 0",
        "bucket{reason=\"tokens\",le=\"60\"} 1",
    ] {
        assert!(text.contains(sample), "{sample} in {text}");
    }
    assert!(text.contains("\njuror_admission_waiting 0\n"));
}

#[tokio::test(start_paused = true)]
async fn caller_requests_the_current_token_count_of_its_call() {
    let tickets = Tickets::new(0, WaitReason::Tokens, Some(Duration::from_secs(10)));
    let (headroom, token) = (AdmissionQueue::new(), CancellationToken::new());
    let counted = std::sync::atomic::AtomicU64::new(9);
    let call = async |number: usize| {
        let requests =
            || AdmissionRequest { input_tokens: counted.load(Ordering::SeqCst), ..request(number) };
        let admittance = headroom.admit(&*tickets, requests, &token).await.unwrap();
        assert_eq!(admittance, AdmissionOutcome::Admitted);
    };
    let learning = async {
        sleep(Duration::from_secs(1)).await;
        counted.store(3, Ordering::SeqCst);
        tickets.add(2);
    };
    tokio::join!(call(0), call(1), learning);
    assert_eq!(*tickets.tokens.lock(), [3, 3], "the first repeats its request");
}
