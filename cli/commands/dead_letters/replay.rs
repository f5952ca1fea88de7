//! `juror dead-letters replay`: publishes dead jobs again, each in the round after its last.

use crate::{
    args::{GlobalFlags, ReplayArguments},
    exit::{Exit, Failure},
    terminal,
};
use futures_util::{StreamExt as _, stream};
use juror_app::{error::AppError, fleet::Fleet};
use juror_ledger::redis::JobState;
use juror_queue::{
    DeadLetters as _, Priority, Queue as _,
    rabbitmq::{DeadLetterBody, StoredDeadLetter},
};
use juror_types::{
    event::Events,
    id::{JobId, RunId},
    job::Job,
    outcome::Outcome,
};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of concurrent sends.
const MAX_CONCURRENT_SENDS: usize = 64;

pub async fn run(arguments: &ReplayArguments, global: &GlobalFlags) -> Result<Exit, Failure> {
    let settings = super::settings(&arguments.fleet, global)?;
    let fleet = Fleet::open(&settings, Events::silent()).await?;
    let replayed = replay(&fleet, arguments).await;
    fleet.close().await;
    let Replayed { sent, not_sent, some_remain } = replayed?;
    if global.json {
        terminal::print_json(&serde_json::json!({ "sent": sent, "not_sent": not_sent }))?;
    } else {
        terminal::print(&format!("{sent} replayed"))?;
        for (id, reason) in &not_sent {
            terminal::print_notice(&format!("{id} is not replayed: {reason}"));
        }
    }
    Ok(if some_remain { Exit::Incomplete } else { Exit::Done })
}

/// Outcome of a replay.
#[derive(Default)]
struct Replayed {
    sent: usize,
    /// Reasons by the ids of jobs that were not sent.
    not_sent: BTreeMap<String, String>,
    /// True if one of those is still a dead letter.
    some_remain: bool,
}

/// Decision about one job.
#[derive(Debug, PartialEq, Eq)]
enum ReplayDecision {
    /// Send it in this round.
    Round(u32),
    /// No replay is needed, for this reason.
    Settled(String),
    /// It cannot be sent now, for this reason.
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

async fn replay(fleet: &Fleet, arguments: &ReplayArguments) -> Result<Replayed, Failure> {
    let letters = fleet.queues.dead_letters().await.map_err(AppError::from)?;
    let chosen = choose(letters, arguments)?;
    if let Some(run) = &arguments.run
        && chosen.is_empty()
    {
        require_run(fleet, run).await?;
    }
    let mut replayed = Replayed::default();
    if !chosen.results.is_empty() {
        // Another delivery of a result changes nothing, in any round.
        let results = fleet.queues.results();
        replayed.sent += results.replay(&chosen.results).await.map_err(AppError::from)?;
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
            ReplayDecision::Settled(reason) => {
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
    let is_done = |job: &Job| rounds.get(&job.job_id).is_some_and(|round| job.round < *round);
    fleet.queues.jobs().forget(&is_done).await.map_err(AppError::from)?;
    Ok(replayed)
}

/// Refuses an unknown run: its name is mistyped.
async fn require_run(fleet: &Fleet, run: &str) -> Result<(), Failure> {
    let status = fleet.backend.run_status(&RunId::new(run)).await.map_err(AppError::from)?;
    status.map(drop).ok_or_else(|| {
        Failure::usage(format!(
            "run {run} is unknown in this fleet and has no dead letters; `juror dead-letters list` \
             lists them"
        ))
    })
}

fn choose(
    letters: Vec<StoredDeadLetter>,
    arguments: &ReplayArguments,
) -> Result<ReplaySelection, Failure> {
    let mut chosen = ReplaySelection::default();
    let mut missing: BTreeSet<&str> = arguments.ids.iter().map(String::as_str).collect();
    for letter in letters {
        let is_selected = match &arguments.run {
            Some(run) => super::run_of(&letter).is_some_and(|run_id| run_id.as_str() == run),
            None => arguments.ids.contains(&letter.message_id),
        };
        if !is_selected {
            continue;
        }
        missing.remove(letter.message_id.as_str());
        match letter.content {
            DeadLetterBody::Job(job) => {
                let last = chosen
                    .jobs
                    .entry(job.job_id.clone())
                    .or_insert((*job.clone(), letter.priority));
                if last.0.round < job.round {
                    *last = (*job, letter.priority);
                }
            }
            DeadLetterBody::Result(_) => drop(chosen.results.insert(letter.message_id)),
            DeadLetterBody::Unreadable(_) => {
                return Err(Failure::usage(format!(
                    "dead letter {} cannot be read and so not replayed",
                    letter.message_id
                )));
            }
        }
    }
    match missing.first() {
        Some(id) => Err(super::unknown(id)),
        None => Ok(chosen),
    }
}

/// Publishes a job in the round after its last, unless it is settled or blocked.
async fn send(fleet: &Fleet, job: Job, priority: Priority) -> Result<ReplayDecision, Failure> {
    let Fleet { queues, backend } = fleet;
    let Some(status) = backend.run_status(&job.run_id).await.map_err(AppError::from)? else {
        let remedy = format!("judge its remaining jobs with: juror retry {}", job.run_id);
        return Ok(ReplayDecision::Blocked(format!("its run is no longer in Redis; {remedy}")));
    };
    if status.cancelled {
        let remedy = format!("judge its remaining jobs with: juror retry {}", job.run_id);
        return Ok(ReplayDecision::Blocked(format!("its run was cancelled; {remedy}")));
    }
    let state = backend.job_state(&job.run_id, &job.job_id).await.map_err(AppError::from)?;
    let next = next_round(job.round, state);
    if let ReplayDecision::Round(round) = next {
        // Before the job, so that the run does not end without its result.
        backend.expect_round(&job.run_id, &job.job_id, round).await.map_err(AppError::from)?;
        queues.jobs().publish(Job { round, ..job }, priority).await.map_err(AppError::from)?;
    }
    Ok(next)
}

/// Decision about a job whose dead letter is of round `died_in`.
fn next_round(died_in: u32, state: JobState) -> ReplayDecision {
    let ended = match state.ended {
        Some((round, Outcome::Scored)) => {
            return ReplayDecision::Settled(format!("already scored in round {round}"));
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
    fn a_job_is_sent_in_the_round_after_its_last() {
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
        assert!(matches!(scored, ReplayDecision::Settled(_)));
    }
}
