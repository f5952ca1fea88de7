//! `juror dead-letters`: lists, shows and replays messages that killed their workers or could not
//! be read.

use crate::{
    args::{DeadLettersCommand, FleetFlags, ReplayArguments},
    exit::{AppError, Exit},
    terminal,
};
use juror_app::{
    fleet::{
        self, Fleet,
        replay::{self, ReplayScope, Replayed, run_of, unknown_dead_letter},
    },
    settings::{BaseLayers, Settings},
};
use juror_queue::rabbitmq::{DeadLetterBody, StoredDeadLetter};
use juror_report::sanitize::{sanitize, sanitize_lines};
use juror_types::event::Events;
use serde_json::json;

pub async fn run(command: &DeadLettersCommand, base: &BaseLayers) -> Result<Exit, AppError> {
    match command {
        DeadLettersCommand::List { run, fleet } => list(run.as_deref(), fleet, base).await,
        DeadLettersCommand::Show { id, fleet } => show(id, fleet, base).await,
        DeadLettersCommand::Replay(arguments) => replay(arguments, base).await,
    }
}

async fn list(run: Option<&str>, fleet: &FleetFlags, base: &BaseLayers) -> Result<Exit, AppError> {
    let mut dead_letters = dead_letters(fleet, base).await?;
    dead_letters.retain(|message| {
        run.is_none_or(|run| run_of(message).is_some_and(|run_id| run_id.as_str() == run))
    });
    if terminal::is_json() {
        terminal::print_json(&dead_letters.iter().map(as_json).collect::<Vec<_>>())?;
    } else if dead_letters.is_empty() {
        terminal::print("no dead letters")?;
    } else {
        terminal::print(&dead_letters.iter().map(as_text).collect::<String>())?;
    }
    Ok(Exit::Done)
}

async fn show(id: &str, fleet: &FleetFlags, base: &BaseLayers) -> Result<Exit, AppError> {
    let mut dead_letters = dead_letters(fleet, base).await?;
    dead_letters.retain(|message| message.message_id == id);
    if dead_letters.is_empty() {
        return Err(unknown_dead_letter(id));
    }
    for message in &dead_letters {
        match &message.content {
            DeadLetterBody::Job(job) => terminal::print_json(job)?,
            DeadLetterBody::Result(result) => terminal::print_json(result)?,
            DeadLetterBody::Unreadable(bytes) => {
                terminal::print(&sanitize_lines(&String::from_utf8_lossy(bytes)))?;
            }
        }
    }
    Ok(Exit::Done)
}

/// Replays dead jobs, each in the round after its last.
async fn replay(arguments: &ReplayArguments, base: &BaseLayers) -> Result<Exit, AppError> {
    let settings = settings(&arguments.fleet, base)?;
    let scope = match &arguments.run {
        Some(run) => ReplayScope::Run(run),
        None => ReplayScope::Ids(&arguments.ids),
    };
    let fleet = Fleet::open(&settings, Events::silent()).await?;
    let replayed = replay::replay(&fleet, scope).await;
    fleet.close().await;
    let Replayed { sent, not_sent, some_remain } = replayed?;
    if terminal::is_json() {
        terminal::print_json(&json!({ "sent": sent, "not_sent": not_sent }))?;
    } else {
        terminal::print(&format!("{sent} replayed"))?;
        for (id, reason) in &not_sent {
            terminal::print_notice(&sanitize(&format!("{id} is not replayed: {reason}")));
        }
    }
    Ok(if some_remain { Exit::Incomplete } else { Exit::Done })
}

async fn dead_letters(
    flags: &FleetFlags,
    base: &BaseLayers,
) -> Result<Vec<StoredDeadLetter>, AppError> {
    let settings = settings(flags, base)?;
    let queues = fleet::open_queues(&settings, Events::silent()).await?;
    let dead_letters = queues.dead_letters().await;
    queues.close().await;
    Ok(dead_letters?)
}

/// Settings without a wait for an unavailable server.
fn settings(flags: &FleetFlags, base: &BaseLayers) -> Result<Settings, AppError> {
    let flags = flags.layer().with("fleet.connect_timeout_seconds", Some(0));
    Ok(base.resolve(flags)?)
}

fn kind(message: &StoredDeadLetter) -> &'static str {
    match &message.content {
        DeadLetterBody::Job(_) => "job",
        DeadLetterBody::Result(_) => "result",
        DeadLetterBody::Unreadable(_) => "unreadable",
    }
}

/// Item and round of a dead letter, if it can be read.
fn item_of(message: &StoredDeadLetter) -> Option<(&str, u32)> {
    match &message.content {
        DeadLetterBody::Job(job) => Some((&job.item.id, job.round)),
        DeadLetterBody::Result(result) => Some((&result.screenshot_id, result.round)),
        DeadLetterBody::Unreadable(_) => None,
    }
}

fn as_json(message: &StoredDeadLetter) -> serde_json::Value {
    let (item, round) = item_of(message).unzip();
    json!({
        "id": message.message_id, "kind": kind(message), "run_id": run_of(message),
        "screenshot_id": item, "round": round, "reason": message.reason,
    })
}

fn as_text(message: &StoredDeadLetter) -> String {
    let about = match (run_of(message), item_of(message)) {
        (Some(run), Some((item, round))) => format!(" of run {run}, item {item}, round {round}"),
        _ => String::new(),
    };
    let id = if message.message_id.is_empty() { "(no id)" } else { &message.message_id };
    let first = sanitize(&format!("{id}  {}{about}", kind(message)));
    format!("{first}\n    {}\n", sanitize(&message.reason))
}
