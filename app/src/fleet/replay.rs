//! Replay of dead letters: dead jobs are published again, each in the round after its last.

use super::Fleet;
use crate::error::AppError;
use futures_util::{StreamExt as _, future::BoxFuture, stream};
use juror_ledger::redis::JobState;
use juror_queue::{
    DeadLetters as _, Priority, Queue as _,
    rabbitmq::{DeadLetterBody, StoredDeadLetter},
};
use juror_types::{
    id::{JobId, RunId},
    job::Job,
    message_check::check_job,
    outcome::Outcome,
};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of concurrent sends.
const MAX_CONCURRENT_SENDS: usize = 64;

/// Dead letters that are chosen by a request.
#[derive(Clone, Copy)]
pub enum ReplayScope<'a> {
    /// All of this run.
    Run(&'a str),
    /// Dead letters with these ids.
    Ids(&'a [String]),
}

/// Outcome of a replay.
#[derive(Default)]
pub struct Replayed {
    /// Number of replayed dead letters.
    pub sent: usize,
    /// Reasons by the ids of jobs that were not sent.
    pub not_sent: BTreeMap<String, String>,
    /// True if one of those is still a dead letter.
    pub some_remain: bool,
}

/// Replays dead letters.
///
/// # Errors
/// An id or a run without dead letters, or a dead letter that cannot be read.
pub fn replay<'a>(
    fleet: &'a Fleet,
    scope: ReplayScope<'a>,
) -> BoxFuture<'a, Result<Replayed, AppError>> {
    Box::pin(async move {
        let dead_letters = fleet.queues.dead_letters().await?;
        let chosen = choose(dead_letters, scope)?;
        if let ReplayScope::Run(run) = scope
            && chosen.is_empty()
        {
            require_run(fleet, run).await?;
        }
        send_all(fleet, chosen).await
    })
}

/// The run of a dead letter, if it can be read.
pub fn run_of(message: &StoredDeadLetter) -> Option<&RunId> {
    match &message.content {
        DeadLetterBody::Job(job) => Some(&job.run_id),
        DeadLetterBody::Result(result) => Some(&result.run_id),
        DeadLetterBody::Unreadable(_) => None,
    }
}

/// The error for an id that no dead letter has.
pub fn unknown_dead_letter(id: &str) -> AppError {
    AppError::not_found(format!(
        "no dead letter with id {id:?}; `juror dead-letters list` lists them"
    ))
}

/// Decision about one job.
#[derive(Debug, PartialEq, Eq)]
enum ReplayDecision {
    /// Send it in this round.
    Round(u32),
    /// No replay is needed, for this reason.
    NotNeeded(String),
    /// The job cannot be sent now, for this reason.
    Blocked(String),
}

/// Dead letters to replay: the last round of each job, and the ids of results.
#[derive(Default)]
struct ReplaySelection {
    jobs: BTreeMap<JobId, (Job, Priority)>,
    results: BTreeSet<String>,
}

impl ReplaySelection {
    fn is_empty(&self) -> bool {
        self.jobs.is_empty() && self.results.is_empty()
    }
}

async fn send_all(fleet: &Fleet, chosen: ReplaySelection) -> Result<Replayed, AppError> {
    let mut replayed = Replayed::default();
    if !chosen.results.is_empty() {
        // Another delivery of a result changes nothing, in any round.
        let results = fleet.queues.results();
        replayed.sent += results.replay(&chosen.results).await?;
    }
    let mut rounds = BTreeMap::new();
    let sending = stream::iter(chosen.jobs)
        .map(|(id, (job, priority))| async move { (id, send(fleet, job, priority).await) });
    let mut sent = sending.buffer_unordered(MAX_CONCURRENT_SENDS);
    while let Some((id, next)) = sent.next().await {
        match next? {
            ReplayDecision::Round(round) => {
                replayed.sent += 1;
                rounds.insert(id, round);
            }
            ReplayDecision::NotNeeded(reason) => {
                replayed.not_sent.insert(id.to_string(), reason);
                rounds.insert(id, u32::MAX);
            }
            ReplayDecision::Blocked(reason) => {
                replayed.not_sent.insert(id.to_string(), reason);
                replayed.some_remain = true;
            }
        }
    }
    // Last, so that a failure before leaves every dead letter in place; one pass for all.
    let is_done = |job: &Job| {
        rounds.get(&job.job_id).is_some_and(|round| job.round < *round || *round == u32::MAX)
    };
    fleet.queues.jobs().remove_dead_letters(&is_done).await?;
    Ok(replayed)
}

