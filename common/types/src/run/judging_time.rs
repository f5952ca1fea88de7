//! Judging time of a run, which later reports must not change.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Sessions of a run and their time. A session begins and ends with a judging process; that of a
/// killed process ends with its last result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgingTime {
    /// Number of sessions, including the open one.
    pub sessions: u32,
    /// Total time of the closed sessions, in milliseconds.
    pub active_ms: u64,
    /// Start of the session that is open or was killed; RFC 3339 in UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_since: Option<String>,
    /// End of the last closed session, RFC 3339 in UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
}

impl JudgingTime {
    /// Judging time with one session that is open since this time.
    pub fn since(start: Timestamp) -> Self {
        Self { sessions: 1, open_since: Some(start.to_string()), ..Self::default() }
    }

    /// Ends the open session, if there is one, at this time.
    pub fn closed(self, end: Timestamp) -> Self {
        let Some(start) = &self.open_since else { return self };
        // A start that cannot be read counts no time.
        let start: Timestamp = start.parse().unwrap_or(end);
        let took = end.as_millisecond().saturating_sub(start.as_millisecond());
        let took = u64::try_from(took).unwrap_or_default();
        let active_ms = self.active_ms.saturating_add(took);
        Self { active_ms, open_since: None, ended_at: Some(end.to_string()), ..self }
    }

    /// Starts a further session at this time.
    pub fn reopened(self, start: Timestamp) -> Self {
        Self {
            sessions: self.sessions.saturating_add(1),
            open_since: Some(start.to_string()),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn session_times_add_up_without_the_gaps() {
        let first = JudgingTime::since(at(100)).closed(at(130));
        assert_eq!(
            (first.sessions, first.active_ms, first.ended_at.clone()),
            (1, 30_000, Some(at(130).to_string()))
        );
        let both = first.reopened(at(1_000)).closed(at(1_005));
        assert_eq!(
            (both.sessions, both.active_ms, both.ended_at.clone()),
            (2, 35_000, Some(at(1_005).to_string()))
        );
        assert_eq!(both.clone().closed(at(9_000)), both, "a closed session stays as it is");
    }

    #[test]
    fn clock_set_back_adds_no_time() {
        assert_eq!(JudgingTime::since(at(100)).closed(at(50)).active_ms, 0);
    }
}
