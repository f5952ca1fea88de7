//! `juror runs`: the runs of the runs directory, newest first.

use crate::{
    args::GlobalFlags,
    exit::{Exit, Failure},
    layers, screen,
};
use juror_aggregator::{
    fold::Fold,
    journal::{JournalError, RunFiles},
};
use juror_common::{id::RunId, run::RunRecord};
use serde_json::json;
use std::path::Path;

/// Runs `juror runs`.
pub fn run(global: &GlobalFlags) -> Result<Exit, Failure> {
    let settings = layers::settle(global, Vec::new())?;
    let runs_dir = &settings.run.runs_dir;
    let Found { mut runs, exit } = read(runs_dir)?;
    runs.sort_by(|one, other| other.0.created_at.cmp(&one.0.created_at));
    if global.json {
        let runs: Vec<_> = runs.iter().map(as_json).collect();
        screen::print_json(&runs)?;
    } else if runs.is_empty() {
        screen::print(&format!("no runs in {}; `juror demo` makes one", runs_dir.display()))?;
    } else {
        screen::print(&table(&runs))?;
    }
    Ok(exit)
}

/// The runs that can be read, and whether these are all.
struct Found {
    runs: Vec<(RunRecord, Fold)>,
    exit: Exit,
}

fn read(runs_dir: &Path) -> Result<Found, Failure> {
    let mut found = Found { runs: Vec::new(), exit: Exit::Done };
    let entries = match std::fs::read_dir(runs_dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(found),
        Err(error) => {
            let shown = runs_dir.display();
            return Err(Failure::error(format!("{shown} cannot be read: {error}")));
        }
    };
    for entry in entries {
        let name = entry.map_err(Failure::error)?.file_name();
        let name = name.to_string_lossy();
        let Ok(run) = RunId::parse(&name) else { continue };
        if !runs_dir.join(&*name).join("run.json").is_file() {
            continue;
        }
        match read_run(runs_dir, &run) {
            Ok(run) => found.runs.push(run),
            Err(error) => {
                screen::tell(&format!("juror: {}", Failure::error(error)));
                found.exit = Exit::Error;
            }
        }
    }
    Ok(found)
}

fn read_run(runs_dir: &Path, run: &RunId) -> Result<(RunRecord, Fold), JournalError> {
    let files = RunFiles::open(runs_dir, run)?;
    let fold = Fold::of_journal(&files)?;
    Ok((files.record().clone(), fold))
}

fn judge(record: &RunRecord) -> &str {
    record.judge.as_ref().map_or("off", |judge| judge.model.as_str())
}

fn as_json((record, fold): &(RunRecord, Fold)) -> serde_json::Value {
    json!({
        "run_id": record.run_id, "created_at": record.created_at, "dataset": record.dataset.path,
        "rubric": record.rubric.id, "judge": judge(record), "planned": record.planned,
        "scored": fold.counts().scored, "cost_usd": fold.spent().cost,
    })
}

fn table(runs: &[(RunRecord, Fold)]) -> String {
    let width = runs.iter().map(|(record, _)| record.run_id.as_str().len()).max().unwrap_or(0);
    let mut text = format!(
        "{:width$}  {:16}  {:10}  {:16}  {:>13}  {:>10}\n",
        "RUN", "CREATED (UTC)", "RUBRIC", "JUDGE", "SCORED", "COST"
    );
    for (record, fold) in runs {
        let created: String = record.created_at.replace('T', " ").chars().take(16).collect();
        let scored = format!("{}/{}", fold.counts().scored, record.planned);
        let cost = format!("${}", fold.spent().cost.rounded(4));
        text.push_str(&format!(
            "{:width$}  {created:16}  {:10}  {:16}  {scored:>13}  {cost:>10}\n",
            record.run_id.as_str(),
            record.rubric.id,
            judge(record),
        ));
    }
    text
}
