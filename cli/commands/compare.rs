//! `juror compare`: compares two runs, and exits by the decision.

use crate::{
    args::{CompareArguments, GlobalFlags},
    exit::{AppError, Exit},
    settings_sources, terminal,
};
use juror_app::{
    protected_files::{self, ProtectedFiles},
    reporting::{baseline::Baseline, run_lookup::open_run},
    rubrics,
};
use juror_report::{OutputFormat, topics, write_comparison};

pub fn run(arguments: &CompareArguments, global: &GlobalFlags) -> Result<Exit, AppError> {
    let settings = settings_sources::resolve(global, arguments.comparing.layer())?;
    for output in &arguments.output {
        OutputFormat::for_comparison(output).map_err(AppError::invalid)?;
    }
    let base = Baseline::open(&arguments.base, &settings)?;
    let head = open_run(&arguments.head, &settings.run.runs_dir)?;
    ProtectedFiles::from_settings(&settings, settings_sources::settings_file(global).0)
        .in_run(head.directory().to_owned(), "comparison")
        .check(&arguments.output)?;
    for files in [base.files(), &head] {
        let (rubric, _) = rubrics::recorded(files.record())?;
        protected_files::check_dataset(&arguments.output, files, &rubric, &settings)?;
    }
    let comparison = base.compared_with(&head)?;
    terminal::print_result(global.json, &comparison, || {
        terminal::topics_text(&topics::comparison::topics(&comparison))
    })?;
    for output in &arguments.output {
        write_comparison(output, &comparison).map_err(AppError::internal)?;
    }
    Ok(Exit::from_comparison(&comparison))
}
