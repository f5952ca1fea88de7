//! The command `juror`: parse → settings → wire → run a role → exit code.

mod another_round;
mod args;
mod asked;
mod attended;
mod baseline;
mod calibrations;
mod cap;
mod catch_up;
mod commands;
mod door;
mod estimation;
mod execute;
mod exhibits;
mod exit;
mod finish;
mod fleet;
mod follow;
mod golden;
mod judge;
mod layers;
mod ledgers;
mod logging;
mod progress;
mod publication;
mod run_context;
mod screen;
mod serving;
mod session;
mod signals;
mod standings;
mod workplace;

use args::{Arguments, Command};
use clap::Parser;
use exit::{Exit, Failure};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let exit = run(&arguments).unwrap_or_else(|failure| {
        screen::fail(&failure);
        failure.exit
    });
    exit.into()
}

fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let global = &arguments.global;
    logging::start(global)?;
    let runtime = tokio::runtime::Runtime::new().map_err(Failure::error)?;
    match &arguments.command {
        Command::Demo(arguments) => runtime.block_on(commands::demo::run(arguments, global)),
        Command::Run(arguments) => runtime.block_on(commands::run::run(arguments, global)),
        Command::Report(arguments) => runtime.block_on(commands::report::run(arguments, global)),
        Command::Compare(arguments) => commands::compare::run(arguments, global),
        Command::Calibrate(arguments) => commands::calibrate::run(arguments, global),
        Command::Estimate(arguments) => {
            runtime.block_on(commands::estimate::run(arguments, global))
        }
        Command::Retry(arguments) => runtime.block_on(commands::retry::run(arguments, global)),
        Command::Enqueue(arguments) => runtime.block_on(commands::enqueue::run(arguments, global)),
        Command::Cancel(arguments) => runtime.block_on(commands::cancel::run(arguments, global)),
        Command::Dead(command) => runtime.block_on(commands::dead::run(command, global)),
        Command::Worker(arguments) => runtime.block_on(commands::worker::run(arguments, global)),
        Command::Aggregate(arguments) => {
            runtime.block_on(commands::aggregate::run(arguments, global))
        }
        Command::Runs(arguments) => runtime.block_on(commands::runs::run(arguments, global)),
        Command::Rubric(command) => commands::rubric::run(command, global.json),
        Command::Cache(command) => runtime.block_on(commands::cache::run(command, global)),
        Command::Doctor(arguments) => runtime.block_on(commands::doctor::run(arguments, global)),
        Command::Serve(arguments) => runtime.block_on(commands::serve::run(arguments, global)),
        Command::Simulate(arguments) => {
            runtime.block_on(commands::simulate::run(arguments, global))
        }
        Command::Settings => screen::print(juror_common::settings::DEFAULTS).map(|()| Exit::Done),
    }
}
