//! Deadline of a run's calls: a time of day, or a duration.

use super::Settings;
use jiff::{SignedDuration, Timestamp, Zoned, civil::Time};
use juror_types::lane::Lane;
use serde::Deserialize;

/// The setting `run.deadline`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Deadline {
    /// Time of day, in the time zone of budgets (`budget.zone`), else of the machine that starts
    /// the run.
    At(Time),
    /// Time after the start of the run.
    After(SignedDuration),
}

/// A text that is not a deadline.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a deadline: give a time of day, as in \"07:00\", or a duration, as in \"90m\" or \"2h 30m\""
)]
pub struct InvalidDeadline(String);

impl Deadline {
    /// Time of the deadline for a run that starts now; a time of day is the next one.
    pub fn after(self, now: &Zoned) -> Timestamp {
        match self {
            Self::After(duration) => {
                now.timestamp().checked_add(duration).unwrap_or(Timestamp::MAX)
            }
            Self::At(time) => {
                let on = |day: jiff::civil::Date| {
                    day.to_datetime(time).to_zoned(now.time_zone().clone()).ok()
                };
                let today = on(now.date()).filter(|today| today > now);
                let next = today.or_else(|| on(now.date().tomorrow().ok()?));
                next.map_or(Timestamp::MAX, |next| next.timestamp())
            }
        }
    }
}

impl Settings {
    /// Time of `run.deadline` for a run that starts now.
    pub fn deadline(&self) -> Option<Timestamp> {
        let zone = self.budget.zone.as_ref();
        // The zone was checked when the settings were read.
        let in_zone = zone.and_then(|zone| Timestamp::now().in_tz(zone.zone()).ok());
        Some(self.run.deadline?.after(&in_zone.unwrap_or_else(Zoned::now)))
    }

    /// True if the deadline is too near for batches of a run in the lane `mixed` that starts now.
    pub fn makes_no_batch(&self) -> bool {
        let reserve = self.batch.realtime_reserve.0;
        let has_time = |deadline: Timestamp| {
            Timestamp::now().checked_add(reserve).is_ok_and(|begin| begin < deadline)
        };
        let is_mixed = self.run.enable_llm_judge && self.run.lane == Lane::Mixed;
        is_mixed && self.deadline().is_some_and(|deadline| !has_time(deadline))
    }
}

impl TryFrom<String> for Deadline {
    type Error = InvalidDeadline;

    fn try_from(written: String) -> Result<Self, InvalidDeadline> {
        let text = written.trim();
        let deadline = if text.contains(':') {
            let formats = ["%H:%M", "%H:%M:%S"];
            formats.iter().find_map(|format| Time::strptime(format, text).ok()).map(Self::At)
        } else {
            let duration = text.parse().ok().filter(|duration| *duration > SignedDuration::ZERO);
            duration.map(Self::After)
        };
        deadline.ok_or(InvalidDeadline(written))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(deadline: &str, now: &str) -> String {
        let now: Zoned = now.parse().unwrap();
        Deadline::try_from(deadline.to_owned()).unwrap().after(&now).to_string()
    }

    #[test]
    fn time_of_day_is_its_next_occurrence() {
        assert_eq!(moment("07:00", "2026-11-23T01:30:00+02:00[+02:00]"), "2026-11-23T05:00:00Z");
        assert_eq!(moment("07:00:30", "2026-11-23T07:00:30Z[UTC]"), "2026-11-24T07:00:30Z");
    }

    #[test]
    fn duration_starts_with_the_run() {
        let now = "2026-11-23T23:30:00Z[UTC]";
        for (text, expected) in [
            ("90m", "2026-11-24T01:00:00Z"),
            ("2h 30m", "2026-11-24T02:00:00Z"),
            ("45s", "2026-11-23T23:30:45Z"),
        ] {
            assert_eq!(moment(text, now), expected, "{text}");
        }
    }

    #[test]
    fn invalid_deadlines_are_refused_with_the_remedy() {
        for text in ["", "soon", "25:00", "07:61", "0s", "-5m", "5"] {
            let error = Deadline::try_from(text.to_owned()).unwrap_err().to_string();
            assert!(error.contains("as in"), "{text}: {error}");
        }
    }
}
