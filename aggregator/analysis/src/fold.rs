//! Selection of the result that counts for each job: the one of the highest round. Pure,
//! idempotent, and independent of the order in which results arrive.

mod jobs;

use jobs::{JobIndex, JobKey};
use juror_journal::journal::{JournalError, RunFiles};
use juror_ledger::admission::Ledger;
use juror_types::{
    id::{Digest, JobId},
    outcome::{Estimate, JobResult, Outcome},
    usage::{Money, Usage},
};
use std::collections::{HashMap, HashSet};

/// State of every job of a run that has a result, in about 45 bytes a job; the results themselves
/// stay in the journal.
#[derive(Clone, Debug, Default)]
pub struct Fold {
    jobs: JobIndex,
    /// Rounds of jobs that a higher round has superseded: their money was spent all the same.
    superseded: HashSet<(JobKey, u32)>,
    counts: Counts,
    results: u64,
    spent: Spent,
}

/// Counting results of a journal and their totals at one moment: the input of a report, in eight
/// bytes a job. The fold itself may continue or be dropped.
#[derive(Clone, Debug)]
pub struct Counted {
    /// Offsets of the counting results, in ascending order.
    offsets: Vec<u64>,
    counts: Counts,
    spent: Spent,
}

/// The result of a job that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latest {
    /// Offset of the result in the journal.
    pub offset: u64,
    /// Its round.
    pub round: u32,
    /// Outcome of the job in that round.
    pub outcome: Outcome,
}

/// Cost and usage of all results, superseded rounds included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Their costs.
    pub cost: Money,
    /// Their tokens.
    pub usage: Usage,
    /// Their calls.
    pub calls: u64,
    /// Verdicts that came from the cache.
    pub cached: u64,
    /// True if any verdict came from the simulator.
    pub simulated: bool,
    /// Expected cost of the jobs that made calls; none if there were none.
    pub estimate: Option<Estimate>,
    /// The results that took one call each.
    pub single_calls: SingleCalls,
}

/// Sums over results that took one call each: what such a call costs, and what was reserved for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SingleCalls {
    cost: Money,
    reserved: Money,
}

/// Numbers of jobs by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Jobs that are scored.
    pub scored: u64,
    /// Jobs that had nothing to judge: their code was not generated.
    pub no_output: u64,
    /// Jobs whose judge did not answer usably.
    pub unscorable: u64,
    /// Jobs that could not be judged.
    pub failed: u64,
    /// Jobs that were not tried.
    pub skipped: u64,
}

/// Effect of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    /// The first result of its job.
    New,
    /// It takes the place of an earlier round's.
    NewerRound,
    /// A later round's result stands already; its cost is counted.
    OlderRound,
    /// It was applied before; nothing changed.
    Duplicate,
}

impl Fold {
    /// The fold of a run's journal.
    pub fn of_journal(files: &RunFiles) -> Result<Self, JournalError> {
        let mut fold = Self::default();
        for read in files.results()? {
            let (offset, result) = read?;
            fold.apply(&result, offset);
        }
        Ok(fold)
    }

    /// Takes in a result that starts at `offset` in the journal.
    pub fn apply(&mut self, result: &JobResult, offset: u64) -> Applied {
        let key = key(&result.job_id);
        let latest = Latest { offset, round: result.round, outcome: result.outcome };
        let applied = match self.jobs.get_mut(&key) {
            None => {
                self.jobs.insert(key, latest);
                *self.counts.of(latest.outcome) += 1;
                self.results += u64::from(latest.round) + 1;
                Applied::New
            }
            Some(known) => {
                if known.round == latest.round {
                    Applied::Duplicate
                } else if known.round < latest.round {
                    self.superseded.insert((key, known.round));
                    *self.counts.of(known.outcome) -= 1;
                    *self.counts.of(latest.outcome) += 1;
                    self.results += u64::from(latest.round - known.round);
                    *known = latest;
                    Applied::NewerRound
                } else if self.superseded.insert((key, latest.round)) {
                    Applied::OlderRound
                } else {
                    Applied::Duplicate
                }
            }
        };
        if applied != Applied::Duplicate {
            self.spent.add(result);
        }
        applied
    }

    /// The result of a job that counts, if it has one.
    pub fn latest(&self, job: &JobId) -> Option<Latest> {
        self.jobs.get(&key(job))
    }

    /// True if a job is done, so that no further round takes it up.
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

    /// Results over all rounds: the sum over jobs of the round of their last result + 1. A job's
    /// rounds follow each other without a gap, so a round that is not in the journal yet, but
    /// whose successor is, counts too: nothing more is to be waited for there.
    pub fn results(&self) -> u64 {
        self.results
    }

    /// Results that count now.
    pub fn counted(&self) -> Counted {
        let mut offsets: Vec<u64> = self.jobs.iter().map(|(_, latest)| latest.offset).collect();
        offsets.sort_unstable();
        Counted { offsets, counts: self.counts, spent: self.spent }
    }

    /// Numbers of jobs by outcome.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The highest round that any job has a result of.
    pub fn highest_round(&self) -> Option<u32> {
        self.jobs.iter().map(|(_, latest)| latest.round).max()
    }

    /// The round that each job is to be judged in next.
    pub fn rounds(&self) -> Rounds {
        let last = |latest: &Latest| LastRound {
            round: latest.round,
            scored: latest.outcome == Outcome::Scored,
            in_journal: true,
        };
        Rounds(self.jobs.iter().map(|(key, latest)| (*key, last(latest))).collect())
    }

    /// True if any of `planned` jobs is not scored yet.
    pub fn needs_another_round(&self, planned: u64) -> bool {
        self.counts().scored < planned
    }

