//! Order of the items of a file.

use super::sources::{CRATES, Source, sources};

#[test]
fn public_items_come_first_and_types_before_functions() {
    for Source { name, code } in sources(&CRATES) {
        let mut earlier = (0, "");
        let mut lines = code.lines();
        while let Some(line) = lines.next() {
            if line == "#[cfg(test)]" {
                lines.next();
            }
            let Some(place) = place(line) else { continue };
            assert!(earlier.0 <= place, "{name}: move `{line}` before `{}`", earlier.1);
            earlier = (place, line);
        }
    }
}

/// Place of an item in its file by its first line: public types, public functions, other types,
/// other functions. `None` for a line within an item, and for items of other kinds.
fn place(line: &str) -> Option<u8> {
    let is_public = line.starts_with("pub");
    let item = match line.split_once(' ') {
        Some((_, item)) if is_public => item,
        _ => line,
    };
    let is = |words: &[&str]| words.iter().any(|word| item.starts_with(word));
    match (
        is_public,
        is(&["struct ", "enum ", "trait ", "type "]),
        is(&["fn ", "async fn ", "const fn "]),
    ) {
        (true, true, _) => Some(0),
        (true, _, true) => Some(1),
        (false, true, _) => Some(2),
        (false, _, true) => Some(3),
        _ => None,
    }
}
