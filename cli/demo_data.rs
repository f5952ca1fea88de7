//! The golden set, compiled into the command: datasets, and hand-written verdicts that the
//! simulator returns.

use crate::exit::AppError;
use include_dir::{Dir, include_dir};
use juror_journal::journal::is_run_directory;
use juror_simulator::{HandwrittenVerdicts, item_text_digest};
use juror_types::id::Digest;
use serde::Deserialize;
use serde_json::Value;
use std::path::{Path, PathBuf};

static GOLDEN: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/examples/golden");

/// Stylesheet of the components' page, relative to the unpacked set.
pub const STYLESHEET: &str = "page.css";

/// One of the two bundled datasets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Golden {
    /// Interface components with generated code, for the rubric `semantic`.
    Components,
    /// Restyled pictures, for the rubric `acrue`.
    Restyled,
}

impl Golden {
    pub fn rubric(self) -> &'static str {
        match self {
            Self::Components => "semantic",
            Self::Restyled => "acrue",
        }
    }

    /// Manifest, relative to the unpacked set.
    pub fn manifest(self) -> &'static str {
        match self {
            Self::Components => "manifest.jsonl",
            Self::Restyled => "acrue/manifest.jsonl",
        }
    }
}

/// Writes the set into a folder. A file there that differs from the bundled one is an error, and
/// is kept.
pub fn unpack(folder: &Path) -> Result<(), AppError> {
    if is_run_directory(folder) {
        return Err(AppError::invalid(format!(
            "{} is a run directory, and the demo would write its dataset there; choose another \
             --runs-dir",
            folder.display()
        )));
    }
    if let Some(changed) = first_changed(&GOLDEN, folder) {
        return Err(AppError::invalid(format!(
            "{} is not the bundled file and would be overwritten: move {} away, or choose another \
             --runs-dir",
            changed.display(),
            folder.display()
        )));
    }
    let unpacked = std::fs::create_dir_all(folder).and_then(|()| GOLDEN.extract(folder));
    unpacked.map_err(|error| {
        AppError::internal(format!(
            "the golden set cannot be written to {}: {error}",
            folder.display()
        ))
    })
}

/// Hand-written verdicts by the digests of the items' images and code.
pub fn verdict_book() -> Result<HandwrittenVerdicts, AppError> {
    let mut book = HandwrittenVerdicts::new();
    for golden in [Golden::Components, Golden::Restyled] {
        insert_verdicts(&mut book, golden).ok_or_else(|| {
            AppError::internal(format!(
                "the bundled {} does not match its verdicts",
                golden.manifest()
            ))
        })?;
    }
    Ok(book)
}

/// Files of a dataset of these golden components: paths relative to its folder, with contents.
/// `None` if the set lacks a component.
pub fn excerpt(ids: &[&str]) -> Option<Vec<(String, Vec<u8>)>> {
    let text = GOLDEN.get_file(Golden::Components.manifest())?.contents_utf8()?;
    let mut manifest = String::new();
    let mut files = Vec::new();
    for id in ids {
        let (line, item) = text.lines().find_map(|line| {
            let item: GoldenLine = serde_json::from_str(line).ok()?;
            (item.id == *id).then_some((line, item))
        })?;
        manifest.push_str(line);
        manifest.push('\n');
        for path in [item.screenshot?, item.generated_code?] {
            files.push((path.clone(), GOLDEN.get_file(&path)?.contents().to_vec()));
        }
    }
    files.push(("manifest.jsonl".to_owned(), manifest.into_bytes()));
    Some(files)
}

#[derive(Deserialize)]
struct GoldenLine {
    id: String,
    screenshot: Option<String>,
    original: Option<String>,
    restyled: Option<String>,
    generated_code: Option<String>,
    style: Option<String>,
}

#[derive(Deserialize)]
struct GoldenVerdict {
    id: String,
    reply: Value,
}

/// The first file below a folder that differs from the bundled file of its path.
fn first_changed(bundled: &Dir<'_>, folder: &Path) -> Option<PathBuf> {
    let changed = bundled.files().find_map(|file| {
        let path = folder.join(file.path());
        let differs = std::fs::read(&path).is_ok_and(|found| found != file.contents());
        differs.then_some(path)
    });
    changed.or_else(|| bundled.dirs().find_map(|inner| first_changed(inner, folder)))
}

fn insert_verdicts(book: &mut HandwrittenVerdicts, golden: Golden) -> Option<()> {
    let manifest = Path::new(golden.manifest());
    let folder = manifest.parent()?;
    let digest =
        |path: &str| Some(Digest::from_content(GOLDEN.get_file(folder.join(path))?.contents()));
    let items: Vec<GoldenLine> = lines(manifest)?;
    let verdicts: Vec<GoldenVerdict> = lines(&folder.join("verdicts.jsonl"))?;
    for verdict in verdicts {
        let item = items.iter().find(|item| item.id == verdict.id)?;
        let images = [&item.screenshot, &item.original, &item.restyled].into_iter().flatten();
        let images: Vec<Digest> = images.map(|path| digest(path)).collect::<Option<_>>()?;
        let text = match (&item.generated_code, &item.style) {
            (Some(path), _) => GOLDEN.get_file(folder.join(path))?.contents_utf8()?,
            (None, style) => style.as_deref()?,
        };
        book.insert(&images, Some(item_text_digest(text)), verdict.reply);
    }
    Some(())
}

fn lines<T: for<'de> Deserialize<'de>>(path: &Path) -> Option<Vec<T>> {
    let text = GOLDEN.get_file(path)?.contents_utf8()?;
    text.lines().map(|line| serde_json::from_str(line).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_golden_item_has_its_verdict() {
        assert!(!verdict_book().unwrap().is_empty());
        for golden in [Golden::Components, Golden::Restyled] {
            let manifest = Path::new(golden.manifest());
            let items: Vec<GoldenLine> = lines(manifest).unwrap();
            let verdicts: Vec<GoldenVerdict> =
                lines(&manifest.parent().unwrap().join("verdicts.jsonl")).unwrap();
            assert_eq!(items.len(), verdicts.len());
        }
    }

    #[test]
    fn golden_set_unpacks_completely_and_overwrites_only_itself() {
        let folder = tempfile::tempdir().unwrap();
        unpack(folder.path()).unwrap();
        unpack(folder.path()).unwrap();
        std::fs::write(folder.path().join("acrue/manifest.jsonl"), "mine").unwrap();
        let refused = unpack(folder.path()).unwrap_err().to_string();
        assert!(refused.contains("acrue/manifest.jsonl is not the bundled file"), "{refused}");
        assert!(folder.path().join("manifest.jsonl").is_file());
        assert!(folder.path().join("acrue/manifest.jsonl").is_file());
    }
}
