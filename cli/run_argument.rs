//! Run arguments: an id, a run directory, or a file in it.

use crate::{args::GlobalFlags, exit::Failure, terminal};
use juror_types::id::RunId;
use std::path::Path;

/// Resolves a run argument to the run's id and the global flags, to which a path adds the runs
/// directory.
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
            let runs_dir = Some(terminal::relative_path(&runs_dir).into());
            Ok((run, GlobalFlags { runs_dir, ..global.clone() }))
        }
        _ => Err(Failure::usage(format!(
            "{} is not a run directory (no run.json): give a run's directory or its id; `juror runs` \
             lists them",
            directory.display()
        ))),
    }
}
