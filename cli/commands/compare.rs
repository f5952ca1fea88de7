//! `juror compare`: did it get worse, where, and how sure is that?

use crate::{
    args::{CompareArguments, GlobalFlags},
    baseline::{self, Baseline},
    exit::{Exit, Failure},
    finish, layers, screen,
};
use juror_aggregator::{
    compare::{ComparisonFormat, write_comparison},
    report::{TerminalOptions, render_comparison},
};

/// Runs `juror compare`.
pub fn run(arguments: &CompareArguments, global: &GlobalFlags) -> Result<Exit, Failure> {
    let settings = layers::settle(global, arguments.comparing.layers())?;
    for output in &arguments.output {
        ComparisonFormat::of(output).map_err(Failure::usage)?;
        finish::check_folder(output)?;
    }
    let base = Baseline::open(&arguments.base, &settings)?;
    let head = baseline::open_run(&arguments.head, &settings.run.runs_dir)?;
    let comparison = base.compared_with(&head)?;
    if global.json {
        screen::print_json(&comparison)?;
    } else {
        let (width, color) = screen::width_and_colour();
        screen::print(&render_comparison(&comparison, TerminalOptions { width, color }))?;
    }
    for output in &arguments.output {
        write_comparison(output, &comparison).map_err(Failure::error)?;
    }
    Ok(baseline::exit_of(&comparison))
}
