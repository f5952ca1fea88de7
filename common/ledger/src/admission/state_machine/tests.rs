use super::*;
use crate::{
    admission::{Limits, WaitReason, tests::memory_records::MemoryRecords},
    job_store::ClaimKey,
    test_requests,
};
use juror_types::id::{JobId, OwnerId, RunId};
use proptest::prelude::*;
use std::{collections::BTreeMap, time::Duration};

const RUN: &str = "nightly";

/// State machine over in-memory records, with unlimited daily scopes.
struct Bench {
    records: MemoryRecords,
    limiter: RateLimiterState,
    now: i64,
}

impl Bench {
    fn new(budget: Budget) -> Self {
        let mut records = MemoryRecords::default();
        for period in ["day", "month"] {
            ok(records.set_budget(period, Budget::Unlimited));
        }
        ok(open_run(&mut records, &RunId::new(RUN), budget));
        Self { records, limiter: RateLimiterState::default(), now: 1_000 }
    }

    fn request(&mut self, lease: &str, worst: i64) -> AdmissionDecision {
        ok(admit(&mut self.records, &mut self.limiter, &request(lease, worst), self.now))
    }

    fn settle(&mut self, lease: &str, cost: i64) -> Booked {
        let claim = ClaimKey { run: RunId::new(RUN), job: JobId::new("job"), round: 0, fence: 1 };
        let bill = test_requests::bill(lease, cost, &claim);
        ok(settle(&mut self.records, &mut self.limiter, &bill, true, self.now))
    }

    fn release(&mut self, lease: &str) {
        ok(release(&mut self.records, &mut self.limiter, &LeaseId::new(lease), self.now));
    }

    fn presume(&mut self, lease: &str) {
        ok(presume_spent(&mut self.records, &LeaseId::new(lease)));
    }

    /// Committed, presumed, outstanding and overrun of the run.
    fn figures(&self) -> [i64; 4] {
        let ledger = ok(ledger(&self.records, &RunId::new(RUN), self.now)).unwrap();
        [ledger.committed, ledger.presumed, ledger.outstanding, ledger.overrun].map(Money::pico)
    }
}

fn ok<T>(result: Result<T, std::convert::Infallible>) -> T {
    let Ok(value) = result;
    value
}

fn request(lease: &str, worst: i64) -> AdmissionRequest {
    let request = test_requests::request(lease, "here", worst);
    AdmissionRequest { input_tokens: 100, max_output_tokens: 100, ..request }
}

fn cap(pico: i64) -> Budget {
    Budget::Cap(Money::from_pico(pico))
}

fn held() -> AdmissionDecision {
    AdmissionDecision::Wait { retry_after: None, reason: WaitReason::Budget }
}

#[test]
fn reserved_budget_blocks_and_only_committed_cost_exhausts_it() {
    let mut bench = Bench::new(cap(10));
    assert_eq!(bench.request("a", 6), AdmissionDecision::Admitted);
    assert_eq!(bench.request("b", 6), held());
    bench.settle("a", 4);
    assert_eq!(bench.request("b", 6), AdmissionDecision::Admitted);
    bench.settle("b", 5);
    let AdmissionDecision::NoBudget { reason } = bench.request("c", 2) else {
        panic!("9 of 10 are spent")
    };
    assert!(reason.contains("run nightly"), "{reason}");
    assert_eq!(bench.figures(), [9, 0, 0, 0]);
}

#[test]
fn run_without_a_record_is_denied() {
    let mut bench = Bench::new(Budget::Unlimited);
    bench.records = MemoryRecords::default();
    assert!(matches!(bench.request("a", 0), AdmissionDecision::NoBudget { .. }));
    ok(open_run(&mut bench.records, &RunId::new(RUN), Budget::Unlimited));
    assert!(
        matches!(bench.request("a", 0), AdmissionDecision::NoBudget { .. }),
        "day and month have none"
    );
}

#[test]
fn repeated_admission_of_a_held_lease_counts_once_and_of_an_ended_one_never() {
    let mut bench = Bench::new(cap(10));
    assert_eq!(bench.request("a", 6), AdmissionDecision::Admitted);
    assert_eq!(bench.request("a", 6), AdmissionDecision::Admitted);
    assert_eq!(bench.figures(), [0, 0, 6, 0]);
    bench.settle("a", 1);
    assert!(matches!(bench.request("a", 6), AdmissionDecision::NoBudget { .. }));
}

