//! `juror runs show`: parameters, coverage and cost of a run.

use crate::{
    args::{FleetFlags, GlobalFlags},
    exit::{Exit, Failure},
    run_argument::locate,
    settings_sources, terminal,
};
use juror_analysis::{fold::Fold, format::dollars};
use juror_app::{error::AppError, ledger_pool::Ledgers, run::ready::run_files};
use juror_report::phrasing::selection_texts;
use juror_types::{run::RunRecord, usage::Money};
use serde_json::{Value, json};

/// Width of the labels, in columns.
const LABEL_WIDTH: usize = 14;

pub async fn run(run: &str, fleet: &FleetFlags, global: &GlobalFlags) -> Result<Exit, Failure> {
    let (run, global) = &locate(run, global)?;
    let settings = settings_sources::settle(global, fleet.layers())?;
    let files = run_files(&settings.run.runs_dir, run)?;
    let record = files.record();
    let fold = Fold::of_journal(&files).map_err(AppError::from)?;
    let mut ledgers = Ledgers::new(&settings);
    let ledger = ledgers.of(record).await;
    ledgers.close().await.iter().for_each(|warning| terminal::print_notice(warning));
    let ledger = ledger?;
    let cost = fold.spent().total(ledger.as_ref());
    let booked = fold.spent().booked(ledger.as_ref());
    let counts = fold.counts();
    let pending = record.jobs().saturating_sub(counts.total());
    if global.json {
        terminal::print_json(&json!({
            "run": without_rubric(record)?, "simulated": fold.spent().simulated,
            "coverage": {
                "planned": record.jobs(), "scored": counts.scored,
                "no_output": counts.no_output, "unscorable": counts.unscorable, "failed": counts.failed,
                "skipped": counts.skipped, "pending": pending,
            },
            "cost_usd": cost, "booked_usd": booked, "directory": files.directory(),
        }))?;
        return Ok(Exit::Done);
    }
    let mark = if fold.spent().simulated { " (SIMULATED)" } else { "" };
    let coverage = format!(
        "{} of {} scored, {} without output, {} unscorable, {} failed, {} skipped, {pending} pending",
        counts.scored,
        record.jobs(),
        counts.no_output,
        counts.unscorable,
        counts.failed,
        counts.skipped
    );
    let mut lines = described(record, mark);
    lines.push(("Coverage", coverage));
    lines.push(("Cost", cost_line(booked, cost)));
    lines.push(("Directory", files.directory().display().to_string()));
    let text =
        lines.iter().map(|(label, text)| format!("{:LABEL_WIDTH$}{text}\n", format!("{label}:")));
    terminal::print(&text.collect::<String>())?;
    Ok(Exit::Done)
}

/// Cost so far, and its upper bound with calls and batches in progress.
fn cost_line(booked: Money, at_most: Money) -> String {
    match booked == at_most {
        true => dollars(at_most),
        false => {
            format!("{}, at most {} with the calls in progress", dollars(booked), dollars(at_most))
        }
    }
}

fn described(record: &RunRecord, mark: &str) -> Vec<(&'static str, String)> {
    let RunRecord { dataset, rubric, judge, .. } = record;
    let mut which = terminal::relative_path(&dataset.path);
    which.extend(selection_texts(dataset).iter().map(|text| format!(", {text}")));
    let judge = judge.as_ref().map_or("off".to_owned(), |judge| format!("{}{mark}", judge.model));
    let mut lines = vec![
        ("Run", record.run_id.to_string()),
        ("Created", format!("{} by juror {}", record.created_at, record.program_version)),
        ("Dataset", format!("{which} (digest {})", dataset.digest)),
        ("Rubric", format!("{}@{} (digest {})", rubric.id, rubric.version, rubric.digest)),
        ("Judge", judge),
    ];
    lines.extend(record.base_url.clone().map(|url| ("Endpoint", url)));
    lines.extend(record.fleet.clone().map(|fleet| ("Fleet", fleet)));
    lines.extend(record.upload.clone().map(|place| ("Uploaded to", place)));
    lines.push(("Repeats", record.repeat.to_string()));
    let budget = record.budget_usd.map_or("none".to_owned(), dollars);
    lines.push(("Budget", budget));
    lines
}

/// The record without the rubric's text, which `juror rubric show` prints.
fn without_rubric(record: &RunRecord) -> Result<Value, Failure> {
    let mut shown = serde_json::to_value(record).map_err(Failure::error)?;
    if let Some(fields) = shown.as_object_mut() {
        fields.remove("rubric_text");
    }
    Ok(shown)
}
