//! Operations of differential tests.

use crate::admission::{CountRule, Limits};
use jiff::Timestamp;
use proptest::prelude::*;

/// Runs that request admission.
pub const RUNS: usize = 2;
/// Labels of runs and of caps.
pub const LABELS: [&str; 3] = ["dataset:golden", "tag:checkout", "tag:search"];
/// Time zones of days and months.
pub const ZONES: [&str; 4] = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"];
/// Start times of sequences: any time, and before the clock changes of Berlin and New York.
const BEGINNINGS: [&str; 5] = [
    "2026-11-18T10:26:40Z",
    "2027-03-13T22:00:00Z",
    "2027-03-27T22:00:00Z",
    "2027-10-30T20:00:00Z",
    "2027-11-06T20:00:00Z",
];
/// Endpoints of the requests.
const ENDPOINTS: usize = 2;

const HOUR: i64 = 60 * 60 * 1_000;

/// An operation.
#[derive(Clone, Debug)]
pub enum LedgerStep {
    Open {
        run: usize,
        cap: Option<i64>,
        spent: i64,
    },
    Label {
        run: usize,
        labels: Vec<usize>,
    },
    Cap {
        month: bool,
        label: Option<usize>,
        cap: Option<i64>,
    },
    Zone {
        zone: usize,
    },
    Limit {
        endpoint: usize,
        limits: Limits,
    },
    AdmissionRequest {
        lease: usize,
        run: usize,
        endpoint: usize,
        tokens: u64,
        worst: i64,
    },
    Settle {
        lease: usize,
        run: usize,
        cost: i64,
        tokens: u64,
    },
    Release {
        lease: usize,
    },
    Presume {
        lease: usize,
    },
    Observe {
        endpoint: usize,
        requests: Option<u64>,
        tokens: Option<u64>,
        refused: Option<u64>,
        rule: Option<CountRule>,
    },
    Adopt {
        run: usize,
        owner: usize,
    },
    Pass {
        milliseconds: i64,
    },
}

/// Start time of a sequence in milliseconds since 1970.
pub fn beginning() -> impl Strategy<Value = i64> {
    let beginnings = BEGINNINGS.map(|text| text.parse::<Timestamp>().unwrap().as_millisecond());
    prop::sample::select(beginnings.to_vec())
}

/// Sequence of up to 60 operations.
pub fn steps() -> impl Strategy<Value = Vec<LedgerStep>> {
    let run = 0..RUNS;
    let lease = 0_usize..12;
    let cap = prop::option::of(0_i64..1_000);
    let step = prop_oneof![
        1 => (run.clone(), cap.clone(), 0_i64..400)
            .prop_map(|(run, cap, spent)| LedgerStep::Open { run, cap, spent }),
        1 => (run.clone(), prop::sample::subsequence(vec![0, 1, 2], 0..=LABELS.len()))
            .prop_map(|(run, labels)| LedgerStep::Label { run, labels }),
        3 => (any::<bool>(), prop::option::weighted(0.7, 0..LABELS.len()), cap)
            .prop_map(|(month, label, cap)| LedgerStep::Cap { month, label, cap }),
        1 => (0..ZONES.len()).prop_map(|zone| LedgerStep::Zone { zone }),
        2 => limit(),
        // Closing a run ignores leases without reserved amounts.
        8 => (lease.clone(), run.clone(), 0..ENDPOINTS, 0_u64..500, 1_i64..300).prop_map(
            |(lease, run, endpoint, tokens, worst)| LedgerStep::AdmissionRequest {
                lease, run, endpoint, tokens, worst
            }
        ),
        4 => (lease.clone(), run.clone(), 0_i64..250, 0_u64..500)
            .prop_map(|(lease, run, cost, tokens)| LedgerStep::Settle { lease, run, cost, tokens }),
        2 => lease.clone().prop_map(|lease| LedgerStep::Release { lease }),
        2 => lease.prop_map(|lease| LedgerStep::Presume { lease }),
        1 => observe(),
        1 => (run, 0_usize..3).prop_map(|(run, owner)| LedgerStep::Adopt { run, owner }),
        4 => prop_oneof![0_i64..2_000, 0_i64..6 * HOUR, Just(24 * HOUR)]
            .prop_map(|milliseconds| LedgerStep::Pass { milliseconds }),
    ];
    prop::collection::vec(step, 1..60)
}

/// Sequence of up to 60 operations on rate limits: reported limits, refusals, and started and
/// finished calls.
pub fn steps_of_limits() -> impl Strategy<Value = Vec<LedgerStep>> {
    let lease = 0_usize..60;
    let step = prop_oneof![
        1 => limit(),
        6 => (lease.clone(), 0..ENDPOINTS, 0_u64..500).prop_map(
            |(lease, endpoint, tokens)| LedgerStep::AdmissionRequest { lease, run: 0, endpoint, tokens, worst: 0 }
        ),
        2 => (lease, 0_u64..500)
            .prop_map(|(lease, tokens)| LedgerStep::Settle { lease, run: 0, cost: 0, tokens }),
        3 => observe(),
        3 => prop_oneof![0_i64..2_000, 4_000_i64..8_000]
            .prop_map(|milliseconds| LedgerStep::Pass { milliseconds }),
    ];
    prop::collection::vec(step, 1..60)
}

fn limit() -> impl Strategy<Value = LedgerStep> {
    (0..ENDPOINTS, units(), units(), any::<bool>()).prop_map(
        |(endpoint, requests_per_minute, tokens_per_minute, refund_unused)| {
            let limits = Limits { requests_per_minute, tokens_per_minute, refund_unused };
            LedgerStep::Limit { endpoint, limits }
        },
    )
}

fn observe() -> impl Strategy<Value = LedgerStep> {
    let rule = prop::option::of(Just(CountRule::Sum));
    // Most replies repeat the limits of the one before.
    let requests = prop_oneof![Just(None), Just(Some(600)), units()];
    let tokens = prop_oneof![Just(None), units()];
    (0..ENDPOINTS, requests, tokens, prop::option::of(0_u64..3_000), rule).prop_map(
        |(endpoint, requests, tokens, refused, rule)| LedgerStep::Observe {
            endpoint,
            requests,
            tokens,
            refused,
            rule,
        },
    )
}

/// Units per minute; `None` if not reported.
fn units() -> impl Strategy<Value = Option<u64>> {
    prop::option::of(prop_oneof![0_u64..5_000, 20_000_u64..200_000])
}
