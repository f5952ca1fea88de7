//! Statements of one meaning: their items and wordings.

use std::collections::BTreeMap;

/// Maximum length of a displayed wording, in characters.
const MAX_LENGTH: usize = 200;

/// Maximum number of compared wordings of one meaning; of more, those with the lowest hashes.
const MAX_WORDINGS: usize = 100;

/// Items and wordings.
#[derive(Debug, Default)]
pub(super) struct Collected {
    items: Vec<u32>,
    /// Number of statements.
    pub(super) said: u64,
    /// By the hash of their words, which ignores case, punctuation and numbers.
    pub(super) wordings: BTreeMap<u64, Wording>,
}

/// A wording and its frequency.
#[derive(Debug)]
pub(super) struct Wording {
    pub(super) text: String,
    pub(super) said: u64,
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

    /// The items, each once, in ascending order.
    pub(super) fn items(mut self) -> Vec<u32> {
        self.items.sort_unstable();
        self.items.dedup();
        self.items.shrink_to_fit();
        self.items
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
