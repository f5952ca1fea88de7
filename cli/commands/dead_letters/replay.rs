//! `juror dead-letters replay`: publishes dead jobs again, each in the round after its last.

use crate::{
    args::ReplayArguments,
    exit::{AppError, Exit},
    terminal,
};
use juror_app::{
    fleet::{
        Fleet,
        replay::{ReplayScope, Replayed, replay},
    },
    settings::BaseLayers,
};
use juror_report::sanitize::sanitize;
use juror_types::event::Events;

pub async fn run(arguments: &ReplayArguments, base: &BaseLayers) -> Result<Exit, AppError> {
    let settings = super::settings(&arguments.fleet, base)?;
    let scope = match &arguments.run {
        Some(run) => ReplayScope::Run(run),
        None => ReplayScope::Ids(&arguments.ids),
    };
    let fleet = Fleet::open(&settings, Events::silent()).await?;
    let replayed = replay(&fleet, scope).await;
    fleet.close().await;
    let Replayed { sent, not_sent, some_remain } = replayed?;
    if terminal::is_json() {
        terminal::print_json(&serde_json::json!({ "sent": sent, "not_sent": not_sent }))?;
    } else {
        terminal::print(&format!("{sent} replayed"))?;
        for (id, reason) in &not_sent {
            terminal::print_notice(&sanitize(&format!("{id} is not replayed: {reason}")));
        }
    }
    Ok(if some_remain { Exit::Incomplete } else { Exit::Done })
}
