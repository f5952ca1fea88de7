//! Inputs of scored items that have changed since a run judged them. Changed settings and datasets
//! are found by `RunRecord::difference`.

use crate::{attachments::read_local, error::AppError};
use juror_analysis::fold::Fold;
use juror_files::data_roots::{MAX_CODE_BYTES, MAX_IMAGE_BYTES, Roots};
use juror_journal::journal::RunFiles;
use juror_types::{
    byte_order_mark::without_byte_order_mark,
    id::Digest,
    outcome::{InputRecord, Outcome},
};

/// Refuses to continue a run if an image or the code of a scored item has changed: its verdict
/// would be for other inputs. Files that are not on this machine are left out, and those of items
/// that are not scored may have been corrected.
pub(super) fn refuse_changed_inputs(files: &RunFiles, roots: &Roots) -> Result<(), AppError> {
    let counted = Fold::from_journal(files)?.counted();
    let none = (0u64, None::<(String, String)>);
    let (items, first) = counted.read(files, none, |(items, first), result, _| {
        if result.outcome != Outcome::Scored {
            return;
        }
        let changed = result.item.inputs.iter().find(|input| has_changed(input, roots));
        *items += u64::from(changed.is_some());
        // Results are in the order in which they came, so the first id is named.
        let named = changed.map(|input| {
            let id = &result.screenshot_id;
            (id.clone(), format!("{} of item {id} ({})", input.name, input.reference))
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

fn has_changed(input: &InputRecord, roots: &Roots) -> bool {
    let max_bytes = match input.name.as_str() {
        InputRecord::CODE => MAX_CODE_BYTES,
        _ if input.is_image() => MAX_IMAGE_BYTES,
        _ => return false,
    };
    let today = input.digest.zip(read_local(&input.reference, roots, max_bytes).ok());
    today.is_some_and(|(judged, bytes)| {
        let content = match input.name.as_str() {
            InputRecord::CODE => without_byte_order_mark(&bytes),
            _ => &bytes,
        };
        Digest::from_content(content) != judged
    })
}
