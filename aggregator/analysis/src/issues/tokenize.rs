//! Tokens of a statement for comparisons: stems, with marks for numbers, names and pauses.

use std::collections::HashSet;

/// Maximum length of a statement that is tokenized, in characters.
const MAX_READ: usize = 600;

/// Maximum length of a quoted name, in characters; a single quotation mark quotes nothing.
const MAX_NAME: usize = 80;

/// Units of the number before them, with or without a space between.
const UNITS: [&str; 16] = [
    "px", "rem", "em", "pt", "dp", "sp", "vh", "vw", "fr", "ms", "s", "deg", "percent", "pixel",
    "pixels", "x",
];

/// Token of any number with its unit.
pub(super) const FIGURE: &str = "#";
/// Token of a color in hexadecimal digits.
pub(super) const HEX: &str = "#hex";
/// Token of a quoted name, whose words do not describe the defect.
pub(super) const NAME: &str = "\"";
/// Token of punctuation: the end of a phrase.
pub(super) const PAUSE: &str = ",";

/// The tokens of a statement. Words in `whole` are not stemmed.
pub(super) fn tokenize(statement: &str, whole: &HashSet<String>) -> Vec<String> {
    let quoted = raw_words(statement, true);
    // A statement that is quoted as a whole is not a name.
    let raw = match quoted.iter().any(|word| is_plain(word)) {
        true => quoted,
        false => raw_words(statement, false),
    };
    let mut words: Vec<String> = Vec::with_capacity(raw.len());
    for word in raw {
        let after_figure = words.last().is_some_and(|last| last == FIGURE);
        if after_figure && UNITS.contains(&word.as_str()) {
            continue;
        }
        if is_figure(&word) {
            words.push(FIGURE.to_owned());
        } else if let Some(verb) = negated(&word) {
            words.extend([stem(verb, whole), "not".to_owned()]);
        } else {
            words.push(stem(&word, whole));
        }
    }
    words
}

/// True if the token is a word: not a number, name or pause.
pub(super) fn is_plain(word: &str) -> bool {
    ![FIGURE, HEX, NAME, PAUSE].contains(&word)
}

/// Removes English endings, so that `rounded`, `rounding` and `round` become one; a light rule,
/// since the vocabulary covers the rest.
pub(super) fn stem(word: &str, whole: &HashSet<String>) -> String {
    if word.len() <= 3 || !word.is_ascii() || whole.contains(word) {
        return word.to_owned();
    }
    let mut stem = match word {
        _ if word.ends_with("ies") && word.len() > 4 => format!("{}y", &word[..word.len() - 3]),
        _ if ["sses", "shes", "ches", "xes"].iter().any(|end| word.ends_with(end)) => {
            word[..word.len() - 2].to_owned()
        }
        _ if word.ends_with('s') && !["ss", "us", "is"].iter().any(|end| word.ends_with(end)) => {
            word[..word.len() - 1].to_owned()
        }
        _ => word.to_owned(),
    };
    if !whole.contains(&stem) {
        for ending in ["ing", "ed", "ly"] {
            if let Some(rest) = stem.strip_suffix(ending)
                && rest.len() >= 3
                && rest.contains(['a', 'e', 'i', 'o', 'u', 'y'])
            {
                stem = rest.to_owned();
                remove_double_consonant(&mut stem);
                break;
            }
        }
    }
    if stem.len() > 3 && stem.ends_with('e') {
        stem.pop();
    }
    stem
}

/// The verb of a negated word: `is` of `isn't`.
fn negated(word: &str) -> Option<&str> {
    match word {
        "cannot" => Some("can"),
        "won't" => Some("will"),
        _ => word.strip_suffix("n't"),
    }
}

