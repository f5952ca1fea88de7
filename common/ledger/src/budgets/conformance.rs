//! Conformance suite of shared budgets.

#![expect(clippy::expect_used, reason = "a check fails by panicking")]

use super::{BudgetRecords, Spending};
use crate::admission::{
    Account, Admission, AdmissionDecision, Ask, Budget, BudgetCalendar, Period, Scope,
};
use jiff::Timestamp;
use juror_types::{
    id::{LeaseId, OwnerId, RunId},
    usage::Money,
};

/// Sets the clock of a backend, in milliseconds since 1970.
type MovedClock<'a> = &'a (dyn Fn(i64) + Sync);

/// Runs every check on an empty backend, whose clock is moved.
pub async fn check<Backend: BudgetRecords + Admission>(backend: &Backend, clock: MovedClock<'_>) {
    a_cap_stands_until_another_is_given(backend).await;
    spending_is_that_of_the_scopes_asked_for(backend, clock).await;
    days_and_months_begin_in_the_zone_that_is_set(backend, clock).await;
    a_call_counts_in_the_day_of_its_admission(backend, clock).await;
    an_alert_is_recorded_once_for_a_budget_and_a_share(backend).await;
}

async fn a_cap_stands_until_another_is_given<Backend: BudgetRecords + Admission>(
    backend: &Backend,
) {
    let run = RunId::new("first");
    backend.open_run(&run, Budget::Unlimited).await.expect("the backend answers");
    for period in [Period::Day, Period::Month] {
        let mut before = Some(Budget::Unlimited);
        for cap in [Budget::Cap(pico(7)), Budget::Cap(pico(5)), Budget::Unlimited] {
            let replaced = backend.set_cap(period, cap).await.expect("the backend answers");
            assert_eq!(replaced, before);
            assert_eq!(backend.cap(period).await.expect("the backend answers"), Some(cap));
            backend.open_run(&run, Budget::Unlimited).await.expect("the backend answers");
            assert_eq!(backend.cap(period).await.expect("the backend answers"), Some(cap));
            before = Some(cap);
        }
    }
}

async fn spending_is_that_of_the_scopes_asked_for<Backend: BudgetRecords + Admission>(
    backend: &Backend,
    clock: MovedClock<'_>,
) {
    set(clock, "2026-11-20T12:00:00Z");
    let run = RunId::new("nightly");
    backend.open_run(&run, Budget::Cap(pico(90))).await.expect("the backend answers");
    backend.set_cap(Period::Month, Budget::Cap(pico(500))).await.expect("the backend answers");
    admit(backend, &run, "one call", 40).await;
    let held = Account { outstanding: pico(40), ..Account::default() };

    let (of_run, day) = (Scope::Run(run), Scope::Day("2026-11-20".to_owned()));
    let month = Scope::Month("2026-11".to_owned());
    let long_ago = Scope::Day("2001-01-01".to_owned());
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

async fn days_and_months_begin_in_the_zone_that_is_set<Backend: BudgetRecords + Admission>(
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
            let scopes = [Scope::Day(day.to_owned()), Scope::Month(month.to_owned())];
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
    let days = ["2028-05-01", "2028-05-02"].map(|day| Scope::Day(day.to_owned()));
    assert_eq!(outstanding(backend, &days).await, [10, 0]);
    let before = backend.set_calendar(&zone("Asia/Kolkata")).await.expect("the backend answers");
    assert_eq!(before, BudgetCalendar::UTC);
    set(clock, "2028-05-01T20:00:01Z");
    admit(backend, &run, "later", 3).await;
    assert_eq!(outstanding(backend, &days).await, [10, 3], "it is past midnight in Kolkata");
    backend.release(&LeaseId::new("released")).await.expect("the backend answers");
    backend.presume_spent(&LeaseId::new("presumed")).await.expect("the backend answers");
    assert_eq!(outstanding(backend, &days).await, [0, 3]);
    let spending = backend.spending(&days).await.expect("the backend answers");
    let committed = spending.iter().map(|of| of.account.committed.pico()).collect::<Vec<_>>();
    assert_eq!(committed, [5, 0]);
}

async fn an_alert_is_recorded_once_for_a_budget_and_a_share<Backend: BudgetRecords>(
    backend: &Backend,
) {
    let [month, next] = ["2026-11", "2026-12"].map(|month| Scope::Month(month.to_owned()));
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
    let ask = Ask {
        lease: LeaseId::new(lease),
        owner: OwnerId::new("owner"),
        run: run.clone(),
        endpoint: "judge".to_owned(),
        input_tokens: 0,
        max_output_tokens: 0,
        worst_cost: pico(worst),
    };
    let decision = backend.try_admit(&ask).await.expect("the backend answers");
    assert_eq!(decision, AdmissionDecision::Admitted, "{lease}");
}

async fn outstanding<Backend: BudgetRecords>(backend: &Backend, scopes: &[Scope; 2]) -> [i64; 2] {
    let spending = backend.spending(scopes).await.expect("the backend answers");
    let amounts: Vec<i64> = spending.iter().map(|of| of.account.outstanding.pico()).collect();
    amounts.try_into().expect("each scope is told")
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
