//! `juror rubric`: lists, shows and checks rubrics.

mod warnings;

use crate::{
    args::RubricCommand,
    exit::{AppError, Exit},
    terminal,
};
use juror_app::rubrics::{load, text_of};
use juror_types::rubric::{Formula, Rubric, builtin, reply_schema};
use juror_worker::prompt::{self, PromptItem};
use std::path::PathBuf;

pub fn run(command: &RubricCommand) -> Result<Exit, AppError> {
    match command {
        RubricCommand::List => list()?,
        RubricCommand::Show { rubric, file: true } => terminal::print(&text_of(rubric)?)?,
        RubricCommand::Show { rubric, file: false } => show(&load(rubric)?.0)?,
        RubricCommand::Check { files } => check(files)?,
    }
    Ok(Exit::Done)
}

fn list() -> Result<(), AppError> {
    let mut lines = String::new();
    let mut records = Vec::new();
    for rubric in builtin() {
        let rubric = rubric.parse().map_err(AppError::internal)?;
        let (name, criteria) = (rubric.name(), rubric.criteria.len());
        lines.push_str(&format!("{name:<20}{criteria:>3} criteria   {}\n", rubric.title));
        records.push(serde_json::json!({
            "rubric": name, "title": rubric.title, "criteria": criteria, "digest": rubric.digest,
        }));
    }
    terminal::print_result(&records, || lines)
}

fn check(files: &[PathBuf]) -> Result<(), AppError> {
    let mut checked: Vec<Rubric> = Vec::new();
    let mut records = Vec::new();
    let mut invalid: Option<AppError> = None;
    for file in files {
        let rubric = match load(&file.to_string_lossy()) {
            Ok((rubric, _)) => rubric,
            Err(error) => {
                records.push(serde_json::json!({ "file": file, "error": error.to_string() }));
                if let Some(earlier) = invalid.replace(error) {
                    terminal::fail(&earlier);
                }
                continue;
            }
        };
        let warnings = warnings::warnings(&rubric, &checked);
        if terminal::is_json() {
            records.push(serde_json::json!({
                "file": file, "rubric": rubric.name(), "criteria": rubric.criteria.len(),
                "scale": { "min": rubric.scale.min, "max": rubric.scale.max }, "images": image_names(&rubric),
                "digest": rubric.digest, "warnings": warnings,
            }));
        } else {
            print_checked(&rubric)?;
            for warning in warnings {
                terminal::print_notice(&format!("{}: {warning}", file.display()));
            }
        }
        checked.push(rubric);
    }
    if terminal::is_json() {
        terminal::print_json(&records)?;
    }
    invalid.map_or(Ok(()), Err)
}

fn print_checked(rubric: &Rubric) -> Result<(), AppError> {
    let formula = match rubric.formula {
        Formula::SumOverMax => "weighted sum over its maximum",
        Formula::WeightedGroups => "weighted means of groups",
    };
    terminal::print(&format!(
        "{} is valid: {} criteria from {} to {}, {formula}; images: {}; digest {}\n",
        rubric.name(),
        rubric.criteria.len(),
        rubric.scale.min,
        rubric.scale.max,
        image_names(rubric).join(", "),
        rubric.digest,
    ))
}

fn image_names(rubric: &Rubric) -> Vec<&str> {
    rubric.images.iter().map(|image| image.name.as_str()).collect()
}

/// Prints the prompt of a rubric, with placeholders for the item's parts.
fn show(rubric: &Rubric) -> Result<(), AppError> {
    let item = PromptItem {
        code: Some("…the item's generated code…"),
        language: None,
        tokens: None,
        evidence: None,
        style: Some("…the style's name…"),
    };
    let prompt = prompt::render(rubric, item);
    let schema = reply_schema(rubric);
    if terminal::is_json() {
        return terminal::print_json(&serde_json::json!({
            "rubric": rubric.name(), "system": prompt.system, "task": prompt.task,
            "images": image_names(rubric), "item": prompt.item, "reply_schema": schema,
        }));
    }
    let images: Vec<String> = rubric
        .images
        .iter()
        .map(|image| format!("{}:\n[image: {}]\n", image.label, image.name))
        .collect();
    terminal::print(&format!(
        "== System message\n\n{}\n\n== User message\n\n{}\n{}\n{}\n== JSON Schema of the reply\n\n{}\n",
        prompt.system,
        prompt.task,
        images.join("\n"),
        prompt.item,
        schema,
    ))
}
