//! Settings of measured evidence and of the built-in renderer.

use juror_render::TailwindUse;
use juror_types::evidence::EvidenceMode;
use serde::Deserialize;
use std::path::PathBuf;

/// `[evidence]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EvidenceSettings {
    /// Mode of measured evidence: none, facts, or also images for the judge.
    pub mode: EvidenceMode,
    /// Maximum number of renderings to find the repairs of an item.
    pub trials: usize,
}

/// `[render]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RenderSettings {
    /// Path of the browser; none searches PATH.
    pub browser: Option<PathBuf>,
    /// Maximum number of concurrently rendered pages; none is the number of cores.
    pub concurrency: Option<usize>,
    /// Time limit of the browser for an item, in seconds.
    pub timeout_seconds: u64,
    /// Condition for loading Tailwind's browser build.
    pub tailwind: TailwindUse,
    /// Folder of modules that components may import, in addition to the shipped ones.
    pub modules: Option<PathBuf>,
    /// Folder of kept renders, which several processes may share; none is one in the state folder.
    pub keep_dir: Option<PathBuf>,
    /// Stylesheet of the page of components and parts of pages.
    pub stylesheet: Option<PathBuf>,
}
