//! Run arguments: an id, a run directory, a file in it, or, for reading, a blessed name.

use crate::{exit::AppError, location_flags, terminal};
use juror_app::{
    recorded_settings::shared_layer,
    reporting::run_lookup::open_run,
    settings::{BaseLayers, Layer, Settings},
};
use juror_journal::{blessed::BlessedRuns, journal::RunFiles};
use juror_types::id::RunId;
use std::path::Path;

/// A run that is open for reading.
pub struct LocatedRun {
    pub files: RunFiles,
    /// Settings, with the runs directory of the run.
    pub settings: Settings,
}

/// Opens a run for reading; its name may be that of a blessed run, as in a comparison. Its gate and
/// baseline are those that it ended with, unless flags name others.
pub fn open(named: &str, base: &BaseLayers, flags: Layer) -> Result<LocatedRun, AppError> {
    let (run, base) = locate(named, base)?;
    let runs_dir = base.resolve(Layer::default())?.run.runs_dir;
    let is_blessed = named == run.as_str() && BlessedRuns::new(&runs_dir).get(named)?.is_some();
    let files = match is_blessed {
        true => open_run(named, &runs_dir)?,
        false => RunFiles::open(&runs_dir, &run)?,
    };
    let settings = base.resolve(shared_layer(files.record()).overlaid_with(flags))?;
    Ok(LocatedRun { files, settings })
}

/// Resolves a run argument to the run's id and the layers of settings, to which a path adds the
/// runs directory.
pub fn locate(named: &str, base: &BaseLayers) -> Result<(RunId, BaseLayers), AppError> {
    let invalid = match RunId::parse(named) {
        Ok(run) => return Ok((run, base.clone())),
        Err(invalid) => invalid,
    };
    let path = Path::new(named);
    let directory = if path.is_file() { path.parent().unwrap_or(path) } else { path };
    if !directory.is_dir() {
        return Err(match named.contains(std::path::is_separator) {
            true => AppError::invalid(format!("there is no run directory {named}; check the path")),
            false => AppError::invalid(invalid),
        });
    }
    let located = directory.canonicalize().ok().and_then(|directory| {
        let run = RunId::parse(directory.file_name()?.to_str()?).ok()?;
        Some((run, directory.parent()?.to_string_lossy().into_owned()))
    });
    match located {
        Some((run, runs_dir)) if directory.join("run.json").exists() => {
            let runs_dir = terminal::relative_path(&runs_dir);
            location_flags::remember_runs_dir(&runs_dir);
            let above = base.above.clone().with("run.runs_dir", Some(runs_dir));
            Ok((run, BaseLayers { above, ..base.clone() }))
        }
        _ => Err(AppError::invalid(format!(
            "{} is not a run directory (no run.json): give a run's directory or its id; `juror runs` \
             lists them",
            directory.display()
        ))),
    }
}
