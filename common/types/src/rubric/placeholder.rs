//! Placeholders in a prompt: `{name}` in lowercase letters and underscores. Other braces are text.
//!
//! Their values are fixed by the rubric and never depend on an item: the prompt's beginning must be
//! the same bytes for every item, so that providers' prompt caches apply.

use super::Rubric;

/// All placeholders.
pub(super) const KNOWN: [&str; 3] = ["scale_min", "scale_max", "criteria_count"];

/// Unknown placeholders of a text, in order.
pub(super) fn unknown(text: &str) -> Vec<&str> {
    pieces(text)
        .into_iter()
        .filter_map(|piece| match piece {
            Piece::Placeholder(name) if !KNOWN.contains(&name) => Some(name),
            _ => None,
        })
        .collect()
}

/// The text with its placeholders replaced.
pub(super) fn fill(text: &str, rubric: &Rubric) -> String {
    let mut filled = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) => filled.push_str(text),
            Piece::Placeholder("scale_min") => filled.push_str(&rubric.scale.min.to_string()),
            Piece::Placeholder("scale_max") => filled.push_str(&rubric.scale.max.to_string()),
            Piece::Placeholder("criteria_count") => {
                filled.push_str(&rubric.criteria.len().to_string());
            }
            Piece::Placeholder(name) => filled.extend(["{", name, "}"]),
        }
    }
    filled
}

enum Piece<'text> {
    Text(&'text str),
    Placeholder(&'text str),
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut parts = text.split('{');
    pieces.extend(parts.next().map(Piece::Text));
    for part in parts {
        match part.split_once('}') {
            Some((name, after)) if is_name(name) => {
                pieces.extend([Piece::Placeholder(name), Piece::Text(after)]);
            }
            _ => pieces.extend([Piece::Text("{"), Piece::Text(part)]),
        }
    }
    pieces
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rubric::builtin;

    #[test]
    fn placeholders_are_filled_and_other_braces_are_kept() {
        let rubric = builtin()[0].parse().unwrap();
        let text = r#"{criteria_count} from {scale_min} to {scale_max}: {"a": {}} { x } {"#;
        assert_eq!(fill(text, &rubric), r#"5 from 0 to 10: {"a": {}} { x } {"#);
    }

    #[test]
    fn unknown_placeholders_are_found() {
        assert_eq!(unknown("{scale_max} {style} {1} {} {code"), ["style"]);
    }
}
