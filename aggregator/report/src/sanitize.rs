//! Text of others, before it is shown to people.

/// Text of others made harmless: what a terminal would obey, or what turns the reading direction,
/// becomes a space.
pub fn harmless(text: &str) -> String {
    text.chars().map(|c| if is_obeyed(c) { ' ' } else { c }).collect()
}

/// As [`harmless`], for text of several lines: line breaks and tabs stay.
pub fn harmless_lines(text: &str) -> String {
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
    fn a_terminal_obeys_nothing_that_a_model_wrote() {
        assert_eq!(harmless("a\u{1b}[2Jb\r\n\u{202e}c"), "a [2Jb   c");
    }
}
