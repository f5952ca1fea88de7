//! Statements about missing content.

use super::{Category, Hit, StatementClassifier};
use crate::issues::tokenize::{NAME, PAUSE};

/// Rank from which on a topic is a property, not a thing.
const PROPERTY_RANK: u32 = 53;

/// Words that may be between "not" and its verb.
const BETWEEN: [&str; 9] = ["be", "been", "being", "at", "all", "any", "even", "actual", "get"];
/// Words before "missing" that make it refer to the preceding words.
const VERBS: [&str; 7] = ["is", "are", "was", "were", "be", "been", "still"];

/// Position of the words for missing content in a statement, and the side on which the content is
/// named.
#[derive(Clone, Copy, Debug)]
pub(super) struct Missing {
    start: usize,
    end: usize,
    thing_follows: bool,
}

impl StatementClassifier<'_> {
    /// The first such words: "no", "lacks", "is missing", "is not rendered".
    pub(super) fn missing(&self) -> Option<Missing> {
        (0..self.words.len()).find_map(|start| match self.word(start) {
            "not" | "never" => self.not_there(start),
            _ => self.called_missing(start),
        })
    }

    fn not_there(&self, start: usize) -> Option<Missing> {
        let verb = (start + 1..start + 5).find(|place| !BETWEEN.contains(&self.word(*place)))?;
        if let Some((length, ())) = self.vocabulary.present.at(&self.numbers, verb) {
            let end = verb + length;
            return Some(Missing { start, end, thing_follows: self.has_following_word(end) });
        }
        // "The screenshot shows a badge, the code does not."
        let ends = start > 0 && ["", PAUSE].contains(&self.word(start + 1));
        ends.then_some(Missing { start, end: start + 1, thing_follows: false })
    }

    fn called_missing(&self, start: usize) -> Option<Missing> {
        let vocabulary = self.vocabulary;
        let after = vocabulary.missing_after.at(&self.numbers, start);
        let before = vocabulary.missing_before.at(&self.numbers, start);
        let Some((length, ())) = before.filter(|_| self.word(start + 1) != "longer") else {
            let (length, ()) = after?;
            return Some(Missing { start, end: start + length, thing_follows: false });
        };
        let end = start + length;
        let is_said = start > 0 && VERBS.contains(&self.word(start - 1)) && after.is_some();
        let thing_follows = self.has_following_word(end) && !is_said;
        (thing_follows || after.is_some()).then_some(Missing { start, end, thing_follows })
    }

    fn has_following_word(&self, end: usize) -> bool {
        !["", PAUSE].contains(&self.word(end)) && !self.is_at(&self.vocabulary.hinges, end)
    }

    /// The missing thing or property, or an unnamed part.
    pub(super) fn missing_sense(&self, missing: Missing) -> Option<Category> {
        let said = self.numbers.get(missing.start..missing.end).unwrap_or_default();
        let Some(noun) = self.missing_noun(missing) else {
            let is_picture =
                self.has(&self.vocabulary.picture) || self.vocabulary.lost.occurs(said);
            return is_picture.then(|| Category::Kind("subject".to_owned()));
        };
        if let Some(hit) = self.hit_at(noun) {
            if let Some(property) = self.property_of(hit).filter(|_| missing.thing_follows) {
                return Some(Category::Kind(self.id(property)));
            }
            let topic = self.vocabulary.topics.get(hit.topic)?;
            return Some(Category::Kind(match topic.thing {
                true => format!("missing {}", topic.id),
                false => topic.id.clone(),
            }));
        }
        let is_colored = self.is_at(&self.vocabulary.color, noun)
            || self.vocabulary.color_of.at(&self.numbers, noun).is_some();
        let counts = ["only", "just"].contains(&self.word(missing.start));
        Some(match self.word(noun) {
            _ if is_colored => Category::Kind(self.color()),
            NAME => Category::Kind("missing text".to_owned()),
            _ if counts => Category::Kind("rows".to_owned()),
            part => Category::Words(vec!["missing".to_owned(), part.to_owned()]),
        })
    }

    fn missing_noun(&self, missing: Missing) -> Option<usize> {
        let end = self.words.len();
        let noun = match missing.thing_follows {
            true => self.nouns(missing.end, end).next(),
            false => {
                let clause = self.clause_before(missing.start);
                self.nouns(clause, missing.start).chain(self.nouns(0, missing.start)).next()
            }
        };
        let is_of_source = |noun: &usize| {
            self.is_at(&self.vocabulary.source, *noun)
                || self.is_at(&self.vocabulary.picture, *noun)
        };
        noun.or_else(|| self.nouns(0, end).find(|noun| !is_of_source(noun)))
    }

    /// The property in "no entry is highlighted", which is not a missing entry.
    fn property_of(&self, thing: Hit) -> Option<Hit> {
        let property = self.hits.iter().find(|hit| hit.start == thing.end + 1)?;
        let is_said =
            ["is", "are"].contains(&self.word(thing.end)) && self.rank(*property) >= PROPERTY_RANK;
        is_said.then_some(*property)
    }

    fn clause_before(&self, end: usize) -> usize {
        let begins = |position: &usize| {
            self.is_at(&self.vocabulary.clauses, *position) || self.word(*position) == PAUSE
        };
        (0..end).rev().find(begins).map_or(0, |position| position + 1)
    }
}
