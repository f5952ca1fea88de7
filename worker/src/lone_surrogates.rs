//! Escapes of half a character in JSON, such as `\ud83d` without its second half. Servers that cut
//! an emoji between two tokens write them; the grammar of JSON (RFC 8259, section 8.2) permits
//! them, and our parser refuses the whole text for one.

use memchr::memmem;
use std::borrow::Cow;

/// Length of an escape of one unit of UTF-16, as in `\u00e9`.
const ESCAPE: usize = 6;
const REPLACEMENT: &[u8] = br"\ufffd";

/// The JSON with the escape of the replacement character for each surrogate without its partner.
pub(crate) fn replace_lone_surrogates(json: &[u8]) -> Cow<'_, [u8]> {
    let mut replaced = Cow::Borrowed(json);
    if memmem::find(json, br"\u").is_none() {
        return replaced;
    }
    let mut place = 0;
    while let Some(found) = json.get(place..).and_then(|rest| memchr::memchr(b'\\', rest)) {
        place += found;
        let rest = json.get(place..).unwrap_or_default();
        place += match unit(rest) {
            Some(0xD800..=0xDBFF) if is_low(rest.get(ESCAPE..)) => 2 * ESCAPE,
            Some(0xD800..=0xDFFF) => {
                if let Some(escape) = replaced.to_mut().get_mut(place..place + ESCAPE) {
                    escape.copy_from_slice(REPLACEMENT);
                }
                ESCAPE
            }
            Some(_) => ESCAPE,
            None => 2,
        };
    }
    replaced
}

fn is_low(json: Option<&[u8]>) -> bool {
    matches!(json.and_then(unit), Some(0xDC00..=0xDFFF))
}

/// The unit of UTF-16 whose escape begins the JSON; `None` if another escape does.
fn unit(json: &[u8]) -> Option<u16> {
    let digits = json.get(..ESCAPE)?.strip_prefix(br"\u")?;
    let digits = str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(json: &str) -> String {
        String::from_utf8(replace_lone_surrogates(json.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn only_surrogates_without_a_partner_are_replaced() {
        for same in [r#""\ud83d\ude00""#, r#""\\ud83d""#, r#""\u00e9\n""#, "é", r"\", r"\ud8"] {
            assert_eq!(replaced(same), same);
        }
        assert_eq!(replaced(r#""a\ud83d b""#), r#""a\ufffd b""#);
        assert_eq!(replaced(r#""\uDE00\ud83d\ud83d\ude00""#), r#""\ufffd\ufffd\ud83d\ude00""#);
        assert_eq!(replaced(r#""\\\ud83d""#), r#""\\\ufffd""#);
        assert_eq!(serde_json::from_str::<String>(&replaced(r#""\ud83d""#)).unwrap(), "\u{fffd}");
    }
}
