//! Generated code, within bounds.

use super::{JudgedInputs, UnavailableInput, read_local};
use bytes::Bytes;
use juror_files::data_roots::{MAX_CODE_BYTES, Roots};
use juror_report::{AttachmentRequest, Code};
use juror_types::{
    byte_order_mark::without_byte_order_mark,
    item::{Item, Text},
    outcome::InputRecord,
};

/// Maximum size of all code that is shown, in bytes.
pub const MAX_BYTES: usize = 8 << 20;

/// Maximum size of one item's code that is shown, in bytes.
const MAX_ITEM_BYTES: usize = 20_000;

/// Code of a result, or the reason for its absence; none if the item has no code, or if its dataset
/// is unreadable, as `item` says, and the run stores none. Subtracts its size from the remaining
/// bytes.
pub fn load(
    one: &AttachmentRequest,
    item: Result<(&Item, &Roots), &str>,
    has_pipeline: bool,
    inputs: &JudgedInputs,
    remaining_bytes: &mut usize,
) -> Option<Result<Code, String>> {
    let judged = one.code();
    let is_made =
        has_pipeline || judged.is_some_and(|code| code.reference == InputRecord::PIPELINE);
    let current = match item {
        Err(reason) => Err(reason.into()),
        Ok((item, _)) if item.generated_code.is_none() && judged.is_none() => return None,
        Ok(_) if is_made => Err(UnavailableInput::MadeByPipeline),
        Ok((item, roots)) => read(item.generated_code.as_ref()?, roots).map_err(Into::into),
    };
    let digest = judged.and_then(|code| code.digest);
    let input = match inputs.resolve(current, digest, MAX_CODE_BYTES) {
        Ok(input) => input,
        Err(_) if item.is_err() => return None,
        Err(reason) => return Some(Err(reason.to_string())),
    };
    let language = one.language.or(item.ok().and_then(|(item, _)| item.language));
    let remark = input.remark;
    let shown = cut(&input.content, remaining_bytes);
    Some(shown.map(|(text, left_out)| Code { text, language, left_out, remark }))
}

/// The code as it is now, without a byte order mark.
fn read(code: &Text, roots: &Roots) -> Result<Bytes, String> {
    let path = match code {
        Text::Inline(text) => return Ok(Bytes::from(text.clone())),
        Text::Path(path) => path,
    };
    let bytes = read_local(path, roots, MAX_CODE_BYTES)?;
    Ok(bytes.slice_ref(without_byte_order_mark(&bytes)))
}

/// The beginning of a text, and how many bytes are left out at its end.
fn cut(bytes: &[u8], remaining_bytes: &mut usize) -> Result<(String, usize), String> {
    let text = String::from_utf8_lossy(bytes);
    let end = text.floor_char_boundary(MAX_ITEM_BYTES);
    if end > *remaining_bytes {
        return Err("omitted: the page has reached its limit of code".to_owned());
    }
    *remaining_bytes -= end;
    let shown = text.get(..end).unwrap_or_default().to_owned();
    Ok((shown, text.len() - end))
}
