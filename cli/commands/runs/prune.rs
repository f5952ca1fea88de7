//! `juror runs prune`: removes old runs and unused cached replies.

use crate::{
    args::PruneArguments,
    exit::{AppError, Exit},
    terminal,
};
use juror_analysis::format::{counted, grouped};
use juror_app::{
    local_ledger::{ledger_file, open_local_ledger},
    prune::{Protection, PrunableRun, PrunePlan, remove},
    settings::{BaseLayers, Layer, Settings},
};
use juror_ledger::sqlite::SqliteLedger;
use serde_json::json;
use std::{collections::BTreeSet, path::PathBuf};

pub async fn run(arguments: &PruneArguments, base: &BaseLayers) -> Result<Exit, AppError> {
    let mut settings = base.resolve(Layer::default())?;
    let prune = &mut settings.prune;
    prune.keep_days = arguments.keep_days.or(prune.keep_days);
    prune.max_mb = arguments.max_mb.or(prune.max_mb);
    prune.keep_reply_days = arguments.keep_reply_days.or(prune.keep_reply_days);
    let keeps_runs = prune.keep_days.is_none() && prune.max_mb.is_none();
    if keeps_runs && prune.keep_reply_days.is_none() {
        return Err(AppError::invalid(
            "no limit to prune by: give --keep-days DAYS, --max-mb MEGABYTES or --keep-reply-days \
             DAYS, or set prune.keep_days, prune.max_mb or prune.keep_reply_days",
        ));
    }
    let runs_dir = &settings.run.runs_dir;
    let mut plan = PrunePlan::new(runs_dir, settings.prune, jiff::Timestamp::now())?;
    let replies = execute(&mut plan, &settings, arguments.dry_run).await?;
    warn_of_size(&plan, settings.prune.max_mb);
    let figures = as_json(&plan, replies, arguments.dry_run);
    terminal::print_result(&figures, || text(&plan, replies, arguments.dry_run))?;
    Ok(Exit::Done)
}

/// Executes the plan, which then lists the runs that were removed. Returns the number of removed
/// replies.
async fn execute(
    plan: &mut PrunePlan,
    settings: &Settings,
    dry_run: bool,
) -> Result<u64, AppError> {
    let replies = match settings.prune.keep_reply_days {
        None => 0,
        Some(days) => remove_replies(days, settings, dry_run).await?,
    };
    if dry_run {
        return Ok(replies);
    }
    let mut changed_ledgers = remove_runs(plan, settings).await?;
    if replies > 0 {
        changed_ledgers.insert(ledger_file(settings));
    }
    for ledger in changed_ledgers {
        let shrunk = SqliteLedger::shrink(&ledger);
        shrunk.unwrap_or_else(|error| terminal::warn(&error.to_string()));
    }
    Ok(replies)
}

/// Removes the replies that were not used for this time, or counts them.
async fn remove_replies(days: u32, settings: &Settings, dry_run: bool) -> Result<u64, AppError> {
    let ledger = open_local_ledger(settings)?;
    let replies = match dry_run {
        true => ledger.unused_replies(days).await,
        false => ledger.delete_unused_replies(days).await,
    };
    ledger.close().await;
    replies.map_err(AppError::internal)
}

/// Removes the runs of the plan that have nothing in progress; returns their ledgers.
async fn remove_runs(
    plan: &mut PrunePlan,
    settings: &Settings,
) -> Result<BTreeSet<PathBuf>, AppError> {
    let mut ledgers = BTreeSet::new();
    for run in std::mem::take(&mut plan.removed) {
        if let Some(ledger) = remove(&run.run, settings).await? {
            ledgers.insert(ledger);
            plan.removed.push(run);
        } else {
            terminal::warn(&format!(
                "run {} has calls or batches in progress and is kept",
                run.run
            ));
            plan.kept.push(run);
        }
    }
    Ok(ledgers)
}

fn text(plan: &PrunePlan, replies: u64, dry_run: bool) -> String {
    let mut text = String::new();
    for run in &plan.removed {
        let day = run.last.strftime("%Y-%m-%d");
        text.push_str(&format!("{day}  {:>9}  {}\n", megabytes(run.bytes), run.run));
    }
    let done = if dry_run { "would be removed" } else { "removed" };
    text.push_str(&format!(
        "{} {done} ({}), {} kept ({})\n",
        counted(plan.removed.len() as u64, "run"),
        megabytes(bytes(&plan.removed)),
        plan.kept.len(),
        megabytes(bytes(&plan.kept)),
    ));
    if replies > 0 {
        let noun = if replies == 1 { "cached reply" } else { "cached replies" };
        text.push_str(&format!("{} {noun} {done}\n", grouped(replies)));
    }
    for (protection, reason) in [
        (Protection::Blessed, "blessed"),
        (Protection::Running, "active"),
        (Protection::Unfinished, "unfinished in a fleet"),
        (Protection::Calibrated, "with a calibration"),
        (Protection::First, "among the first of their series"),
        (Protection::Newest, "the newest of their series"),
    ] {
        let count = plan.kept.iter().filter(|run| run.protection == Some(protection)).count();
        if count > 0 {
            text.push_str(&format!("  {count} {reason}\n"));
        }
    }
    text
}

/// Warns if the protected runs exceed the limit of size.
fn warn_of_size(plan: &PrunePlan, max_mb: Option<u64>) {
    let Some(most) = max_mb.filter(|most| bytes(&plan.kept) > most.saturating_mul(1_000_000))
    else {
        return;
    };
    terminal::warn(&format!(
        "the kept runs take {}, more than --max-mb {most}, and are protected; to remove more of them, \
         lower prune.keep_first or use juror bless --remove NAME",
        megabytes(bytes(&plan.kept))
    ));
}

fn as_json(plan: &PrunePlan, replies: u64, dry_run: bool) -> serde_json::Value {
    let runs = |runs: &[PrunableRun]| -> Vec<serde_json::Value> {
        let run = |run: &PrunableRun| json!({"run_id": run.run, "last": run.last.to_string(), "bytes": run.bytes});
        runs.iter().map(run).collect()
    };
    json!({
        "dry_run": dry_run,
        "removed": runs(&plan.removed),
        "kept": runs(&plan.kept),
        "replies_removed": replies,
    })
}

fn bytes(runs: &[PrunableRun]) -> u64 {
    runs.iter().map(|run| run.bytes).sum()
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
