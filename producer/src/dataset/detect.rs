//! Detection of a dataset's format.

use super::{DatasetError, DatasetFormat, DatasetShape, pairs::ImagePairs};
use std::path::{Path, PathBuf};

/// Format of a folder, and the file or folder to read.
pub(super) fn folder(
    folder: &Path,
    shape: &DatasetShape,
) -> Result<(DatasetFormat, PathBuf), DatasetError> {
    let manifests = [
        (DatasetFormat::Jsonl, "manifest.jsonl"),
        (DatasetFormat::Jsonl, "dataset.jsonl"),
        (DatasetFormat::Metadata, "metadata.jsonl"),
    ];
    for (format, name) in manifests {
        let path = folder.join(name);
        if path.is_file() {
            return Ok((format, path));
        }
    }
    let mut needed = match shape.images.len() {
        0 | 1 => Vec::new(),
        _ => vec![format!("the images {}", shape.images.join(", "))],
    };
    if shape.style_required {
        needed.push("a style".to_owned());
    }
    if !needed.is_empty() {
        let needed = needed.join(" and ");
        return Err(DatasetError::TooLittleInFolder { path: folder.to_owned(), needed });
    }
    // Listed once to report a folder without images now.
    ImagePairs::list(folder, "")?;
    Ok((DatasetFormat::Pairs, folder.to_owned()))
}

/// Format of a file, by its name.
pub(super) fn file(path: &Path) -> Result<DatasetFormat, DatasetError> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if path.file_name().is_some_and(|name| name == "metadata.jsonl") {
        Ok(DatasetFormat::Metadata)
    } else if ending.eq_ignore_ascii_case("jsonl") {
        Ok(DatasetFormat::Jsonl)
    } else if ending.eq_ignore_ascii_case("csv") {
        Ok(DatasetFormat::Csv)
    } else {
        Err(DatasetError::UnknownFormat(path.to_owned()))
    }
}
