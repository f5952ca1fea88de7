//! Differential tests: a sequence of operations runs on the in-memory state machine and on a
//! backend; both must decide equally and hold the same amounts after every step.

use super::{
    differential_steps::{LABELS, LedgerStep, RUNS, ZONES},
    memory_records::MemoryRecords,
};
use crate::{
    admission::{
        Admission, AdmissionDecision, AdmissionRequest, Budget, BudgetCalendar, Observation,
        Period, RunAccount, Settlement, SharedBudget, TokenCounting,
        records::LedgerRecords as _,
        scope::Scope,
        state_machine::{self, RateLimiterState},
    },
    budgets::BudgetRecords,
    clock::Clock,
    job_store::{Claim, ClaimKey, JobStore},
};
use juror_types::{
    budget_label::BudgetLabel,
    id::{JobId, LeaseId, OwnerId, RunId},
    usage::{Money, Usage},
};
use proptest::{prelude::*, test_runner::TestCaseError};
use std::{
    collections::BTreeSet,
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

/// Backend with further operations for the comparison.
pub trait Subject: Admission + JobStore + BudgetRecords {
    /// Presumes the leases of other owners of a run as spent and returns their number; `None` if
    /// the backend does not support it.
    async fn adopt_leases(&self, run: &RunId, owner: &OwnerId) -> Option<usize>;
}

/// Manual clock.
#[derive(Clone)]
pub struct TestClock(Arc<AtomicI64>);

impl TestClock {
    /// A clock in November 2026.
    pub fn new() -> Self {
        Self::at(1_795_000_000_000)
    }

    /// Creates a clock at this time, in milliseconds since 1970.
    pub fn at(now: i64) -> Self {
        Self(Arc::new(AtomicI64::new(now)))
    }

    /// Clock function for a backend.
    pub fn shared(&self) -> Clock {
        let clock = self.0.clone();
        Arc::new(move || clock.load(Ordering::SeqCst))
    }

    /// Sets the clock.
    pub fn set(&self, now: i64) {
        self.0.store(now, Ordering::SeqCst);
    }

    /// Advances the clock.
    pub fn pass(&self, milliseconds: i64) {
        self.0.fetch_add(milliseconds, Ordering::SeqCst);
    }

    fn now(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }
}

/// Maximum duration of a sequence in milliseconds: backends delete ended leases after a week, and
/// the in-memory records keep them.
const MAX_PASSED: i64 = 6 * 24 * 60 * 60 * 1_000;

/// Both sides and the clock that they share.
pub struct Pair<Backend> {
    /// Backend under test.
    pub backend: Backend,
    records: MemoryRecords,
    limiter: RateLimiterState,
    claims: Vec<ClaimKey>,
    clock: TestClock,
    passed: i64,
    seen: BTreeSet<Scope>,
}

impl<Backend: Subject> Pair<Backend> {
    /// Creates an empty backend with this clock.
    pub async fn new(backend: Backend, clock: TestClock) -> Self {
        let mut records = MemoryRecords::default();
        for period in [Period::Day, Period::Month] {
            unwrap_infallible(records.set_budget(period.budget_key(), Budget::Unlimited));
        }
        let mut claims = Vec::new();
        for number in 0..RUNS {
            let key = ClaimKey { run: run(number), job: JobId::new("job"), round: 0, fence: 0 };
            let granted = backend.claim(&key, &owner(0)).await.unwrap();
            let Claim::Granted { fence, .. } = granted else { panic!("nothing is finished") };
            claims.push(ClaimKey { fence, ..key });
        }
        // The other run has no record until a step writes one.
        unwrap_infallible(state_machine::open_run(&mut records, &run(0), Budget::Unlimited));
        backend.open_run(&run(0), Budget::Unlimited).await.unwrap();
        Self {
            backend,
            records,
            limiter: RateLimiterState::default(),
            claims,
            clock,
            passed: 0,
            seen: BTreeSet::new(),
        }
    }

    /// Applies a step to both sides and compares them.
    pub async fn take(&mut self, step: &LedgerStep) -> Result<(), TestCaseError> {
        let now = self.clock.now();
        let (records, limiter, backend) = (&mut self.records, &mut self.limiter, &self.backend);
        match *step {
            LedgerStep::Open { run: number, cap, spent } => {
                let (run, spent) = (run(number), Money::from_pico(spent));
                backend.open_run_again(&run, budget(cap), spent).await.unwrap();
                unwrap_infallible(state_machine::open_run(records, &run, budget(cap)));
                // Claims belong to the store.
                let unattributed_cost =
                    backend.ledger(&run).await.unwrap().unwrap().unattributed_cost;
                unwrap_infallible(state_machine::book_journal(
                    records,
                    &run,
                    (spent, unattributed_cost),
                    now,
                ));
                let day = records.calendar.day_of(now);
                let labels: Vec<BudgetLabel> = (0..LABELS.len()).map(label).collect();
                self.seen.extend(Scope::all_of(&run, &labels, day));
            }
            LedgerStep::Label { run: number, ref labels } => {
                let labels: Vec<BudgetLabel> = labels.iter().copied().map(label).collect();
                unwrap_infallible(state_machine::set_budget_labels(records, &run(number), &labels));
                backend.set_budget_labels(&run(number), &labels).await.unwrap();
            }
            LedgerStep::Cap { month, label: number, cap } => {
                let period = if month { Period::Month } else { Period::Day };
                let shared = SharedBudget { period, label: number.map(label) };
                let before = backend.set_cap(&shared, budget(cap)).await.unwrap();
                prop_assert_eq!(
                    before,
                    unwrap_infallible(state_machine::set_cap(records, &shared, budget(cap)))
                );
            }
            LedgerStep::Zone { zone } => {
                let calendar = BudgetCalendar::new(ZONES[zone]).unwrap();
                let before = backend.set_calendar(&calendar).await.unwrap();
                prop_assert_eq!(before, std::mem::replace(&mut records.calendar, calendar));
            }
            LedgerStep::Limit { endpoint: number, limits } => {
                limiter.set_limits(&endpoint(number), limits, now);
                backend.set_limits(&endpoint(number), limits).await.unwrap();
            }
            LedgerStep::AdmissionRequest {
                lease: number,
                run: of,
                endpoint: at,
                tokens,
                worst,
            } => {
                let request = AdmissionRequest {
                    lease: lease(number),
                    owner: owner(number % 2),
                    run: run(of),
                    endpoint: endpoint(at),
                    input_tokens: tokens / 2,
                    max_output_tokens: tokens - tokens / 2,
                    worst_cost: Money::from_pico(worst),
                };
                let decision = backend.try_admit(&request).await.unwrap();
                let day = records.calendar.day_of(now);
                let labels: Vec<BudgetLabel> = (0..LABELS.len()).map(label).collect();
                self.seen.extend(Scope::all_of(&request.run, &labels, day));
                compare_decisions(
                    &decision,
                    &unwrap_infallible(state_machine::admit(records, limiter, &request, now)),
                )?;
            }
            LedgerStep::Settle { lease: number, run: of, cost, tokens } => {
                let bill = Settlement {
                    lease: lease(number),
                    cost: Money::from_pico(cost),
                    usage: Usage { input_tokens: tokens, ..Usage::default() },
                    metered: true,
                    finished: None,
                    claim: self.claims[of].clone(),
                };
                let overrun = backend.settle(bill.clone()).await.unwrap().overrun;
                let expected = state_machine::settle(records, limiter, &bill, true, now);
                prop_assert_eq!(overrun, unwrap_infallible(expected).overrun);
            }
            LedgerStep::Release { lease: number } => {
                unwrap_infallible(state_machine::release(records, limiter, &lease(number), now));
                backend.release(&lease(number)).await.unwrap();
            }
            LedgerStep::Presume { lease: number } => {
                unwrap_infallible(state_machine::presume_spent(records, &lease(number)));
                backend.presume_spent(&lease(number)).await.unwrap();
            }
            LedgerStep::Observe { endpoint: number, requests, tokens, refused, rule } => {
                let observation = Observation {
                    endpoint: endpoint(number),
                    requests_per_minute: requests,
                    tokens_per_minute: tokens,
                    refused: refused.map(Duration::from_millis),
                    counting: TokenCounting { rule, ..TokenCounting::default() },
                };
                limiter.observe(&observation, now);
                backend.observe(&observation).await.unwrap();
            }
            LedgerStep::Adopt { run: of, owner: by } => {
                if let Some(adopted) = backend.adopt_leases(&run(of), &owner(by)).await {
                    prop_assert_eq!(
                        adopted,
                        unwrap_infallible(state_machine::adopt(records, &run(of), &owner(by)))
                    );
                }
            }
            LedgerStep::Pass { milliseconds } => {
                let milliseconds = milliseconds.min(MAX_PASSED - self.passed);
                self.passed += milliseconds;
                self.clock.pass(milliseconds);
            }
        }
        self.compare_ledgers().await
    }

    /// Asserts equal amounts of each run on both sides.
    pub async fn compare_ledgers(&self) -> Result<(), TestCaseError> {
        for number in 0..RUNS {
            let expected = unwrap_infallible(state_machine::ledger(
                &self.records,
                &run(number),
                self.clock.now(),
            ));
            let expected = expected.map(without_month);
            let held = self.backend.ledger(&run(number)).await.unwrap();
            // Unattributed costs of claims belong to the store and are unknown to the state
            // machine.
            let held = held.map(|ledger| {
                without_month(RunAccount { unattributed_cost: Money::ZERO, ..ledger })
            });
            prop_assert_eq!(held, expected);
        }
        Ok(())
    }

    /// Asserts equal amounts of each run, day and month, and of each of their labels.
    pub async fn compare_accounts(&self) -> Result<(), TestCaseError> {
        let scopes: Vec<Scope> = self.seen.iter().cloned().collect();
        for spending in self.backend.spending(&scopes).await.unwrap() {
            prop_assert_eq!(
                spending.account,
                unwrap_infallible(self.records.account(&spending.scope))
            );
        }
        for label in (0..LABELS.len()).map(label).map(Some).chain([None]) {
            for period in Period::ALL {
                let shared = SharedBudget { period, label: label.clone() };
                let expected = unwrap_infallible(self.records.budget(&shared.key()));
                prop_assert_eq!(self.backend.cap(&shared).await.unwrap(), expected);
            }
        }
        Ok(())
    }
}

/// The month of a backend follows the clock of the process.
fn without_month(ledger: RunAccount) -> RunAccount {
    RunAccount { month: None, ..ledger }
}

/// A backend may add a remedy to a reason; a volatile one names the place of a missing record.
fn compare_decisions(
    decision: &AdmissionDecision,
    expected: &AdmissionDecision,
) -> Result<(), TestCaseError> {
    match (decision, expected) {
        (
            AdmissionDecision::NoBudget { reason: reported }
            | AdmissionDecision::NoRecord { reason: reported },
            AdmissionDecision::NoBudget { reason },
        ) => {
            prop_assert!(reported.starts_with(reason.as_str()), "{} and not {}", reported, reason);
        }
        _ => prop_assert_eq!(decision, expected),
    }
    Ok(())
}

fn unwrap_infallible<T>(result: Result<T, Infallible>) -> T {
    let Ok(value) = result;
    value
}

fn budget(cap: Option<i64>) -> Budget {
    cap.map_or(Budget::Unlimited, |pico| Budget::Cap(Money::from_pico(pico)))
}

fn run(number: usize) -> RunId {
    RunId::new(format!("run-{number}"))
}

fn label(number: usize) -> BudgetLabel {
    LABELS[number].parse().unwrap()
}

fn owner(number: usize) -> OwnerId {
    OwnerId::new(format!("owner-{number}"))
}

fn lease(number: usize) -> LeaseId {
    LeaseId::new(format!("lease-{number}"))
}

fn endpoint(number: usize) -> String {
    format!("endpoint-{number}")
}
