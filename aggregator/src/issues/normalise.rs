//! When two statements are the same: case, punctuation, numbers and units do not count.

/// Units that belong to the number before them, whether or not a space stands between.
const UNITS: [&str; 16] = [
    "px", "rem", "em", "pt", "dp", "sp", "vh", "vw", "fr", "ms", "s", "deg", "percent", "pixel",
    "pixels", "x",
];

/// The text that equal statements share: lowercase words, with `#` for every number and its unit
/// and for every hexadecimal colour.
pub(crate) fn normalise(statement: &str) -> String {
    let lower = statement.to_lowercase();
    let mut normal = String::with_capacity(lower.len());
    let mut after_number = false;
    for word in lower.split(|c: char| !c.is_alphanumeric() && c != '#' && c != '.') {
        let word = word.trim_matches('.');
        if word.is_empty() || (after_number && UNITS.contains(&word)) {
            continue;
        }
        after_number = is_figure(word);
        if !normal.is_empty() {
            normal.push(' ');
        }
        match after_number {
            true => normal.push('#'),
            false => normal.extend(word.chars().filter(|c| c.is_alphanumeric())),
        }
    }
    normal
}

/// `12`, `1.5rem`, `16px`, `#1d4ed8`.
fn is_figure(word: &str) -> bool {
    if let Some(colour) = word.strip_prefix('#') {
        return colour.chars().all(|c| c.is_ascii_hexdigit());
    }
    let rest = word.trim_start_matches(|c: char| c.is_numeric() || c == '.');
    rest.len() < word.len() && (rest.is_empty() || UNITS.contains(&rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_units_case_and_punctuation_do_not_split() {
        for (left, right) in [
            (
                "Padding slightly off (12px used, should be 16px)",
                "padding slightly off: 8 px used, should be 1.5rem.",
            ),
            ("Missing icon.", "missing  ICON"),
            ("Uses #1D4ED8 instead of #2563EB", "uses #fff instead of #000"),
            ("Width is 50%", "width is 100 percent"),
        ] {
            assert_eq!(normalise(left), normalise(right));
        }
        assert_eq!(normalise("Padding 12px, not 16 px!"), "padding # not #");
    }

    #[test]
    fn words_split() {
        assert_ne!(normalise("Missing icon"), normalise("Missing badge"));
        assert_ne!(normalise("h1 is missing"), normalise("h1 missing"));
        assert_eq!(normalise("…!?"), "");
        assert_eq!(normalise("Überschrift fehlt"), "überschrift fehlt");
    }
}
