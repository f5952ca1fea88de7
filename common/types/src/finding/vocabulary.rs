//! Vocabularies of findings: the closed lists of kinds and elements.

use crate::SCHEMA;
use indexmap::IndexMap;
use serde::Deserialize;
use std::sync::LazyLock;

/// Key that every list of kinds and of elements contains.
pub const OTHER: &str = "other";

/// Kinds and elements from which a judge chooses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FindingVocabulary {
    /// Kinds, in the order in which the judge sees them.
    pub kinds: Vec<FindingKind>,
    /// Elements, in the order in which the judge sees them.
    pub elements: Vec<FindingElement>,
}

/// A kind of finding.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FindingKind {
    /// The name in replies and results, as in `wrong_color`.
    pub key: String,
    /// The title in reports.
    pub title: String,
    /// Meaning, in one line.
    pub means: String,
    /// Keys of the criteria that it usually touches.
    #[serde(default)]
    pub criteria: Vec<String>,
}

/// An element that findings are about.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FindingElement {
    /// The name in replies and results, as in `button`.
    pub key: String,
    /// The title in reports.
    pub title: String,
}

impl FindingVocabulary {
    /// The vocabulary of this name in `config/findings.toml`.
    pub fn builtin(name: &str) -> Option<&'static Self> {
        BUILTIN.get(name)
    }

    /// Names of the vocabularies in `config/findings.toml`.
    pub fn builtin_names() -> impl Iterator<Item = &'static str> {
        BUILTIN.keys().map(String::as_str)
    }

    /// The kind of this key.
    pub fn kind(&self, key: &str) -> Option<&FindingKind> {
        self.kinds.iter().find(|kind| kind.key == key)
    }

    /// The element of this key.
    pub fn element(&self, key: &str) -> Option<&FindingElement> {
        self.elements.iter().find(|element| element.key == key)
    }
}

/// `config/findings.toml`: vocabularies by name.
#[derive(Deserialize)]
struct VocabularyFile {
    schema: u32,
    #[serde(flatten)]
    vocabularies: IndexMap<String, FindingVocabulary>,
}

#[expect(clippy::expect_used, reason = "the file is compiled in, and a test reads it")]
static BUILTIN: LazyLock<IndexMap<String, FindingVocabulary>> = LazyLock::new(|| {
    let file: VocabularyFile = toml::from_str(include_str!("../../../../config/findings.toml"))
        .expect("the compiled-in findings.toml is valid");
    debug_assert_eq!(file.schema, SCHEMA);
    file.vocabularies
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rubric::builtin;
    use std::collections::HashSet;

    #[test]
    fn every_vocabulary_has_unique_keys_titles_and_the_key_other() {
        assert!(FindingVocabulary::builtin_names().eq(["interface", "picture"]));
        for name in FindingVocabulary::builtin_names() {
            let FindingVocabulary { kinds, elements } = FindingVocabulary::builtin(name).unwrap();
            let kind_names = kinds.iter().map(|kind| (kind.key.as_str(), kind.title.as_str()));
            let element_names =
                elements.iter().map(|element| (element.key.as_str(), element.title.as_str()));
            for names in [kind_names.collect::<Vec<_>>(), element_names.collect()] {
                let keys: HashSet<_> = names.iter().map(|(key, _)| key).collect();
                let titles: HashSet<_> = names.iter().map(|(_, title)| title).collect();
                assert_eq!((keys.len(), titles.len()), (names.len(), names.len()), "{name}");
                assert!(keys.contains(&OTHER), "{name}");
            }
            assert!(kinds.iter().all(|kind| !kind.means.is_empty() && kind.means.len() <= 90));
        }
    }

    /// A misspelled criterion would be ignored, and the kind touch nothing.
    #[test]
    fn kinds_refer_to_criteria_of_their_rubric() {
        for (vocabulary, rubric) in ["interface", "picture"].into_iter().zip(builtin()) {
            let rubric = rubric.parse().unwrap();
            let keys: HashSet<_> =
                rubric.criteria.iter().map(|criterion| criterion.key.as_str()).collect();
            let mut touched = HashSet::new();
            for kind in &FindingVocabulary::builtin(vocabulary).unwrap().kinds {
                let criteria = kind.criteria.iter().map(String::as_str);
                assert_eq!(kind.criteria.is_empty(), kind.key == OTHER, "{}", kind.key);
                touched.extend(criteria);
            }
            assert_eq!(touched, keys, "{vocabulary}");
        }
    }
}
