//! Completeness of a run, and the number of its jobs. Pure.

use juror_ledger::redis::{RunProgress, RunStatus};
use juror_types::run::RunRecord;

/// The number of results with which a run is complete, if it is: it is closed and not paused, and
/// its journal has all expected results of all rounds.
pub(super) fn complete_at(status: &RunStatus, progress: &RunProgress) -> Option<u64> {
    let expected = status.expected.filter(|_| status.paused.is_none());
    expected.filter(|expected| progress.results >= *expected)
}

/// Record for `run.json`: the announced one, with the number of published jobs once the run is
/// cancelled. Those are the jobs with a result, plus the results still to come; each ends in one
/// outcome.
pub(super) fn record_of(status: &RunStatus, progress: &RunProgress) -> RunRecord {
    let mut record = RunRecord { published: None, ..status.record.clone() };
    if let (true, Some(expected)) = (status.cancelled, status.expected) {
        let published = progress.counts.total() + expected.saturating_sub(progress.results);
        record.published = Some(published).filter(|published| *published < record.planned);
    }
    record
}

/// The reason why results of a run cannot be added to the directory of its name, if that belongs to
/// another run.
pub(super) fn foreign(known: &RunRecord, announced: &RunRecord) -> Option<String> {
    if known.fleet.is_none() {
        return Some("the directory of its name holds a run of one machine".to_owned());
    }
    let difference = known.difference(announced)?;
    Some(format!("the directory of its name holds another run: {difference}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_analysis::test_fixtures::{SEMANTIC, record};
    use juror_types::{evidence::EvidenceMode, outcome::OutcomeCounts};

    fn status(expected: Option<u64>, cancelled: bool) -> RunStatus {
        RunStatus {
            record: RunRecord { fleet: Some("juror".into()), ..record(SEMANTIC, 10) },
            published: 0,
            expected,
            cancelled,
            retrying: false,
            paused: None,
            progress: None,
        }
    }

    fn progress(results: u64, scored: u64, skipped: u64) -> RunProgress {
        let counts = OutcomeCounts { scored, skipped, ..OutcomeCounts::default() };
        RunProgress { results, counts, ..RunProgress::default() }
    }

    #[test]
    fn a_run_is_complete_when_it_is_closed_and_every_round_has_its_result() {
        assert_eq!(complete_at(&status(None, false), &progress(10, 10, 0)), None);
        assert_eq!(complete_at(&status(Some(10), false), &progress(9, 9, 0)), None);
        assert_eq!(complete_at(&status(Some(10), false), &progress(10, 8, 2)), Some(10));
        let again = status(Some(12), false);
        assert_eq!(complete_at(&again, &progress(11, 9, 1)), None);
        assert_eq!(complete_at(&again, &progress(12, 10, 0)), Some(12));
        assert_eq!(complete_at(&again, &progress(13, 10, 0)), Some(12));
        assert_eq!(complete_at(&status(Some(0), true), &RunProgress::default()), Some(0));
        let paused = RunStatus { paused: Some("no key".into()), ..status(Some(10), false) };
        assert_eq!(complete_at(&paused, &progress(10, 10, 0)), None);
    }

    #[test]
    fn cancelled_run_has_the_published_jobs() {
        let published = |expected, progress| record_of(&status(expected, true), &progress).jobs();
        assert_eq!(published(Some(4), progress(1, 1, 0)), 4, "three are to come");
        assert_eq!(published(Some(4), progress(4, 1, 3)), 4, "all have ended");
        assert_eq!(published(Some(0), progress(0, 0, 0)), 0);
        assert_eq!(published(Some(3), progress(4, 1, 3)), 4, "one more than was noted");
        assert_eq!(published(Some(10), progress(0, 0, 0)), 10);
        assert_eq!(published(Some(13), progress(13, 10, 0)), 10, "three were judged again");
        assert_eq!(record_of(&status(Some(4), false), &progress(4, 4, 0)).jobs(), 10);
        assert_eq!(record_of(&status(Some(4), true), &progress(4, 4, 0)).planned, 10);
    }

    #[test]
    fn run_identity_ignores_settings_that_may_change_between_rounds() {
        let known = status(None, false).record;
        let raised = RunRecord { budget_usd: None, fleet: Some("b".into()), ..known.clone() };
        assert_eq!(foreign(&known, &raised), None);
        let local = RunRecord { fleet: None, ..known.clone() };
        assert!(foreign(&local, &known).is_some());
        let unjudged = RunRecord { judge: None, ..known.clone() };
        assert!(foreign(&known, &unjudged).unwrap().contains("its judge is"));
        let evidence = RunRecord { evidence: EvidenceMode::Facts, ..known.clone() };
        assert!(foreign(&known, &evidence).unwrap().contains("its evidence is none"));
    }
}
