//! Removal of secrets from foreign messages.

/// Maximum length of a provider's message, in characters.
const MESSAGE_LIMIT: usize = 300;

/// Minimum length of a secret of letters alone that is removed within a longer word too, in bytes. A
/// shorter one, as the key of a local server, may be a part of ordinary words.
const MIN_UNIQUE: usize = 16;

/// A foreign message without these secrets or anything that looks like a key, without control
/// characters, and truncated. Secrets of less than four bytes are ignored, since any message may
/// contain them.
pub(super) fn redact<'secret>(
    message: &str,
    secrets: impl IntoIterator<Item = &'secret str>,
) -> String {
    let long = secrets.into_iter().filter(|secret| secret.len() >= 4);
    let without_keys = long.fold(message.to_owned(), |text, secret| without(&text, secret));
    let plain: String =
        without_keys.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let scrubbed = without_lookalikes(plain.trim());
    if scrubbed.chars().count() <= MESSAGE_LIMIT {
        return scrubbed;
    }
    scrubbed.chars().take(MESSAGE_LIMIT - 1).chain(['…']).collect()
}

/// A text without this secret.
fn without(text: &str, secret: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(secret) {
        kept.push_str(before);
        let neighbors = [kept.chars().next_back(), after.chars().next()];
        let is_in_word = neighbors.into_iter().flatten().any(char::is_alphanumeric);
        let is_word = secret.len() < MIN_UNIQUE && secret.chars().all(char::is_alphabetic);
        let is_ordinary = is_word && is_in_word;
        kept.push_str(if is_ordinary { secret } else { "[key]" });
        rest = after;
    }
    kept + rest
}

/// Replaces every `sk-…` word that is as long as a key or looks like one: providers repeat keys, whole
/// or with stars in the middle.
fn without_lookalikes(text: &str) -> String {
    let belongs = |c: char| c.is_ascii_alphanumeric() || "-_*.…".contains(c);
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("sk-") {
        kept.push_str(before);
        // "task-list" is a word, not a key.
        let within_word = before.chars().next_back().is_some_and(char::is_alphanumeric);
        let secret = after.split(|c| !belongs(c)).next().unwrap_or_default();
        if within_word || !looks_like_a_key(secret) {
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

/// True for what follows `sk-` in a key: "sk-learn" is none.
fn looks_like_a_key(secret: &str) -> bool {
    let has_digits = secret.len() >= 8 && secret.contains(|c: char| c.is_ascii_digit());
    has_digits || secret.len() >= 20 || secret.contains(['*', '…']) || secret.contains("..")
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
            ("'sk-a…b', 'sk-...d'", "'[key]', '[key]'"),
            ("the task-list, sk-learn and sk- stay", "the task-list, sk-learn and sk- stay"),
            ("bell\u{7} and\nline", "bell  and line"),
        ] {
            assert_eq!(redact(message, ["house-key-77"]), shown);
        }
        // The keys of local servers are words.
        let shown = redact("the latest model of key=test is test", ["test"]);
        assert_eq!(shown, "the latest model of key=[key] is [key]");
        assert_eq!(redact("%3Dhouse-key-77", ["house-key-77"]), "%3D[key]");
        let long = "house-key-77-and-more";
        assert_eq!(redact(&format!("Bearer{long}x"), [long]), "Bearer[key]x");
        let cut = redact(&"é".repeat(1_000), []);
        assert_eq!(cut.chars().count(), 300);
        // A key that stands across the cut must not survive in part.
        let across = format!("{} sk-{}", "x".repeat(290), "k".repeat(40));
        assert!(!redact(&across, []).contains("kkk"));
    }
}
