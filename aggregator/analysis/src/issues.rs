//! Common issues and strengths: which statements of the judge come back, in how many items. Pure.
//!
//! Statements that mean the same are one: the same kind of defect on the same kind of property,
//! however it is worded and whatever the component, the direction and the numbers are.
//! `docs/issues.md` says where the lines are drawn.
//!
//! Findings come with a kind and an element, and are grouped by these alone, in every language.
//! What follows is for all else: findings of the kind `other`, answers of version 1, strengths.
//!
//! Each statement is read by itself (`sense`): a vocabulary of interface and picture terms
//! (`config/statements.toml`) and a few rules of English say what it is about and whether that is
//! missing, wrong or too much. Statements of one such kind are one group. Statements of which the
//! vocabulary knows nothing are grouped by the words that they share (`alike`).
//!
//! Chosen by measurement with `aggregator/analysis/tests-data/statements`. To compare stems or
//! n-grams of letters, with or without weights by rarity, by leader or by average-link clustering,
//! agrees with the statements to tune by at a B-cubed F1 of 0.45 to 0.47, each at its best
//! threshold: it finds a third of what belongs together, since "no outline" and "the frame is
//! absent" share nothing while "the icon is missing" and "the badge is missing" share most. What
//! this does is printed by `cargo bench --bench issues`. Reading each statement by itself also
//! keeps a statement's group the same whatever else was said in the run.

mod classify;
mod cluster;
mod collected;
mod key;
mod vocabulary;
mod words;

pub use classify::Tone;
pub use key::IssueKey;

use classify::Category;
use collected::{Collected, Wording, hash};
use juror_types::finding::{Finding, FindingVocabulary, OTHER};
use std::{
    collections::{BTreeMap, HashMap},
    sync::LazyLock,
};
use vocabulary::Vocabulary;

/// So many statements' meanings are remembered, so that what is said often is read once.
const MAX_REMEMBERED: usize = 5_000;

#[expect(clippy::expect_used, reason = "a test parses this very text")]
static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(|| {
    Vocabulary::parse(include_str!("../../../config/statements.toml")).expect("it parses")
});

/// Statements that mean the same.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementGroup {
    /// Titles of kind and element; of a group by words, the most central statement, as the judge
    /// put it, cut if it is very long.
    pub label: String,
    /// Its key.
    pub key: IssueKey,
    /// Items that it was said of; an item's repeats count once.
    pub count: u64,
    /// `count` over the items that have a verdict.
    pub share: f64,
    /// Those items by number, as in [`crate::items::Items`]; in the order of their ids once they
    /// stand in a report.
    pub items: Vec<u32>,
    /// Those of them with the lowest scores, worst first; empty until they stand in a report.
    pub worst: Vec<u32>,
    /// Wordings other than the label, the most frequent first.
    pub examples: Vec<String>,
}

/// Collects statements in bounded memory. What comes out does not depend on the order in which
/// they are added.
#[derive(Debug)]
pub struct Statements {
    tone: Tone,
    /// Titles that begin a rationale: `Clarity: `.
    criteria: Vec<String>,
    /// Titles of the kinds and elements of findings.
    findings: FindingVocabulary,
    /// By kind or topic; there are only as many as the two vocabularies have.
    known: HashMap<IssueKey, Collected>,
    /// Statements that the vocabulary does not know, by their words and ordered by their hash.
    others: BTreeMap<(u64, String), Collected>,
    most_others: usize,
    dropped: u64,
    remembered: HashMap<String, StatementPlace>,
}

/// Place of a statement among the groups.
#[derive(Clone, Debug)]
struct StatementPlace {
    group: IssueGroup,
    wording: u64,
}

#[derive(Clone, Debug)]
enum IssueGroup {
    Known(IssueKey),
    Other(u64, String),
}

impl Statements {
    /// Collects what the judge says. Rationales of criteria begin with one of these titles. Of
    /// statements that the
    /// vocabulary does not know, at most so many different ones are counted: beyond it, those are
    /// kept whose words have the lowest hash, which no order can change.
    pub fn new(tone: Tone, criteria: Vec<String>, most_others: usize) -> Self {
        Self {
            tone,
            criteria,
            findings: FindingVocabulary::default(),
            known: HashMap::new(),
            others: BTreeMap::new(),
            most_others: most_others.max(1),
            dropped: 0,
            remembered: HashMap::new(),
        }
    }

    /// Findings of these kinds and elements are grouped by them.
    #[must_use]
    pub fn with_findings(self, findings: FindingVocabulary) -> Self {
        Self { findings, ..self }
    }

