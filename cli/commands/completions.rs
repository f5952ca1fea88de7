//! `juror completions` and `juror man`: completion scripts and manual pages.

use crate::{
    args::{self, CompletionArguments, ManArguments},
    exit::{AppError, Exit},
    terminal,
};
use std::path::Path;

pub fn complete(arguments: &CompletionArguments) -> Result<Exit, AppError> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut args::command(), "juror", &mut script);
    terminal::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}

pub fn man(arguments: &ManArguments) -> Result<Exit, AppError> {
    match &arguments.folder {
        Some(folder) => write_pages(folder)?,
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(args::command()).render(&mut page).map_err(AppError::internal)?;
            terminal::print(&String::from_utf8_lossy(&page))?;
        }
    }
    Ok(Exit::Done)
}

fn write_pages(folder: &Path) -> Result<(), AppError> {
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(args::command(), folder));
    written.map_err(|error| {
        AppError::internal(format!(
            "manual pages cannot be written to {}: {error}",
            folder.display()
        ))
    })?;
    terminal::print_notice(&format!("wrote the manual pages to {}", folder.display()));
    Ok(())
}
