//! Common issues and strengths: recurring statements of the judge, with their numbers of items.
//! Pure.
//!
//! Statements of the same meaning are grouped: the same kind of defect on the same kind of
//! property, independent of wording, component, direction and numbers. `docs/issues.md` defines the
//! boundaries.
//!
//! Findings have a kind and an element, and are grouped by these alone, in every language. The rest
//! applies to all other statements: findings of the kind `other`, replies of version 1, strengths.
//!
//! Each statement is classified separately (`classify`): a vocabulary of interface and image terms
//! (`config/issue_vocabulary.toml`) and a few rules of English determine its topic and whether that is
//! missing, wrong or extra. Statements of one such kind are one group. Statements without a known
//! topic are clustered by their shared words (`cluster`).
//!
//! Chosen by measurement with `aggregator/analysis/tests-data/statements`. Comparing stems or
//! n-grams of letters, with or without weights by rarity, by leader or average-link clustering,
//! agrees with the tuning statements at a B-cubed F1 of 0.45 to 0.47, each at its best threshold:
//! it finds a third of the matching statements, since "no outline" and "the frame is absent" share
//! no words while "the icon is missing" and "the badge is missing" share most. `cargo bench --bench
//! issues` prints the figures of this method. Classifying each statement by itself also makes a
//! statement's group independent of the others in the run.

mod classify;
mod cluster;
mod label;
mod tokenize;
mod vocabulary;
mod wordings;

pub use classify::Tone;
pub use label::IssueKey;

use classify::Category;
use juror_types::finding::{Finding, FindingVocabulary, OTHER};
use std::{
    collections::{BTreeMap, HashMap},
    sync::LazyLock,
};
use vocabulary::Vocabulary;
use wordings::{Collected, Wording, hash};

/// Maximum number of cached classifications, so that frequent statements are classified once.
const MAX_REMEMBERED: usize = 5_000;

#[expect(clippy::expect_used, reason = "a test parses this very text")]
static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(|| {
    Vocabulary::parse(include_str!("../../../config/issue_vocabulary.toml")).expect("it parses")
});

/// Statements of the same meaning.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementGroup {
    /// Titles of kind and element; of a group by words, the most central statement as the judge
    /// wrote it, truncated if it is very long.
    pub label: String,
    /// Category and subject of the group.
    pub key: IssueKey,
    /// Number of items; an item's repeats count once.
    pub count: u64,
    /// `count` over the items with a verdict.
    pub share: f64,
    /// Numbers of those items, as in [`crate::item_index::ItemIndex`]; sorted by id in a report.
    pub items: Vec<u32>,
    /// Items with the lowest scores, worst first; empty outside a report.
    pub worst: Vec<u32>,
    /// Other wordings than the label, most frequent first.
    pub examples: Vec<String>,
}

/// Collector of statements in bounded memory. The result does not depend on the order of additions.
#[derive(Debug)]
pub struct Statements {
    tone: Tone,
    /// Titles that are prefixes of rationales: `Clarity: `.
    criteria: Vec<String>,
    /// Titles of the kinds and elements of findings.
    findings: FindingVocabulary,
    /// Groups by kind or topic, bounded by the size of the two vocabularies.
    known: HashMap<IssueKey, Collected>,
    /// Statements without a known topic, by their words and ordered by their hash.
    others: BTreeMap<(u64, String), Collected>,
    most_others: usize,
    dropped: u64,
    remembered: HashMap<String, StatementPlace>,
}

impl Statements {
    /// A collector of statements of this tone. Rationales begin with one of the titles of
    /// `criteria`. At most `most_others` different statements without a known topic are counted: of
    /// more, those with the lowest hashes, independent of their order.
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

    /// Groups findings by these kinds and elements.
    #[must_use]
    pub fn with_findings(self, findings: FindingVocabulary) -> Self {
        Self { findings, ..self }
    }

    /// Adds the findings of an item. Those of an unknown kind, or of `other`, are classified by
    /// their words.
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

    /// Adds the judge's statements about an item.
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

    /// All groups, most frequent first, of a run with this many items with a verdict; and the
    /// number of statements dropped beyond the maximum.
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

    /// Classifies a statement; `None` if it has no words.
    fn read(&self, statement: &str) -> Option<StatementPlace> {
        let criterion = self.criteria.iter().find_map(|title| {
            let rest = statement.strip_prefix(title.as_str())?.strip_prefix(": ")?;
            Some((title, rest))
        });
        let text = criterion.map_or(statement, |(_, rest)| rest);
        let words = tokenize::tokenize(text, &VOCABULARY.whole);
        let spoken: Vec<&str> =
            words.iter().map(String::as_str).filter(|word| *word != tokenize::PAUSE).collect();
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
        let wording = Wording::new(statement);
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
                    self.dropped += dropped.said;
                }
            }
        }
    }
}

/// Group of a statement.
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

#[cfg(test)]
mod findings_tests;

#[cfg(test)]
mod tests;
