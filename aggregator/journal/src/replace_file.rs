//! Atomic replacement of a file: readers see the old or the new content, never a part.

use serde::Serialize;
use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

/// Writes a temporary file beside `path`, syncs it and renames it to `path`. On an error `path` is
/// unchanged and the temporary file is removed.
pub fn replace_file(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let temporary = beside(path);
    let written = fill(&temporary, write)
        .and_then(|()| fs::rename(&temporary, path))
        .and_then(|()| sync_directory(path));
    if written.is_err() {
        // A leftover that cannot be removed is left.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Writes a value as JSON to `path`, as [`replace_file`] does.
pub fn replace_json(path: &Path, value: &impl Serialize) -> io::Result<()> {
    replace_file(path, |out| {
        serde_json::to_writer_pretty(&mut *out, value)?;
        out.write_all(b"\n")
    })
}

/// Syncs the directory of `path`.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) => {
            let directory = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            File::open(directory)?.sync_all()
        }
        None => Ok(()),
    }
}

fn fill(
    temporary: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let mut writer = BufWriter::new(File::create(temporary)?);
    write(&mut writer)?;
    writer.flush()?;
    writer.get_ref().sync_all()?;
    Ok(())
}

fn beside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.part", std::process::id()));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_write_keeps_the_old_content_and_leaves_no_temporary_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("report.json");
        replace_file(&path, |out| out.write_all(b"old")).unwrap();
        let failed = replace_file(&path, |out| {
            out.write_all(b"new")?;
            Err(io::Error::other("broken"))
        });
        assert!(failed.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}
