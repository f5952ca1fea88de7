//! `juror runs`: lists, shows and prunes runs, and shows trends.

mod list;
mod prune;
mod show;
mod trend;

use crate::{
    args::{GlobalFlags, RunsArguments, RunsCommand},
    exit::{AppError, Exit},
};
use juror_analysis::history;
use juror_journal::journal::{JournalError, RunFiles};
use std::path::Path;

/// Runs one of the subcommands; the default is `list`.
pub async fn run(arguments: &RunsArguments, global: &GlobalFlags) -> Result<Exit, AppError> {
    match &arguments.command {
        None => list::run(&arguments.fleet, global).await,
        Some(RunsCommand::List { fleet }) => list::run(fleet, global).await,
        Some(RunsCommand::Show { run, fleet }) => show::run(run, fleet, global).await,
        Some(RunsCommand::Trend(arguments)) => trend::run(arguments, global),
        Some(RunsCommand::Prune(arguments)) => prune::run(arguments, global).await,
    }
}

fn files_in(runs_dir: &Path) -> Result<Vec<Result<RunFiles, JournalError>>, AppError> {
    history::runs_in(runs_dir).map_err(|error| {
        AppError::internal(format!("{} cannot be read: {error}", runs_dir.display()))
    })
}
