//! Classification of a statement: the kind of defect on a kind of property.
//!
//! Order of precedence: certain topics (accessibility, code that does not parse); extra content;
//! missing content, with its noun; otherwise the property of the highest rank.

mod extra;
mod missing;
mod wrong;

use super::{
    tokenize::{NAME, PAUSE, is_plain},
    vocabulary::{Lexicon, Vocabulary},
};

/// Rank from which on a topic is certain, even if the statement also calls something extra or
/// missing: an extra finger is anatomy.
const CERTAIN_RANK: u32 = 86;
/// Rank of spacing, which stays the topic where there is too much of it.
const SPACING_RANK: u32 = 75;
/// Rank between things and properties: the name of a color beside a thing takes precedence.
const COLOR_NAME_RANK: u32 = 45;
/// Maximum rank of mere subjects.
const SUBJECT_RANK: u32 = 31;

/// Tone of statements: about defects or about strengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Statements of defects.
    Issues,
    /// Statements of merits.
    Strengths,
}

/// Meaning of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Category {
    /// A kind that the vocabulary knows: statements of one kind are one.
    Kind(String),
    /// Unknown kind: its words, sorted and unique.
    Words(Vec<String>),
}

/// Classifies a statement by its words.
pub(super) fn read(words: Vec<String>, tone: Tone, vocabulary: &Vocabulary) -> Category {
    let numbers = vocabulary.numbers(&words);
    let mut hits = Vec::new();
    let mut position = 0;
    while position < words.len() {
        match vocabulary.topic.at(&numbers, position) {
            Some((length, topic)) => {
                hits.push(Hit { start: position, end: position + length, topic });
                position += length;
            }
            None => position += 1,
        }
    }
    let classifier = StatementClassifier { vocabulary, words, numbers, hits };
    let kind = match tone {
        Tone::Issues => classifier.defect(),
        Tone::Strengths => classifier.merit(),
    };
    kind.unwrap_or_else(|| Category::Words(classifier.content()))
}

/// A phrase that names a topic: its words, and the topic's number.
#[derive(Clone, Copy, Debug)]
struct Hit {
    start: usize,
    end: usize,
    topic: usize,
}

struct StatementClassifier<'a> {
    vocabulary: &'a Vocabulary,
    words: Vec<String>,
    /// Words by their numbers in the vocabulary.
    numbers: Vec<u32>,
    hits: Vec<Hit>,
}

impl StatementClassifier<'_> {
    fn defect(&self) -> Option<Category> {
        let highest = self.highest();
        let rank = highest.map_or(0, |hit| self.rank(hit));
        if let Some(hit) = highest
            && rank >= CERTAIN_RANK
        {
            return Some(Category::Kind(self.id(hit)));
        }
        if self.is_not_in_the_source() || (self.is_called_extra() && rank != SPACING_RANK) {
            return Some(Category::Kind("extra".to_owned()));
        }
        let missing = self.missing().and_then(|missing| self.missing_sense(missing));
        missing.or_else(|| self.wrong_kind().map(Category::Kind))
    }

    fn merit(&self) -> Option<Category> {
        let rank = self.highest().map_or(0, |hit| self.rank(hit));
        let [all, there, words] = &self.vocabulary.complete;
        let is_complete = words.occurs(&self.numbers)
            || (all.occurs(&self.numbers) && there.occurs(&self.numbers) && rank <= SPACING_RANK);
        let is_of_picture = self.vocabulary.lost.occurs(&self.numbers);
        let kind = match (is_complete, is_of_picture) {
            _ if rank >= CERTAIN_RANK => self.wrong_kind(),
            (true, _) if self.has(&self.vocabulary.picture) => Some("subject".to_owned()),
            (true, _) => Some("complete".to_owned()),
            (false, true) if rank <= SUBJECT_RANK => Some("subject".to_owned()),
            _ => self.wrong_kind().map(|id| self.praised(id)),
        };
        kind.map(Category::Kind)
    }

    fn praised(&self, id: String) -> String {
        let topic = self.vocabulary.topics.iter().find(|topic| topic.id == id);
        topic.and_then(|topic| topic.strength.clone()).unwrap_or(id)
    }

    /// Head nouns of the noun phrases of this part, the last word of each: "icon" in "the button's
    /// search icon of the header".
    fn nouns(&self, start: usize, end: usize) -> impl Iterator<Item = usize> {
        let mut nouns = Vec::new();
        let mut last = None;
        let mut behind_hinge = start;
        for position in start..end {
            let word = self.word(position);
            if word == PAUSE || self.is_at(&self.vocabulary.hinges, position) {
                nouns.extend(last.take());
                let hit = self.hits.iter().find(|hit| hit.start == position);
                behind_hinge = hit.map_or(position + 1, |hit| hit.end);
            }
            if position < behind_hinge {
                continue;
            }
            let is_named = self.hit_at(position).is_some()
                || self.is_at(&self.vocabulary.parts, position)
                || self.is_at(&self.vocabulary.color, position)
                || self.vocabulary.color_of.at(&self.numbers, position).is_some();
            if is_named || (word == NAME && last.is_none()) {
                last = Some(position);
            }
        }
        nouns.extend(last);
        nouns.into_iter()
    }

    fn hit_at(&self, position: usize) -> Option<Hit> {
        self.hits.iter().find(|hit| hit.start <= position && position < hit.end).copied()
    }

    /// Words by which statements without a known topic are clustered.
    fn content(&self) -> Vec<String> {
        let mut content = Vec::new();
        for (position, word) in self.words.iter().enumerate() {
            let is_said = is_plain(word)
                && !self.is_at(&self.vocabulary.skip, position)
                && !self.is_at(&self.vocabulary.hinges, position);
            if is_said {
                content.push(word.clone());
            }
        }
        if content.is_empty() {
            content.clone_from(&self.words);
        }
        content.sort_unstable();
        content.dedup();
        content
    }

    /// The word at a position; empty beyond the end.
    fn word(&self, position: usize) -> &str {
        self.words.get(position).map_or("", String::as_str)
    }

    fn highest(&self) -> Option<Hit> {
        let order = |hit: &&Hit| (self.rank(**hit), std::cmp::Reverse(hit.start));
        self.hits.iter().max_by_key(order).copied()
    }

    fn rank(&self, hit: Hit) -> u32 {
        self.vocabulary.topics.get(hit.topic).map_or(0, |topic| topic.rank)
    }

    fn id(&self, hit: Hit) -> String {
        self.vocabulary.topics.get(hit.topic).map(|topic| topic.id.clone()).unwrap_or_default()
    }

    fn has(&self, words: &Lexicon<()>) -> bool {
        words.occurs(&self.numbers)
    }

    fn is_at(&self, words: &Lexicon<()>, position: usize) -> bool {
        words.at(&self.numbers, position).is_some()
    }
}
