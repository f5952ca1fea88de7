//! Sanitizing of untrusted text for display.

/// Sanitizes untrusted text: control characters and changes of the text direction become spaces.
pub fn sanitize(text: &str) -> String {
    text.chars().map(|c| if is_obeyed(c) { ' ' } else { c }).collect()
}

/// As [`sanitize`], for text of several lines: line breaks and tabs are kept.
pub fn sanitize_lines(text: &str) -> String {
    let replaced = |c: char| is_obeyed(c) && c != '\n' && c != '\t';
    text.replace("\r\n", "\n").chars().map(|c| if replaced(c) { ' ' } else { c }).collect()
}

/// The first `longest` characters of a text, with an ellipsis if it is truncated.
pub fn cut(text: &str, longest: usize) -> String {
    let mut shown: String = text.chars().take(longest).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

fn is_obeyed(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_sequences_from_a_model_are_removed() {
        assert_eq!(sanitize("a\u{1b}[2Jb\r\n\u{202e}c"), "a [2Jb   c");
    }
}