    /// Adds the findings of an item. A kind that the vocabulary lacks, and `other`, go by their
    /// words.
    pub fn add_findings(&mut self, item: u32, findings: &[Finding]) {
        for finding in findings {
            if finding.kind == OTHER || self.findings.kind(&finding.kind).is_none() {
                self.add(item, std::slice::from_ref(&finding.statement));
                continue;
            }
            let element = match self.findings.element(&finding.element) {
                Some(element) => element.key.clone(),
                None => OTHER.to_owned(),
            };
            let group =
                IssueGroup::Known(IssueKey::Finding { kind: finding.kind.clone(), element });
            let wording = hash(&finding.statement.trim().to_lowercase());
            self.note(item, &finding.statement, StatementPlace { group, wording });
        }
    }

    /// Adds what the judge said of an item.
    pub fn add(&mut self, item: u32, statements: &[String]) {
        for statement in statements {
            if let Some(known) = self.remembered.get(statement) {
                let known = known.clone();
                self.note(item, statement, known);
            } else if let Some(read) = self.read(statement) {
                if self.remembered.len() >= MAX_REMEMBERED {
                    self.remembered.clear();
                }
                self.remembered.insert(statement.clone(), read.clone());
                self.note(item, statement, read);
            }
        }
    }

    /// Every group, most frequent first, of a run with this many items that have a verdict; and
    /// how many statements were dropped because there were too many different ones.
    pub fn finish(self, judged_items: u64) -> (Vec<StatementGroup>, u64) {
        let others = self.others.into_iter().map(|((_, words), collected)| (words, collected));
        let others = cluster::merge(others.collect());
        let others = others.map(|collected| (IssueKey::Words, collected));
        let collected = self.known.into_iter().chain(others);
        let mut groups: Vec<StatementGroup> = collected
            .map(|(key, collected)| {
                let (label, examples) = key.label(&self.findings, collected.central());
                let items = collected.items();
                let count = items.len() as u64;
                let share = crate::metrics::round_stable(count as f64 / judged_items.max(1) as f64);
                StatementGroup { label, key, count, share, items, worst: Vec::new(), examples }
            })
            .collect();
        groups.sort_unstable_by(|left, right| {
            right.count.cmp(&left.count).then_with(|| left.label.cmp(&right.label))
        });
        (groups, self.dropped)
    }

    /// Meaning of a statement; none if it has no words.
    fn read(&self, statement: &str) -> Option<StatementPlace> {
        let criterion = self.criteria.iter().find_map(|title| {
            let rest = statement.strip_prefix(title.as_str())?.strip_prefix(": ")?;
            Some((title, rest))
        });
        let said = criterion.map_or(statement, |(_, rest)| rest);
        let words = words::words(said, &VOCABULARY.whole);
        let spoken: Vec<&str> =
            words.iter().map(String::as_str).filter(|word| *word != words::PAUSE).collect();
        if spoken.is_empty() {
            return None;
        }
        let wording = hash(&spoken.join(" "));
        let group = match (classify::read(words, self.tone, &VOCABULARY), criterion) {
            (Category::Kind(topic), Some(_)) if VOCABULARY.is_of_pictures(&topic) => {
                IssueGroup::Known(IssueKey::Topic(topic))
            }
            (_, Some((title, _))) => IssueGroup::Known(IssueKey::Topic(title.clone())),
            (Category::Kind(topic), None) => IssueGroup::Known(IssueKey::Topic(topic)),
            (Category::Words(words), None) => {
                let words = words.join(" ");
                IssueGroup::Other(hash(&words), words)
            }
        };
        Some(StatementPlace { group, wording })
    }

    fn note(&mut self, item: u32, statement: &str, read: StatementPlace) {
        let wording = Wording::of(statement);
        match read.group {
            IssueGroup::Known(key) => {
                self.known.entry(key).or_default().note(item, read.wording, wording);
            }
            IssueGroup::Other(hash, words) => {
                let key = (hash, words);
                let is_beyond = self.others.len() >= self.most_others
                    && self.others.last_key_value().is_some_and(|(last, _)| *last < key);
                if is_beyond {
                    self.dropped += 1;
                    return;
                }
                self.others.entry(key).or_default().note(item, read.wording, wording);
                if self.others.len() > self.most_others
                    && let Some((_, dropped)) = self.others.pop_last()
                {
                    self.dropped += dropped.said();
                }
            }
        }
    }
}

#[cfg(test)]
mod findings_tests;
#[cfg(test)]
mod tests;
