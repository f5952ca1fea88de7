//! `juror cache`: what the verdict cache holds, and emptying it.

use crate::{
    args::{CacheCommand, GlobalFlags},
    execute,
    exit::{Exit, Failure},
    layers, screen,
};
use juror_common::{sqlite::LocalHome, store::Store as _};

/// Runs one of the subcommands.
pub async fn run(command: &CacheCommand, global: &GlobalFlags) -> Result<Exit, Failure> {
    let settings = layers::settle(global, Vec::new())?;
    let home = execute::open_home(&settings)?;
    let answered = answer(command, &home, global.json).await;
    home.close().await;
    answered.map(|()| Exit::Done)
}

async fn answer(command: &CacheCommand, home: &LocalHome, json: bool) -> Result<(), Failure> {
    match command {
        CacheCommand::Stats => {
            let stats = home.cache_stats().await.map_err(Failure::error)?;
            if json {
                return screen::print_json(&stats);
            }
            screen::print(&format!(
                "{} replies in {} bytes, which cost ${} when they were asked",
                stats.replies,
                stats.bytes,
                stats.cost_usd.rounded(4)
            ))
        }
        CacheCommand::Clear => {
            let replies = home.clear_cache().await.map_err(Failure::error)?;
            if json {
                return screen::print_json(&serde_json::json!({ "forgotten": replies }));
            }
            screen::print(&format!("{replies} replies forgotten"))
        }
    }
}
