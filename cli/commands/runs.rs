//! `juror runs`: lists, shows and prunes runs, and shows trends.

mod list;
mod prune;
mod show;
mod trend;

use crate::{
    args::{RunsArguments, RunsCommand},
    exit::{AppError, Exit},
};
use juror_analysis::history;
use juror_app::settings::BaseLayers;
use juror_journal::journal::{JournalError, RunFiles};
use std::path::Path;

/// Runs one of the subcommands; the default is `list`.
pub async fn run(arguments: &RunsArguments, base: &BaseLayers) -> Result<Exit, AppError> {
    match &arguments.command {
        None => list::run(&arguments.fleet, base).await,
        Some(RunsCommand::List { fleet }) => list::run(fleet, base).await,
        Some(RunsCommand::Show { run, fleet }) => show::run(run, fleet, base).await,
        Some(RunsCommand::Trend(arguments)) => trend::run(arguments, base),
        Some(RunsCommand::Prune(arguments)) => prune::run(arguments, base).await,
    }
}

fn files_in(runs_dir: &Path) -> Result<Vec<Result<RunFiles, JournalError>>, AppError> {
    history::runs_in(runs_dir).map_err(|error| {
        AppError::internal(format!("{} cannot be read: {error}", runs_dir.display()))
    })
}
