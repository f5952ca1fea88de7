//! Rubrics by name, from files, and from run records.

use crate::{error::AppError, settings::Settings};
use juror_types::{
    rubric::{Rubric, builtin, builtin_named},
    run::RunRecord,
};
use std::io::ErrorKind;

/// The rubric of this name, or in this file.
pub fn load(name_or_path: &str) -> Result<(Rubric, String), AppError> {
    let text = text_of(name_or_path)?;
    let rubric = Rubric::parse(&text, name_or_path).map_err(AppError::invalid)?;
    Ok((rubric, text))
}

/// The rubric of the settings; with measured evidence, `semantic-evidence` in place of `semantic`.
pub fn from_settings(settings: &Settings) -> Result<(Rubric, String), AppError> {
    let sends_evidence = settings.run.enable_llm_judge && !settings.evidence.mode.is_none();
    match settings.run.rubric.as_str() {
        "semantic" if sends_evidence => load("semantic-evidence"),
        named => load(named),
    }
}

/// The rubric in a run's record.
pub fn recorded(record: &RunRecord) -> Result<(Rubric, String), AppError> {
    let origin = format!("the rubric in run.json of {}", record.run_id);
    let rubric = Rubric::parse(&record.rubric_text, &origin).map_err(AppError::internal)?;
    Ok((rubric, record.rubric_text.clone()))
}

/// The text of a built-in rubric, or of a file.
pub fn text_of(name_or_path: &str) -> Result<String, AppError> {
    if let Some(rubric) = builtin_named(name_or_path) {
        return Ok(rubric.text.to_owned());
    }
    std::fs::read_to_string(name_or_path).map_err(|error| {
        if error.kind() != ErrorKind::NotFound {
            return AppError::invalid(format!("cannot read the rubric {name_or_path}: {error}"));
        }
        let known: Vec<_> = builtin().iter().map(|rubric| rubric.id).collect();
        AppError::invalid(format!(
            "no rubric {name_or_path:?}: use {} or the path of a TOML file",
            known.join(", ")
        ))
    })
}
