//! The check that no output replaces a file that its command reads or keeps.

use crate::{attachments::DatasetAttachments, error::AppError, settings::Settings};
use juror_journal::journal::{RunFiles, run_directory_above};
use juror_report::OutputFormat;
use juror_types::{file_identity::FileIdentity, rubric::Rubric};
use std::path::{Path, PathBuf};

/// The files of a command that its outputs must not replace, and the run that it writes about.
pub struct ProtectedFiles {
    files: Vec<(&'static str, PathBuf)>,
    own_run: Option<PathBuf>,
    /// Stem of the names of its files in a run directory, before the first dot.
    stem: &'static str,
}

impl ProtectedFiles {
    /// Files that the settings name: the settings file, rubric, gate, calibration, key and
    /// `juror.db`. In the directory of its own run the command writes `report.*`.
    pub fn from_settings(settings: &Settings, settings_file: PathBuf) -> Self {
        let run = &settings.run;
        let state = run.state_dir.as_ref().unwrap_or(&run.runs_dir);
        let files = [
            ("the settings file", Some(settings_file)),
            ("the rubric", Some(PathBuf::from(&run.rubric))),
            ("the gate file", run.gate.as_ref().map(PathBuf::from)),
            ("the calibration", run.calibration.clone()),
            ("the file of the API key", settings.judge.api_key_file.clone()),
            ("the file of certificates", settings.judge.ca_file.clone()),
            ("the file of certificates", settings.fleet.broker_ca_file.clone()),
            ("the file of certificates", settings.fleet.redis_ca_file.clone()),
            ("the file of certificates", settings.fleet.broker_client_certificate_file.clone()),
            ("the file of certificates", settings.fleet.redis_client_certificate_file.clone()),
            ("the file of a key", settings.fleet.broker_client_key_file.clone()),
            ("the file of a key", settings.fleet.redis_client_key_file.clone()),
            ("the ledger", Some(state.join("juror.db"))),
        ];
        let files = files.into_iter().filter_map(|(role, path)| Some((role, path?))).collect();
        Self { files, own_run: None, stem: "report" }
    }

    /// With a further file, if there is one; `role` names it in messages.
    pub fn and(mut self, role: &'static str, path: Option<&Path>) -> Self {
        self.files.extend(path.map(|path| (role, path.to_owned())));
        self
    }

    /// With the directory in which files whose names begin with this may be replaced.
    pub fn in_run(self, directory: PathBuf, stem: &'static str) -> Self {
        Self { own_run: Some(directory), stem, ..self }
    }

    /// As [`ProtectedFiles::check`], for reports, whose endings pick the format.
    pub fn check_reports(&self, outputs: &[PathBuf]) -> Result<(), AppError> {
        for output in outputs {
            OutputFormat::of(output).map_err(AppError::invalid)?;
        }
        self.check(outputs)
    }

    /// Refuses outputs that cannot be written, or would replace a file that is not an earlier
    /// output. The files that items of a dataset name are checked where the dataset is read.
    pub fn check(&self, outputs: &[PathBuf]) -> Result<(), AppError> {
        outputs.iter().try_for_each(|output| {
            check_writable(output)?;
            self.check_inputs(output)?;
            self.check_run_directory(output)
        })
    }

    fn check_inputs(&self, output: &Path) -> Result<(), AppError> {
        let Some(identity) = FileIdentity::of(output) else { return Ok(()) };
        let is_output =
            |(_, path): &&(&str, PathBuf)| FileIdentity::of(path) == Some(identity.clone());
        match self.files.iter().find(is_output) {
            None => Ok(()),
            Some((role, path)) => Err(AppError::invalid(format!(
                "output {} is {role} ({}) and would replace it; name another output",
                output.display(),
                path.display()
            ))),
        }
    }

    /// In a run directory, a command replaces the reports of its own run alone.
    fn check_run_directory(&self, output: &Path) -> Result<(), AppError> {
        let Some(name) = output.file_name() else { return Ok(()) };
        let Ok(folder) = folder_of(output).canonicalize() else { return Ok(()) };
        let Some(run) = run_directory_above(&folder.join(name)) else { return Ok(()) };
        let own = self.own_run.as_ref().and_then(|own| own.canonicalize().ok());
        let name = name.to_string_lossy();
        let is_report = name.split('.').next() == Some(self.stem);
        if own.as_ref() == Some(&run) && folder == run && is_report {
            return Ok(());
        }
        let remedy = match own.as_ref() == Some(&run) {
            true => format!("only {}.* may be written there", self.stem),
            false => "name a file in another folder".to_owned(),
        };
        Err(AppError::invalid(format!(
            "output {} lies in the run directory {}, whose files are kept; {remedy}",
            output.display(),
            run.display()
        )))
    }
}

/// Refuses outputs that an item of a run's dataset names. A dataset that is gone names nothing.
pub fn check_dataset(
    outputs: &[PathBuf],
    files: &RunFiles,
    rubric: &Rubric,
    settings: &Settings,
) -> Result<(), AppError> {
    let identities = identities(outputs);
    if identities.is_empty() {
        return Ok(());
    }
    let dataset = DatasetAttachments { record: files.record(), rubric, settings, cache: None };
    let Ok(dataset) = dataset.open_besides(identities.clone()) else { return Ok(()) };
    if FileIdentity::of(dataset.source()).is_some_and(|source| identities.contains(&source)) {
        return Err(AppError::invalid(format!(
            "{} is the dataset of run {}, and an output would replace it; name another output",
            dataset.source().display(),
            files.record().run_id
        )));
    }
    match dataset.line_naming_an_output() {
        Ok(Some(line)) => Err(AppError::invalid(line)),
        Ok(None) | Err(_) => Ok(()),
    }
}

/// The files among these outputs that exist.
pub fn identities(outputs: &[PathBuf]) -> Vec<FileIdentity> {
    outputs.iter().filter_map(|output| FileIdentity::of(output)).collect()
}

/// Refuses a file that could not be written at the end, when everything is paid for.
fn check_writable(output: &Path) -> Result<(), AppError> {
    let refused = |reason: String| {
        Err(AppError::invalid(format!("{} cannot be written: {reason}", output.display())))
    };
    let folder = folder_of(output);
    if !folder.is_dir() {
        return refused(format!("there is no folder {}; make it first", folder.display()));
    }
    if output.exists() && !output.is_file() {
        return refused("it exists and is not a file; name another output".to_owned());
    }
    match is_writable(folder) {
        Ok(()) => Ok(()),
        Err(error) => refused(format!("folder {}: {error}", folder.display())),
    }
}

#[cfg(unix)]
fn is_writable(folder: &Path) -> std::io::Result<()> {
    Ok(rustix::fs::access(folder, rustix::fs::Access::WRITE_OK)?)
}

#[cfg(not(unix))]
fn is_writable(_folder: &Path) -> std::io::Result<()> {
    Ok(())
}

fn folder_of(output: &Path) -> &Path {
    match output.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
