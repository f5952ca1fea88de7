//! `juror runs show`: parameters, coverage and cost of a run.

use crate::{
    args::FleetFlags,
    exit::{AppError, Exit},
    run_argument::{self, LocatedRun},
    terminal,
};
use juror_analysis::run_report::Report;
use juror_app::{ledger_pool::LedgerPool, reporting::baseline::report_of, settings::BaseLayers};
use juror_journal::journal::RunFiles;
use juror_report::{
    document::{Block, Topic},
    topics::{cost, coverage, head},
};
use juror_types::{lane::Lane, run::RunRecord};
use serde_json::{Value, json};

pub async fn run(run: &str, fleet: &FleetFlags, base: &BaseLayers) -> Result<Exit, AppError> {
    let LocatedRun { files, settings } = run_argument::open(run, base, fleet.layer())?;
    let record = files.record();
    let mut ledgers = LedgerPool::new(&settings);
    let ledger = ledgers.ledger_for(record).await;
    ledgers.close().await.iter().for_each(|warning| terminal::print_notice(warning));
    let ledger = ledger?;
    let mut report = report_of(&files, ledger, settings.run.averaging_policy())?;
    let total = report.cost.total_usd;
    // Reservations of a dead process count as spent; batches continue without a process.
    let is_elsewhere = record.fleet.is_some() || record.lane != Lane::Realtime;
    let may_be_in_flight = is_elsewhere || files.is_held();
    if let Some(ledger) = ledger.filter(|_| may_be_in_flight) {
        report.cost = report.cost.with_in_flight(ledger.outstanding);
    }
    if terminal::is_json() {
        let coverage = &report.coverage;
        terminal::print_json(&json!({
            "run": without_rubric(record)?, "simulated": report.run.simulated,
            "coverage": {
                "planned": coverage.planned, "scored": coverage.scored,
                "no_output": coverage.no_output, "unscorable": coverage.unscorable,
                "failed": coverage.failed, "skipped": coverage.skipped, "pending": coverage.pending,
                "unpublished": coverage.unpublished,
            },
            "cost_usd": total, "booked_usd": report.cost.total_usd, "directory": files.directory(),
        }))?;
        return Ok(Exit::Done);
    }
    let path = &mut report.run.dataset.path;
    *path = terminal::relative_path(path);
    terminal::print(&terminal::topics_text(&topics(&report, &files)))?;
    Ok(Exit::Done)
}

fn topics(report: &Report, files: &RunFiles) -> Vec<Topic> {
    let RunRecord { dataset, rubric, fleet, upload, program_version, .. } = files.record();
    let mut facts = head::labeled_facts(report);
    facts.extend([
        ("Program", format!("juror {program_version}")),
        ("Dataset digest", dataset.digest.to_string()),
        ("Rubric digest", rubric.digest.to_string()),
    ]);
    facts.extend(fleet.clone().map(|fleet| ("Fleet", fleet)));
    facts.extend(upload.clone().map(|place| ("Uploaded to", place)));
    facts.push(("Directory", files.directory().display().to_string()));
    let facts = facts.into_iter().map(|(label, text)| (label.to_owned(), text)).collect();
    let run = Topic::new("run", "Run", report.run.simulated, vec![Block::Pairs(facts)]);
    let run = Topic { name: report.run.id.to_string(), ..run };
    let topics = [Some(run), Some(coverage::topic(report)), cost::topic(report)];
    topics.into_iter().flatten().collect()
}

/// The record without the rubric's text, which `juror rubric show` prints.
fn without_rubric(record: &RunRecord) -> Result<Value, AppError> {
    let mut shown = serde_json::to_value(record).map_err(AppError::internal)?;
    if let Some(fields) = shown.as_object_mut() {
        fields.remove("rubric_text");
    }
    Ok(shown)
}
