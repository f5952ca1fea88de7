//! Datasets: a manifest of items plus their files, read as a stream any number of times.

mod csv;
mod detect;
mod error;
mod jsonl;
mod lines;
mod metadata;
mod pairs;
mod parse_item;
mod raw;
mod reference_check;
mod warnings;

pub use error::{DatasetError, DatasetPlace, DatasetProblem, LineError};

pub(crate) use error::FieldError;

use juror_files::fetch_policy::FetchPolicy;
use juror_types::{
    file_identity::FileIdentity,
    id::Digest,
    item::Item,
    outcome::InputRecord,
    rubric::{PromptField, Rubric},
};
use pairs::ImagePairs;
use parse_item::{KNOWN_FIELDS, parse_item};
use raw::{Records, open_file, unreadable};
use reference_check::Files;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};
use warnings::Warnings;

/// The rubric's requirements of every item, and allowed sources of files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatasetShape {
    /// The fields that name images, in the rubric's order.
    pub images: Vec<String>,
    /// True if every item must have a style.
    pub style_required: bool,
    /// Folders in which files may be, in addition to the manifest's own.
    pub data_roots: Vec<PathBuf>,
    /// Hosts and buckets from which this process may read; items with others cause warnings.
    pub allowed: FetchPolicy,
    /// Output files of the command: an item that names one is an error.
    pub outputs: Vec<FileIdentity>,
}

impl DatasetShape {
    /// Requirements of a rubric; no further folders, sources or outputs.
    pub fn for_rubric(rubric: &Rubric) -> Self {
        Self {
            images: rubric.images_of_items().map(|image| image.name.clone()).collect(),
            style_required: rubric.needs(PromptField::Style),
            ..Self::default()
        }
    }

    fn known_fields(&self) -> Vec<&str> {
        self.images.iter().map(String::as_str).chain(KNOWN_FIELDS).collect()
    }
}

/// Format of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatasetFormat {
    /// A JSONL manifest.
    Jsonl,
    /// A `metadata.jsonl` whose `file_name` is the image.
    Metadata,
    /// A CSV file with a header row.
    Csv,
    /// A folder of images with code and tokens of the same name.
    Pairs,
}

/// A dataset that can be read any number of times. Clones are cheap.
#[derive(Clone, Debug)]
pub struct Dataset(Arc<OpenDataset>);

impl Dataset {
    /// Detects the format of a dataset. In a folder, the first existing one of `manifest.jsonl`,
    /// `dataset.jsonl` and `metadata.jsonl` is read; without any, it is a folder of pairs.
    pub fn open(path: &Path, shape: &DatasetShape) -> Result<Self, DatasetError> {
        let metadata = std::fs::metadata(path).map_err(|error| unreadable(path, error))?;
        let (format, source) = match metadata.is_dir() {
            true => detect::folder(path, shape)?,
            false => (detect::file(path)?, path.to_owned()),
        };
        let folder = match format {
            DatasetFormat::Pairs => source.as_path(),
            _ => match source.parent() {
                Some(parent) if parent != Path::new("") => parent,
                _ => Path::new("."),
            },
        };
        let files =
            Files::new(folder, &shape.data_roots, shape.allowed.clone(), shape.outputs.clone())?;
        let source = source.as_path().into();
        Ok(Self(Arc::new(OpenDataset { format, source, shape: shape.clone(), files })))
    }

    /// Format that was recognized.
    pub fn format(&self) -> DatasetFormat {
        self.0.format
    }

    /// The manifest, or the folder of pairs.
    pub fn source(&self) -> &Path {
        &self.0.source
    }

    /// The folder to which references are relative, as an absolute path.
    pub fn folder(&self) -> &Path {
        self.0.files.folder()
    }

    /// Digest of the manifest's bytes; of the listing (names and sizes) for a folder of pairs.
    pub fn digest(&self) -> Result<Digest, DatasetError> {
        if self.0.format == DatasetFormat::Pairs {
            return pairs::digest(&self.0.source);
        }
        let digest = Digest::from_reader(open_file(&self.0.source)?);
        digest.map_err(|error| unreadable(&self.0.source, error))
    }

