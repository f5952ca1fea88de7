//! `juror runs list`: the runs of the runs directory, newest first.

use crate::{
    args::FleetFlags,
    exit::{AppError, Exit},
    location_flags, terminal,
};
use juror_analysis::{fold::Fold, format::dollars};
use juror_app::{
    ledger_pool::LedgerPool,
    settings::{BaseLayers, Settings},
};
use juror_journal::blessed::BlessedRuns;
use juror_types::{run::RunRecord, usage::Money};
use serde_json::json;

pub async fn run(fleet: &FleetFlags, base: &BaseLayers) -> Result<Exit, AppError> {
    let settings = base.resolve(fleet.layer())?;
    let (runs, exit) = rows(&settings).await?;
    if terminal::is_json() {
        let runs: Vec<_> = runs.iter().map(as_json).collect();
        terminal::print_json(&runs)?;
    } else if runs.is_empty() {
        let runs_dir = settings.run.runs_dir.display();
        terminal::print(&format!("no runs in {runs_dir}; `juror demo` makes one"))?;
    } else {
        terminal::print(&table(&runs))?;
    }
    Ok(exit)
}

/// A row of the list.
struct RunRow {
    record: RunRecord,
    fold: Fold,
    /// Cost of finished calls.
    booked: Money,
    /// Upper bound of the cost, with calls and batches in progress.
    cost: Money,
    /// Names that it is blessed by.
    baselines: Vec<String>,
}

/// Rows of the readable runs, and the exit code, which is an error if others cannot be read.
async fn rows(settings: &Settings) -> Result<(Vec<RunRow>, Exit), AppError> {
    let runs_dir = &settings.run.runs_dir;
    let blessed = BlessedRuns::new(runs_dir).list()?;
    let mut ledgers = LedgerPool::new(settings);
    let (mut rows, mut exit) = (Vec::new(), Exit::Done);
    for run in super::files_in(runs_dir)? {
        let (fold, files) = match run.and_then(|files| Ok((Fold::from_journal(&files)?, files))) {
            Ok(read) => read,
            Err(error) => {
                terminal::print_notice(&format!("juror: {}", AppError::internal(error)));
                exit = Exit::Error;
                continue;
            }
        };
        let record = files.record().clone();
        let ledger = ledgers.ledger_for(&record).await?;
        let cost = fold.spent().total(ledger.as_ref());
        let booked = fold.spent().booked(ledger.as_ref());
        let baselines = blessed.iter().filter(|blessed| blessed.run_id == record.run_id);
        let baselines = baselines.map(|blessed| blessed.name.clone()).collect();
        rows.push(RunRow { record, fold, booked, cost, baselines });
    }
    ledgers.close().await.iter().for_each(|warning| terminal::print_notice(warning));
    Ok((rows, exit))
}

fn judge(record: &RunRecord) -> &str {
    record.judge.as_ref().map_or("off", |judge| judge.model.as_str())
}

fn as_json(RunRow { record, fold, booked, cost, baselines }: &RunRow) -> serde_json::Value {
    json!({
        "run_id": record.run_id, "created_at": record.created_at, "dataset": record.dataset.path,
        "rubric": record.rubric.id, "judge": judge(record), "planned": record.jobs(),
        "scored": fold.counts().scored, "cost_usd": cost, "booked_usd": booked,
        "simulated": fold.spent().simulated,
        "fleet": record.fleet, "baselines": baselines,
    })
}

fn table(runs: &[RunRow]) -> String {
    let any_blessed = runs.iter().any(|run| !run.baselines.is_empty());
    let last = if any_blessed { "BASELINE" } else { "" };
    let head = ["RUN", "CREATED", "RUBRIC", "JUDGE", "SCORED", "COST", last].map(str::to_owned);
    let lines: Vec<[String; 7]> = std::iter::once(head).chain(runs.iter().map(cells)).collect();
    let [run, created, rubric, judge, scored, cost, _] = terminal::column_widths(&lines);
    let mut table = lines.iter().fold(String::new(), |text, [a, b, c, d, e, f, g]| {
        let line = format!(
            "{a:run$}  {b:created$}  {c:rubric$}  {d:judge$}  {e:>scored$}  {f:>cost$}  {g}"
        );
        format!("{text}{}\n", line.trim_end())
    });
    if runs.iter().any(|run| run.fold.spent().simulated) {
        table.push_str("* SIMULATED: scores were made up by the simulator\n");
    }
    if runs.iter().any(|run| run.cost > run.booked) {
        let more = "+ calls or batches in progress may add to it: juror runs show RUN\n";
        table.push_str(&location_flags::add_to_commands(more));
    }
    table
}

fn cells(RunRow { record, fold, booked, cost, baselines }: &RunRow) -> [String; 7] {
    let spent = fold.spent();
    let more = if cost > booked { "+" } else { "" };
    [
        record.run_id.to_string(),
        record.created_at.chars().take(10).collect(),
        record.rubric.id.clone(),
        format!("{}{}", judge(record), if spent.simulated { "*" } else { "" }),
        format!("{}/{}", fold.counts().scored, record.jobs()),
        if record.judge.is_some() { format!("{}{more}", dollars(*booked)) } else { "-".to_owned() },
        baselines.join(", "),
    ]
}
