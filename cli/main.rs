//! The command `juror`: parse → settings → wire → run a role → exit code.

mod args;
mod catch_up;
mod commands;
mod execute;
mod exit;
mod finish;
mod golden;
mod judge;
mod layers;
mod logging;
mod progress;
mod screen;
mod session;
mod signals;

use args::{Arguments, Command};
use clap::Parser;
use exit::{Exit, Failure};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let exit = run(&arguments).unwrap_or_else(|failure| {
        screen::tell(&format!("juror: {failure}"));
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
        Command::Estimate(arguments) => {
            runtime.block_on(commands::estimate::run(arguments, global))
        }
        Command::Retry(arguments) => runtime.block_on(commands::run::retry(arguments, global)),
        Command::Runs => runtime.block_on(commands::runs::run(global)),
        Command::Rubric(command) => commands::rubric::run(command, global.json),
        Command::Cache(command) => runtime.block_on(commands::cache::run(command, global)),
        Command::Doctor(arguments) => runtime.block_on(commands::doctor::run(arguments, global)),
        Command::Simulate(arguments) => {
            runtime.block_on(commands::simulate::run(arguments, global))
        }
        Command::Settings => screen::print(juror_common::settings::DEFAULTS).map(|()| Exit::Done),
    }
}
