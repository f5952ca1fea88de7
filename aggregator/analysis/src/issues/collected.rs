//! Statements of one meaning: their items and wordings.

use super::{
    VOCABULARY,
    tokenize::{is_plain, tokenize},
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Maximum length of a displayed wording, in characters.
const MAX_LENGTH: usize = 200;

/// Maximum number of compared wordings of one meaning; of more, those with the lowest hashes.
const MAX_WORDINGS: usize = 100;

/// Maximum number of displayed examples.
pub(super) const MAX_EXAMPLES: usize = 3;

/// Items and wordings.
#[derive(Debug, Default)]
pub(super) struct Collected {
    items: Vec<u32>,
    said: u64,
    /// By the hash of their words, which ignores case, punctuation and numbers.
    wordings: BTreeMap<u64, Wording>,
}

/// A wording and its frequency.
#[derive(Debug)]
pub(super) struct Wording {
    text: String,
    said: u64,
}

impl Wording {
    /// A single statement.
    pub(super) fn new(statement: &str) -> Self {
        Self { text: statement.trim().chars().take(MAX_LENGTH).collect(), said: 1 }
    }
}

impl Collected {
    /// Adds a statement about an item.
    pub(super) fn note(&mut self, item: u32, hash: u64, wording: Wording) {
        self.said += 1;
        if self.items.last() != Some(&item) {
            self.items.push(item);
        }
        self.add_wording(hash, wording);
    }

    /// Merges statements of the same meaning.
    pub(super) fn absorb(&mut self, other: Self) {
        self.said += other.said;
        self.items.extend(other.items);
        for (hash, wording) in other.wordings {
            self.add_wording(hash, wording);
        }
    }

    /// Number of statements.
    pub(super) fn said(&self) -> u64 {
        self.said
    }

    /// The items, each once, in ascending order.
    pub(super) fn items(mut self) -> Vec<u32> {
        self.items.sort_unstable();
        self.items.dedup();
        self.items.shrink_to_fit();
        self.items
    }

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

    fn add_wording(&mut self, hash: u64, wording: Wording) {
        if let Some(known) = self.wordings.get_mut(&hash) {
            known.said += wording.said;
            if (wording.text.len(), &wording.text) < (known.text.len(), &known.text) {
                known.text = wording.text;
            }
            return;
        }
        self.wordings.insert(hash, wording);
        if self.wordings.len() > MAX_WORDINGS {
            self.wordings.pop_last();
        }
    }
}

fn stems(text: &str) -> BTreeSet<String> {
    tokenize(text, &VOCABULARY.whole).into_iter().filter(|word| is_plain(word)).collect()
}

/// FNV-1a with MurmurHash3's finalizer: the same on every machine and in every version.
pub(super) fn hash(text: &str) -> u64 {
    let mut hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
        hash = (hash ^ (hash >> 33)).wrapping_mul(factor);
    }
    hash ^ (hash >> 33)
}
