//! `juror calibrate`: compares the scores of a run's judge with people's ratings.

use crate::{
    args::CalibrateArguments,
    exit::{AppError, Exit},
    terminal,
};
use juror_analysis::calibration::stored_calibration;
use juror_app::{
    protected_files::{self, ProtectedFiles},
    reporting::{calibrate_run, run_lookup},
    settings::{BaseLayers, Layer},
};
use juror_report::topics::calibration_file;

pub fn run(arguments: &CalibrateArguments, base: &BaseLayers) -> Result<Exit, AppError> {
    let settings = base.resolve(Layer::default())?;
    for output in &arguments.output {
        stored_calibration::check_output(output)?;
    }
    let files = run_lookup::open_run(&arguments.run, &settings.run.runs_dir)?;
    ProtectedFiles::from_settings(&settings, &base.settings_file)
        .and("the file of labels", arguments.labels.as_deref())
        .in_run(files.directory().to_owned(), "calibration")
        .check(&arguments.output)?;
    protected_files::check_dataset(&arguments.output, &files, &settings)?;
    let calibration = calibrate_run::calibrate_run(&files, arguments.labels.as_deref())?;
    let own = files.path_of(stored_calibration::FILE_NAME);
    calibrate_run::check_replacement(&own, &calibration)?;
    for output in std::iter::once(&own).chain(&arguments.output) {
        stored_calibration::write(output, &calibration)?;
    }
    terminal::print_result(&calibration, || {
        terminal::topics_text(&[calibration_file::topic(&calibration)])
    })?;
    terminal::print_hint(&format!("calibration: {}", own.display()));
    Ok(Exit::Done)
}
