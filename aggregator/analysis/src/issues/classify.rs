//! Meaning of a statement: its kind of defect on its kind of property.
//!
//! In this order: what is certain whatever else is said (accessibility, code that does not parse);
//! what is there but should not be; what is missing, and then the noun that this is said of; or
//! else the property of the highest rank.

mod extra;
mod missing;
mod wrong;

use super::{
    vocabulary::{Lexicon, Vocabulary},
    words::{NAME, PAUSE, is_plain},
};

/// From here on, what a statement is about is certain, even if it also calls something additional
/// or missing: one finger too many is anatomy.
const CERTAIN_RANK: u32 = 86;
/// To have more of it than shown is still about it.
const SPACING_RANK: u32 = 75;
/// Below are things, above are properties: the name of a colour beside a thing says more.
const COLOR_NAME_RANK: u32 = 45;
/// Up to here nothing is named that could have been kept, but subjects.
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
    /// None that it knows: its words, sorted, each once.
    Words(Vec<String>),
}

/// A phrase that names what statements are about: its words, and the number of the about.
#[derive(Clone, Copy, Debug)]
struct Hit {
    start: usize,
    end: usize,
    about: usize,
}

struct Reading<'a> {
    vocabulary: &'a Vocabulary,
    words: Vec<String>,
    /// The same words, by their numbers in the vocabulary.
    numbers: Vec<u32>,
    hits: Vec<Hit>,
}

/// Meaning of a statement's words.
pub(super) fn read(words: Vec<String>, tone: Tone, vocabulary: &Vocabulary) -> Category {
    let numbers = vocabulary.numbers(&words);
    let mut hits = Vec::new();
    let mut position = 0;
    while position < words.len() {
        match vocabulary.about.at(&numbers, position) {
            Some((length, about)) => {
                hits.push(Hit { start: position, end: position + length, about });
                position += length;
            }
            None => position += 1,
        }
    }
    let reading = Reading { vocabulary, words, numbers, hits };
    let kind = match tone {
        Tone::Issues => reading.defect(),
        Tone::Strengths => reading.merit(),
    };
    kind.unwrap_or_else(|| Category::Words(reading.content()))
}

impl Reading<'_> {
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
        let about = self.vocabulary.abouts.iter().find(|about| about.id == id);
        about.and_then(|about| about.strength.clone()).unwrap_or(id)
    }

    /// The word that each noun phrase of this part hinges on, its last: "icon" in "the button's
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

    /// Words that tell statements apart of which the vocabulary knows nothing.
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

    /// The word at a position; nothing beyond the end.
    fn word(&self, position: usize) -> &str {
        self.words.get(position).map_or("", String::as_str)
    }

    fn highest(&self) -> Option<Hit> {
        let order = |hit: &&Hit| (self.rank(**hit), std::cmp::Reverse(hit.start));
        self.hits.iter().max_by_key(order).copied()
    }

    fn rank(&self, hit: Hit) -> u32 {
        self.vocabulary.abouts.get(hit.about).map_or(0, |about| about.rank)
    }

    fn id(&self, hit: Hit) -> String {
        self.vocabulary.abouts.get(hit.about).map(|about| about.id.clone()).unwrap_or_default()
    }

    fn has(&self, words: &Lexicon<()>) -> bool {
        words.occurs(&self.numbers)
    }

    fn is_at(&self, words: &Lexicon<()>, position: usize) -> bool {
        words.at(&self.numbers, position).is_some()
    }
}
