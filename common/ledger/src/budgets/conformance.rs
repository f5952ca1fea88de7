//! Conformance suite of shared budgets.

use super::{BudgetRecords, Spending};
use crate::{
    admission::{
        Account, Admission, AdmissionDecision, AdmissionRequest, Budget, BudgetCalendar, Period,
        Scope, SharedBudget, WaitReason,
    },
    test_requests,
};
use jiff::Timestamp;
use juror_types::{
    budget_label::BudgetLabel,
    id::{LeaseId, RunId},
    usage::Money,
};

/// Runs every check on an empty backend with a manual clock.
pub async fn check<Backend: BudgetRecords + Admission>(backend: &Backend, clock: MovedClock<'_>) {
    cap_persists_until_changed(backend).await;
    spending_covers_the_requested_scopes(backend, clock).await;
    days_and_months_start_in_the_configured_time_zone(backend, clock).await;
    a_call_counts_in_the_day_of_its_admission(backend, clock).await;
    call_must_fit_the_budgets_of_all_its_labels(backend, clock).await;
    a_call_counts_under_the_labels_of_its_admission(backend, clock).await;
    alert_is_recorded_once_per_budget_and_share(backend).await;
}

/// Sets the clock of a backend, in milliseconds since 1970.
type MovedClock<'a> = &'a (dyn Fn(i64) + Sync);

async fn cap_persists_until_changed<Backend: BudgetRecords + Admission>(backend: &Backend) {
    let run = RunId::new("first");
    backend.open_run(&run, Budget::Unlimited).await.expect("the backend answers");
    let label = Some(label("tag:first"));
    backend.set_budget_labels(&run, label.as_slice()).await.expect("the backend answers");
    for (period, label) in Period::ALL.into_iter().flat_map(|of| [(of, None), (of, label.clone())])
    {
        let budget = &SharedBudget { period, label };
        let mut before = Some(Budget::Unlimited);
        for cap in [Budget::Cap(pico(7)), Budget::Cap(pico(5)), Budget::Unlimited] {
            let replaced = backend.set_cap(budget, cap).await.expect("the backend answers");
            assert_eq!(replaced, before);
            assert_eq!(backend.cap(budget).await.expect("the backend answers"), Some(cap));
            backend.open_run(&run, Budget::Unlimited).await.expect("the backend answers");
            assert_eq!(backend.cap(budget).await.expect("the backend answers"), Some(cap));
            before = Some(cap);
        }
    }
}

async fn spending_covers_the_requested_scopes<Backend: BudgetRecords + Admission>(
    backend: &Backend,
    clock: MovedClock<'_>,
) {
    set(clock, "2026-11-20T12:00:00Z");
    let run = RunId::new("nightly");
    backend.open_run(&run, Budget::Cap(pico(90))).await.expect("the backend answers");
    backend
        .set_cap(&Period::Month.into(), Budget::Cap(pico(500)))
        .await
        .expect("the backend answers");
    admit(backend, &run, "one call", 40).await;
    let held = Account { outstanding: pico(40), ..Account::default() };

    let (of_run, day) = (Scope::Run(run), scope("day:2026-11-20"));
    let month = scope("month:2026-11");
    let long_ago = scope("day:2001-01-01");
    let scopes = [month.clone(), long_ago.clone(), of_run.clone(), day.clone()];
    let spending = backend.spending(&scopes).await.expect("the backend answers");
    let expected = [
        Spending { scope: month, budget: Some(Budget::Cap(pico(500))), account: held },
        Spending { scope: long_ago, budget: Some(Budget::Unlimited), account: Account::default() },
        Spending { scope: of_run, budget: Some(Budget::Cap(pico(90))), account: held },
        Spending { scope: day, budget: Some(Budget::Unlimited), account: held },
    ];
    assert_eq!(spending, expected);
    assert_eq!(backend.spending(&[]).await.expect("the backend answers"), []);
}

/// The last millisecond of a local day and the first of the next, over both changes of the year in
/// two zones: days of 23 and of 25 hours, and a month that ends with one.
const MIDNIGHTS: [(&str, &str, &str, &str); 12] = [
    ("Europe/Berlin", "2027-03-27T23:00:00Z", "2027-03-27", "2027-03-28"),
    ("Europe/Berlin", "2027-03-28T22:00:00Z", "2027-03-28", "2027-03-29"),
    ("Europe/Berlin", "2027-03-31T22:00:00Z", "2027-03-31", "2027-04-01"),
    ("Europe/Berlin", "2027-10-30T22:00:00Z", "2027-10-30", "2027-10-31"),
    ("Europe/Berlin", "2027-10-31T23:00:00Z", "2027-10-31", "2027-11-01"),
    ("Europe/Berlin", "2027-12-31T23:00:00Z", "2027-12-31", "2028-01-01"),
    ("America/New_York", "2027-03-14T05:00:00Z", "2027-03-13", "2027-03-14"),
    ("America/New_York", "2027-03-15T04:00:00Z", "2027-03-14", "2027-03-15"),
    ("America/New_York", "2027-04-01T04:00:00Z", "2027-03-31", "2027-04-01"),
    ("America/New_York", "2027-11-07T04:00:00Z", "2027-11-06", "2027-11-07"),
    ("America/New_York", "2027-11-08T05:00:00Z", "2027-11-07", "2027-11-08"),
    ("UTC", "2027-11-09T00:00:00Z", "2027-11-08", "2027-11-09"),
];

