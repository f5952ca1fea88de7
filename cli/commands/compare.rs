//! `juror compare`: compares two runs, and exits by the decision.

use crate::{
    args::CompareArguments,
    exit::{AppError, Exit},
    terminal,
};
use juror_app::{
    protected_files::{self, ProtectedFiles},
    reporting::{baseline::Baseline, run_lookup::open_run},
    settings::BaseLayers,
};
use juror_report::{OutputFormat, topics, write_comparison};

pub fn run(arguments: &CompareArguments, base: &BaseLayers) -> Result<Exit, AppError> {
    let settings = base.resolve(arguments.comparing.layer())?;
    for output in &arguments.output {
        OutputFormat::for_comparison(output).map_err(AppError::invalid)?;
    }
    let baseline = Baseline::open(&arguments.base, &settings)?;
    let head = open_run(&arguments.head, &settings.run.runs_dir)?;
    ProtectedFiles::from_settings(&settings, &base.settings_file)
        .in_run(head.directory().to_owned(), "comparison")
        .check(&arguments.output)?;
    for files in [baseline.files(), &head] {
        protected_files::check_dataset(&arguments.output, files, &settings)?;
    }
    let comparison = baseline.compared_with(&head)?;
    terminal::print_result(&comparison, || {
        terminal::topics_text(&topics::comparison::topics(&comparison))
    })?;
    for output in &arguments.output {
        write_comparison(output, &comparison).map_err(AppError::internal)?;
    }
    Ok(Exit::from_comparison(&comparison))
}
