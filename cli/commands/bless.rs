//! `juror bless`: names a run as a baseline, lists the names and removes them.

use crate::{
    args::BlessArguments,
    exit::{AppError, Exit},
    location_flags,
    run_argument::locate,
    terminal,
};
use juror_app::{
    bless::{Blessing, bless, remove},
    settings::{BaseLayers, Layer},
};
use juror_journal::blessed::{BlessedRun, BlessedRuns};
use serde_json::json;

pub fn run(arguments: &BlessArguments, base: &BaseLayers) -> Result<Exit, AppError> {
    match (&arguments.run, &arguments.remove) {
        (Some(run), _) => bless_run(run, arguments, base)?,
        (None, Some(name)) => remove_name(name, base)?,
        (None, None) => list(base)?,
    }
    Ok(Exit::Done)
}

fn bless_run(run: &str, arguments: &BlessArguments, base: &BaseLayers) -> Result<(), AppError> {
    let (run, base) = &locate(run, base)?;
    let runs_dir = base.resolve(Layer::default())?.run.runs_dir;
    let Blessing { blessed, before, simulated, lost } =
        bless(&runs_dir, run, &arguments.name, arguments.force)?;
    if let Some(lost) = lost.filter(|_| !terminal::is_quiet()) {
        terminal::warn(&format!("{lost}: comparisons leave their items out"));
    }
    if simulated && !terminal::is_quiet() {
        terminal::warn(
            "the run's scores were made up by the simulator and cannot be compared with a model's",
        );
    }
    if terminal::is_json() {
        return terminal::print_json(&json!({ "blessed": blessed, "before": before }));
    }
    let before = match before {
        Some(before) if before.run_id == blessed.run_id => {
            format!("; it was blessed before, {}", day(&before.blessed_at))
        }
        Some(before) => format!("; it was run {}, {}", before.run_id, day(&before.blessed_at)),
        None => String::new(),
    };
    terminal::print(&format!("baseline {} is run {}{before}\n", blessed.name, blessed.run_id))?;
    terminal::print_hint(&format!("compare with it: juror run … --baseline {}", blessed.name));
    Ok(())
}

fn remove_name(name: &str, base: &BaseLayers) -> Result<(), AppError> {
    let removed = remove(&base.resolve(Layer::default())?.run.runs_dir, name)?;
    match terminal::is_json() {
        true => terminal::print_json(&json!({ "removed": removed })),
        false => terminal::print(&format!(
            "baseline {name} is removed; run {} is kept\n",
            removed.run_id
        )),
    }
}

fn list(base: &BaseLayers) -> Result<(), AppError> {
    let runs_dir = base.resolve(Layer::default())?.run.runs_dir;
    let runs = BlessedRuns::new(&runs_dir).list()?;
    if terminal::is_json() {
        return terminal::print_json(&runs);
    }
    if runs.is_empty() {
        let none =
            format!("no run is blessed in {}; bless one: juror bless RUN\n", runs_dir.display());
        return terminal::print(&location_flags::add_to_commands(&none));
    }
    terminal::print(&table(&runs))
}

fn table(runs: &[BlessedRun]) -> String {
    let head = ["BASELINE", "RUN", "BLESSED"].map(str::to_owned);
    let cells = |run: &BlessedRun| [run.name.clone(), run.run_id.to_string(), day(&run.blessed_at)];
    let lines: Vec<[String; 3]> = std::iter::once(head).chain(runs.iter().map(cells)).collect();
    let [name, run, _] = terminal::column_widths(&lines);
    lines.iter().map(|[a, b, c]| format!("{a:name$}  {b:run$}  {c}\n")).collect()
}

fn day(time: &str) -> String {
    time.chars().take(10).collect()
}
