//! The error of an item without generated code.

use crate::item_texts::LoadedItem;
use juror_types::outcome::{ErrorKind, JobError};

/// The error of an item without generated code that can be judged, depending on the code's source.
pub(super) fn error(loaded: &LoadedItem, from_pipeline: bool) -> JobError {
    let place = match (&loaded.unusable_code, from_pipeline) {
        (Some(reason), _) => reason.as_str(),
        (None, true) => "pipeline_command returned none",
        (None, false) => "generated_code is missing or blank",
    };
    let message = format!(
        "the pipeline made no usable code for this item ({place}), so nothing was judged; \
         run.missing_output = \"excluded\" leaves such items out of averages"
    );
    JobError { kind: ErrorKind::Output, message }
}
