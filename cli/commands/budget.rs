//! `juror budget`: what is left of what runs may cost.

use crate::{
    args::{BudgetCommand, GlobalFlags},
    exit::{Exit, Failure},
    settings_sources as layers, terminal as screen,
};
use juror_analysis::format::dollars;
use juror_app::{
    budget_state::{self, BudgetState},
    fleet,
    local_ledger::open_local_ledger,
};
use juror_types::{id::RunId, usage::Money};

/// Runs one of the subcommands, on the fleet's ledger where a Redis is named.
pub async fn run(command: &BudgetCommand, global: &GlobalFlags) -> Result<Exit, Failure> {
    let BudgetCommand::Show { runs, fleet } = command;
    let settings = layers::settle(global, fleet.layers())?;
    let runs = runs.iter().map(|run| RunId::parse(run).map_err(Failure::usage));
    let runs = runs.collect::<Result<Vec<_>, _>>()?;
    let states = if settings.fleet.redis.is_some() {
        let backend = fleet::open_backend(&settings).await?;
        let states = budget_state::of_fleet(&backend, &runs).await;
        backend.close().await;
        states
    } else {
        let backend = open_local_ledger(&settings)?;
        let states = budget_state::of_this_machine(&backend, &runs).await;
        backend.close().await;
        states
    };
    let states = states?;
    for run in &runs {
        if !states.iter().any(|state| state.scope == format!("run:{run}")) {
            return Err(Failure::usage(format!(
                "the ledger knows no run {run}; `juror runs` lists the runs"
            )));
        }
    }
    if global.json {
        screen::print_json(&states)?;
    } else {
        screen::print(&text(&states))?;
    }
    Ok(Exit::Done)
}

fn text(states: &[BudgetState]) -> String {
    let row = |cells: [&str; 5]| {
        let [scope, cap, spent, held, left] = cells;
        format!("{scope:24} {cap:>12} {spent:>12} {held:>12} {left:>12}\n")
    };
    let or_none = |amount: Option<Money>| amount.map_or_else(|| "no cap".to_owned(), dollars);
    let mut text = row(["BUDGET", "CAP", "SPENT", "IN FLIGHT", "LEFT"]);
    for state in states {
        text.push_str(&row([
            &state.scope.replace(':', " "),
            &or_none(state.cap_usd),
            &dollars(state.spent_usd),
            &dollars(state.held_usd),
            &or_none(state.left_usd),
        ]));
    }
    text.push_str("\nDays and months are UTC.\n");
    text
}
