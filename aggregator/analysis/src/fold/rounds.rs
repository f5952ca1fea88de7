//! Last round of each job of a run.

use super::{
    Latest,
    jobs::{JobKey, key},
};
use juror_types::{id::JobId, outcome::Outcome};
use std::collections::HashMap;

/// Next rounds of a run's jobs, from [`Fold::rounds`](super::Fold::rounds).
#[derive(Clone, Debug, Default)]
pub struct Rounds(HashMap<JobKey, LastRound>);

impl Rounds {
    /// The rounds of jobs whose last results are in the journal.
    pub(super) fn from_latest<'a>(latest: impl Iterator<Item = &'a (JobKey, Latest)>) -> Self {
        let last = |latest: &Latest| LastRound {
            round: latest.round,
            scored: latest.outcome == Outcome::Scored,
            in_journal: true,
        };
        Self(latest.map(|(key, latest)| (*key, last(latest))).collect())
    }

    /// Adds the outcome of a round that is stored in the ledger; the last round of each job counts.
    pub fn note(&mut self, job: &JobId, round: u32, outcome: Outcome) {
        let noted = LastRound { round, scored: outcome == Outcome::Scored, in_journal: false };
        let last = self.0.entry(key(job)).or_insert(noted);
        if last.round < round {
            *last = noted;
        }
    }

    /// The round after the job's last result, 0 without one; `None` if the job is scored.
    pub fn next_round(&self, job: &JobId) -> Option<u32> {
        match self.0.get(&key(job)) {
            None => Some(0),
            Some(last) => (!last.scored).then_some(last.round.saturating_add(1)),
        }
    }

    /// The round in which the job is to be published again, if it is: as [`Rounds::next_round`],
    /// but its old round if its score is stored and missing in the journal. A worker that gets it
    /// finds that result and publishes it again, without a call.
    pub fn round_to_send(&self, job: &JobId) -> Option<u32> {
        match self.0.get(&key(job)) {
            Some(last) if last.is_missing() => Some(last.round),
            _ => self.next_round(job),
        }
    }

    /// Treats all stored results as being in the journal.
    pub fn trust_journal(&mut self) {
        self.0.values_mut().for_each(|last| last.in_journal = true);
    }

    /// Number of jobs that have a result.
    pub fn jobs(&self) -> u64 {
        self.0.len() as u64
    }

    /// Number of scored jobs.
    pub fn scored(&self) -> u64 {
        self.0.values().filter(|last| last.scored).count() as u64
    }

    /// Number of scored jobs whose stored result is missing in the journal.
    pub fn missing(&self) -> u64 {
        self.0.values().filter(|last| last.is_missing()).count() as u64
    }

    /// Number of results: rounds of a job follow each other without a gap.
    pub fn results(&self) -> u64 {
        self.0.values().map(|last| u64::from(last.round) + 1).sum()
    }
}

#[derive(Clone, Copy, Debug)]
struct LastRound {
    round: u32,
    scored: bool,
    in_journal: bool,
}

impl LastRound {
    fn is_missing(&self) -> bool {
        self.scored && !self.in_journal
    }
}
