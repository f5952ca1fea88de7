//! `juror cache`: shows and clears the verdict cache.

use crate::{
    args::{CacheCommand, GlobalFlags},
    exit::{Exit, Failure},
    settings_sources, terminal,
};
use juror_analysis::format::dollars;
use juror_app::{fleet::open_backend, local_ledger::open_local_ledger};
use juror_ledger::store::{CacheStats, Store};
use juror_types::usage::Money;

/// Runs one of the subcommands, on the fleet's cache where a Redis is named.
pub async fn run(command: &CacheCommand, global: &GlobalFlags) -> Result<Exit, Failure> {
    let (CacheCommand::Stats { fleet } | CacheCommand::Clear { fleet }) = command;
    let settings = settings_sources::settle(global, fleet.layers())?;
    let outcome = if settings.fleet.redis.is_some() {
        let backend = open_backend(&settings).await?;
        let place = format!(" in Redis at {}", backend.address());
        let outcome = execute(command, &*backend, &place, global.json).await;
        backend.close().await;
        outcome
    } else {
        let backend = open_local_ledger(&settings)?;
        let outcome = execute(command, &backend, "", global.json).await;
        backend.close().await;
        outcome
    };
    outcome.map(|()| Exit::Done)
}

async fn execute(
    command: &CacheCommand,
    backend: &dyn Store,
    place: &str,
    json: bool,
) -> Result<(), Failure> {
    match command {
        CacheCommand::Stats { .. } => {
            let stats = backend.cache_stats().await.map_err(Failure::error)?;
            if json {
                return terminal::print_json(&stats);
            }
            let CacheStats { replies, bytes, cost_usd, simulated_usd } = stats;
            let simulated = match simulated_usd {
                Money::ZERO => String::new(),
                amount => {
                    format!("; those of the simulator are worth {} and were free", dollars(amount))
                }
            };
            terminal::print(&format!(
                "{replies} replies in {bytes} bytes{place}; they cost {}{simulated}",
                dollars(cost_usd)
            ))
        }
        CacheCommand::Clear { .. } => {
            let replies = backend.clear_cache().await.map_err(Failure::error)?;
            if json {
                return terminal::print_json(&serde_json::json!({ "forgotten": replies }));
            }
            terminal::print(&format!("{replies} replies{place} removed"))
        }
    }
}