    /// Cost and usage of all results, superseded rounds included.
    pub fn spent(&self) -> Spent {
        self.spent
    }
}

impl Counts {
    /// Jobs that have a result.
    pub fn total(self) -> u64 {
        let Self { scored, no_output, unscorable, failed, skipped } = self;
        scored + no_output + unscorable + failed + skipped
    }

    fn of(&mut self, outcome: Outcome) -> &mut u64 {
        match outcome {
            Outcome::Scored => &mut self.scored,
            Outcome::NoOutput => &mut self.no_output,
            Outcome::Unscorable => &mut self.unscorable,
            Outcome::Failed => &mut self.failed,
            Outcome::Skipped => &mut self.skipped,
        }
    }
}

impl Counted {
    /// True if the result that starts here counts.
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

    /// Numbers of jobs by outcome.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Cost and usage of all results, superseded rounds included.
    pub fn spent(&self) -> Spent {
        self.spent
    }
}

/// Rounds that the jobs of a run are due in, from [`Fold::rounds`].
#[derive(Clone, Debug, Default)]
pub struct Rounds(HashMap<JobKey, LastRound>);

#[derive(Clone, Copy, Debug)]
struct LastRound {
    round: u32,
    scored: bool,
    in_journal: bool,
}

impl Rounds {
    /// Takes in how a job ended in a round, by what is stored beside the journal; the last round of
    /// each job counts.
    pub fn note(&mut self, job: &JobId, round: u32, outcome: Outcome) {
        let noted = LastRound { round, scored: outcome == Outcome::Scored, in_journal: false };
        let last = self.0.entry(key(job)).or_insert(noted);
        if last.round < round {
            *last = noted;
        }
    }

    /// The round after the job's last result, 0 without one; none if the job is scored.
    pub fn next_round(&self, job: &JobId) -> Option<u32> {
        match self.0.get(&key(job)) {
            None => Some(0),
            Some(last) => (!last.scored).then_some(last.round + 1),
        }
    }

    /// The round in which the job is to be sent again, if it is: as [`Rounds::next_round`], but in
    /// its old round if its score is stored and the journal does not have it. A worker that gets it
    /// finds that result and publishes it once more, without a call.
    pub fn round_to_send(&self, job: &JobId) -> Option<u32> {
        match self.0.get(&key(job)) {
            Some(last) if last.is_missing() => Some(last.round),
            _ => self.next_round(job),
        }
    }

    /// Says that the journal has whatever is stored.
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

    /// Number of scored jobs whose stored result the journal does not have.
    pub fn missing(&self) -> u64 {
        self.0.values().filter(|last| last.is_missing()).count() as u64
    }

    /// Number of results: rounds of a job follow each other without a gap.
    pub fn results(&self) -> u64 {
        self.0.values().map(|last| u64::from(last.round) + 1).sum()
    }
}

impl LastRound {
    fn is_missing(&self) -> bool {
        self.scored && !self.in_journal
    }
}

impl SingleCalls {
    fn add(&mut self, result: &JobResult) {
        let estimate = result.estimate.filter(|_| result.attempts == 1);
        if let Some(estimate) = estimate.filter(|_| result.cost_usd > Money::ZERO) {
            self.cost += result.cost_usd;
            self.reserved += estimate.worst_case_usd;
        }
    }

    /// The probable cost of calls for which this much was reserved, and whose answers are lost: the
    /// share that answered calls cost of their reserve. None where no call was answered.
    pub fn probable_cost(&self, reserved: Money) -> Option<Money> {
        reserved.scaled(self.cost, self.reserved)
    }
}

impl Spent {
    /// Cost that the run may have had in all, never less than the bill: with what the ledger holds
    /// and no result tells.
    pub fn total(&self, ledger: Option<&Ledger>) -> Money {
        self.booked(ledger) + ledger.map(|ledger| ledger.outstanding).unwrap_or_default()
    }

    /// Spent part of that: all but what calls hold that may still be in flight.
    pub fn booked(&self, ledger: Option<&Ledger>) -> Money {
        let Some(ledger) = ledger else { return self.cost };
        // Settled calls of jobs that have no result yet are in the ledger alone. Results that a
        // journal has not yet taken in are in the ledger too, hence the maximum.
        let told = self.cost + ledger.presumed + ledger.unattributed_cost;
        told.max(ledger.committed)
    }

    fn add(&mut self, result: &JobResult) {
        self.cost += result.cost_usd;
        self.usage += result.usage;
        self.calls += u64::from(result.attempts);
        self.cached += u64::from(result.cached);
        self.single_calls.add(result);
        self.simulated |= result.judge.as_ref().is_some_and(|judge| judge.simulated);
        if let Some(estimate) = result.estimate {
            let sum = self.estimate.get_or_insert_default();
            sum.expected_usd += estimate.expected_usd;
            sum.worst_case_usd += estimate.worst_job_usd.unwrap_or(estimate.worst_case_usd);
        }
    }
}

/// Job ids are 128 bits in hexadecimal; any other text is shortened to as many.
fn key(job: &JobId) -> JobKey {
    let text = job.as_str();
    let plain = text.len() == 32 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let bits = if plain { u128::from_str_radix(text, 16).ok() } else { None };
    bits.map(u128::to_be_bytes).unwrap_or_else(|| {
        let mut key = [0; 16];
        key.iter_mut()
            .zip(Digest::of(text.as_bytes()).as_bytes())
            .for_each(|(to, from)| *to = *from);
        key
    })
}

#[cfg(test)]
mod tests;
