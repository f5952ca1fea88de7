//! Detection of misspelled names of fields and settings.

/// The known name that was probably meant by this unknown one: another spelling
/// (`expectedTokens`), plural or singular (`screenshots`), or a typo.
pub fn find<'a>(key: &str, known: &[&'a str]) -> Option<&'a str> {
    let letters = plain(key);
    known.iter().copied().find(|&name| alike(&letters, &plain(name)))
}

fn plain(name: &str) -> String {
    name.chars()
        .filter(|character| !"_- .".contains(*character))
        .flat_map(char::to_lowercase)
        .collect()
}

fn alike(key: &str, name: &str) -> bool {
    let max_distance = match name.len() {
        0..=3 => 0,
        4..=7 => 1,
        _ => 2,
    };
    let plural = |one: &str, many: &str| many.strip_suffix('s') == Some(one);
    key == name
        || plural(key, name)
        || plural(name, key)
        || strsim::osa_distance(key, name) <= max_distance
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 8] = [
        "id",
        "screenshot",
        "generated_code",
        "expected_tokens",
        "extracted_tokens",
        "tags",
        "labels",
        "style",
    ];

    #[test]
    fn typos_are_near_misses() {
        for (key, name) in [
            ("screenshots", "screenshot"),
            ("screnshot", "screenshot"),
            ("Screenshot", "screenshot"),
            ("expectedTokens", "expected_tokens"),
            ("expected-token", "expected_tokens"),
            ("generatd_code", "generated_code"),
            ("tag", "tags"),
            ("tgas", "tags"),
            ("ids", "id"),
            ("ID", "id"),
        ] {
            assert_eq!(find(key, &KNOWN), Some(name), "{key}");
        }
    }

    #[test]
    fn unrelated_names_are_no_near_misses() {
        for key in ["facts", "title", "it", "idx", "split", "page", "size", "state", "tokens"] {
            assert_eq!(find(key, &KNOWN), None, "{key}");
        }
    }
}
