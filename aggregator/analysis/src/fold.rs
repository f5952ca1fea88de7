//! Selection of the current result of each job: the one of the highest round. Pure, idempotent, and
//! independent of the order of results.

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

/// State of every job with a result, in about 45 bytes per job; the results themselves stay in the
/// journal.
#[derive(Clone, Debug, Default)]
pub struct Fold {
    jobs: JobIndex,
    /// Superseded rounds of jobs, whose cost counts all the same.
    superseded: HashSet<(JobKey, u32)>,
    counts: Counts,
    results: u64,
    spent: Spent,
}

/// Current results of a journal and their totals: the input of a report, in eight bytes per job.
/// The fold itself may continue or be dropped.
#[derive(Clone, Debug)]
pub struct Counted {
    /// Offsets of the current results, ascending.
    offsets: Vec<u64>,
    counts: Counts,
    spent: Spent,
}

/// The current result of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latest {
    /// Offset of the result in the journal.
    pub offset: u64,
    /// Its round.
    pub round: u32,
    /// Outcome of the job in that round.
    pub outcome: Outcome,
}

/// Cost and usage of all results, including superseded rounds.
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
    /// Expected cost of the jobs with calls; none without any.
    pub estimate: Option<Estimate>,
    /// The results of a single call each.
    pub single_calls: SingleCalls,
}

/// Sums over results of a single call each: cost and reservation.
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
    /// Jobs without output: their code was not generated.
    pub no_output: u64,
    /// Jobs without a usable reply of the judge.
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
    /// It replaces an earlier round's result.
    NewerRound,
    /// A later round's result exists already; only its cost is counted.
    OlderRound,
    /// It was applied before; without effect.
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

    /// Applies a result that starts at `offset` in the journal.
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
    /// A job's rounds follow each other without a gap, so a round that is missing in the journal
    /// counts if its successor is there: it is not awaited any more.
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
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The highest round with a result.
    pub fn highest_round(&self) -> Option<u32> {
        self.jobs.iter().map(|(_, latest)| latest.round).max()
    }

    /// The next round of each job.
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

    /// Cost and usage of all results, including superseded rounds.
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

    /// Numbers of jobs by outcome.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Cost and usage of all results, including superseded rounds.
    pub fn spent(&self) -> Spent {
        self.spent
    }
}

/// Next rounds of a run's jobs, from [`Fold::rounds`].
#[derive(Clone, Debug, Default)]
pub struct Rounds(HashMap<JobKey, LastRound>);

#[derive(Clone, Copy, Debug)]
struct LastRound {
    round: u32,
    scored: bool,
    in_journal: bool,
}

impl Rounds {
    /// Adds the outcome of a round that is stored in the ledger; the last round of each job counts.
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

    /// The probable cost of calls with this reservation whose replies are lost, by the share of the
    /// reservation that other calls cost. None without completed calls.
    pub fn probable_cost(&self, reserved: Money) -> Option<Money> {
        reserved.scaled(self.cost, self.reserved)
    }
}

impl Spent {
    /// Total cost of the run, never less than the bill: including costs that are only in the
    /// ledger.
    pub fn total(&self, ledger: Option<&Ledger>) -> Money {
        self.booked(ledger) + ledger.map(|ledger| ledger.outstanding).unwrap_or_default()
    }

    /// The spent part of the total: all except reservations of calls that may be in flight.
    pub fn booked(&self, ledger: Option<&Ledger>) -> Money {
        let Some(ledger) = ledger else { return self.cost };
        // Settled calls of jobs without a result are only in the ledger. Results that are not in
        // the journal yet are in the ledger too, hence the maximum.
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

// Job ids are 128 bits in hexadecimal; any other text is shortened to as many.
fn key(job: &JobId) -> JobKey {
    let text = job.as_str();
    let plain = text.len() == 32 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let bits = if plain { u128::from_str_radix(text, 16).ok() } else { None };
    bits.map(u128::to_be_bytes).unwrap_or_else(|| {
        let mut key = [0; 16];
        key.iter_mut()
            .zip(Digest::from_content(text.as_bytes()).as_bytes())
            .for_each(|(to, from)| *to = *from);
        key
    })
}

#[cfg(test)]
mod tests;