fn raw_words(statement: &str, names: bool) -> Vec<String> {
    let letters: Vec<char> = statement.chars().take(MAX_READ).collect();
    let mut words = Vec::new();
    let mut word = String::new();
    let mut before = ' ';
    let mut position = 0;
    while let Some(&letter) = letters.get(position) {
        let next = letters.get(position + 1).copied().unwrap_or(' ');
        if names && let Some(end) = end_of_name(&letters, position, before) {
            finish(&mut word, &mut words);
            words.push(NAME.to_owned());
            (before, position) = (' ', end);
            continue;
        }
        let inside = before.is_alphanumeric() && next.is_alphanumeric();
        match letter {
            '\'' | '’' if inside => word.push('\''),
            '.' if before.is_numeric() && next.is_numeric() => word.push('.'),
            '#' => {
                finish(&mut word, &mut words);
                word.push('#');
            }
            _ if is_ideograph(letter) => {
                finish(&mut word, &mut words);
                words.push(letter.to_string());
            }
            _ if letter.is_alphanumeric() => {
                // Splits `borderRadius` into two words.
                if letter.is_uppercase() && before.is_lowercase() {
                    finish(&mut word, &mut words);
                }
                word.extend(letter.to_lowercase());
            }
            ',' | ';' | ':' | '.' | '!' | '?' | '(' | ')' | '—' | '–' | '…' => {
                finish(&mut word, &mut words);
                words.push(PAUSE.to_owned());
            }
            _ => finish(&mut word, &mut words),
        }
        (before, position) = (letter, position + 1);
    }
    finish(&mut word, &mut words);
    words
}

/// End of a quoted name that begins here, after its closing quotation mark.
fn end_of_name(letters: &[char], start: usize, before: char) -> Option<usize> {
    let closing = match letters.get(start)? {
        '"' => '"',
        '“' | '„' => '”',
        '«' => '»',
        '\'' | '‘' if !before.is_alphanumeric() => '\'',
        _ => return None,
    };
    let closes = |&(position, &letter): &(usize, &char)| {
        let same = letter == closing || (closing == '\'' && letter == '’');
        let after = letters.get(position + 1).copied().unwrap_or(' ');
        same && (closing != '\'' || !after.is_alphanumeric())
    };
    let rest = letters.iter().enumerate().skip(start + 1).take(MAX_NAME);
    rest.into_iter().find(closes).map(|(position, _)| position + 1)
}

fn finish(word: &mut String, words: &mut Vec<String>) {
    let whole = std::mem::take(word);
    let text = whole.strip_suffix("'s").unwrap_or(&whole);
    match text.strip_prefix('#') {
        Some(digits) if matches!(digits.len(), 3 | 4 | 6 | 8) && is_hexadecimal(digits) => {
            words.push(HEX.to_owned());
        }
        Some("hex") => words.push(HEX.to_owned()),
        Some("") => words.push(FIGURE.to_owned()),
        Some(rest) => words.push(rest.to_owned()),
        None if !text.is_empty() => words.push(text.to_owned()),
        None => {}
    }
}

fn is_hexadecimal(digits: &str) -> bool {
    digits.chars().all(|digit| digit.is_ascii_hexdigit())
}

/// True for a character of a script without spaces, each of which is a word.
fn is_ideograph(letter: char) -> bool {
    matches!(letter, '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// True for `12`, `1.5rem`, `200x150`.
fn is_figure(word: &str) -> bool {
    let digits = |text: &str| text.trim_start_matches(|c: char| c.is_numeric() || c == '.').len();
    let rest = &word[word.len() - digits(word)..];
    let is_product = rest.strip_prefix('x').is_some_and(|more| digits(more) == 0);
    rest.len() < word.len() && (rest.is_empty() || UNITS.contains(&rest) || is_product)
}

/// Removes a doubled consonant: `clip` of `clipp`.
fn remove_double_consonant(stem: &mut String) {
    let mut letters = stem.chars().rev();
    let (last, before) = (letters.next(), letters.next());
    if last == before && !matches!(last, Some('l' | 's' | 'z')) {
        stem.pop();
    }
}
