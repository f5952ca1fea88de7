//! Store of rendered pictures, in a folder of the settings or in the state folder.

use crate::settings::{RunSettings, Settings};
use juror_files::kept_renders::KeptRenders;

/// The store of rendered pictures.
pub fn renders(settings: &Settings) -> KeptRenders {
    let RunSettings { state_dir, runs_dir, .. } = &settings.run;
    match &settings.render.keep_dir {
        Some(folder) => KeptRenders::in_folder(folder.clone()),
        None => KeptRenders::in_state(state_dir.as_ref().unwrap_or(runs_dir)),
    }
}
