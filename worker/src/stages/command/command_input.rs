//! Input of programs that get an item: the item as JSON, and its code in a file.

use juror_files::data_roots::Roots;
use juror_types::item::{Item, Language};
use serde::Serialize;
use std::{collections::BTreeMap, io::Write};

/// Placeholder in arguments for the path of a file with the code.
pub(super) const FILE: &str = "{file}";

/// Input of a command on stdin.
#[derive(Serialize)]
pub(super) struct CommandInput<'item> {
    schema: u32,
    #[serde(flatten)]
    item: &'item Item,
    /// Absolute paths of those images that are files here, by name.
    paths: BTreeMap<&'item str, String>,
}

impl<'item> CommandInput<'item> {
    /// Input for an item whose relative paths are under these roots.
    pub(super) fn new(item: &'item Item, roots: &Roots) -> Self {
        let paths = item.images.iter().filter_map(|(name, image)| {
            let path = roots.resolve(&image.reference).ok()?;
            Some((name.as_str(), path.to_str()?.to_owned()))
        });
        Self { schema: juror_types::SCHEMA, item, paths: paths.collect() }
    }
}

/// Writes code to a file with the ending of its language; the file is removed with the handle.
pub(super) fn write_file(
    code: &str,
    language: Language,
) -> std::io::Result<tempfile::NamedTempFile> {
    let ending = format!(".{}", language.name());
    let mut file = tempfile::Builder::new().prefix("juror-").suffix(&ending).tempfile()?;
    file.write_all(code.as_bytes())?;
    Ok(file)
}