    /// Reads the items from the beginning, in order. A broken line is an error, and reading
    /// continues after it.
    pub fn items(&self) -> Result<DatasetItems, DatasetError> {
        let (source, shape) = (&*self.0.source, &self.0.shape);
        let reader = match self.0.format {
            DatasetFormat::Jsonl => Reader::Lines(jsonl::records(source)?),
            DatasetFormat::Metadata => Reader::Lines(metadata::records(source, shape)?),
            DatasetFormat::Csv => Reader::Lines(csv::records(source)?),
            DatasetFormat::Pairs => {
                let image = shape.images.first().map_or("", String::as_str);
                Reader::Pairs(ImagePairs::list(source, image)?)
            }
        };
        let warnings = Warnings::new(&shape.known_fields());
        Ok(DatasetItems { opened: Arc::clone(&self.0), reader, warnings })
    }

    /// The first line that names an output file of the command. Reads no further than needed, and
    /// nothing without outputs.
    pub fn line_naming_an_output(&self) -> Result<Option<LineError>, DatasetError> {
        if self.0.shape.outputs.is_empty() {
            return Ok(None);
        }
        let naming = |placed: ItemAtLine| {
            let error = self.find_files(&placed.item).err()?;
            matches!(error.problem, DatasetProblem::IsOutput(_)).then(|| error.at(placed.place))
        };
        Ok(self.items()?.flatten().find_map(naming))
    }

    /// The text of an item's small file, if it can be read.
    pub(crate) fn read_text(&self, reference: &str, max_bytes: u64) -> Option<String> {
        self.0.files.read_text(reference, max_bytes)
    }

    /// True if an item names a host or bucket from which this process may not read.
    pub(crate) fn is_not_allowed(&self, item: &Item) -> bool {
        item.references().any(|reference| self.0.files.not_allowed(reference).is_some())
    }

    /// Checks that all files of an item exist, without opening any.
    pub(crate) fn find_files(&self, item: &Item) -> Result<(), FieldError> {
        let find = |field: &str, reference: &str, hint| {
            let found = self.0.files.find(reference, hint);
            found.map_err(|problem| FieldError::new(field, problem))
        };
        for (name, image) in &item.images {
            find(name, &image.reference, "")?;
        }
        if let Some(image) = &item.rendered {
            find(Item::RENDERED, &image.reference, "")?;
        }
        for (name, path) in InputRecord::TEXTS.into_iter().zip(item.text_paths()) {
            let hint = match name {
                InputRecord::CODE => "; if this is code and not a path, end it with a line break",
                _ => "",
            };
            path.flatten().map_or(Ok(()), |path| find(name, path, hint))?;
        }
        Ok(())
    }
}

/// An item with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemAtLine {
    /// Place of the item in the dataset.
    pub place: DatasetPlace,
    /// Item as parsed.
    pub item: Item,
}

/// The items of a dataset, in order, one at a time.
pub struct DatasetItems {
    opened: Arc<OpenDataset>,
    reader: Reader,
    warnings: Warnings,
}

impl DatasetItems {
    /// Warnings so far.
    pub fn warnings(&self) -> &[String] {
        self.warnings.messages()
    }
}

impl Iterator for DatasetItems {
    type Item = Result<ItemAtLine, LineError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (place, item) = match &mut self.reader {
            Reader::Lines(records) => {
                let record = records.next()?;
                let place =
                    DatasetPlace { file: Arc::clone(&self.opened.source), line: Some(record.line) };
                let OpenDataset { shape, files, .. } = &*self.opened;
                let warnings = &mut self.warnings;
                let read = |fields| parse_item(fields, shape, files, warnings);
                (place, record.fields.and_then(read))
            }
            Reader::Pairs(pairs) => match pairs.next_pair() {
                Some((path, item)) => (DatasetPlace { file: path.into(), line: None }, item),
                None => {
                    if self.warnings.messages().is_empty() {
                        pairs.warnings().for_each(|warning| self.warnings.add(warning));
                    }
                    return None;
                }
            },
        };
        Some(match item {
            Ok(item) => Ok(ItemAtLine { place, item }),
            Err(error) => Err(error.at(place)),
        })
    }
}

#[derive(Debug)]
struct OpenDataset {
    format: DatasetFormat,
    /// The manifest, or the folder of pairs.
    source: Arc<Path>,
    shape: DatasetShape,
    files: Files,
}

enum Reader {
    Lines(Records),
    Pairs(ImagePairs),
}

#[cfg(test)]
mod tests;
