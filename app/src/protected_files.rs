//! Protection of a command's input files from being replaced by its outputs.

use crate::{
    attachments::DatasetAttachments, error::AppError, local_ledger::ledger_file, rubrics,
    settings::Settings,
};
use juror_journal::journal::{RunFiles, run_directory_above};
use juror_report::OutputFormat;
use juror_types::file_identity::FileIdentity;
use std::path::{Path, PathBuf};

/// Files that a command's outputs must not replace.
pub struct ProtectedFiles {
    files: Vec<(&'static str, PathBuf)>,
    own_run: Option<PathBuf>,
    /// Name, up to the first dot, of outputs that may be replaced in `own_run`.
    stem: &'static str,
}

impl ProtectedFiles {
    /// The settings file, the rubric, the gate file, `juror.db`, and every file that a setting names.
    pub fn from_settings(settings: &Settings, settings_file: &Path) -> Self {
        let run = &settings.run;
        let files = [
            ("the settings file", Some(settings_file.to_owned())),
            ("the rubric", Some(PathBuf::from(&run.rubric))),
            ("the gate file", run.gate().map(PathBuf::from)),
            ("the ledger", Some(ledger_file(settings))),
        ];
        let named = settings.paths().map(|(setting, path)| (setting, path.clone()));
        let files = files.into_iter().filter_map(|(role, path)| Some((role, path?)));
        Self { files: files.chain(named).collect(), own_run: None, stem: "report" }
    }

    /// Adds a file, if there is one; `role` names it in messages.
    pub fn and(mut self, role: &'static str, path: Option<&Path>) -> Self {
        self.files.extend(path.map(|path| (role, path.to_owned())));
        self
    }

    /// Sets the run directory, if there is one, in which files named `stem` may be replaced.
    pub fn in_run(self, directory: impl Into<Option<PathBuf>>, stem: &'static str) -> Self {
        Self { own_run: directory.into(), stem, ..self }
    }

    /// Checks reports as [`ProtectedFiles::check`] does, and their formats.
    pub fn check_reports(&self, outputs: &[PathBuf]) -> Result<(), AppError> {
        for output in outputs {
            OutputFormat::from_path(output).map_err(AppError::invalid)?;
        }
        self.check(outputs)
    }

    /// Refuses outputs that cannot be written, or would replace a file that is not an earlier
    /// output. Files of a dataset's items are checked when the dataset is read.
    pub fn check(&self, outputs: &[PathBuf]) -> Result<(), AppError> {
        outputs.iter().try_for_each(|output| {
            check_writable(output)?;
            self.check_inputs(output)?;
            self.check_run_directory(output)
        })
    }

    fn check_inputs(&self, output: &Path) -> Result<(), AppError> {
        let Some(identity) = FileIdentity::from_path(output) else { return Ok(()) };
        let is_output =
            |(_, path): &&(&str, PathBuf)| FileIdentity::from_path(path) == Some(identity.clone());
        match self.files.iter().find(is_output) {
            None => Ok(()),
            Some((role, path)) => Err(AppError::invalid(format!(
                "output {} is {role} ({}) and would replace it; choose another output",
                output.display(),
                path.display()
            ))),
        }
    }

    /// Refuses to replace files in a run directory, except the command's own reports.
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
            false => "choose a file in another folder".to_owned(),
        };
        Err(AppError::invalid(format!(
            "output {} lies in the run directory {}, whose files are kept; {remedy}",
            output.display(),
            run.display()
        )))
    }
}

/// Refuses outputs that are the dataset of a run or a file of its items. A missing dataset is
/// ignored.
pub fn check_dataset(
    outputs: &[PathBuf],
    files: &RunFiles,
    settings: &Settings,
) -> Result<(), AppError> {
    let identities = identities(outputs);
    if identities.is_empty() {
        return Ok(());
    }
    let record = files.record();
    let (rubric, _) = rubrics::recorded(record)?;
    let dataset = DatasetAttachments { record, rubric: &rubric, settings, cache: None };
    let Ok(dataset) = dataset.open_besides(identities.clone()) else { return Ok(()) };
    if FileIdentity::from_path(dataset.source()).is_some_and(|source| identities.contains(&source))
    {
        return Err(AppError::invalid(format!(
            "{} is the dataset of run {}, and an output would replace it; choose another output",
            dataset.source().display(),
            record.run_id
        )));
    }
    match dataset.line_naming_an_output() {
        Ok(Some(line)) => Err(AppError::invalid(line)),
        Ok(None) | Err(_) => Ok(()),
    }
}

/// Identities of the outputs that exist.
pub fn identities(outputs: &[PathBuf]) -> Vec<FileIdentity> {
    outputs.iter().filter_map(|output| FileIdentity::from_path(output)).collect()
}

/// Refuses a file that cannot be written, before anything is spent.
fn check_writable(output: &Path) -> Result<(), AppError> {
    let refused = |reason: String| {
        Err(AppError::invalid(format!("{} cannot be written: {reason}", output.display())))
    };
    let folder = folder_of(output);
    if !folder.is_dir() {
        return refused(format!("there is no folder {}; create it first", folder.display()));
    }
    if output.exists() && !output.is_file() {
        return refused("it exists and is not a file; choose another output".to_owned());
    }
    match is_writable(folder) {
        Ok(()) => Ok(()),
        Err(error) => refused(format!("folder {}: {error}", folder.display())),
    }
}

fn is_writable(folder: &Path) -> std::io::Result<()> {
    Ok(rustix::fs::access(folder, rustix::fs::Access::WRITE_OK)?)
}

fn folder_of(output: &Path) -> &Path {
    match output.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
