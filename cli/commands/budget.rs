//! `juror budget`: caps and spending of runs, days, months, datasets and tags.

use crate::{
    args::{BudgetCommand, FleetFlags},
    exit::{AppError, Exit},
    terminal,
};
use juror_analysis::format::dollars;
use juror_app::{
    budgets::{BudgetHistory, BudgetState, topics},
    local_ledger::ledger_file,
    selected_ledger::SelectedLedger,
    settings::{BaseLayers, Settings},
};
use juror_ledger::{
    admission::{Budget, Scope, SharedBudget},
    budgets::{BudgetRecords, zone_difference},
};
use juror_types::{budget_label::BudgetLabel, id::RunId, usage::Money};
use serde::Serialize;

/// Runs one of the subcommands, on the fleet's ledger if `fleet.redis` is set.
pub async fn run(command: &BudgetCommand, base: &BaseLayers) -> Result<Exit, AppError> {
    let settings = base.resolve(fleet_flags(command).layer())?;
    check_local_ledger(command, &settings)?;
    let ledger = SelectedLedger::open(&settings).await?;
    let printed = execute(command, ledger.budgets(), &settings).await;
    ledger.close().await;
    printed.map(|()| Exit::Done)
}

/// A cap that was replaced, as `juror budget set --json` prints it.
#[derive(Debug, Serialize)]
struct CapChange {
    budget: &'static str,
    /// Label of the runs; `None` for all runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<BudgetLabel>,
    /// New cap; `None` if unlimited.
    cap_usd: Option<Money>,
    /// Previous cap; `None` if unlimited.
    before_usd: Option<Money>,
}

impl CapChange {
    fn new(budget: &SharedBudget, cap: Budget, before: Option<Budget>) -> Self {
        let SharedBudget { period, label } = budget.clone();
        let before_usd = before.and_then(Budget::cap);
        Self { budget: period.budget_key(), label, cap_usd: cap.cap(), before_usd }
    }

    /// `each month of tag checkout may cost at most $60.00 from now on; before: no cap`
    fn sentence(&self) -> String {
        let Self { budget, label, cap_usd, before_usd } = self;
        let scope = label.as_ref().map(|label| format!(" of {} {}", label.kind(), label.name()));
        let now = match cap_usd {
            Some(cap) => format!("may cost at most {}", dollars(*cap)),
            None => "has no cap".to_owned(),
        };
        format!(
            "each {budget}{} {now} from now on; before: {}",
            scope.unwrap_or_default(),
            or_no_cap(*before_usd)
        )
    }
}

async fn execute(
    command: &BudgetCommand,
    budgets: &dyn BudgetRecords,
    settings: &Settings,
) -> Result<(), AppError> {
    let difference =
        zone_difference(budgets, &settings.budget).await.map_err(AppError::internal)?;
    if let Some(difference) = difference {
        terminal::warn(&difference);
    }
    match command {
        BudgetCommand::Show { runs, .. } => show(budgets, runs).await,
        BudgetCommand::Set { period, cap, label, .. } => {
            let budget = SharedBudget { period: (*period).into(), label: label.label() };
            warn_unknown(budgets, budget.label.as_ref()).await?;
            set(budgets, &budget, *cap, settings).await
        }
        BudgetCommand::History { days, months, label, .. } => {
            warn_unknown(budgets, label.label().as_ref()).await?;
            let history = BudgetHistory::read(budgets, label.label(), *days, *months).await?;
            terminal::print_result(&history, || {
                terminal::topics_text(&[topics::history(&history, *days, *months)])
            })
        }
    }
}

/// Refuses to read a ledger whose folder does not exist, and warns of a new one: the folder may be
/// mistyped.
fn check_local_ledger(command: &BudgetCommand, settings: &Settings) -> Result<(), AppError> {
    let ledger = ledger_file(settings);
    if settings.fleet.redis.is_some() || ledger.is_file() {
        return Ok(());
    }
    match command {
        BudgetCommand::Set { .. } => {
            let ledger = ledger.display();
            terminal::warn(&format!("{ledger} is a new ledger, which no run has used yet"));
        }
        BudgetCommand::Show { .. } | BudgetCommand::History { .. } => {
            let folder = settings.run.state_dir();
            if !folder.is_dir() {
                return Err(AppError::invalid(format!(
                    "there is no folder {}: check --runs-dir and --state; the first run creates it",
                    folder.display()
                )));
            }
        }
    }
    Ok(())
}

fn fleet_flags(command: &BudgetCommand) -> &FleetFlags {
    match command {
        BudgetCommand::Show { fleet, .. }
        | BudgetCommand::Set { fleet, .. }
        | BudgetCommand::History { fleet, .. } => fleet,
    }
}

async fn show(budgets: &dyn BudgetRecords, runs: &[String]) -> Result<(), AppError> {
    let runs = runs.iter().map(|run| RunId::parse(run).map_err(AppError::invalid));
    let runs = runs.collect::<Result<Vec<_>, _>>()?;
    let states = BudgetState::current(budgets, &runs).await?;
    for run in &runs {
        if !states.iter().any(|state| state.scope == Scope::Run(run.clone())) {
            return Err(AppError::invalid(format!(
                "run {run} is not in the ledger; `juror runs` lists the runs"
            )));
        }
    }
    terminal::print_result(&states, || terminal::topics_text(&[topics::states(&states)]))
}

/// Warns of a dataset or tag that no run of the ledger has: its name may be mistyped.
async fn warn_unknown(
    budgets: &dyn BudgetRecords,
    label: Option<&BudgetLabel>,
) -> Result<(), AppError> {
    let Some(label) = label else { return Ok(()) };
    let known = budgets.labels().await.map_err(AppError::internal)?;
    if !known.contains(label) {
        let alike = known.iter().filter(|other| other.kind() == label.kind());
        let names: Vec<&str> = alike.map(BudgetLabel::name).collect();
        let others = match names.as_slice() {
            [] => "no run has one".to_owned(),
            names => format!("known: {}", names.join(", ")),
        };
        let (kind, name) = (label.kind(), label.name());
        terminal::warn(&format!("no run has the {kind} {name} yet ({others})"));
    }
    Ok(())
}

async fn set(
    budgets: &dyn BudgetRecords,
    budget: &SharedBudget,
    cap: Budget,
    settings: &Settings,
) -> Result<(), AppError> {
    let before = budgets.set_cap(budget, cap).await.map_err(AppError::internal)?;
    let given = settings.budget.shared_caps().into_iter().find(|(given, _)| given == budget);
    if let Some((_, given)) = given.filter(|(_, given)| *given != cap) {
        terminal::warn(&format!(
            "{} in the settings is {}, which the next run with these settings sets again; change \
             it there too",
            budget.setting(),
            amount(given)
        ));
    }
    let change = CapChange::new(budget, cap, before);
    terminal::print_result(&change, || change.sentence())
}

/// Formats a cap for a message.
fn amount(budget: Budget) -> String {
    budget.cap().map_or_else(|| "\"unlimited\"".to_owned(), dollars)
}

fn or_no_cap(amount: Option<Money>) -> String {
    amount.map_or_else(|| "no cap".to_owned(), dollars)
}
