//! Generated code, within bounds.

use super::{CHANGED, FETCHES_NOTHING};
use juror_aggregator::report::Code;
use juror_common::{
    files::{MOST_TEXT_BYTES, Roots},
    id::Digest,
    item::{Language, Text},
    reference::Reference,
};

/// So many bytes of code are shown in all.
pub const MOST_BYTES: usize = 8 << 20;

/// So many bytes of one item's code are shown.
const MOST_OF_ONE: usize = 20_000;

/// The code, or why it is not shown: what has another digest than the code that was judged is not.
/// Takes what it needs from what is left for all.
pub fn read(
    code: &Text,
    judged: Option<Digest>,
    language: Option<Language>,
    roots: &Roots,
    room: &mut usize,
) -> Result<Code, String> {
    let text = match code {
        Text::Inline(text) => text.clone(),
        Text::Path(path) => {
            let Ok(Reference::Path(path)) = Reference::parse(path) else {
                return Err(FETCHES_NOTHING.to_owned());
            };
            let bytes = roots.read_now(path, MOST_TEXT_BYTES).map_err(|error| error.to_string())?;
            let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
            String::from_utf8_lossy(bytes).into_owned()
        }
    };
    if judged.is_some_and(|judged| judged != Digest::of(text.as_bytes())) {
        return Err(CHANGED.to_owned());
    }
    let end = text.floor_char_boundary(MOST_OF_ONE);
    if end > *room {
        return Err("this page has as much code as it may have".to_owned());
    }
    *room -= end;
    let shown = text.get(..end).unwrap_or_default().to_owned();
    Ok(Code { left_out: text.len() - shown.len(), text: shown, language })
}
