//! The pictures of rendered code that are kept.

use crate::settings::{RunSettings, Settings};
use juror_files::kept_renders::KeptRenders;

/// The kept pictures of rendered code: in the folder of the settings, else in the state folder.
pub fn renders(settings: &Settings) -> KeptRenders {
    let RunSettings { state_dir, runs_dir, .. } = &settings.run;
    match &settings.render.keep_dir {
        Some(folder) => KeptRenders::in_folder(folder.clone()),
        None => KeptRenders::in_state(state_dir.as_ref().unwrap_or(runs_dir)),
    }
}
