//! `juror rubric`: show and check rubrics.

use crate::{
    args::RubricCommand,
    exit::{Exit, Failure},
    terminal as screen,
};
use juror_types::{
    rubric::{Formula, Rubric, builtin},
    run::RunRecord,
};
use juror_worker::prompt::{self, PromptItem};
use std::path::Path;

/// Runs one of the subcommands.
pub fn run(command: &RubricCommand, json: bool) -> Result<Exit, Failure> {
    match command {
        RubricCommand::List => list(json)?,
        RubricCommand::Show { rubric } => screen::print(&text_of(rubric)?)?,
        RubricCommand::Check { file } => check(file)?,
    }
    Ok(Exit::Done)
}

/// The rubric of this name, or in this file.
pub fn load(name_or_path: &str) -> Result<(Rubric, String), Failure> {
    let text = text_of(name_or_path)?;
    let rubric = Rubric::parse(&text, name_or_path).map_err(Failure::usage)?;
    Ok((rubric, text))
}

/// The rubric that a run was begun with.
pub fn recorded(record: &RunRecord) -> Result<(Rubric, String), Failure> {
    let origin = format!("the rubric in run.json of {}", record.run_id);
    let rubric = Rubric::parse(&record.rubric_text, &origin).map_err(Failure::error)?;
    Ok((rubric, record.rubric_text.clone()))
}

fn text_of(name_or_path: &str) -> Result<String, Failure> {
    if let Some(rubric) = builtin().iter().find(|rubric| rubric.id == name_or_path) {
        return Ok(rubric.text.to_owned());
    }
    std::fs::read_to_string(name_or_path).map_err(|error| {
        let known: Vec<_> = builtin().iter().map(|rubric| rubric.id).collect();
        Failure::usage(format!(
            "rubric {name_or_path:?} is neither built in ({}) nor a file that can be read: {error}",
            known.join(", ")
        ))
    })
}

fn list(json: bool) -> Result<(), Failure> {
    let mut lines = String::new();
    let mut records = Vec::new();
    for rubric in builtin() {
        let rubric = rubric.parse().map_err(Failure::error)?;
        let (name, criteria) = (rubric.name(), rubric.criteria.len());
        lines.push_str(&format!("{name:<14}{criteria:>3} criteria   {}\n", rubric.title));
        records.push(serde_json::json!({
            "rubric": name, "title": rubric.title, "criteria": criteria, "digest": rubric.digest,
        }));
    }
    if json { screen::print_json(&records) } else { screen::print(&lines) }
}

fn check(file: &Path) -> Result<(), Failure> {
    let (rubric, _) = load(&file.to_string_lossy())?;
    let told = prompt::render(
        &rubric,
        PromptItem {
            code: Some("…the item's generated code…"),
            language: None,
            tokens: None,
            style: Some("…the style's name…"),
        },
    );
    let formula = match rubric.formula {
        Formula::SumOverMax => "weighted sum over its maximum",
        Formula::WeightedGroups => "weighted means of groups",
    };
    let images: Vec<_> = rubric.images.iter().map(|image| image.name.as_str()).collect();
    screen::print(&format!(
        "{} is a sound rubric: {} criteria from {} to {}, {formula}; images: {}; digest {}\n\n\
         The judge would be told:\n\n{}\n\n{}\n\n[the images]\n\n{}",
        rubric.name(),
        rubric.criteria.len(),
        rubric.scale.min,
        rubric.scale.max,
        images.join(", "),
        rubric.digest,
        told.system,
        told.task,
        told.item,
    ))
}
