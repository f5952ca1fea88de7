//! A folder with `metadata.jsonl`: a manifest whose `file_name` column names the image. Other
//! images are in columns such as `original_file_name`.

use super::{DatasetShape, error::DatasetError, jsonl};
use crate::dataset::raw::{RawItem, Records};
use serde_json::{Map, Value};
use std::path::Path;

/// The objects of a `metadata.jsonl`, with a manifest's field names.
pub(super) fn records(path: &Path, shape: &DatasetShape) -> Result<Records, DatasetError> {
    let images = shape.images.clone();
    Ok(Box::new(jsonl::records(path)?.map(move |record| RawItem {
        line: record.line,
        fields: record.fields.map(|fields| rename(fields, &images)),
    })))
}

/// Converts field names; an item without an id gets its image's path without the extension.
fn rename(mut fields: Map<String, Value>, images: &[String]) -> Map<String, Value> {
    for (position, image) in images.iter().enumerate() {
        let named = fields.shift_remove(&format!("{image}_file_name"));
        let plain = if position == 0 { fields.shift_remove("file_name") } else { None };
        if let Some(file) = named.or(plain) {
            fields.entry(image.clone()).or_insert(file);
        }
    }
    let first = images.first().and_then(|image| fields.get(image)).and_then(Value::as_str);
    if let (None | Some(Value::Null), Some(file)) = (fields.get("id"), first) {
        let id = match file.rsplit_once('.') {
            Some((stem, ending)) if !stem.is_empty() && !ending.contains('/') => stem,
            _ => file,
        };
        let id = Value::String(id.to_owned());
        fields.insert("id".to_owned(), id);
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn renamed(fields: Value, images: &[&str]) -> Value {
        let Value::Object(fields) = fields else { panic!("an object is expected") };
        let images: Vec<String> = images.iter().map(|&image| image.to_owned()).collect();
        Value::Object(rename(fields, &images))
    }

    #[test]
    fn file_name_is_the_screenshot_and_the_id() {
        assert_eq!(
            renamed(json!({"file_name": "train/1.png", "split": "train"}), &["screenshot"]),
            json!({"split": "train", "screenshot": "train/1.png", "id": "train/1"})
        );
        assert_eq!(
            renamed(json!({"file_name": "1.png", "id": "one"}), &["screenshot"]),
            json!({"id": "one", "screenshot": "1.png"})
        );
    }

    #[test]
    fn several_images_have_a_column_each() {
        assert_eq!(
            renamed(
                json!({"original_file_name": "a.jpg", "restyled_file_name": "b.jpg"}),
                &["original", "restyled"]
            ),
            json!({"original": "a.jpg", "restyled": "b.jpg", "id": "a"})
        );
    }
}
