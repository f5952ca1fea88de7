//! The command `juror`.

mod args;
mod commands;
mod demo_data;
mod end_of_run;
mod exit;
mod interactive;
mod location_flags;
mod logging;
mod progress;
mod role_health;
mod run_argument;
mod settings_sources;
mod setup_request;
mod signals;
mod terminal;

use args::{Arguments, Command};
use clap::FromArgMatches as _;
use exit::{AppError, Exit};
use futures_util::future::LocalBoxFuture;
use juror_app::settings::Layer;
use std::{num::NonZero, process::ExitCode};
use tokio::runtime::{Builder, Runtime};

fn main() -> ExitCode {
    let matches = args::command().get_matches();
    let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    location_flags::remember(&matches);
    let exit = run(&arguments).unwrap_or_else(|error| {
        terminal::fail(&error);
        Exit::from(&error)
    });
    exit.into()
}

fn run(arguments: &Arguments) -> Result<Exit, AppError> {
    terminal::follow_flags(&arguments.global);
    let base = &settings_sources::read(&arguments.global)?;
    logging::start(&base.resolve(Layer::default())?.log)?;
    // Boxed, so that each command is compiled once and not for both kinds of runtime.
    let command: LocalBoxFuture<'_, Result<Exit, AppError>> = match &arguments.command {
        Command::Init(arguments) => return commands::init::run(arguments),
        Command::Demo(arguments) => Box::pin(commands::demo::run(arguments, base)),
        Command::Run(arguments) => Box::pin(commands::run::run(arguments, base)),
        Command::Report(arguments) => Box::pin(commands::report::run(arguments, base)),
        Command::Compare(arguments) => return commands::compare::run(arguments, base),
        Command::Bless(arguments) => return commands::bless::run(arguments, base),
        Command::Calibrate(arguments) => return commands::calibrate::run(arguments, base),
        Command::Estimate(arguments) => Box::pin(commands::estimate::run(arguments, base)),
        Command::Retry(arguments) => Box::pin(commands::retry::run(arguments, base)),
        Command::Enqueue(arguments) => Box::pin(commands::enqueue::run(arguments, base)),
        Command::Cancel(arguments) => Box::pin(commands::cancel::run(arguments, base)),
        Command::DeadLetters(command) => Box::pin(commands::dead_letters::run(command, base)),
        Command::Worker(arguments) => Box::pin(commands::worker::run(arguments, base)),
        Command::Aggregate(arguments) => Box::pin(commands::aggregate::run(arguments, base)),
        Command::Runs(arguments) => Box::pin(commands::runs::run(arguments, base)),
        Command::Rubric(command) => return commands::rubric::run(command),
        Command::Budget(command) => Box::pin(commands::budget::run(command, base)),
        Command::Cache(command) => Box::pin(commands::cache::run(command, base)),
        Command::Doctor(arguments) => Box::pin(commands::doctor::run(arguments, base)),
        Command::Serve(arguments) => Box::pin(commands::serve::run(arguments, base)),
        Command::Simulate(arguments) => Box::pin(commands::simulate::run(arguments)),
        Command::Settings => return commands::settings::run(),
        Command::Completions(arguments) => return commands::completions::complete(arguments),
        Command::Man(arguments) => return commands::completions::man(arguments),
    };
    runtime(&arguments.command).map_err(AppError::internal)?.block_on(command)
}

/// Runtime of a command. Judging mostly waits, and ledger, disk, files and images have their own
/// threads: with half as many threads as cores, fewer wake up for each reply.
fn runtime(command: &Command) -> std::io::Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    if matches!(command, Command::Run(_) | Command::Retry(_) | Command::Worker(_)) {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        builder.worker_threads(cores.div_ceil(2));
    }
    builder.enable_all().build()
}