async fn days_and_months_start_in_the_configured_time_zone<Backend: BudgetRecords + Admission>(
    backend: &Backend,
    clock: MovedClock<'_>,
) {
    assert_eq!(backend.calendar().await.expect("the backend answers"), BudgetCalendar::UTC);
    let run = RunId::new("over midnight");
    backend.open_run(&run, Budget::Unlimited).await.expect("the backend answers");
    for (zone, midnight, before, after) in MIDNIGHTS {
        let calendar = BudgetCalendar::new(zone).expect("the zone is known");
        backend.set_calendar(&calendar).await.expect("the backend answers");
        assert_eq!(backend.calendar().await.expect("the backend answers"), calendar);
        for (early, day) in [(1, before), (0, after)] {
            clock(milliseconds(midnight) - early);
            let (month, _) = day.rsplit_once('-').expect("it is a day");
            let scopes = [format!("day:{day}"), format!("month:{month}")].map(|key| scope(&key));
            let earlier = outstanding(backend, &scopes).await;
            admit(backend, &run, &format!("{zone} {midnight} {early}"), 1).await;
            let now = outstanding(backend, &scopes).await;
            assert_eq!(now, earlier.map(|amount| amount + 1), "{zone} {midnight} less {early} ms");
        }
    }
}

async fn a_call_counts_in_the_day_of_its_admission<Backend: BudgetRecords + Admission>(
    backend: &Backend,
    clock: MovedClock<'_>,
) {
    let run = RunId::new("slow");
    backend.open_run(&run, Budget::Unlimited).await.expect("the backend answers");
    let zone = |name| BudgetCalendar::new(name).expect("the zone is known");
    backend.set_calendar(&zone("UTC")).await.expect("the backend answers");
    set(clock, "2028-05-01T20:00:00Z");
    for lease in ["released", "presumed"] {
        admit(backend, &run, lease, 5).await;
    }
    let days = ["day:2028-05-01", "day:2028-05-02"].map(scope);
    assert_eq!(outstanding(backend, &days).await, [10, 0]);
    let before = backend.set_calendar(&zone("Asia/Kolkata")).await.expect("the backend answers");
    assert_eq!(before, BudgetCalendar::UTC);
    set(clock, "2028-05-01T20:00:01Z");
    admit(backend, &run, "later", 3).await;
    assert_eq!(outstanding(backend, &days).await, [10, 3], "it is past midnight in Kolkata");
    backend.release(&LeaseId::new("released")).await.expect("the backend answers");
    backend.presume_spent(&LeaseId::new("presumed")).await.expect("the backend answers");
    assert_eq!(outstanding(backend, &days).await, [0, 3]);
    assert_eq!(committed(backend, &days).await, [5, 0]);
}