#[test]
fn ending_a_lease_is_idempotent() {
    let mut bench = Bench::new(cap(100));
    for lease in ["settled", "released", "presumed"] {
        assert_eq!(bench.request(lease, 10), AdmissionDecision::Admitted);
    }
    for first in [true, false] {
        assert_eq!(bench.settle("settled", 7).first, first);
        bench.release("released");
        bench.presume("presumed");
        assert_eq!(bench.figures(), [17, 10, 0, 0]);
    }
    bench.release("settled");
    bench.presume("settled");
    bench.release("presumed");
    assert_eq!(bench.figures(), [17, 10, 0, 0]);
}

#[test]
fn late_bill_replaces_the_presumed_cost() {
    let mut bench = Bench::new(cap(100));
    bench.request("a", 10);
    bench.presume("a");
    assert_eq!(bench.figures(), [10, 10, 0, 0]);
    assert_eq!(bench.settle("a", 3), Booked { first: true, overrun: Money::ZERO });
    assert_eq!(bench.figures(), [3, 0, 0, 0]);
}

#[test]
fn bill_above_its_bound_is_booked_and_stops_a_capped_run_until_reopened() {
    let mut bench = Bench::new(cap(100));
    bench.request("a", 10);
    assert_eq!(bench.settle("a", 15).overrun, Money::from_pico(5));
    assert_eq!(bench.figures(), [15, 0, 0, 5]);
    let AdmissionDecision::NoBudget { reason } = bench.request("b", 1) else {
        panic!("the bound was wrong")
    };
    assert!(reason.contains("exceeded its upper bound"), "{reason}");
    ok(open_run(&mut bench.records, &RunId::new(RUN), cap(100)));
    assert_eq!(bench.request("b", 1), AdmissionDecision::Admitted);

    let mut unlimited = Bench::new(Budget::Unlimited);
    unlimited.request("a", 10);
    unlimited.settle("a", 15);
    assert_eq!(
        unlimited.request("b", 1),
        AdmissionDecision::Admitted,
        "there is no cap to protect"
    );
    assert_eq!(unlimited.figures(), [15, 0, 1, 5], "and yet all is booked");
}

#[test]
fn a_bill_without_a_lease_is_booked_as_overrun() {
    let mut bench = Bench::new(Budget::Unlimited);
    assert_eq!(bench.settle("lost", 4), Booked { first: true, overrun: Money::from_pico(4) });
    assert_eq!(bench.settle("lost", 4), Booked { first: false, overrun: Money::from_pico(4) });
    assert_eq!(bench.figures(), [4, 0, 0, 4]);
}

#[test]
fn daily_and_monthly_caps_apply_and_a_lease_belongs_to_its_admission_day() {
    let mut bench = Bench::new(Budget::Unlimited);
    ok(bench.records.set_budget("day", cap(10)));
    ok(bench.records.set_budget("month", cap(15)));
    bench.request("a", 10);
    assert_eq!(bench.request("b", 10), held());
    bench.now += 24 * 60 * 60 * 1_000;
    bench.settle("a", 10);
    let AdmissionDecision::NoBudget { reason } = bench.request("b", 10) else {
        panic!("20 of the month's 15")
    };
    assert!(reason.contains("month 1970-01"), "{reason}");
    assert_eq!(bench.request("b", 5), AdmissionDecision::Admitted, "the new day has spent nothing");
}

#[test]
fn large_request_is_not_starved_by_small_ones() {
    let mut bench = Bench::new(cap(1_000));
    for lease in ["a", "b"] {
        assert_eq!(bench.request(lease, 300), AdmissionDecision::Admitted);
    }
    assert_eq!(bench.request("large", 900), held());
    assert_eq!(bench.request("small", 300), held(), "it would fit, but the large one came first");
    for lease in ["a", "b"] {
        bench.settle(lease, 10);
        bench.request("small", 300);
    }
    assert_eq!(bench.request("large", 900), AdmissionDecision::Admitted);
}

#[test]
fn queue_position_is_lost_by_leaving_or_not_renewing() {
    for leave in [true, false] {
        let mut bench = Bench::new(cap(10));
        bench.request("a", 6);
        assert_eq!(bench.request("gone", 6), held());
        assert_eq!(bench.request("small", 2), held());
        if leave {
            bench.release("gone");
        } else {
            bench.now += 10_000;
        }
        assert_eq!(bench.request("small", 2), AdmissionDecision::Admitted);
    }
}

