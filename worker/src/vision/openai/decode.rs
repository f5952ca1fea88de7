//! Decoding of a reply of status 200 to JSON. Pure.

use crate::vision::http::BODY_LIMIT;
use flate2::read::GzDecoder;
use serde_json::Value;
use std::{borrow::Cow, io::Read as _};

/// The reason why bytes are not JSON, by their possible cost.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Undecodable {
    /// A page or a text: no model wrote it, so nothing was billed.
    NotCompletion(String),
    /// Empty, or damaged JSON: it may have been a completion.
    Damaged(String),
}

/// Characters of an undecodable response that its error shows.
const SHOWN_CHARACTERS: usize = 80;
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Reads a response as JSON. It is decompressed if its bytes are compressed, regardless of its
/// headers, and a byte-order mark is skipped. The error names content type and first characters.
pub(super) fn decode(content: &[u8], content_type: &str) -> Result<Value, Undecodable> {
    let content = match content.starts_with(GZIP_MAGIC) {
        true => Cow::Owned(decompress(content)?),
        false => Cow::Borrowed(content),
    };
    let text = content.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&content);
    let beginning: String =
        String::from_utf8_lossy(text).trim().chars().take(SHOWN_CHARACTERS).collect();
    serde_json::from_slice(text).map_err(|error| {
        if beginning.is_empty() || beginning.starts_with(['{', '[']) {
            return Undecodable::Damaged(format!("the reply is not JSON ({error})"));
        }
        Undecodable::NotCompletion(not_completion(content_type, &beginning))
    })
}

/// Description of a response that no model wrote.
pub(super) fn not_completion(content_type: &str, beginning: &str) -> String {
    format!(
        "the response is not a chat completion: content type {content_type:?}, beginning with \
         {beginning:?}; check the base URL, and whether a proxy or a log-in page replies"
    )
}

/// The first characters of a JSON value, for messages.
pub(super) fn beginning_of(value: &Value) -> String {
    value.to_string().chars().take(SHOWN_CHARACTERS).collect()
}

fn decompress(content: &[u8]) -> Result<Vec<u8>, Undecodable> {
    let mut plain = Vec::new();
    let limit = BODY_LIMIT as u64;
    match GzDecoder::new(content).take(limit + 1).read_to_end(&mut plain) {
        Ok(_) if plain.len() <= BODY_LIMIT => Ok(plain),
        Ok(_) => Err(Undecodable::Damaged("the reply is too large".to_owned())),
        Err(error) => Err(Undecodable::Damaged(format!("the reply is not valid gzip ({error})"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use serde_json::json;
    use std::io::Write as _;

    fn compressed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn gzip_and_a_byte_order_mark_are_decoded() {
        for content in [
            b"{\"a\":1}".to_vec(),
            b"\xEF\xBB\xBF{\"a\":1}".to_vec(),
            compressed(b"{\"a\":1}"),
            compressed(b"\xEF\xBB\xBF {\"a\":1}"),
        ] {
            assert_eq!(decode(&content, "x").unwrap(), json!({"a": 1}));
        }
    }

    #[test]
    fn a_page_is_told_from_a_damaged_completion() {
        let page = decode(b"<!DOCTYPE html>\n<title>Sign in</title>", "text/html").unwrap_err();
        let Undecodable::NotCompletion(message) = page else { panic!("{page:?}") };
        assert!(message.contains("\"text/html\"") && message.contains("<!DOCTYPE html>"));
        let half = compressed(b"{\"choices\":[]}");
        for damaged in [b"".as_slice(), b" \n", b"{\"choices\":[{", half.split_at(12).0] {
            let error = decode(damaged, "application/json").unwrap_err();
            assert!(matches!(error, Undecodable::Damaged(_)), "{error:?}");
        }
    }

    #[test]
    fn what_grows_beyond_every_answer_is_not_read_to_its_end() {
        let bomb = compressed(&vec![b' '; 32 << 20]);
        assert!(matches!(decode(&bomb, "x"), Err(Undecodable::Damaged(_))));
    }
}