async fn call_must_fit_the_budgets_of_all_its_labels<Backend: BudgetRecords + Admission>(
    backend: &Backend,
    clock: MovedClock<'_>,
) {
    set(clock, "2029-05-01T12:00:00Z");
    let labels = ["dataset:golden", "tag:checkout", "tag:search"].map(label);
    let [golden, checkout, search] = &labels;
    let cap = async |label: &BudgetLabel, period, amount| {
        let budget = SharedBudget { period, label: Some(label.clone()) };
        backend.set_cap(&budget, Budget::Cap(pico(amount))).await.expect("the backend answers");
    };
    cap(golden, Period::Month, 115).await;
    cap(checkout, Period::Day, 30).await;
    for (run, tag) in [("checkout", checkout), ("search", search)] {
        let (run, labels) = (RunId::new(run), [golden.clone(), tag.clone()]);
        backend.set_budget_labels(&run, &labels).await.expect("the backend answers");
        backend.open_run(&run, Budget::Unlimited).await.expect("the backend answers");
    }
    let known = backend.labels().await.expect("the backend answers");
    assert!(labels.iter().all(|label| known.contains(label)), "{known:?}");

    let decide = async |run: &str, lease: &str, worst| {
        backend
            .try_admit(&request(&RunId::new(run), lease, worst))
            .await
            .expect("the backend answers")
    };
    assert_eq!(decide("checkout", "c1", 20).await, AdmissionDecision::Admitted);
    let held = AdmissionDecision::Wait { retry_after: None, reason: WaitReason::Budget };
    assert_eq!(decide("checkout", "c2", 20).await, held);
    backend.release(&LeaseId::new("c2")).await.expect("the backend answers");
    assert_eq!(decide("search", "s1", 80).await, AdmissionDecision::Admitted, "another tag");
    assert_eq!(decide("search", "s2", 16).await, held, "the dataset's month is held");
    backend.release(&LeaseId::new("s2")).await.expect("the backend answers");
    for lease in ["c1", "s1"] {
        backend.presume_spent(&LeaseId::new(lease)).await.expect("the backend answers");
    }
    for (run, lease, worst, output) in [
        ("checkout", "c3", 11, "--tag checkout"),
        ("search", "s3", 16, "juror budget set month AMOUNT --dataset golden"),
    ] {
        let AdmissionDecision::NoBudget { reason } = decide(run, lease, worst).await else {
            panic!("{lease} is above the cap of a label")
        };
        assert!(reason.contains(output), "{reason}");
    }
    let scopes = [
        "day:2029-05-01:tag:checkout",
        "day:2029-05-01:tag:search",
        "month:2029-05:dataset:golden",
    ]
    .map(scope);
    assert_eq!(committed(backend, &scopes).await, [20, 80, 100]);
}

async fn a_call_counts_under_the_labels_of_its_admission<Backend: BudgetRecords + Admission>(
    backend: &Backend,
    clock: MovedClock<'_>,
) {
    set(clock, "2030-05-01T12:00:00Z");
    let (run, labels) = (RunId::new("relabeled"), ["tag:before", "tag:after"].map(label));
    for (tag, lease) in labels.iter().zip(["released again", "presumed late"]) {
        backend
            .set_budget_labels(&run, std::slice::from_ref(tag))
            .await
            .expect("the backend answers");
        backend.open_run(&run, Budget::Unlimited).await.expect("the backend answers");
        admit(backend, &run, lease, 7).await;
    }
    let scopes = labels.map(|label| scope(&format!("month:2030-05:{label}")));
    assert_eq!(outstanding(backend, &scopes).await, [7, 7]);
    backend.release(&LeaseId::new("released again")).await.expect("the backend answers");
    backend.presume_spent(&LeaseId::new("presumed late")).await.expect("the backend answers");
    assert_eq!(outstanding(backend, &scopes).await, [0, 0]);
    assert_eq!(committed(backend, &scopes).await, [0, 7]);
}

async fn alert_is_recorded_once_per_budget_and_share<Backend: BudgetRecords>(backend: &Backend) {
    let [month, next] = ["month:2026-11", "month:2026-12"].map(scope);
    for (scope, share, is_new) in [
        (&month, "0.8", true),
        (&month, "0.8", false),
        (&month, "1", true),
        (&next, "0.8", true),
        (&month, "1", false),
    ] {
        let recorded = backend.record_alert(scope, share).await.expect("the backend answers");
        assert_eq!(recorded, is_new, "{scope} {share}");
    }
}

async fn admit<Backend: Admission>(backend: &Backend, run: &RunId, lease: &str, worst: i64) {
    let decision =
        backend.try_admit(&request(run, lease, worst)).await.expect("the backend answers");
    assert_eq!(decision, AdmissionDecision::Admitted, "{lease}");
}

fn request(run: &RunId, lease: &str, worst: i64) -> AdmissionRequest {
    AdmissionRequest { run: run.clone(), ..test_requests::request(lease, "owner", worst) }
}

async fn committed<Backend: BudgetRecords>(backend: &Backend, scopes: &[Scope]) -> Vec<i64> {
    let spending = backend.spending(scopes).await.expect("the backend answers");
    spending.iter().map(|of| of.account.committed.pico()).collect()
}

async fn outstanding<Backend: BudgetRecords>(backend: &Backend, scopes: &[Scope; 2]) -> [i64; 2] {
    let spending = backend.spending(scopes).await.expect("the backend answers");
    let amounts: Vec<i64> = spending.iter().map(|of| of.account.outstanding.pico()).collect();
    amounts.try_into().expect("each scope is present")
}

fn scope(key: &str) -> Scope {
    Scope::from_account_key(key).expect("it is an account's key")
}

fn label(text: &str) -> BudgetLabel {
    text.parse().expect("it is a label")
}

fn set(clock: MovedClock<'_>, moment: &str) {
    clock(milliseconds(moment));
}

fn milliseconds(moment: &str) -> i64 {
    moment.parse::<Timestamp>().expect("it is a time").as_millisecond()
}

fn pico(amount: i64) -> Money {
    Money::from_pico(amount)
}
