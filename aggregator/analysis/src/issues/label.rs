//! Key of a common issue, and the choice of its label and its examples.

use super::{
    VOCABULARY,
    tokenize::{is_plain, tokenize},
    wordings::{Collected, Wording},
};
use juror_types::finding::{FindingVocabulary, OTHER};
use std::collections::{BTreeSet, HashMap};

/// Maximum number of displayed examples.
const MAX_EXAMPLES: usize = 3;

/// Key of a group, the same in every run except for [`IssueKey::Words`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum IssueKey {
    /// Findings of one kind on one element.
    Finding {
        /// Key of the kind.
        kind: String,
        /// Key of the element.
        element: String,
    },
    /// Statements with the same topic in the vocabulary of words.
    Topic(String),
    /// Statements that share words.
    Words,
}

impl IssueKey {
    /// Basis of the group: `kind` if the judge named the kind, otherwise `words`.
    pub fn grouped_by(&self) -> &'static str {
        match self {
            Self::Finding { .. } => "kind",
            Self::Topic(_) | Self::Words => "words",
        }
    }

    /// Keys of kind and element, if the judge named them.
    pub fn kind_and_element(&self) -> Option<(&str, &str)> {
        match self {
            Self::Finding { kind, element } => Some((kind, element)),
            Self::Topic(_) | Self::Words => None,
        }
    }

    /// Label and examples, from the most central wording and the others. Groups of findings have
    /// titles; their wordings name single places and are not used as labels.
    pub(super) fn label(
        &self,
        vocabulary: &FindingVocabulary,
        (central, mut others): (String, Vec<String>),
    ) -> (String, Vec<String>) {
        let Self::Finding { kind, element } = self else { return (central, others) };
        let title = vocabulary.kind(kind).map_or(kind.as_str(), |kind| &kind.title);
        let element = vocabulary.element(element).filter(|element| element.key != OTHER);
        let label = match element {
            // "missing icon" is about an icon.
            Some(element) if title.ends_with(&element.title.to_lowercase()) => title.to_owned(),
            Some(element) => format!("{title}: {}", element.title.to_lowercase()),
            None => title.to_owned(),
        };
        others.insert(0, central);
        others.truncate(MAX_EXAMPLES);
        (label, others)
    }
}

impl Collected {
    /// The wording that shares most with all others, weighted by frequency, and the most frequent
    /// of the others.
    pub(super) fn central(&self) -> (String, Vec<String>) {
        let wordings: Vec<(BTreeSet<String>, &Wording)> =
            self.wordings.values().map(|wording| (stems(&wording.text), wording)).collect();
        let mut weights: HashMap<&str, u64> = HashMap::new();
        for (stems, wording) in &wordings {
            for stem in stems {
                *weights.entry(stem).or_insert(0) += wording.said;
            }
        }
        // The cosine with the sum of all, without the sum's length, which is the same for each.
        let closeness = |stems: &BTreeSet<String>| {
            let shared: u64 = stems.iter().filter_map(|stem| weights.get(stem.as_str())).sum();
            shared as f64 / (stems.len().max(1) as f64).sqrt()
        };
        let mut ranked: Vec<(f64, &Wording)> =
            wordings.iter().map(|(stems, wording)| (closeness(stems), *wording)).collect();
        ranked.sort_unstable_by(|(left, one), (right, other)| {
            right
                .total_cmp(left)
                .then(other.said.cmp(&one.said))
                .then_with(|| (one.text.len(), &one.text).cmp(&(other.text.len(), &other.text)))
        });
        let mut ranked = ranked.into_iter();
        let label = ranked.next().map(|(_, wording)| wording.text.clone()).unwrap_or_default();
        let mut others: Vec<&Wording> = ranked.map(|(_, wording)| wording).collect();
        others.sort_by_key(|wording| std::cmp::Reverse(wording.said));
        let examples = others.iter().take(MAX_EXAMPLES).map(|wording| wording.text.clone());
        (label, examples.collect())
    }
}

fn stems(text: &str) -> BTreeSet<String> {
    tokenize(text, &VOCABULARY.whole).into_iter().filter(|word| is_plain(word)).collect()
}
