//! Topic of a statement about wrong content: a property, a color of something, or the thing itself.

use super::{COLOR_NAME_RANK, StatementClassifier};
use crate::issues::{tokenize::FIGURE, vocabulary::ColorOf};

/// Rank up to which a named color takes precedence.
const NAMED_COLOR_RANK: u32 = 80;
/// Rank up to which a color's name beside a background is the background's color.
const BACKGROUND_NAME_RANK: u32 = 60;

impl StatementClassifier<'_> {
    /// Topic of a statement without missing content.
    pub(super) fn wrong_kind(&self) -> Option<String> {
        let highest = self.highest();
        let rank = highest.map_or(0, |hit| self.rank(hit));
        let topic = highest.map(|hit| self.id(hit)).unwrap_or_default();
        let has_color = self.names_color();
        let has_color_name = self.has(&self.vocabulary.color_names);
        if topic == "border" {
            let is_color = (has_color || has_color_name) && !self.has(&self.vocabulary.thickness);
            return Some(if is_color { self.color() } else { topic });
        }
        let color = self.color();
        let is_of_ground = color == "background color" && rank < BACKGROUND_NAME_RANK;
        let is_color = has_color && rank < NAMED_COLOR_RANK && topic != "shadow"
            || has_color_name && (rank < COLOR_NAME_RANK || is_of_ground);
        if is_color {
            return Some(color);
        }
        if topic == "size" {
            return Some(self.size());
        }
        if rank < COLOR_NAME_RANK {
            return self.wrong_thing().or(highest.map(|_| topic));
        }
        highest.map(|_| topic)
    }

    /// Topic of a statement that only names things: the first of them, or its size if there are
    /// figures.
    fn wrong_thing(&self) -> Option<String> {
        let noun = self.nouns(0, self.words.len()).next()?;
        let topic = self.vocabulary.topics.get(self.hit_at(noun)?.topic)?;
        let is_measured = self.words.iter().any(|word| word == FIGURE);
        Some(match topic.thing && topic.id != "text" && is_measured {
            true => "size".to_owned(),
            false => topic.id.clone(),
        })
    }

    fn size(&self) -> String {
        let head = self.nouns(0, self.words.len()).next();
        let is_text = head.is_some_and(|noun| self.is_at(&self.vocabulary.letters, noun));
        let id = if is_text { "font size" } else { "size" };
        id.to_owned()
    }

    /// True if the word "color" means a color; in "color filter" it does not.
    fn names_color(&self) -> bool {
        let is_alone = |position: usize| {
            !self
                .hits
                .iter()
                .any(|hit| hit.start <= position && position < hit.end && hit.end - hit.start > 1)
        };
        (0..self.words.len())
            .any(|position| self.is_at(&self.vocabulary.color, position) && is_alone(position))
    }

    /// Topic of a statement about a color: the thing right before the word, or else the first one.
    pub(super) fn color(&self) -> String {
        let of = &self.vocabulary.color_of;
        let named = |position: &usize| of.at(&self.numbers, *position).map(|(_, of)| of);
        let before_word = (1..self.words.len())
            .filter(|position| self.is_at(&self.vocabulary.color, *position))
            .find_map(|position| named(&(position - 1)));
        let first = || (0..self.words.len()).find_map(|position| named(&position));
        let kind = match before_word.or_else(first) {
            Some(ColorOf::Background) => "background color",
            Some(ColorOf::Text) => "text color",
            Some(ColorOf::Border) => "border color",
            Some(ColorOf::Icon) => "icon color",
            Some(ColorOf::Chart) => "chart color",
            None if self.has(&self.vocabulary.picture) => "palette",
            None if !self.has(&self.vocabulary.color) && self.has(&self.vocabulary.parts) => {
                "background color"
            }
            None => "color",
        };
        kind.to_owned()
    }
}
