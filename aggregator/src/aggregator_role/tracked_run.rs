//! State of a run in the aggregator.

use super::{completeness::complete_at, incoming::Incoming};
use crate::run_journal::RunJournal;
use juror_ledger::redis::{RunProgress, RunStatus};
use std::time::Duration;
use tokio::time::Instant;

/// Minimum pause between two reports, as a multiple of the duration of the last one: reports take
/// at most a tenth of the time.
const PAUSE_FACTOR: u32 = 9;

/// A run with results, or one that is announced and not reported.
#[derive(Debug)]
pub(super) struct TrackedRun {
    pub(super) place: ResultPlace,
    /// Open directory; a closed one is opened when results arrive.
    pub(super) open: Option<RunJournal>,
    /// Number of its last use.
    pub(super) used: u64,
    /// Results that came while their destination was unknown.
    pub(super) waiting: Vec<Incoming>,
    /// Last status from the fleet's backend.
    pub(super) status: Option<RunStatus>,
    /// Progress of its journal.
    pub(super) progress: Option<RunProgress>,
    /// Grows with every commit.
    pub(super) version: u64,
    pub(super) reports: Reports,
}

/// Destination of a run's results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum ResultPlace {
    /// Unknown until a status comes.
    #[default]
    Unknown,
    /// Directory.
    Directory,
    /// The dead letters, for this reason.
    DeadLetters(String),
}

/// Reports of a run so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reports {
    /// The version of the last report.
    pub(super) version: u64,
    /// Time and duration of the last attempt.
    pub(super) last: Option<(Instant, Duration)>,
    /// True if the last attempt failed.
    pub(super) failed: bool,
    /// Time since which the run is known.
    since: Instant,
}

impl TrackedRun {
    /// A run of unknown status.
    pub(super) fn new() -> Self {
        Self::at(ResultPlace::Unknown)
    }

    /// Creates the state of a run with this destination of results.
    pub(super) fn at(place: ResultPlace) -> Self {
        let reports = Reports { version: 0, last: None, failed: false, since: Instant::now() };
        Self {
            place,
            open: None,
            used: 0,
            waiting: Vec::new(),
            status: None,
            progress: None,
            version: 0,
            reports,
        }
    }

    /// These figures with the number of results at which they were reported, as known here or by
    /// the fleet's backend for the same figures.
    pub(super) fn progress_with(&self, figures: RunProgress) -> RunProgress {
        let reported_at = match &self.progress {
            Some(progress) => progress.reported_at,
            None => {
                let recorded = self.status.as_ref().and_then(|status| status.progress.as_ref());
                let reported_at = recorded.and_then(|recorded| recorded.reported_at);
                let same = RunProgress { reported_at, ..figures.clone() };
                reported_at.filter(|_| recorded == Some(&same))
            }
        };
        RunProgress { reported_at, ..figures }
    }

    /// The number of results with which it is complete, if it is.
    pub(super) fn complete_at(&self) -> Option<u64> {
        complete_at(self.status.as_ref()?, self.progress.as_ref()?)
    }

    /// True if its report is outdated.
    pub(super) fn is_outdated(&self) -> bool {
        self.progress.is_some()
            && (self.version != self.reports.version || self.lacks_last_report())
    }

    /// True if it is complete, reported, and recorded as such in the backend.
    pub(super) fn is_finished(&self) -> bool {
        let recorded = self.status.as_ref().and_then(|status| status.progress.as_ref());
        self.complete_at().is_some() && !self.is_outdated() && recorded == self.progress.as_ref()
    }

    /// Time at which the next report is due, if it is outdated. A complete run is reported
    /// immediately; an unfinished one, `interval` after the last report at the earliest.
    pub(super) fn report_due(&self, interval: Duration) -> Option<Instant> {
        if !self.is_outdated() {
            return None;
        }
        let Reports { last, failed, since, .. } = self.reports;
        let Some((ended, took)) = last else {
            return Some(if self.lacks_last_report() { since } else { since + interval });
        };
        if self.lacks_last_report() && !failed {
            return Some(since);
        }
        Some(ended + interval.max(took * PAUSE_FACTOR))
    }

    fn lacks_last_report(&self) -> bool {
        let complete = self.complete_at();
        let reported = self.progress.as_ref().and_then(|progress| progress.reported_at);
        complete.is_some() && reported != complete
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_analysis::test_fixtures::{SEMANTIC, record};
    use juror_types::outcome::OutcomeCounts;

    const INTERVAL: Duration = Duration::from_secs(10);

    fn known(expected: Option<u64>, results: u64) -> TrackedRun {
        let status = RunStatus {
            record: record(SEMANTIC, 10),
            published: 0,
            expected,
            cancelled: false,
            retrying: false,
            paused: None,
            progress: None,
        };
        let counts = OutcomeCounts { scored: results, ..OutcomeCounts::default() };
        let progress = RunProgress { results, counts, ..RunProgress::default() };
        let (status, progress) = (Some(status), Some(progress));
        TrackedRun { status, progress, version: 1, ..TrackedRun::new() }
    }

    fn reported(known: &mut TrackedRun, took: Duration) -> Instant {
        let now = Instant::now();
        known.reports.version = known.version;
        known.reports.last = Some((now, took));
        let complete = known.complete_at();
        known.progress.as_mut().unwrap().reported_at = complete;
        now
    }

    #[tokio::test(start_paused = true)]
    async fn active_run_is_reported_on_change_and_for_at_most_a_tenth_of_the_time() {
        let mut known = known(None, 3);
        let began = Instant::now();
        assert_eq!(known.report_due(INTERVAL), Some(began + INTERVAL));
        let ended = reported(&mut known, Duration::from_millis(10));
        assert_eq!(known.report_due(INTERVAL), None);
        known.version += 1;
        assert_eq!(known.report_due(INTERVAL), Some(ended + INTERVAL));
        let ended = reported(&mut known, Duration::from_secs(20));
        known.version += 1;
        assert_eq!(known.report_due(INTERVAL), Some(ended + Duration::from_secs(180)));
    }

    #[tokio::test(start_paused = true)]
    async fn complete_run_is_reported_immediately_and_a_failed_report_is_delayed() {
        let mut known = known(Some(3), 3);
        assert!(known.report_due(INTERVAL).is_some_and(|due| due <= Instant::now()));
        let failed = Instant::now();
        known.reports.last = Some((failed, Duration::ZERO));
        known.reports.failed = true;
        assert_eq!(known.report_due(INTERVAL), Some(failed + INTERVAL));
        known.reports.failed = false;
        reported(&mut known, Duration::from_secs(1));
        assert_eq!(known.report_due(INTERVAL), None);
        assert!(!known.is_finished(), "not recorded in the backend yet");
        let progress = known.progress.clone();
        known.status.as_mut().unwrap().progress = progress;
        assert!(known.is_finished());
        known.status.as_mut().unwrap().expected = Some(4);
        assert!(!known.is_finished() && known.report_due(INTERVAL).is_none());
    }
}
