//! The byte order mark, with which some programs begin a text file, and which is no part of its
//! text.

/// A text's bytes without the byte order mark at their beginning, if there is one.
pub fn without_byte_order_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}
