//! `juror init`: settings and a small dataset to start from.

use crate::{
    args::InitArguments,
    demo_data,
    exit::{AppError, Exit},
    terminal,
};
use std::{
    fs::OpenOptions,
    io::{self, Write as _},
    path::Path,
};

const SETTINGS: &str = include_str!("../../config/starter.toml");
const SETTINGS_FILE: &str = "juror.toml";
const DATASET: &str = "dataset";
/// Items of the example dataset: a correct one and a defective one.
const ITEMS: [&str; 2] = ["button_primary", "alert_error"];

/// Runs `juror init`; writes nothing if one of the files exists.
pub fn run(arguments: &InitArguments) -> Result<Exit, AppError> {
    let folder = &arguments.folder;
    let dataset = demo_data::excerpt(&ITEMS)
        .ok_or_else(|| AppError::internal("the bundled golden set lacks the example's items"))?;
    let mut files = vec![(folder.join(SETTINGS_FILE), SETTINGS.as_bytes().to_vec())];
    let in_dataset = |(name, content)| (folder.join(DATASET).join(name), content);
    files.extend(dataset.into_iter().map(in_dataset));
    if let Some((path, _)) = files.iter().find(|(path, _)| path.exists()) {
        return Err(AppError::invalid(format!(
            "{} exists, and juror init overwrites nothing; choose another folder",
            path.display()
        )));
    }
    for (path, content) in &files {
        write_new(path, content).map_err(|error| {
            AppError::internal(format!("{} cannot be written: {error}", path.display()))
        })?;
    }
    if terminal::is_json() {
        let written: Vec<_> = files.iter().map(|(path, _)| path).collect();
        terminal::print_json(&serde_json::json!({ "written": written }))?;
    }
    terminal::print_hint(&next_steps(folder));
    Ok(Exit::Done)
}

fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    OpenOptions::new().write(true).create_new(true).open(path)?.write_all(content)
}

fn next_steps(folder: &Path) -> String {
    let enter = match folder.as_os_str().is_empty() || folder == Path::new(".") {
        true => String::new(),
        false => format!("  cd {}\n", folder.display()),
    };
    format!(
        "wrote {SETTINGS_FILE} and {DATASET}/ with two example items; next:\n{enter}\
         \x20 juror run {DATASET}/manifest.jsonl                      the free stages\n\
         \x20 juror estimate {DATASET}/manifest.jsonl                 what a judge would cost\n\
         \x20 juror run {DATASET}/manifest.jsonl --enable-llm-judge   judged; needs OPENAI_API_KEY"
    )
}
