//! Inputs of scored items that have changed since a run judged them. Changed settings and datasets
//! are found by `RunRecord::difference`.

use super::run_setup::RunSetup;
use crate::{attachments::read_local, error::AppError};
use juror_analysis::fold::Fold;
use juror_files::data_roots::{MAX_CODE_BYTES, MAX_IMAGE_BYTES, MAX_TEXT_BYTES, Roots};
use juror_journal::journal::RunFiles;
use juror_producer::dataset::{Dataset, DatasetError};
use juror_types::{
    byte_order_mark::without_byte_order_mark,
    id::Digest,
    item::Item,
    outcome::{InputRecord, JobResult, Outcome},
};
use juror_worker::design_tokens::flatten;
use std::collections::HashMap;

/// Refuses to continue a run if an image, the code or the tokens of a scored item have changed: its
/// verdict would be for other inputs. Files that are not on this machine are left out, and those of
/// items that are not scored may have been corrected.
pub(crate) fn refuse_changed_inputs(files: &RunFiles, setup: &RunSetup) -> Result<(), AppError> {
    let inputs = CurrentInputs {
        references: references(&setup.dataset).map_err(AppError::invalid)?,
        roots: Roots::new(setup.data_roots()),
    };
    let counted = Fold::from_journal(files)?.counted();
    let none = (0u64, None::<(String, String)>);
    let (items, first) = counted.read(files, none, |(items, first), result, _| {
        if result.outcome != Outcome::Scored {
            return;
        }
        let changed = inputs.changed_in(&result);
        *items += u64::from(changed.is_some());
        // Results are in the order in which they came, so the first id is named.
        let named = changed.map(|(name, reference)| {
            let id = &result.screenshot_id;
            (id.clone(), format!("{name} of item {id} ({reference})"))
        });
        *first = first.take().into_iter().chain(named).min();
    })?;
    let Some((_, first)) = first else { return Ok(()) };
    let more =
        if items > 1 { format!(", and inputs of {} more", items - 1) } else { String::new() };
    Err(AppError::invalid(format!(
        "run {} cannot be continued: {first}{more} changed since it was scored; start a new run, with \
         another --run-id",
        files.record().run_id
    )))
}

/// Files of the dataset's items as they are today.
struct CurrentInputs {
    /// References of each item's files, by the item's id and the names of [`InputRecord`].
    references: HashMap<String, Vec<(String, String)>>,
    roots: Roots,
}

impl CurrentInputs {
    /// Name and reference of the first changed input of a result.
    fn changed_in(&self, result: &JobResult) -> Option<&(String, String)> {
        let references = self.references.get(&result.screenshot_id)?;
        references.iter().find(|(name, reference)| {
            let mut inputs = result.item.inputs.iter();
            let judged = inputs.find(|input| input.name == *name);
            judged.is_some_and(|judged| self.has_changed(judged, reference))
        })
    }

    fn has_changed(&self, judged: &InputRecord, reference: &str) -> bool {
        // What the run made itself is no file of the dataset.
        if judged.is_render() || judged.reference == InputRecord::PIPELINE {
            return false;
        }
        let max_bytes = match judged.name.as_str() {
            InputRecord::CODE => MAX_CODE_BYTES,
            _ if judged.is_image() => MAX_IMAGE_BYTES,
            _ => MAX_TEXT_BYTES,
        };
        let today = judged.digest.zip(read_local(reference, &self.roots, max_bytes).ok());
        today.is_some_and(|(digest, bytes)| digest_of(&judged.name, &bytes) != Some(digest))
    }
}

/// References of the items' files.
fn references(dataset: &Dataset) -> Result<HashMap<String, Vec<(String, String)>>, DatasetError> {
    let items = dataset.items()?.flatten();
    Ok(items.map(|placed| (placed.item.id.clone(), files_of(&placed.item))).collect())
}

fn files_of(item: &Item) -> Vec<(String, String)> {
    let texts = InputRecord::TEXTS.into_iter().zip(item.text_paths());
    let texts = texts.filter_map(|(name, path)| Some((name.to_owned(), path??.to_owned())));
    let rendered = item.rendered.iter().map(|image| (Item::RENDERED.to_owned(), image));
    let images = item.images.iter().map(|(name, image)| (name.clone(), image)).chain(rendered);
    texts.chain(images.map(|(name, image)| (name, image.reference.clone()))).collect()
}

/// Digest of a file's content as [`InputRecord::digest`] has it; none of a file that is no tokens.
fn digest_of(name: &str, bytes: &[u8]) -> Option<Digest> {
    match name {
        InputRecord::CODE => Some(Digest::from_content(without_byte_order_mark(bytes))),
        InputRecord::EXPECTED_TOKENS | InputRecord::EXTRACTED_TOKENS => {
            let tokens = serde_json::from_slice(without_byte_order_mark(bytes)).ok()?;
            Some(Digest::from_content(&serde_json::to_vec(&flatten(&tokens).ok()?).ok()?))
        }
        _ => Some(Digest::from_content(bytes)),
    }
}
