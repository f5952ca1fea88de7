//! `juror cache`: what the verdict cache holds, and emptying it.

use crate::{
    args::{CacheCommand, GlobalFlags},
    execute,
    exit::{Exit, Failure},
    fleet::open_home,
    layers, screen,
};
use juror_aggregator::report::figures::dollars;
use juror_common::{
    store::{CacheStats, Store},
    usage::Money,
};

/// Runs one of the subcommands, on the fleet's cache where a Redis is named.
pub async fn run(command: &CacheCommand, global: &GlobalFlags) -> Result<Exit, Failure> {
    let (CacheCommand::Stats { fleet } | CacheCommand::Clear { fleet }) = command;
    let settings = layers::settle(global, fleet.layers())?;
    let answered = if settings.fleet.redis.is_some() {
        let home = open_home(&settings).await?;
        let place = format!(" in Redis at {}", home.address());
        let answered = answer(command, &*home, &place, global.json).await;
        home.close().await;
        answered
    } else {
        let home = execute::open_home(&settings)?;
        let answered = answer(command, &home, "", global.json).await;
        home.close().await;
        answered
    };
    answered.map(|()| Exit::Done)
}

async fn answer(
    command: &CacheCommand,
    home: &dyn Store,
    place: &str,
    json: bool,
) -> Result<(), Failure> {
    match command {
        CacheCommand::Stats { .. } => {
            let stats = home.cache_stats().await.map_err(Failure::error)?;
            if json {
                return screen::print_json(&stats);
            }
            let CacheStats { replies, bytes, cost_usd, simulated_usd } = stats;
            let simulated = match simulated_usd {
                Money::ZERO => String::new(),
                amount => format!(
                    "; those of the simulator would have cost {}, and nobody paid that",
                    dollars(amount)
                ),
            };
            screen::print(&format!(
                "{replies} replies in {bytes} bytes{place}, which cost {} when they were \
                 asked{simulated}",
                dollars(cost_usd)
            ))
        }
        CacheCommand::Clear { .. } => {
            let replies = home.clear_cache().await.map_err(Failure::error)?;
            if json {
                return screen::print_json(&serde_json::json!({ "forgotten": replies }));
            }
            screen::print(&format!("{replies} replies{place} forgotten"))
        }
    }
}
