//! Invisible characters, made visible.
//!
//! Zero-width, bidirectional and tag characters can carry text that no reader of the item sees, or
//! show another order than a model reads.

/// The text with each such character as its number, as in `⟦U+200B⟧`.
pub(super) fn show_invisible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut before = None;
    for character in text.chars() {
        if is_invisible(character, before) {
            shown.push_str(&format!("⟦U+{:04X}⟧", u32::from(character)));
        } else {
            shown.push(character);
        }
        before = Some(character);
    }
    shown
}

fn is_invisible(character: char, before: Option<char>) -> bool {
    match character {
        '\n' | '\r' | '\t' => false,
        // Joiners and variation selectors belong to emoji and several scripts: allowed after a
        // character of those scripts, shown elsewhere.
        '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}' => {
            before.is_none_or(|before| before.is_ascii() || is_invisible(before, None))
        }
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{2800}'
        | '\u{3164}'
        | '\u{fdd0}'..='\u{fdef}'
        | '\u{fe00}'..='\u{fe0d}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        _ => character.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_replaced_by_their_code_points() {
        let cases = [
            ("a\u{200b}b", "a⟦U+200B⟧b"),
            ("\u{feff}x\u{2060}", "⟦U+FEFF⟧x⟦U+2060⟧"),
            ("\u{202e}01 evig\u{202c}", "⟦U+202E⟧01 evig⟦U+202C⟧"),
            ("\u{e0047}\u{e0069}", "⟦U+E0047⟧⟦U+E0069⟧"),
            ("a\u{fe00}\u{e0101}", "a⟦U+FE00⟧⟦U+E0101⟧"),
            ("a\u{200d}b", "a⟦U+200D⟧b"),
            ("\u{1b}[2K\u{8}", "⟦U+001B⟧[2K⟦U+0008⟧"),
        ];
        for (text, shown) in cases {
            assert_eq!(show_invisible(text), shown);
        }
    }

    #[test]
    fn visible_text_is_unchanged() {
        for text in
            ["line\r\n\ttab é 漢 ¦", "👩\u{200d}💻 ❤\u{fe0f}", "می\u{200c}خواهم", "שלום مرحبا"]
        {
            assert_eq!(show_invisible(text), text);
        }
    }
}
