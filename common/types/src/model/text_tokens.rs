//! Token counts of a text: an upper bound for reservations, and an expected count.

/// Token counts of texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextTokens {
    /// Upper bound.
    pub bound: u64,
    /// Expected number.
    pub expected: u64,
}

impl TextTokens {
    /// Token counts of a text.
    pub fn from_text(text: &str) -> Self {
        Self { bound: bound(text), expected: expected(text) }
    }

    /// The sum of two counts.
    pub fn plus(self, others: Self) -> Self {
        Self {
            bound: self.bound.saturating_add(others.bound),
            expected: self.expected.saturating_add(others.expected),
        }
    }
}

/// Maximum length of a word; longer runs of letters and digits are keys, hashes or base64.
const MAX_WORD: u64 = 20;

/// Upper bound of the tokens, by the way in which tokenizers split a text. A word (which ends where
/// a capital follows a small letter) takes one token for two letters, a space before it none, other
/// white space one for two characters; every digit, sign and byte beyond ASCII takes one. Prose and
/// code take about half of that. The paths of SVG icons come close to it, and are the reason that
/// digits and signs count as whole tokens. Noise takes three tokens for four characters.
///
/// Compared with o200k and cl100k over prose, code, paths, base64, hexadecimal and random text.
fn bound(text: &str) -> u64 {
    let mut tokens = 0;
    let mut rest = text.as_bytes();
    while let Some(first) = rest.first() {
        let (length, cost) = match first {
            byte if byte.is_ascii_alphanumeric() => alphanumeric(rest),
            byte if byte.is_ascii_whitespace() => white_space(rest),
            _ => (1, 1),
        };
        tokens += cost;
        rest = rest.get(length..).unwrap_or_default();
    }
    tokens
}

/// Length and tokens of the letters and digits at the start of a text.
fn alphanumeric(text: &[u8]) -> (usize, u64) {
    let length = text.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let run = text.get(..length).unwrap_or_default();
    let noise = if length as u64 > MAX_WORD { (length as u64 * 3).div_ceil(4) } else { 0 };
    let same_word = |left: &u8, right: &u8| {
        left.is_ascii_alphabetic()
            && right.is_ascii_alphabetic()
            && !(left.is_ascii_lowercase() && right.is_ascii_uppercase())
    };
    let words = run.chunk_by(same_word).map(|word| (word.len() as u64).div_ceil(2)).sum::<u64>();
    (length, words.max(noise))
}

/// Length and tokens of the white space at the start of a text.
fn white_space(text: &[u8]) -> (usize, u64) {
    let length = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let (space, behind) = text.split_at_checked(length).unwrap_or_default();
    let joins_a_word =
        space.ends_with(b" ") && behind.first().is_some_and(|byte| byte.is_ascii_alphabetic());
    (length, (length as u64 - u64::from(joins_a_word)).div_ceil(2))
}

/// Expected tokens: about one for four ASCII characters and one for every other character, since
/// tokenizers split other scripts more finely.
fn expected(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    let others = text.chars().count() as u64 - ascii;
    ascii.div_ceil(4) + others
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = r#"<svg viewBox="0 0 24 24"><path d="M12 2C6.48 2 2 6.48 2 12s4.48 10 10 10 10-4.48 10-10S17.52 2 12 2zm1 15h-2v-6h2v6zm0-8h-2V7h2v2zM3.5 18.49l6-6.01 4 4L22 6.92l-1.41-1.41-7.09 7.97-4-4L2 16.99zM12 15.39l-3.76 2.27.99-4.28-3.32-2.88 4.38-.37L12 6.09l1.71 4.04 4.38.37-3.32 2.88.99 4.28z"/></svg>"#;

    #[test]
    fn words_count_half_and_other_bytes_count_whole() {
        for (text, tokens) in [
            ("", 0),
            ("abc", 2),
            ("IconButton", 2 + 3),
            ("the box", 2 + 2),
            ("a  1\n", 1 + 1 + 1 + 1),
            ("16px", 2 + 1),
            ("</div>", 2 + 2 + 1),
            ("é", 2),
            ("ab漢", 4),
        ] {
            assert_eq!(bound(text), tokens, "{text:?}");
        }
    }

    #[test]
    fn dense_text_stays_within_the_bound() {
        // With how many tokens o200k and cl100k take at most.
        let base64 = "aGVsbG8gd29ybGQsIHRoaXMgaXMgYSB0ZXN0IG9mIHRva2VucyBmb3IgaW1hZ2Vz";
        for (text, tokens) in [
            (PATH, 219),
            ("12, 7, 33, 91, 4, 58", 16),
            (base64, 46),
            ("b660f1d12d393d8571346f50f5850806a21a36363fee6df14b90ba364e674852", 34),
            ("QXZJKVWPQZRTXKCDJQWMBVZXHGKQPWZXJRTQ", 26),
        ] {
            assert!(bound(text) >= tokens, "{text:?}: {}", bound(text));
        }
    }

    #[test]
    fn expected_tokens_never_exceed_the_bound() {
        for text in ["", "a", "const button = <Button/>;", "按钮", "ünï", "🦊🦊"] {
            assert!(expected(text) <= bound(text), "{text}");
        }
        assert_eq!(expected("abcdefgh"), 2);
        assert_eq!(expected("按钮"), 2);
    }
}
