//! A report's topics as blocks, which terminal, Markdown and HTML render. Text in them is as others
//! wrote it: each renderer escapes it.

mod figures;

pub use figures::{
    ChangeChart, FigureCell, FigureColumn, FigureRow, FigureTable, RangeChart, ShownMetric,
};

/// Topic of a report.
pub struct Topic {
    /// Key on a page.
    pub id: &'static str,
    /// Short title.
    pub title: String,
    /// Name behind the title; empty for none.
    pub name: String,
    /// True if the simulator had a part in it.
    pub simulated: bool,
    /// The result in a word.
    pub status: Option<(String, Level)>,
    /// Blocks in reading order.
    pub blocks: Vec<Block>,
}

/// A part of a topic.
pub enum Block {
    /// The decision: headline and reason, the latter without its full stop.
    Decision {
        /// Significance for the reader.
        level: Level,
        /// The decision in one line.
        headline: String,
        /// Reason of the decision.
        reason: String,
        /// True if the simulator had a part in it.
        simulated: bool,
    },
    /// Short facts, in one line.
    Facts(Vec<String>),
    /// A sentence, behind a word that names its kind, if one is needed.
    Sentence(Level, &'static str, String),
    /// A sentence that begins with a name, which a page links.
    NamedSentence {
        /// Significance for the reader.
        level: Level,
        /// Kind of the name.
        kind: NameKind,
        /// Name with which the sentence begins.
        name: String,
        /// The rest of the sentence.
        text: String,
    },
    /// Labels and their texts.
    Pairs(Vec<(String, String)>),
    /// Metrics of the run.
    Metrics(Vec<ShownMetric>),
    /// Parts of a whole: as text, and name and count of each for a chart.
    Parts(String, Vec<(&'static str, u64)>),
    /// A table.
    Table(FigureTable),
    /// A list.
    List(List),
    /// Lists under one title.
    Lists(Lists),
}

/// Significance of a text for the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Ordinary text.
    Plain,
    /// A remark.
    Faint,
    /// Success, or a target that is met.
    Good,
    /// An uncertainty, or a warning.
    Doubtful,
    /// A failure, or a target that is missed.
    Bad,
}

/// Lists under one title.
pub struct Lists {
    /// Title of them all.
    pub title: &'static str,
    /// Their counts in a sentence, without its full stop.
    pub summary: String,
    /// The lists; empty ones are not shown.
    pub lists: Vec<List>,
}

/// The first entries of a list.
pub struct List {
    /// Title of the list.
    pub title: String,
    /// True if it is expanded initially where lists can be folded.
    pub open: bool,
    /// Number of all entries.
    pub count: usize,
    /// The first `MAX` entries.
    pub entries: Vec<ListEntry>,
}

/// An entry of a list.
pub struct ListEntry {
    /// Name of the subject.
    pub name: String,
    /// Kind of its subject.
    pub kind: NameKind,
    /// Further text; empty for nothing.
    pub detail: String,
    /// Share of the items, for a chart.
    pub share: Option<f64>,
    /// Wordings and items behind it, where there is room for them.
    pub unfolded: Vec<List>,
}

/// Kind of a name, by which a page links it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// Plain text without a link.
    Text,
    /// Id of an item.
    Item,
    /// Id of a run.
    Run,
    /// Label of a common issue.
    Issue,
    /// Label of a common strength.
    Strength,
    /// Label of a repair that several results need.
    Repair,
    /// The verdicts that contradict the measured evidence, by their number.
    Contradictions,
}

impl Topic {
    /// A topic without a status.
    pub fn new(
        id: &'static str,
        title: impl Into<String>,
        simulated: bool,
        blocks: Vec<Block>,
    ) -> Self {
        Self { id, title: title.into(), name: String::new(), simulated, status: None, blocks }
    }
}

impl List {
    /// Entries that a format shows at most.
    pub(crate) const MAX: usize = 50;

    pub(crate) fn new<T>(
        title: impl Into<String>,
        all: &[T],
        entry: impl Fn(&T) -> ListEntry,
    ) -> Self {
        let entries = all.iter().take(Self::MAX).map(entry).collect();
        Self { title: title.into(), open: false, count: all.len(), entries }
    }

    pub(crate) fn opened(self) -> Self {
        Self { open: true, ..self }
    }

    /// The first entries, and the number of those behind them.
    pub(crate) fn first(&self, most: usize) -> (&[ListEntry], usize) {
        let shown = self.entries.get(..most).unwrap_or(&self.entries);
        (shown, self.count - shown.len())
    }
}

impl ListEntry {
    pub(crate) fn new(kind: NameKind, name: &str, detail: String) -> Self {
        Self { name: name.to_owned(), kind, detail, share: None, unfolded: Vec::new() }
    }

    pub(crate) fn text(name: &str, detail: String) -> Self {
        Self::new(NameKind::Text, name, detail)
    }

    pub(crate) fn item(id: &str, detail: String) -> Self {
        Self::new(NameKind::Item, id, detail)
    }

    /// Name and detail in one line, each shown so.
    pub(crate) fn line(&self, shown: impl Fn(&str) -> String) -> String {
        let (name, detail) = (shown(&self.name), shown(&self.detail));
        match self.kind {
            _ if detail.is_empty() => name,
            NameKind::Issue | NameKind::Strength | NameKind::Repair => {
                format!("{name} ({detail})")
            }
            _ => format!("{name}: {detail}"),
        }
    }
}
