//! `juror dead-letters replay`: sends jobs again that were kept aside, each in the round after its
//! last.

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

/// Jobs that are sent at the same time.
const MAX_CONCURRENT_SENDS: usize = 64;

/// Runs `juror dead-letters replay`.
pub async fn run(arguments: &ReplayArguments, global: &GlobalFlags) -> Result<Exit, Failure> {
    let settings = super::settings(&arguments.fleet, global)?;
    let fleet = Fleet::open(&settings, Events::silent()).await?;
    let replayed = replay(&fleet, arguments).await;
    fleet.close().await;
    let Replayed { sent, not_sent, kept } = replayed?;
    if global.json {
        terminal::print_json(&serde_json::json!({ "sent": sent, "not_sent": not_sent }))?;
    } else {
        terminal::print(&format!("{sent} sent again"))?;
        for (id, reason) in &not_sent {
            terminal::print_notice(&format!("{id} is not sent: {reason}"));
        }
    }
    Ok(if kept { Exit::Incomplete } else { Exit::Done })
}

/// Results of those that were asked for.
#[derive(Default)]
struct Replayed {
    sent: usize,
    /// Those that were not sent, and why.
    not_sent: BTreeMap<String, String>,
    /// True if any of those is still kept aside.
    kept: bool,
}

/// Result of one job.
#[derive(Debug, PartialEq, Eq)]
enum JobToReplay {
    /// It is sent in this round.
    Round(u32),
    /// There is no need to, for this reason.
    Settled(String),
    /// It cannot be sent now, for this reason.
    DeadLetterBody(String),
}

/// Jobs to send again: of each job its last round, and results as they are.
#[derive(Default)]
struct Chosen {
    jobs: BTreeMap<JobId, (Job, Priority)>,
    results: BTreeSet<String>,
}

impl Chosen {
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
        // Which round they are of is their own affair: another delivery of a result changes
        // nothing.
        let results = fleet.queues.results();
        replayed.sent += results.replay(&chosen.results).await.map_err(AppError::from)?;
    }
    let mut rounds = BTreeMap::new();
    let sending = stream::iter(chosen.jobs)
        .map(|(id, (job, priority))| async move { (id, send(fleet, job, priority).await) });
    let mut sent = sending.buffer_unordered(MAX_CONCURRENT_SENDS);
    while let Some((id, next)) = sent.next().await {
        match next? {
            JobToReplay::Round(round) => {
                replayed.sent += 1;
                rounds.insert(id, round);
            }
            JobToReplay::Settled(reason) => {
                replayed.not_sent.insert(id.to_string(), reason);
                rounds.insert(id, u32::MAX);
            }
            JobToReplay::DeadLetterBody(reason) => {
                replayed.not_sent.insert(id.to_string(), reason);
                replayed.kept = true;
            }
        }
    }
    // Last, and one pass for all of them: until here each letter is where it was.
    let is_done = |job: &Job| rounds.get(&job.job_id).is_some_and(|round| job.round < *round);
    fleet.queues.jobs().forget(&is_done).await.map_err(AppError::from)?;
    Ok(replayed)
}

/// Refuses a run that nobody knows, of which nothing was kept aside: its name is mistyped.
async fn require_run(fleet: &Fleet, run: &str) -> Result<(), Failure> {
    let status = fleet.backend.run_status(&RunId::new(run)).await.map_err(AppError::from)?;
    status.map(drop).ok_or_else(|| {
        Failure::usage(format!(
            "there is no run {run} in this fleet, and nothing of one was kept aside; `juror dead \
             list` shows what there is"
        ))
    })
}

fn choose(letters: Vec<StoredDeadLetter>, arguments: &ReplayArguments) -> Result<Chosen, Failure> {
    let mut chosen = Chosen::default();
    let mut asked: BTreeSet<&str> = arguments.ids.iter().map(String::as_str).collect();
    for letter in letters {
        let is_asked = match &arguments.run {
            Some(run) => super::run_of(&letter).is_some_and(|of| of.as_str() == run),
            None => arguments.ids.contains(&letter.message_id),
        };
        if !is_asked {
            continue;
        }
        asked.remove(letter.message_id.as_str());
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
                    "{} cannot be read, and so not be sent again",
                    letter.message_id
                )));
            }
        }
    }
    match asked.first() {
        Some(id) => Err(super::unknown(id)),
        None => Ok(chosen),
    }
}

/// Publishes a job in the round after its last, if it may be and need be.
async fn send(fleet: &Fleet, job: Job, priority: Priority) -> Result<JobToReplay, Failure> {
    let Fleet { queues, backend } = fleet;
    let Some(status) = backend.run_status(&job.run_id).await.map_err(AppError::from)? else {
        let remedy = format!("judge what is left of it by: juror retry {}", job.run_id);
        return Ok(JobToReplay::DeadLetterBody(format!("its run is not known any more; {remedy}")));
    };
    if status.cancelled {
        let remedy = format!("judge what is left of it by: juror retry {}", job.run_id);
        return Ok(JobToReplay::DeadLetterBody(format!("its run was cancelled; {remedy}")));
    }
    let tally = backend.job_state(&job.run_id, &job.job_id).await.map_err(AppError::from)?;
    let next = next_round(job.round, tally);
    if let JobToReplay::Round(round) = next {
        // Before the job, so that the run does not end without its result.
        backend.expect_round(&job.run_id, &job.job_id, round).await.map_err(AppError::from)?;
        queues.jobs().publish(Job { round, ..job }, priority).await.map_err(AppError::from)?;
    }
    Ok(next)
}

/// The round after the last that is known of a job which died in `died_in`.
fn next_round(died_in: u32, tally: JobState) -> JobToReplay {
    let ended = match tally.ended {
        Some((round, Outcome::Scored)) => {
            return JobToReplay::Settled(format!("it is scored since, in round {round}"));
        }
        ended => ended.map_or(died_in, |(round, _)| round.max(died_in)),
    };
    match tally.started {
        Some(round) if round > ended => {
            JobToReplay::DeadLetterBody(format!("it is under way again, in round {round}"))
        }
        _ => JobToReplay::Round(ended + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_sent_in_the_round_after_its_last() {
        let tally = |ended, started| JobState { ended, started };
        for (died_in, ended, started, next) in [
            (0, None, Some(0), 1),
            (0, Some((0, Outcome::Failed)), Some(0), 1),
            (0, Some((2, Outcome::Failed)), Some(2), 3),
            (2, Some((1, Outcome::Failed)), Some(2), 3),
        ] {
            assert_eq!(next_round(died_in, tally(ended, started)), JobToReplay::Round(next));
        }
        let under_way = next_round(0, tally(Some((0, Outcome::Failed)), Some(1)));
        assert!(
            matches!(under_way, JobToReplay::DeadLetterBody(reason) if reason.contains("round 1"))
        );
        let scored = next_round(0, tally(Some((1, Outcome::Scored)), Some(1)));
        assert!(matches!(scored, JobToReplay::Settled(_)));
    }
}
