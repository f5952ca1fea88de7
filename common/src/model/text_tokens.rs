//! How many tokens a text has: a bound to reserve by, and a figure to expect.

/// A bound: one token for two ASCII bytes, rounded up, and one for every other byte. Tokenizers
/// need that much only for noise; prose and code take about half.
pub fn bound(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    ascii.div_ceil(2) + (text.len() as u64 - ascii)
}

/// What to expect: about one token for four ASCII characters and one for every other character,
/// since scripts beyond Latin are cut finer.
pub fn expected(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    let others = text.chars().count() as u64 - ascii;
    ascii.div_ceil(4) + others
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_counts_half_and_other_bytes_count_whole() {
        assert_eq!(bound(""), 0);
        assert_eq!(bound("abc"), 2);
        assert_eq!(bound("é"), 2);
        assert_eq!(bound("ab漢"), 4);
    }

    #[test]
    fn what_is_expected_is_never_above_the_bound() {
        for text in ["", "a", "const button = <Button/>;", "按钮", "ünï", "🦊🦊"] {
            assert!(expected(text) <= bound(text), "{text}");
        }
        assert_eq!(expected("abcdefgh"), 2);
        assert_eq!(expected("按钮"), 2);
    }
}
