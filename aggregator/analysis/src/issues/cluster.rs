//! Clustering of statements without a known topic by their shared words.
//!
//! Leader clustering: in descending order of frequency, each statement joins the group with the
//! most similar leader of sufficient similarity, or becomes the leader of a new group. The
//! similarity is Jaccard's, shared words over all words of the two. An index over the rarest words
//! of each leader finds the candidates (prefix filtering, Chaudhuri et al. 2006); where words are
//! so common that there are very many, the leaders that share the rarest words are compared, the
//! most frequent first, so that the time is proportional to the number of statements.

use super::wordings::Collected;
use std::collections::HashMap;

/// Minimum similarity: "header overlaps logo" and "logo overlaps the header picture".
const ENOUGH: f64 = 0.5;

/// Maximum number of leaders that are compared with a statement.
const MAX_COMPARED: usize = 200;

/// Merges similar statements; `others` are their words, sorted and separated by spaces, each list
/// once.
pub(super) fn merge(mut others: Vec<(String, Collected)>) -> impl Iterator<Item = Collected> {
    let numbers = numbers_by_rarity(&others);
    others.sort_by(|(left, one), (right, other)| {
        other.said.cmp(&one.said).then_with(|| left.cmp(right))
    });
    let mut leaders: Vec<Leader> = Vec::new();
    let mut index: HashMap<u32, Vec<usize>> = HashMap::new();
    for (text, collected) in others {
        let mut words: Vec<u32> =
            text.split(' ').filter_map(|word| numbers.get(word).copied()).collect();
        words.sort_unstable();
        let rare = words.get(..prefix(words.len())).unwrap_or_default();
        match most_alike(&words, rare, &leaders, &index).and_then(|place| leaders.get_mut(place)) {
            Some(leader) => leader.collected.absorb(collected),
            None => {
                for word in rare {
                    index.entry(*word).or_default().push(leaders.len());
                }
                leaders.push(Leader { words, collected });
            }
        }
    }
    leaders.into_iter().map(|leader| leader.collected)
}

struct Leader {
    words: Vec<u32>,
    collected: Collected,
}

/// The most similar leader of sufficient similarity; the first of equals.
fn most_alike(
    words: &[u32],
    rare: &[u32],
    leaders: &[Leader],
    index: &HashMap<u32, Vec<usize>>,
) -> Option<usize> {
    let compared = rare.iter().filter_map(|word| index.get(word)).flatten().take(MAX_COMPARED);
    let mut best: Option<(f64, usize)> = None;
    for &place in compared {
        let likeness = leaders.get(place).map_or(0.0, |leader| jaccard(&leader.words, words));
        let is_better =
            best.is_none_or(|(most, first)| likeness > most || (likeness == most && place < first));
        if likeness >= ENOUGH && is_better {
            best = Some((likeness, place));
        }
    }
    best.map(|(_, place)| place)
}

/// Numbers words from the rarest to the most frequent.
fn numbers_by_rarity(others: &[(String, Collected)]) -> HashMap<String, u32> {
    let mut uses: HashMap<&str, u32> = HashMap::new();
    for word in others.iter().flat_map(|(text, _)| text.split(' ')) {
        *uses.entry(word).or_insert(0) += 1;
    }
    let mut words: Vec<(u32, &str)> = uses.into_iter().map(|(word, uses)| (uses, word)).collect();
    words.sort_unstable();
    words.into_iter().zip(0..).map(|((_, word), number)| (word.to_owned(), number)).collect()
}

/// Number of a statement's rarest words to look up: two sufficiently similar statements share one
/// of these.
fn prefix(words: usize) -> usize {
    words - (ENOUGH * words as f64).ceil() as usize + usize::from(words > 0)
}

/// Jaccard similarity of two sorted lists.
fn jaccard(left: &[u32], right: &[u32]) -> f64 {
    let shared = left.iter().filter(|word| right.binary_search(word).is_ok()).count();
    shared as f64 / (left.len() + right.len() - shared).max(1) as f64
}
