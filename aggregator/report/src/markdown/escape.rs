//! Text of others in Markdown.

use crate::sanitize::sanitize;

/// Longest text of others, in characters before escaping, which at worst makes six of one.
const MAX_LENGTH: usize = 160;

/// Longest sentence of a report, which may quote others, in characters before escaping.
const MAX_SENTENCE: usize = 600;

/// Word joiner, invisible, that stops automatic links.
const APART: char = '\u{2060}';

/// As [`escaped`], truncated if it is long.
pub(super) fn cut(text: &str) -> String {
    escaped_first(text, MAX_LENGTH)
}

/// As [`cut`], for a sentence of the report.
pub(super) fn cut_sentence(text: &str) -> String {
    escaped_first(text, MAX_SENTENCE)
}

/// Escapes untrusted text: on one line, without effective Markdown, HTML or GitHub syntax. Marks
/// become character references; a name after `@`, a number after `#` and an address are separated
/// from the characters that make them links.
pub(super) fn escaped(text: &str) -> String {
    escaped_first(text, usize::MAX)
}

fn escaped_first(text: &str, longest: usize) -> String {
    let mut shown = String::new();
    let text = sanitize(text);
    let mut characters = text.trim().chars().enumerate().peekable();
    while let Some((number, character)) = characters.next() {
        if number == longest {
            shown.push('…');
            break;
        }
        let before_digit = characters.peek().is_some_and(|(_, next)| next.is_ascii_digit());
        match character {
            '&' | '<' | '>' | '"' | '\'' | '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '~' | '!'
            | '$' | '{' | '}' => shown.push_str(&format!("&#{};", u32::from(character))),
            '-' | '+' | '#' if number == 0 => {
                shown.push_str(&format!("&#{};", u32::from(character)));
                shown.push(APART);
            }
            // A character reference alone would still be a mention or a link.
            '@' => shown.extend([character, APART]),
            '#' if before_digit => shown.extend([character, APART]),
            '/' if shown.ends_with(':') => shown.extend([APART, character]),
            '.' if shown.to_ascii_lowercase().ends_with("www") => shown.extend([APART, character]),
            _ => shown.push(character),
        }
    }
    shown
}
