//! The words of `config/statements.toml`, by which statements are told apart.

use super::words::words;
use serde::Deserialize;
use std::collections::{HashMap, HashSet};

/// Subjects of statements, and the words that say what of it is wrong.
#[derive(Debug)]
pub(super) struct Vocabulary {
    pub(super) whole: HashSet<String>,
    /// Every word of a phrase has a number.
    numbers: HashMap<String, u32>,
    pub(super) abouts: Vec<About>,
    pub(super) about: Lexicon<usize>,
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

/// A property or a thing.
#[derive(Debug)]
pub(super) struct About {
    pub(super) id: String,
    pub(super) rank: u32,
    /// To be missing and to be wrong are two kinds of it.
    pub(super) thing: bool,
    /// Subject that it counts as where it is praised: "layout and alignment match" is one strength.
    pub(super) strength: Option<String>,
    /// It says more than the criterion under which a rationale stands.
    pub(super) picture: bool,
}

/// Phrases, by the number of their first word; the longest first.
#[derive(Debug)]
pub(super) struct Lexicon<T>(Vec<Vec<(Vec<u32>, T)>>);

impl<T: Copy> Lexicon<T> {
    /// The longest phrase that begins at this word: how many words it has, and what it means.
    pub(super) fn at(&self, words: &[u32], position: usize) -> Option<(usize, T)> {
        let (first, after) = words.get(position..)?.split_first()?;
        let phrases = self.0.get(*first as usize)?;
        let (phrase, meaning) = phrases.iter().find(|(phrase, _)| after.starts_with(phrase))?;
        Some((phrase.len() + 1, *meaning))
    }

    /// True if any of its phrases is there.
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
            let mut phrase = words(phrase, whole).into_iter().map(|word| {
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenVocabulary {
    whole: HashSet<String>,
    skip: Vec<String>,
    hinges: Vec<String>,
    clauses: Vec<String>,
    source: Vec<String>,
    picture: Vec<String>,
    missing: WrittenMissing,
    extra: WrittenWords,
    complete: WrittenComplete,
    about: Vec<WrittenAbout>,
    color: WrittenColor,
    thickness: Vec<String>,
    letters: Vec<String>,
    parts: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenMissing {
    before: Vec<String>,
    after: Vec<String>,
    present: Vec<String>,
    lost: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenWords {
    words: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenComplete {
    all: Vec<String>,
    there: Vec<String>,
    words: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenAbout {
    id: String,
    rank: u32,
    #[serde(default)]
    thing: bool,
    strength: Option<String>,
    #[serde(default)]
    picture: bool,
    words: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenColor {
    words: Vec<String>,
    names: Vec<String>,
    background: Vec<String>,
    text: Vec<String>,
    border: Vec<String>,
    icon: Vec<String>,
    chart: Vec<String>,
}

impl Vocabulary {
    /// Reads a vocabulary's text.
    pub(super) fn parse(text: &str) -> Result<Self, toml::de::Error> {
        let written: WrittenVocabulary = toml::from_str(text)?;
        let whole = &written.whole;
        let mut numbers = HashMap::new();
        let about = written.about.iter().enumerate();
        let about = about.flat_map(|(number, about)| about.words.iter().map(move |w| (w, number)));
        let color = &written.color;
        let color_of = [
            (&color.background, ColorOf::Background),
            (&color.text, ColorOf::Text),
            (&color.border, ColorOf::Border),
            (&color.icon, ColorOf::Icon),
            (&color.chart, ColorOf::Chart),
        ];
        let color_of = color_of.iter().flat_map(|&(words, of)| words.iter().map(move |w| (w, of)));
        let about = Lexicon::of(about, whole, &mut numbers);
        let color_of = Lexicon::of(color_of, whole, &mut numbers);
        let mut set = |words: &[String]| {
            Lexicon::of(words.iter().map(|word| (word, ())), whole, &mut numbers)
        };
        Ok(Self {
            about,
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
            abouts: written
                .about
                .into_iter()
                .map(|about| About {
                    id: about.id,
                    rank: about.rank,
                    thing: about.thing,
                    strength: about.strength,
                    picture: about.picture,
                })
                .collect(),
            whole: written.whole,
            numbers,
        })
    }

    /// True if this is a kind of what is wrong with pictures.
    pub(super) fn is_of_pictures(&self, kind: &str) -> bool {
        self.abouts.iter().any(|about| about.picture && about.id == kind)
    }

    /// The numbers of words; all words that are in no phrase have the same.
    pub(super) fn numbers(&self, words: &[String]) -> Vec<u32> {
        words.iter().map(|word| self.numbers.get(word).copied().unwrap_or(u32::MAX)).collect()
    }
}
