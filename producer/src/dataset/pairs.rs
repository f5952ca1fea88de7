//! A folder without a manifest: `N.png` (or another image) with `N.tsx`, `N.jsx` or `N.html`, and
//! with the expected tokens in `N.tokens.json`. Code and tokens are optional.

use super::{
    error::{DatasetError, DatasetProblem, FieldError},
    parse_item::check_id,
};
use crate::dataset::raw::unreadable;
use juror_types::{
    id::Digest,
    item::{ImageReference, Item, Language, Text, TokenSource},
};
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};

/// Endings of the image formats that a worker reads (`juror_image::ReadableFormat`).
const IMAGES: [&str; 6] = ["png", "jpg", "jpeg", "webp", "gif", "bmp"];
const CODE: [&str; 3] = ["tsx", "jsx", "html"];
const TOKENS: &str = "tokens.json";

/// The images of a folder, sorted by name. Only their names are held in memory.
pub(super) struct ImagePairs {
    folder: PathBuf,
    image_field: String,
    names: std::vec::IntoIter<Box<str>>,
    /// Number of files of code or tokens without an image so far.
    remaining_companions: usize,
    subfolders: usize,
}

impl ImagePairs {
    /// Lists a folder; `image_field` is the field of its images in items.
    pub(super) fn list(folder: &Path, image_field: &str) -> Result<Self, DatasetError> {
        let mut names: Vec<Box<str>> = Vec::new();
        let (mut remaining_companions, mut subfolders) = (0, 0);
        for entry in std::fs::read_dir(folder).map_err(|error| unreadable(folder, error))? {
            let entry = entry.map_err(|error| unreadable(folder, error))?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                return Err(DatasetError::FileName(folder.join(name)));
            };
            if name.starts_with('.') {
                continue;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                subfolders += 1;
            } else if split(name).is_some() {
                names.push(name.into());
            } else if is_companion(name) {
                remaining_companions += 1;
            }
        }
        if names.is_empty() {
            return Err(DatasetError::EmptyFolder(folder.to_owned()));
        }
        names.sort_unstable();
        let (folder, image_field) = (folder.to_owned(), image_field.to_owned());
        Ok(Self { folder, image_field, names: names.into_iter(), remaining_companions, subfolders })
    }

    /// The next image and its item.
    pub(super) fn next_pair(&mut self) -> Option<(PathBuf, Result<Item, FieldError>)> {
        let name = self.names.next()?;
        let item = self.item(&name);
        Some((self.folder.join(&*name), item))
    }

    /// Warnings about files and folders that belong to no pair, once all pairs are read.
    pub(super) fn warnings(&self) -> impl Iterator<Item = String> {
        let left = |count: usize, what: &str| (count > 0).then(|| format!("{what}: {count}"));
        let companions = "files of code or tokens without an image of the same name";
        let folders = "subfolders, whose images are not read";
        [left(self.remaining_companions, companions), left(self.subfolders, folders)]
            .into_iter()
            .flatten()
    }

    fn item(&mut self, name: &str) -> Result<Item, FieldError> {
        let stem = split(name).map_or(name, |(stem, _)| stem);
        check_id(stem)?;
        let mut item = Item { id: stem.to_owned(), ..Item::default() };
        let image = ImageReference { reference: name.to_owned(), sha256: None };
        item.images.insert(self.image_field.clone(), image);
        for ending in CODE {
            let Some(path) = self.companion(stem, ending) else { continue };
            if let Some(Text::Path(other)) = &item.generated_code {
                let problem = DatasetProblem::Ambiguous(other.clone(), path);
                return Err(FieldError::new("generated_code", problem));
            }
            item.generated_code = Some(Text::Path(path));
            item.language = Language::from_extension(ending);
        }
        item.expected_tokens = self.companion(stem, TOKENS).map(TokenSource::Path);
        Ok(item)
    }

    fn companion(&mut self, stem: &str, ending: &str) -> Option<String> {
        let name = format!("{stem}.{ending}");
        if !self.folder.join(&name).is_file() {
            return None;
        }
        self.remaining_companions = self.remaining_companions.saturating_sub(1);
        Some(name)
    }
}

/// Digest of the listing: names and sizes of all images, code and tokens.
pub(super) fn digest(folder: &Path) -> Result<Digest, DatasetError> {
    let mut hasher = Sha256::new();
    for image in ImagePairs::list(folder, "")?.names {
        let stem = split(&image).map_or(&*image, |(stem, _)| stem);
        let companions = CODE.iter().chain([&TOKENS]).map(|ending| format!("{stem}.{ending}"));
        for name in std::iter::once(image.to_string()).chain(companions) {
            if let Ok(metadata) = std::fs::metadata(folder.join(&name)) {
                hasher.update((name.len() as u64).to_be_bytes());
                hasher.update(&name);
                hasher.update(metadata.len().to_be_bytes());
            }
        }
    }
    Ok(Digest::from_bytes(hasher.finalize().into()))
}

/// An image's name and extension; `None` for other files.
fn split(name: &str) -> Option<(&str, &str)> {
    let (stem, ending) = name.rsplit_once('.')?;
    let known = IMAGES.iter().any(|image| ending.eq_ignore_ascii_case(image));
    (known && !stem.is_empty()).then_some((stem, ending))
}

fn is_companion(name: &str) -> bool {
    CODE.iter().chain([&TOKENS]).any(|ending| {
        name.strip_suffix(ending).is_some_and(|stem| stem.len() > 1 && stem.ends_with('.'))
    })
}
