//! The vocabulary of `config/issue_vocabulary.toml`, by which statements are classified.

use super::tokenize::tokenize;
use serde::Deserialize;
use std::collections::{HashMap, HashSet};

/// Topics of statements, and words for defects.
#[derive(Debug)]
pub(super) struct Vocabulary {
    pub(super) whole: HashSet<String>,
    /// Number of each word of the phrases.
    numbers: HashMap<String, u32>,
    pub(super) topics: Vec<TopicEntry>,
    pub(super) topic: Lexicon<usize>,
    pub(super) skip: Lexicon<()>,
    pub(super) hinges: Lexicon<()>,
    pub(super) clauses: Lexicon<()>,
    pub(super) source: Lexicon<()>,
    pub(super) picture: Lexicon<()>,
    pub(super) parts: Lexicon<()>,
    pub(super) extra: Lexicon<()>,
    pub(super) thickness: Lexicon<()>,
    pub(super) letters: Lexicon<()>,
    pub(super) missing_before: Lexicon<()>,
    pub(super) missing_after: Lexicon<()>,
    pub(super) present: Lexicon<()>,
    pub(super) lost: Lexicon<()>,
    pub(super) complete: [Lexicon<()>; 3],
    pub(super) color: Lexicon<()>,
    pub(super) color_names: Lexicon<()>,
    pub(super) color_of: Lexicon<ColorOf>,
}

/// Thing that a color belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColorOf {
    Background,
    Text,
    Border,
    Icon,
    Chart,
}

/// A topic: a property or a thing.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TopicEntry {
    pub(super) id: String,
    pub(super) rank: u32,
    /// True if missing and wrong are two kinds of it.
    #[serde(default)]
    pub(super) thing: bool,
    /// Topic of its praise: "layout and alignment match" is one strength.
    pub(super) strength: Option<String>,
    /// True if it is more specific than the criterion of a rationale.
    #[serde(default)]
    pub(super) picture: bool,
    words: Vec<String>,
}

/// Phrases by the number of their first word, longest first.
#[derive(Debug)]
pub(super) struct Lexicon<T>(Vec<Vec<(Vec<u32>, T)>>);

impl<T: Copy> Lexicon<T> {
    /// The longest phrase that begins at this word: its length in words, and its meaning.
    pub(super) fn at(&self, words: &[u32], position: usize) -> Option<(usize, T)> {
        let (first, after) = words.get(position..)?.split_first()?;
        let phrases = self.0.get(*first as usize)?;
        let (phrase, meaning) = phrases.iter().find(|(phrase, _)| after.starts_with(phrase))?;
        Some((phrase.len() + 1, *meaning))
    }

    /// True if any of its phrases occurs.
    pub(super) fn occurs(&self, words: &[u32]) -> bool {
        (0..words.len()).any(|position| self.at(words, position).is_some())
    }

    fn of<'a>(
        phrases: impl Iterator<Item = (&'a String, T)>,
        whole: &HashSet<String>,
        numbers: &mut HashMap<String, u32>,
    ) -> Self {
        let mut lexicon: Vec<Vec<(Vec<u32>, T)>> = Vec::new();
        for (phrase, meaning) in phrases {
            let mut phrase = tokenize(phrase, whole).into_iter().map(|word| {
                let next = numbers.len() as u32;
                *numbers.entry(word).or_insert(next)
            });
            let Some(first) = phrase.next() else { continue };
            let rest = phrase.collect();
            if lexicon.len() <= first as usize {
                lexicon.resize_with(first as usize + 1, Vec::new);
            }
            if let Some(phrases) = lexicon.get_mut(first as usize) {
                phrases.push((rest, meaning));
            }
        }
        for phrases in &mut lexicon {
            phrases.sort_by_key(|(phrase, _)| std::cmp::Reverse(phrase.len()));
        }
        Self(lexicon)
    }
}

impl Vocabulary {
    /// Parses a vocabulary.
    pub(super) fn parse(text: &str) -> Result<Self, toml::de::Error> {
        let written: VocabularySource = toml::from_str(text)?;
        let whole = &written.whole;
        let mut numbers = HashMap::new();
        let topic = written.topic.iter().enumerate();
        let topic = topic.flat_map(|(number, topic)| topic.words.iter().map(move |w| (w, number)));
        let color = &written.color;
        let color_of = [
            (&color.background, ColorOf::Background),
            (&color.text, ColorOf::Text),
            (&color.border, ColorOf::Border),
            (&color.icon, ColorOf::Icon),
            (&color.chart, ColorOf::Chart),
        ];
        let color_of = color_of.iter().flat_map(|&(words, of)| words.iter().map(move |w| (w, of)));
        let topic = Lexicon::of(topic, whole, &mut numbers);
        let color_of = Lexicon::of(color_of, whole, &mut numbers);
        let mut set = |words: &[String]| {
            Lexicon::of(words.iter().map(|word| (word, ())), whole, &mut numbers)
        };
        Ok(Self {
            topic,
            skip: set(&written.skip),
            hinges: set(&written.hinges),
            clauses: set(&written.clauses),
            source: set(&written.source),
            picture: set(&written.picture),
            parts: set(&written.parts),
            extra: set(&written.extra.words),
            thickness: set(&written.thickness),
            letters: set(&written.letters),
            missing_before: set(&written.missing.before),
            missing_after: set(&written.missing.after),
            present: set(&written.missing.present),
            lost: set(&written.missing.lost),
            complete: [
                set(&written.complete.all),
                set(&written.complete.there),
                set(&written.complete.words),
            ],
            color: set(&color.words),
            color_names: set(&color.names),
            color_of,
            topics: written.topic,
            whole: written.whole,
            numbers,
        })
    }

    /// True for a kind of image defect.
    pub(super) fn is_of_pictures(&self, kind: &str) -> bool {
        self.topics.iter().any(|topic| topic.picture && topic.id == kind)
    }

    /// The numbers of words; all words in no phrase have the same.
    pub(super) fn numbers(&self, words: &[String]) -> Vec<u32> {
        words.iter().map(|word| self.numbers.get(word).copied().unwrap_or(u32::MAX)).collect()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VocabularySource {
    whole: HashSet<String>,
    skip: Vec<String>,
    hinges: Vec<String>,
    clauses: Vec<String>,
    source: Vec<String>,
    picture: Vec<String>,
    missing: MissingSource,
    extra: WordsSource,
    complete: CompleteSource,
    topic: Vec<TopicEntry>,
    color: ColorSource,
    thickness: Vec<String>,
    letters: Vec<String>,
    parts: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MissingSource {
    before: Vec<String>,
    after: Vec<String>,
    present: Vec<String>,
    lost: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WordsSource {
    words: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CompleteSource {
    all: Vec<String>,
    there: Vec<String>,
    words: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ColorSource {
    words: Vec<String>,
    names: Vec<String>,
    background: Vec<String>,
    text: Vec<String>,
    border: Vec<String>,
    icon: Vec<String>,
    chart: Vec<String>,
}
