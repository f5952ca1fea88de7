//! The stage of retrieval: comparison of the retrieved pattern with the expected one.

use crate::item_texts::LoadedItem;
use juror_types::stage::Retrieval;

/// Compares the retrieved pattern with the expected one, ignoring case and outer blanks. None
/// without an expectation, or if the pipeline named no pattern.
pub fn check(loaded: &LoadedItem) -> Option<Retrieval> {
    let expected = loaded.expected_pattern.as_deref()?;
    let retrieved = loaded.retrieved_pattern.as_deref()?;
    let correct = expected.trim().to_lowercase() == retrieved.trim().to_lowercase();
    Some(Retrieval { correct, retrieved: Some(retrieved.to_owned()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_compared_as_names() {
        for (expected, retrieved, correct) in [
            (Some("button"), Some(" Button"), Some(true)),
            (Some("button"), Some("card"), Some(false)),
            (Some("button"), Some(""), Some(false)),
            (Some("button"), None, None),
            (None, Some("button"), None),
        ] {
            let loaded = LoadedItem {
                expected_pattern: expected.map(str::to_owned),
                retrieved_pattern: retrieved.map(str::to_owned),
                ..LoadedItem::default()
            };
            assert_eq!(check(&loaded).map(|retrieval| retrieval.correct), correct);
        }
    }
}
