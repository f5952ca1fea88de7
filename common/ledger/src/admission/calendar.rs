//! Days and months of budgets in a time zone.

use super::scope::{Period, Scope, SharedBudget};
use jiff::{Timestamp, Zoned, civil::Date, tz::TimeZone};
use serde::Deserialize;
use std::fmt;

/// Time zone in which the days and months of budgets begin.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct BudgetCalendar {
    zone: TimeZone,
}

/// An unknown time zone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a time zone: use a name like Europe/Berlin, America/New_York or UTC")]
pub struct UnknownZone(String);

impl BudgetCalendar {
    /// Days and months of UTC.
    pub const UTC: Self = Self { zone: TimeZone::UTC };

    /// Days and months of the zone of this name in the IANA time zone database.
    ///
    /// # Errors
    /// A name that the database does not have.
    pub fn new(zone: &str) -> Result<Self, UnknownZone> {
        match TimeZone::get(zone) {
            Ok(zone) if zone.iana_name().is_some() => Ok(Self { zone }),
            _ => Err(UnknownZone(zone.chars().take(60).collect())),
        }
    }

    /// Name of the zone.
    pub fn zone(&self) -> &str {
        self.zone.iana_name().unwrap_or("UTC")
    }

    /// Time in the zone.
    pub fn local_time(&self, moment: Timestamp) -> Zoned {
        moment.to_zoned(self.zone.clone())
    }

    /// Day of a moment, in milliseconds since 1970.
    pub(crate) fn day_of(&self, milliseconds: i64) -> Date {
        self.day(Timestamp::from_millisecond(milliseconds).unwrap_or_default())
    }

    /// Offsets from UTC in seconds, each with the moment from which it applies, in milliseconds
    /// since 1970. The first one applies at `from`.
    pub(crate) fn offsets(&self, from: Timestamp, until: Timestamp) -> Vec<(i64, i32)> {
        let first = (from.as_millisecond(), self.zone.to_offset(from).seconds());
        let changes = self.zone.following(from).take_while(|change| change.timestamp() <= until);
        let changes =
            changes.map(|change| (change.timestamp().as_millisecond(), change.offset().seconds()));
        std::iter::once(first).chain(changes).collect()
    }

    /// The scope of a budget in the day or the month of this moment.
    pub fn scope(&self, budget: &SharedBudget, now: Timestamp) -> Scope {
        budget.scope(self.day(now))
    }

    /// Scopes of a budget in the last `count` days or months, that of this moment first.
    pub fn latest(&self, budget: &SharedBudget, count: u32, now: Timestamp) -> Vec<Scope> {
        let before = |day: Date| match budget.period {
            Period::Day => day.yesterday().ok(),
            Period::Month => day.first_of_month().yesterday().ok(),
        };
        let days = std::iter::successors(Some(self.day(now)), |day| before(*day));
        days.take(count as usize).map(|day| budget.scope(day)).collect()
    }

    /// Beginning of the next day or month, when spending is reset. None beyond the end of the
    /// calendar.
    pub fn renewal(&self, period: Period, now: Timestamp) -> Option<Timestamp> {
        let last = match period {
            Period::Day => self.day(now),
            Period::Month => self.day(now).last_of_month(),
        };
        // Where clocks skip midnight, a day begins at the end of the gap.
        let next = last.tomorrow().ok()?.to_zoned(self.zone.clone()).ok()?;
        Some(next.timestamp())
    }

    fn day(&self, now: Timestamp) -> Date {
        self.local_time(now).date()
    }
}

impl Default for BudgetCalendar {
    fn default() -> Self {
        Self::UTC
    }
}

impl TryFrom<String> for BudgetCalendar {
    type Error = UnknownZone;

    fn try_from(zone: String) -> Result<Self, UnknownZone> {
        Self::new(&zone)
    }
}

impl fmt::Display for BudgetCalendar {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.zone())
    }
}

#[cfg(test)]
mod tests;