#[test]
fn rate_limited_call_reserves_no_budget() {
    let mut bench = Bench::new(cap(100));
    let limits = Limits { requests_per_minute: Some(60), ..Limits::default() };
    bench.limiter.set_limits("judge", limits, bench.now);
    assert_eq!(bench.request("a", 10), AdmissionDecision::Admitted);
    let retry_after = Some(Duration::from_secs(1));
    let waits = AdmissionDecision::Wait { retry_after, reason: WaitReason::Requests };
    assert_eq!(bench.request("b", 10), waits);
    assert_eq!(bench.figures(), [0, 0, 10, 0]);
    bench.now += 1_000;
    assert_eq!(bench.request("b", 10), AdmissionDecision::Admitted);
}

#[test]
fn rate_limited_calls_pass_in_request_order() {
    let mut bench = Bench::new(Budget::Unlimited);
    let limits =
        Limits { tokens_per_minute: Some(12_000), refund_unused: true, ..Limits::default() };
    bench.limiter.set_limits("judge", limits, bench.now);
    assert_eq!(bench.request("a", 1), AdmissionDecision::Admitted);
    // Each takes 200 tokens, which come back in a second; the bucket holds 100.
    let waits = |seconds| AdmissionDecision::Wait {
        retry_after: Some(Duration::from_secs(seconds)),
        reason: WaitReason::Tokens,
    };
    for (lease, seconds) in [("b", 1), ("c", 2), ("gone", 3), ("d", 4)] {
        assert_eq!(bench.request(lease, 1), waits(seconds));
    }
    bench.now += 1_000;
    assert_eq!(bench.request("b", 1), AdmissionDecision::Admitted);
    bench.release("gone");
    assert_eq!(bench.request("e", 1), waits(3), "the returned tokens are available to later calls");
    bench.now += 1_000;
    assert_eq!(bench.request("c", 1), AdmissionDecision::Admitted);
    // All tokens of the first three are returned.
    for lease in ["a", "b", "c"] {
        bench.settle(lease, 1);
    }
    assert_eq!(bench.request("d", 1), AdmissionDecision::Admitted, "sooner than was promised");
}

#[test]
fn leases_of_dead_processes_are_presumed_and_live_ones_are_kept() {
    let mut bench = Bench::new(cap(100));
    bench.request("a", 10);
    ok(bench.records.record_heartbeat(&OwnerId::new("here"), bench.now));
    assert_eq!(ok(sweep(&mut bench.records, bench.now + OWNER_TIMEOUT)), 0);
    assert_eq!(ok(sweep(&mut bench.records, bench.now + OWNER_TIMEOUT + 1)), 1);
    assert_eq!(bench.figures(), [10, 10, 0, 0]);
    bench.request("b", 10);
    assert_eq!(ok(adopt(&mut bench.records, &RunId::new(RUN), &OwnerId::new("here"))), 0);
    assert_eq!(ok(adopt(&mut bench.records, &RunId::new(RUN), &OwnerId::new("next"))), 1);
    assert_eq!(bench.figures(), [20, 20, 0, 0]);
}

proptest! {
    /// Arbitrary operations, as long as no bill exceeds its bound.
    #[test]
    fn committed_and_outstanding_never_exceed_a_cap(
        run_cap in 0_i64..2_000,
        day_cap in 0_i64..2_000,
        steps in prop::collection::vec((0_u8..5, 0_usize..12, 0_i64..400, 0_i64..=100), 1..200),
    ) {
        let mut bench = Bench::new(cap(run_cap));
        ok(bench.records.set_budget("day", cap(day_cap)));
        let mut reserved: BTreeMap<String, i64> = BTreeMap::new();
        let mut spent = 0;
        for (number, (step, slot, worst, share)) in steps.into_iter().enumerate() {
            let lease = reserved.keys().nth(slot).cloned();
            match (step, lease) {
                (0 | 1, _) | (_, None) => {
                    let lease = format!("{number:04}");
                    if bench.request(&lease, worst) == AdmissionDecision::Admitted {
                        reserved.insert(lease, worst);
                    }
                }
                (2, Some(lease)) => {
                    let cost = reserved.remove(&lease).unwrap() * share / 100;
                    let overrun = bench.settle(&lease, cost).overrun;
                    prop_assert_eq!(overrun, Money::ZERO);
                    spent += cost;
                }
                (3, Some(lease)) => {
                    reserved.remove(&lease);
                    bench.release(&lease);
                }
                (_, Some(lease)) => {
                    spent += reserved.remove(&lease).unwrap();
                    bench.presume(&lease);
                }
            }
            bench.now += share * 10;
            let [committed, _, outstanding, overrun] = bench.figures();
            prop_assert!(committed + outstanding <= run_cap.min(day_cap));
            prop_assert_eq!(committed, spent);
            prop_assert_eq!(outstanding, reserved.values().sum::<i64>());
            prop_assert_eq!(overrun, 0);
        }
    }
}
