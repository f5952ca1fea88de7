//! Signatures of code: programs that differ slightly, such as variants of one template, have
//! signatures that differ in few bits.

use juror_types::similarity_signature::SimilaritySignature;
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64;

/// Number of tokens of a shingle.
const SHINGLE: usize = 3;
/// Minimum number of distinct shingles of code that is compared.
const MIN_SHINGLES: usize = 20;
/// Maximum number of tokens that are read, which bounds the time.
const MAX_TOKENS: usize = 10_000;

/// The signature of some code: Charikar's SimHash (2002) over the set of its shingles of three
/// tokens, in lower case and with every number as 0. `None` if the code has too few distinct
/// shingles.
pub fn code_signature(code: &str) -> Option<SimilaritySignature> {
    let Tokens { text, spans } = Tokens::from_code(code);
    let shingle = |spans: &[Range<usize>]| match spans {
        [first, .., last] => {
            // The same on every machine and in every version, since signatures are recorded.
            text.get(first.start..last.end).map(|shingle| xxh3_64(shingle.as_bytes()))
        }
        _ => None,
    };
    let mut shingles: Vec<u64> = spans.windows(SHINGLE).filter_map(shingle).collect();
    shingles.sort_unstable();
    shingles.dedup();
    if shingles.len() < MIN_SHINGLES {
        return None;
    }
    let mut votes = [0_i32; 64];
    for shingle in shingles {
        for (bit, vote) in votes.iter_mut().enumerate() {
            *vote += if shingle >> bit & 1 == 1 { 1 } else { -1 };
        }
    }
    let bits = votes.iter().rev().fold(0, |bits, vote| bits << 1 | u64::from(*vote > 0));
    Some(SimilaritySignature::new(bits))
}

/// Words, numbers and punctuation of code, in order.
struct Tokens {
    /// The tokens, separated by spaces.
    text: String,
    /// Their places in the text.
    spans: Vec<Range<usize>>,
}

impl Tokens {
    fn from_code(code: &str) -> Self {
        let mut tokens = Self { text: String::with_capacity(code.len() * 2), spans: Vec::new() };
        let mut in_word = false;
        for character in code.chars() {
            let is_word = character.is_alphanumeric() || character == '_';
            if character.is_whitespace() || !(is_word && in_word) {
                in_word = is_word;
                if character.is_whitespace() {
                    continue;
                }
                if tokens.spans.len() == MAX_TOKENS {
                    break;
                }
                tokens.begin();
            }
            tokens.push(character);
        }
        tokens
    }

    fn begin(&mut self) {
        if !self.spans.is_empty() {
            self.text.push(' ');
        }
        self.spans.push(self.text.len()..self.text.len());
    }

    fn push(&mut self, character: char) {
        let Some(span) = self.spans.last_mut() else { return };
        match character {
            '0'..='9' if span.start < self.text.len() && self.text.ends_with('0') => {}
            '0'..='9' => self.text.push('0'),
            other if other.is_ascii() => self.text.push(other.to_ascii_lowercase()),
            other => self.text.extend(other.to_lowercase()),
        }
        span.end = self.text.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(title: &str, pixels: u32) -> String {
        format!(
            "export const Card = () => (\n  <article className=\"card card--wide\" style={{{{ padding: {pixels} }}}}>\n    \
             <header><h2>{title}</h2><button aria-label=\"close\">x</button></header>\n    \
             <p className=\"card__text\">A paragraph of text that every card has.</p>\n    \
             <footer><a href=\"/more\">Read more</a></footer>\n  </article>\n);\n"
        )
    }

    #[test]
    fn words_numbers_and_punctuation_are_tokens() {
        let tokens = |code: &str| {
            let Tokens { text, spans } = Tokens::from_code(code);
            let each: Vec<&str> = spans.into_iter().map(|span| &text[span]).collect();
            assert_eq!(each.join(" "), text);
            text
        };
        assert_eq!(tokens("Gap = 16px;\n<b>Ä1</b>"), "gap = 0px ; < b > ä0 < / b >");
        assert_eq!(tokens("10.5"), "0 . 0");
        assert_eq!(tokens(" \n"), "");
    }

    #[test]
    fn variants_of_a_template_are_near_and_other_code_is_not() {
        let signature = |code: &str| code_signature(code).unwrap();
        let first = signature(&card("Weather", 16));
        assert_eq!(first, signature(&card("Weather", 24)), "numbers do not count");
        let variant = first.distance(signature(&card("Traffic", 8)));
        assert!(variant <= SimilaritySignature::MAX_DISTANCE, "{variant}");
        let table = "<table class=\"orders\"><thead><tr><th>Order</th><th>Total</th></tr></thead>\
                     <tbody><tr><td>17</td><td>12.50</td></tr></tbody></table>";
        let other = first.distance(signature(table));
        assert!(other > 2 * SimilaritySignature::MAX_DISTANCE, "{other}");
        assert_eq!(code_signature("<b>short</b>"), None);
    }

    #[test]
    fn signature_matches_the_recorded_one() {
        assert_eq!(code_signature(&card("Weather", 16)).unwrap().to_string(), "18ab2611c8597c3c");
    }
}
