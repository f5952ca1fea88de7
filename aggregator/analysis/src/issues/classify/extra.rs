//! Statements about content that should not be there.

use super::StatementClassifier;
use crate::issues::tokenize::is_plain;

const DENIALS: [&str; 5] = ["not", "no", "none", "never", "without"];
/// Words before the source that make it an aside: "the light of the original is not kept".
const ASIDES: [&str; 7] = ["of", "from", "in", "to", "with", "as", "by"];
/// Words that may be between a denial and the source: "not present anywhere in the screenshot".
const BETWEEN: [&str; 24] = [
    "in", "on", "of", "part", "the", "a", "any", "from", "within", "by", "to", "be", "at", "all",
    "anywher", "is", "given", "does", "do", "was", "are", "this", "our", "it",
];

impl StatementClassifier<'_> {
    /// "extra", "should not be there".
    pub(super) fn is_called_extra(&self) -> bool {
        self.has(&self.vocabulary.extra)
    }

    /// "which the screenshot does not show", "that is not in the design".
    pub(super) fn is_not_in_the_source(&self) -> bool {
        (0..self.words.len()).any(|position| {
            let source = self.vocabulary.source.at(&self.numbers, position);
            source.is_some_and(|(length, ())| {
                self.source_denies(position, position + length)
                    || self.denied_of_source(position)
                    || self.none_in_source(position)
            })
        })
    }

    /// "the mock has none", "the screenshot does not show".
    fn source_denies(&self, start: usize, end: usize) -> bool {
        let is_aside = (1..=2).any(|back| ASIDES.contains(&self.back_from(start, back)));
        let denial = (end..end + 4)
            .take_while(|place| is_plain(self.word(*place)))
            .find(|place| DENIALS.contains(&self.word(*place)));
        !is_aside
            && denial.is_some_and(|place| {
                let is_there = |next| self.is_at(&self.vocabulary.present, next);
                self.word(place) != "not" || (place + 1..place + 4).any(is_there)
            })
    }

    /// "not part of the design", "does not exist in the original".
    fn denied_of_source(&self, start: usize) -> bool {
        (1..=6)
            .map_while(|back| start.checked_sub(back))
            .take_while(|place| {
                let word = self.word(*place);
                BETWEEN.contains(&word)
                    || ["not", "never", "nowher"].contains(&word)
                    || self.is_at(&self.vocabulary.present, *place)
            })
            .any(|place| ["not", "never", "nowher"].contains(&self.word(place)))
    }

    /// "there is no icon in the screenshot".
    fn none_in_source(&self, start: usize) -> bool {
        let is_in = (1..=2).any(|back| self.back_from(start, back) == "in");
        is_in
            && (3..=6)
                .map_while(|back| start.checked_sub(back))
                .take_while(|place| {
                    is_plain(self.word(*place)) && !self.is_at(&self.vocabulary.clauses, *place)
                })
                .any(|place| ["no", "none"].contains(&self.word(place)))
    }

    fn back_from(&self, position: usize, back: usize) -> &str {
        position.checked_sub(back).map_or("", |place| self.word(place))
    }
}
