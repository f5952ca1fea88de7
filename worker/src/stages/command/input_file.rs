//! Files with an item's code, for programs that take one.

use juror_types::item::Language;
use std::io::Write;

/// Placeholder in arguments for the path of a file with the code.
pub(super) const FILE: &str = "{file}";

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
