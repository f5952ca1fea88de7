//! Decoding of a reply: its compression, its byte-order mark, its JSON. Pure.

use crate::{lone_surrogates::replace_lone_surrogates, vision::http::BODY_LIMIT};
use flate2::read::{GzDecoder, ZlibDecoder};
use juror_types::byte_order_mark::without_byte_order_mark;
use serde_json::Value;
use std::{
    borrow::Cow,
    io::{self, Read as _},
};

/// The reason why bytes are not JSON, by their possible cost.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Undecodable {
    /// A page or a text: no model wrote it, so nothing was billed.
    NotCompletion(String),
    /// An unrequested event stream: a model wrote it.
    Stream(String),
    /// Empty, or bytes that cannot be read: they may have been a completion.
    Damaged(String),
}

/// Characters of an undecodable response that its error shows.
const SHOWN_CHARACTERS: usize = 80;
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];

/// Reads a response as JSON. It is decompressed if its bytes are compressed by gzip or zlib,
/// regardless of its headers, and a byte-order mark is skipped. The error names content type and
/// first characters.
pub(super) fn decode(content: &[u8], content_type: &str) -> Result<Value, Undecodable> {
    let content = decompressed(content)?;
    let text = without_byte_order_mark(&content);
    let beginning: String =
        String::from_utf8_lossy(text).trim().chars().take(SHOWN_CHARACTERS).collect();
    serde_json::from_slice(&replace_lone_surrogates(text)).map_err(|error| {
        let is_page = beginning.starts_with('<');
        if ["data:", "event:"].iter().any(|field| beginning.starts_with(field)) {
            Undecodable::Stream(not_completion(content_type, &beginning))
        } else if beginning.is_empty() || beginning.starts_with(['{', '[']) {
            Undecodable::Damaged(format!("the reply is not JSON ({error})"))
        } else if !is_page && str::from_utf8(text).is_err() {
            Undecodable::Damaged("the reply is in an encoding that was not asked for".to_owned())
        } else {
            Undecodable::NotCompletion(not_completion(content_type, &beginning))
        }
    })
}

/// Text of an error's body, decompressed and without its byte-order mark, as [`decode`] reads a
/// reply. A body that only looks compressed stays as it is.
pub(super) fn error_text(content: &[u8]) -> Cow<'_, [u8]> {
    match decompressed(content) {
        Ok(Cow::Owned(plain)) => Cow::Owned(without_byte_order_mark(&plain).to_vec()),
        _ => Cow::Borrowed(without_byte_order_mark(content)),
    }
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

fn decompressed(content: &[u8]) -> Result<Cow<'_, [u8]>, Undecodable> {
    Ok(if content.starts_with(GZIP_MAGIC) {
        Cow::Owned(decompress(GzDecoder::new(content), "gzip")?)
    } else if is_zlib(content) {
        Cow::Owned(decompress(ZlibDecoder::new(content), "zlib")?)
    } else {
        Cow::Borrowed(content)
    })
}

/// True if bytes begin with the header of zlib (RFC 1950), which `content-encoding: deflate` means.
fn is_zlib(content: &[u8]) -> bool {
    match content {
        [method @ 0x78, flags, ..] => u16::from_be_bytes([*method, *flags]).is_multiple_of(31),
        _ => false,
    }
}

fn decompress(content: impl io::Read, format: &str) -> Result<Vec<u8>, Undecodable> {
    let mut plain = Vec::new();
    let limit = BODY_LIMIT as u64;
    match content.take(limit + 1).read_to_end(&mut plain) {
        Ok(_) if plain.len() <= BODY_LIMIT => Ok(plain),
        Ok(_) => Err(Undecodable::Damaged("the reply is too large".to_owned())),
        Err(error) => {
            Err(Undecodable::Damaged(format!("the reply is not valid {format} ({error})")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{
        Compression,
        write::{GzEncoder, ZlibEncoder},
    };
    use serde_json::json;
    use std::io::Write as _;

    fn compressed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn deflated(text: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn half_characters_leave_the_rest_readable() {
        let content = br#"{"a": "Save \ud83d", "b": 1}"#;
        assert_eq!(decode(content, "x").unwrap(), json!({"a": "Save \u{fffd}", "b": 1}));
    }

    #[test]
    fn compressed_bodies_and_byte_order_marks_are_decoded() {
        for content in [
            deflated(b"{\"a\":1}"),
            b"{\"a\":1}".to_vec(),
            b"\xEF\xBB\xBF{\"a\":1}".to_vec(),
            compressed(b"{\"a\":1}"),
            compressed(b"\xEF\xBB\xBF {\"a\":1}"),
        ] {
            assert_eq!(decode(&content, "x").unwrap(), json!({"a": 1}));
        }
    }

    #[test]
    fn error_bodies_are_decoded_as_replies_are() {
        let error = b"\xEF\xBB\xBF{\"error\":1}";
        for content in [error.to_vec(), compressed(error), deflated(error)] {
            assert_eq!(&*error_text(&content), b"{\"error\":1}");
        }
        for plain in [b"x is unknown".as_slice(), b"x ", b""] {
            assert_eq!(&*error_text(plain), plain);
        }
    }

    #[test]
    fn html_page_is_distinguished_from_a_damaged_completion() {
        let page = decode(b"<!DOCTYPE html>\n<title>Sign in</title>", "text/html").unwrap_err();
        let Undecodable::NotCompletion(message) = page else { panic!("{page:?}") };
        assert!(message.contains("\"text/html\"") && message.contains("<!DOCTYPE html>"));
        let half = compressed(b"{\"choices\":[]}");
        let wide: Vec<u8> = "{\"a\":1}".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let wide = [b"\xFF\xFE", wide.as_slice()].concat();
        for damaged in [b"".as_slice(), b" \n", b"{\"choices\":[{", half.split_at(12).0, &wide] {
            let error = decode(damaged, "application/json").unwrap_err();
            assert!(matches!(error, Undecodable::Damaged(_)), "{error:?}");
        }
    }

    #[test]
    fn event_stream_is_distinguished_from_a_page() {
        for stream in ["data: {\"choices\":[]}\n\n", "event: message\ndata: {}\n\n"] {
            let error = decode(stream.as_bytes(), "text/event-stream").unwrap_err();
            assert!(matches!(error, Undecodable::Stream(_)), "{error:?}");
        }
    }

    #[test]
    fn oversized_body_is_not_read_to_its_end() {
        let bomb = compressed(&vec![b' '; 32 << 20]);
        assert!(matches!(decode(&bomb, "x"), Err(Undecodable::Damaged(_))));
    }
}
