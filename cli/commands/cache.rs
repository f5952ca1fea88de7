//! `juror cache`: shows and clears cached replies and rendered images.

use crate::{
    args::{CacheCommand, CachePart},
    exit::{AppError, Exit},
    terminal,
};
use juror_analysis::format::{counted, dollars};
use juror_app::{
    rendering::renders,
    selected_ledger::SelectedLedger,
    settings::{BaseLayers, Settings},
};
use juror_ledger::job_store::{CacheStats, JobStore};
use juror_types::usage::Money;
use serde_json::{Map, Value, json};

/// Runs one of the subcommands, on the fleet's cache where a Redis is named.
pub async fn run(command: &CacheCommand, base: &BaseLayers) -> Result<Exit, AppError> {
    let (CacheCommand::Stats { fleet } | CacheCommand::Clear { fleet, .. }) = command;
    let settings = base.resolve(fleet.layer())?;
    let only = match command {
        CacheCommand::Stats { .. } => None,
        CacheCommand::Clear { only, .. } => *only,
    };
    let (mut figures, mut lines) = (Map::new(), Vec::new());
    if only != Some(CachePart::Renders) {
        let (figure, line) = replies(command, &settings).await?;
        if let Value::Object(fields) = figure {
            figures.extend(fields);
        }
        lines.push(line);
    }
    if only != Some(CachePart::Replies) {
        let (figure, line) = render_cache(command, &settings)?;
        figures.insert("renders".to_owned(), figure);
        lines.push(line);
    }
    terminal::print_result(&figures, || lines.join("\n"))?;
    Ok(Exit::Done)
}

/// A figure as JSON and as a line of text.
type Figure = (Value, String);

/// The replies of the judge.
async fn replies(command: &CacheCommand, settings: &Settings) -> Result<Figure, AppError> {
    let ledger = SelectedLedger::open(settings).await?;
    let place = match &ledger {
        SelectedLedger::Fleet(backend) => format!(" in Redis at {}", backend.address()),
        SelectedLedger::Local(_) => String::new(),
    };
    let outcome = store_figures(command, ledger.store(), &place).await;
    ledger.close().await;
    outcome
}

async fn store_figures(
    command: &CacheCommand,
    backend: &dyn JobStore,
    place: &str,
) -> Result<Figure, AppError> {
    if matches!(command, CacheCommand::Clear { .. }) {
        let replies = backend.clear_cache().await.map_err(AppError::internal)?;
        return Ok((json!({ "removed": replies }), format!("{replies} replies{place} removed")));
    }
    let stats = backend.cache_stats().await.map_err(AppError::internal)?;
    let figure = serde_json::to_value(stats).map_err(AppError::internal)?;
    let CacheStats { replies, bytes, cost_usd, simulated_usd } = stats;
    let simulated = match simulated_usd {
        Money::ZERO => String::new(),
        amount => {
            format!("; those of the simulator are worth {} and were free", dollars(amount))
        }
    };
    let line = format!(
        "{replies} replies in {bytes} bytes{place}; they cost {}{simulated}",
        dollars(cost_usd)
    );
    Ok((figure, line))
}

/// Store of rendered images on this machine.
fn render_cache(command: &CacheCommand, settings: &Settings) -> Result<Figure, AppError> {
    let renders = renders(settings);
    let place = renders.folder().display();
    if matches!(command, CacheCommand::Clear { .. }) {
        let pictures = renders
            .clear()
            .map_err(|error| AppError::internal(format!("{place} cannot be emptied: {error}")))?;
        let line = format!("{} of rendered code in {place} removed", counted(pictures, "image"));
        return Ok((json!({ "removed": pictures }), line));
    }
    let size = renders.size();
    let line = format!(
        "{} of rendered code in {} bytes in {place}",
        counted(size.pictures, "image"),
        size.bytes
    );
    Ok((json!({ "images": size.pictures, "bytes": size.bytes }), line))
}