/// Refuses an unknown run: its name is mistyped.
async fn require_run(fleet: &Fleet, run: &str) -> Result<(), AppError> {
    let status = fleet.backend.run_status(&RunId::new(run)).await?;
    status.map(drop).ok_or_else(|| {
        AppError::not_found(format!(
            "run {run} is unknown in this fleet and has no dead letters; `juror dead-letters list` \
             lists them"
        ))
    })
}

fn choose(
    dead_letters: Vec<StoredDeadLetter>,
    scope: ReplayScope<'_>,
) -> Result<ReplaySelection, AppError> {
    let mut chosen = ReplaySelection::default();
    let mut missing: BTreeSet<&str> = match scope {
        ReplayScope::Run(_) => BTreeSet::new(),
        ReplayScope::Ids(ids) => ids.iter().map(String::as_str).collect(),
    };
    for message in dead_letters {
        let is_selected = match scope {
            ReplayScope::Run(run) => run_of(&message).is_some_and(|id| id.as_str() == run),
            ReplayScope::Ids(ids) => ids.contains(&message.message_id),
        };
        if !is_selected {
            continue;
        }
        missing.remove(message.message_id.as_str());
        match message.content {
            DeadLetterBody::Job(job) => {
                let last = chosen
                    .jobs
                    .entry(job.job_id.clone())
                    .or_insert((*job.clone(), message.priority));
                if last.0.round < job.round {
                    *last = (*job, message.priority);
                }
            }
            DeadLetterBody::Result(_) => drop(chosen.results.insert(message.message_id)),
            DeadLetterBody::Unreadable(_) => {
                return Err(AppError::invalid(format!(
                    "dead letter {:?} cannot be read and so not replayed",
                    message.message_id
                )));
            }
        }
    }
    match missing.first() {
        Some(id) => Err(unknown_dead_letter(id)),
        None => Ok(chosen),
    }
}

/// Publishes a job in the round after its last, unless that is not needed or not possible.
async fn send(fleet: &Fleet, job: Job, priority: Priority) -> Result<ReplayDecision, AppError> {
    let Fleet { queues, backend } = fleet;
    if let Err(foreign) = check_job(&job) {
        return Ok(ReplayDecision::NotNeeded(format!("not a job of the run: {foreign}")));
    }
    let Some(status) = backend.run_status(&job.run_id).await? else {
        let remedy = format!("judge its remaining jobs with: juror retry {}", job.run_id);
        return Ok(ReplayDecision::Blocked(format!("its run is no longer in Redis; {remedy}")));
    };
    if status.cancelled {
        let remedy = format!("judge its remaining jobs with: juror retry {}", job.run_id);
        return Ok(ReplayDecision::Blocked(format!("its run was cancelled; {remedy}")));
    }
    let state = backend.job_state(&job.run_id, &job.job_id).await?;
    let next = next_round(job.round, state);
    if let ReplayDecision::Round(round) = next {
        // The reopening precedes the job, so that the run does not end without its result.
        backend.expect_round(&job.run_id, &job.job_id, round).await?;
        queues.jobs().publish(Job { round, ..job }, priority).await?;
    }
    Ok(next)
}

/// Decision about a job whose dead letter is of round `died_in`.
fn next_round(died_in: u32, state: JobState) -> ReplayDecision {
    let ended = match state.ended {
        Some((round, Outcome::Scored)) => {
            return ReplayDecision::NotNeeded(format!("already scored in round {round}"));
        }
        ended => ended.map_or(died_in, |(round, _)| round.max(died_in)),
    };
    match state.started {
        Some(round) if round > ended => {
            ReplayDecision::Blocked(format!("already requeued in round {round}"))
        }
        _ => ReplayDecision::Round(ended + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replayed_job_is_published_in_its_next_round() {
        let state = |ended, started| JobState { ended, started };
        for (died_in, ended, started, next) in [
            (0, None, Some(0), 1),
            (0, Some((0, Outcome::Failed)), Some(0), 1),
            (0, Some((2, Outcome::Failed)), Some(2), 3),
            (2, Some((1, Outcome::Failed)), Some(2), 3),
        ] {
            assert_eq!(next_round(died_in, state(ended, started)), ReplayDecision::Round(next));
        }
        let requeued = next_round(0, state(Some((0, Outcome::Failed)), Some(1)));
        assert!(matches!(requeued, ReplayDecision::Blocked(reason) if reason.contains("round 1")));
        let scored = next_round(0, state(Some((1, Outcome::Scored)), Some(1)));
        assert!(matches!(scored, ReplayDecision::NotNeeded(_)));
    }
}
