//! Runs as commands name them: by id, by run directory, or by a file in it.

use crate::{args::GlobalFlags, exit::Failure, terminal};
use juror_types::id::RunId;
use std::path::Path;

/// The run that is named, and the global flags by which it is found: a path names the runs
/// directory too.
pub fn locate(named: &str, global: &GlobalFlags) -> Result<(RunId, GlobalFlags), Failure> {
    let invalid = match RunId::parse(named) {
        Ok(run) => return Ok((run, global.clone())),
        Err(invalid) => invalid,
    };
    let path = Path::new(named);
    let directory = if path.is_file() { path.parent().unwrap_or(path) } else { path };
    if !directory.is_dir() {
        return Err(match named.contains(std::path::is_separator) {
            true => Failure::usage(format!("there is no run directory {named}; check the path")),
            false => Failure::usage(invalid),
        });
    }
    let located = directory.canonicalize().ok().and_then(|directory| {
        let run = RunId::parse(directory.file_name()?.to_str()?).ok()?;
        Some((run, directory.parent()?.to_string_lossy().into_owned()))
    });
    match located {
        Some((run, runs_dir)) if directory.join("run.json").exists() => {
            let runs_dir = Some(terminal::as_seen_from_here(&runs_dir).into());
            Ok((run, GlobalFlags { runs_dir, ..global.clone() }))
        }
        _ => Err(Failure::usage(format!(
            "{} is no run directory (no run.json): name a run's directory or its id; `juror runs` \
             lists them",
            directory.display()
        ))),
    }
}
