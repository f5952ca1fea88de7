use super::*;

fn keys(scopes: &[Scope]) -> Vec<String> {
    scopes.iter().map(Scope::account_key).collect()
}

fn renewal(zone: &str, period: Period, now: &str) -> String {
    let calendar = BudgetCalendar::new(zone).unwrap();
    calendar.renewal(period, now.parse().unwrap()).unwrap().to_string()
}

#[test]
fn latest_days_and_months_cross_month_and_year_ends() {
    let now = "2027-03-01T00:30:00Z".parse().unwrap();
    let latest =
        |period, count| keys(&BudgetCalendar::UTC.latest(&SharedBudget::from(period), count, now));
    let days = ["day:2027-03-01", "day:2027-02-28", "day:2027-02-27"];
    assert_eq!(latest(Period::Day, 3), days);
    let months = ["month:2027-03", "month:2027-02", "month:2027-01", "month:2026-12"];
    assert_eq!(latest(Period::Month, 4), months);
    assert!(latest(Period::Day, 0).is_empty());
    let west = BudgetCalendar::new("America/New_York").unwrap();
    assert_eq!(keys(&west.latest(&Period::Month.into(), 1, now)), ["month:2027-02"]);
}

#[test]
fn budget_renews_at_the_next_day_or_month() {
    let utc = |period, now| renewal("UTC", period, now);
    assert_eq!(utc(Period::Day, "2026-12-31T23:59:59.999Z"), "2027-01-01T00:00:00Z");
    assert_eq!(utc(Period::Day, "2027-01-01T00:00:00Z"), "2027-01-02T00:00:00Z");
    assert_eq!(utc(Period::Month, "2026-12-31T23:59:59.999Z"), "2027-01-01T00:00:00Z");
    assert_eq!(utc(Period::Month, "2027-02-01T00:00:00Z"), "2027-03-01T00:00:00Z");
}

#[test]
fn days_of_23_and_of_25_hours_begin_at_midnight() {
    let berlin = |period, now| renewal("Europe/Berlin", period, now);
    assert_eq!(berlin(Period::Day, "2027-03-27T23:00:00Z"), "2027-03-28T22:00:00Z");
    assert_eq!(berlin(Period::Day, "2027-10-30T22:00:00Z"), "2027-10-31T23:00:00Z");
    assert_eq!(berlin(Period::Month, "2027-10-30T22:00:00Z"), "2027-10-31T23:00:00Z");
    let west = |period, now| renewal("America/New_York", period, now);
    assert_eq!(west(Period::Day, "2027-03-14T05:00:00Z"), "2027-03-15T04:00:00Z");
    assert_eq!(west(Period::Day, "2027-11-07T04:00:00Z"), "2027-11-08T05:00:00Z");
    // Clocks of Cairo skip the hour after midnight of 2027-04-30.
    let cairo = renewal("Africa/Cairo", Period::Day, "2027-04-29T12:00:00Z");
    assert_eq!(cairo, "2027-04-29T22:00:00Z");
}

#[test]
fn offset_table_agrees_with_the_time_zone() {
    let (from, until) = ("2026-01-01T00:00:00Z".parse().unwrap(), "2028-01-01T00:00:00Z".parse());
    let until: Timestamp = until.unwrap();
    for zone in ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Chatham"] {
        let calendar = BudgetCalendar::new(zone).unwrap();
        let offsets = calendar.offsets(from, until);
        for moment in (from.as_millisecond()..until.as_millisecond()).step_by(1_799_999) {
            let known = offsets.iter().rev().find(|(since, _)| *since <= moment).unwrap();
            let local = Timestamp::from_millisecond(moment + i64::from(known.1) * 1_000).unwrap();
            assert_eq!(BudgetCalendar::UTC.day(local), calendar.day_of(moment), "{zone} {moment}");
        }
    }
}

#[test]
fn unknown_time_zone_is_refused() {
    for wrong in ["Europe/Berlyn", "", "+02:00", "Etc/Unknown"] {
        let refused = BudgetCalendar::new(wrong).unwrap_err();
        assert!(refused.to_string().contains("use a name like Europe/Berlin"), "{wrong}");
    }
    assert_eq!(BudgetCalendar::new("europe/berlin").unwrap().zone(), "Europe/Berlin");
}
