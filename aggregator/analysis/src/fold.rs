//! Selection of the current result of each job: the one of the highest round. Pure, idempotent, and
//! independent of the order of results.

mod jobs;
mod rounds;
mod spent;

pub use rounds::Rounds;
pub use spent::{SingleCalls, Spent};

use jobs::{JobIndex, JobKey, key};
use juror_journal::journal::{JournalError, RunFiles};
use juror_types::{
    id::JobId,
    outcome::{JobResult, Outcome, OutcomeCounts},
};
use std::collections::HashSet;

/// State of every job with a result, in about 45 bytes per job; the results themselves stay in the
/// journal.
#[derive(Clone, Debug, Default)]
pub struct Fold {
    jobs: JobIndex,
    /// Superseded rounds of jobs, whose cost still counts.
    superseded: HashSet<(JobKey, u32)>,
    counts: OutcomeCounts,
    results: u64,
    spent: Spent,
}

/// Current results of a journal and their totals: the input of a report, in eight bytes per job.
/// The fold itself may continue or be dropped.
#[derive(Clone, Debug)]
pub struct Counted {
    /// Offsets of the current results, ascending.
    offsets: Vec<u64>,
    /// Numbers of jobs by outcome.
    pub counts: OutcomeCounts,
    /// Cost and usage of all results, including superseded rounds.
    pub spent: Spent,
}

/// The current result of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latest {
    /// Offset of the result in the journal.
    pub offset: u64,
    /// Highest round with a result.
    pub round: u32,
    /// Outcome of the job in that round.
    pub outcome: Outcome,
}

impl Fold {
    /// The fold of a run's journal.
    pub fn from_journal(files: &RunFiles) -> Result<Self, JournalError> {
        let mut fold = Self::default();
        for read in files.results()? {
            let (offset, result) = read?;
            fold.apply(&result, offset);
        }
        Ok(fold)
    }

    /// The current results of a journal, each added with its offset to the empty value of `begin`:
    /// in one pass, and in a second one where jobs have results of several rounds.
    pub fn read_current<T>(
        files: &RunFiles,
        begin: impl Fn() -> T,
        mut add: impl FnMut(&mut T, JobResult, u64),
    ) -> Result<(T, Counted), JournalError> {
        let (mut fold, mut all) = (Self::default(), begin());
        for read in files.results()? {
            let (offset, result) = read?;
            if fold.apply(&result, offset) {
                add(&mut all, result, offset);
            }
        }
        let counted = fold.counted();
        if fold.superseded.is_empty() {
            return Ok((all, counted));
        }
        Ok((counted.read(files, begin(), add)?, counted))
    }

    /// Applies a result that starts at `offset` in the journal; returns false, without a change, if
    /// it was applied before. Of a round before the job's last one, only the cost counts.
    pub fn apply(&mut self, result: &JobResult, offset: u64) -> bool {
        let key = key(&result.job_id);
        let latest = Latest { offset, round: result.round, outcome: result.outcome };
        let is_new = match self.jobs.get_mut(&key) {
            None => {
                self.jobs.insert(key, latest);
                *self.counts.count_mut(latest.outcome) += 1;
                self.results += u64::from(latest.round) + 1;
                true
            }
            Some(known) if known.round < latest.round => {
                self.superseded.insert((key, known.round));
                *self.counts.count_mut(known.outcome) -= 1;
                *self.counts.count_mut(latest.outcome) += 1;
                self.results += u64::from(latest.round - known.round);
                *known = latest;
                true
            }
            Some(known) => {
                known.round != latest.round && self.superseded.insert((key, latest.round))
            }
        };
        if is_new {
            self.spent.add(result);
        }
        is_new
    }

    /// The current result of a job, if it has one.
    pub fn latest(&self, job: &JobId) -> Option<Latest> {
        self.jobs.get(&key(job))
    }

    /// True if a job is done, so that it is in no further round.
    pub fn is_scored(&self, job: &JobId) -> bool {
        self.latest(job).is_some_and(|latest| latest.outcome == Outcome::Scored)
    }

    /// Jobs that have a result.
    pub fn len(&self) -> u64 {
        self.jobs.len() as u64
    }

    /// True if no job has a result.
    pub fn is_empty(&self) -> bool {
        self.jobs.len() == 0
    }

    /// Number of results over all rounds: the sum over jobs of the round of their last result + 1.
    /// A job's rounds are consecutive, so a round that is missing in the journal counts if its
    /// successor is there: it is no longer awaited.
    pub fn results(&self) -> u64 {
        self.results
    }

    /// Current results.
    pub fn counted(&self) -> Counted {
        let mut offsets: Vec<u64> = self.jobs.iter().map(|(_, latest)| latest.offset).collect();
        offsets.sort_unstable();
        Counted { offsets, counts: self.counts, spent: self.spent }
    }

    /// Numbers of jobs by outcome.
    pub fn counts(&self) -> OutcomeCounts {
        self.counts
    }

    /// The next round of each job.
    pub fn rounds(&self) -> Rounds {
        Rounds::from_latest(self.jobs.iter())
    }

    /// Cost and usage of all results, including superseded rounds.
    pub fn spent(&self) -> Spent {
        self.spent
    }
}

impl Counted {
    /// These results of a journal, each added with its offset to `all`.
    pub fn read<T>(
        &self,
        files: &RunFiles,
        mut all: T,
        mut add: impl FnMut(&mut T, JobResult, u64),
    ) -> Result<T, JournalError> {
        for read in files.results()? {
            let (offset, result) = read?;
            if self.contains(offset) {
                add(&mut all, result, offset);
            }
        }
        Ok(all)
    }

    /// True if the result that starts here is current.
    pub fn contains(&self, offset: u64) -> bool {
        self.offsets.binary_search(&offset).is_ok()
    }

    /// Jobs that have a result.
    pub fn len(&self) -> u64 {
        self.offsets.len() as u64
    }

    /// True if no job has a result.
    pub fn is_empty(&self) -> bool {
        self.offsets.is_empty()
    }
}

#[cfg(test)]
mod tests;
