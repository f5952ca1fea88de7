//! Removal of secrets from foreign messages.

/// Maximum length of a provider's message, in characters.
const MESSAGE_LIMIT: usize = 300;

/// A foreign message without these secrets or anything that looks like a key, without control
/// characters, and truncated. Secrets of less than four bytes are ignored, since any message may
/// contain them.
pub(super) fn redact<'secret>(
    message: &str,
    secrets: impl IntoIterator<Item = &'secret str>,
) -> String {
    let long = secrets.into_iter().filter(|secret| secret.len() >= 4);
    let without_keys = long.fold(message.to_owned(), |text, secret| text.replace(secret, "[key]"));
    let plain: String =
        without_keys.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let scrubbed = without_lookalikes(plain.trim());
    if scrubbed.chars().count() <= MESSAGE_LIMIT {
        return scrubbed;
    }
    scrubbed.chars().take(MESSAGE_LIMIT - 1).chain(['…']).collect()
}

/// Replaces every `sk-…` word: providers repeat keys, whole or with stars in the middle.
fn without_lookalikes(text: &str) -> String {
    let belongs = |c: char| c.is_ascii_alphanumeric() || "-_*.…".contains(c);
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("sk-") {
        kept.push_str(before);
        // "task-list" is a word, not a key.
        let within_word = before.chars().next_back().is_some_and(char::is_alphanumeric);
        let secret = after.split(|c| !belongs(c)).next().unwrap_or_default();
        if within_word || secret.is_empty() {
            kept.push_str("sk-");
            rest = after;
        } else {
            kept.push_str("[key]");
            rest = after.strip_prefix(secret).unwrap_or_default();
        }
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_redacted_and_truncated() {
        for (message, shown) in [
            ("no such key: house-key-77.", "no such key: [key]."),
            ("key sk-abc***xyz is wrong", "key [key] is wrong"),
            ("sk-proj-1_2", "[key]"),
            ("'sk-a', 'sk-b'", "'[key]', '[key]'"),
            ("the task-list and sk- stay", "the task-list and sk- stay"),
            ("bell\u{7} and\nline", "bell  and line"),
        ] {
            assert_eq!(redact(message, ["house-key-77"]), shown);
        }
        let cut = redact(&"é".repeat(1_000), []);
        assert_eq!(cut.chars().count(), 300);
        // A key that stands across the cut must not survive in part.
        let across = format!("{} sk-{}", "x".repeat(290), "k".repeat(40));
        assert!(!redact(&across, []).contains("kkk"));
    }
}
