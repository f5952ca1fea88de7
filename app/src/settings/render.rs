//! Settings of the built-in renderer.

use juror_render::TailwindUse;
use serde::Deserialize;
use std::path::PathBuf;

/// `[render]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RenderSettings {
    /// The browser; none looks for one on PATH.
    pub browser: Option<PathBuf>,
    /// Pages that are drawn at once; as many as there are cores if none is given.
    pub concurrency: Option<usize>,
    /// Time of the browser for one item, in seconds.
    pub timeout_seconds: u64,
    /// Condition on which pages get Tailwind's browser build.
    pub tailwind: TailwindUse,
    /// A folder of modules that components may import, beside the shipped ones.
    pub modules: Option<PathBuf>,
    /// Folder of kept renders, which several processes may share; none for one in the state folder.
    pub keep_dir: Option<PathBuf>,
    /// Styles of the page that components and parts of pages stand in.
    pub stylesheet: Option<PathBuf>,
}
