//! A report's topics as blocks, which terminal, Markdown and HTML render. Text in them is as others
//! wrote it: each renderer escapes it.

/// One topic of a report.
pub struct Topic {
    /// Short title.
    pub title: &'static str,
    /// Whether the simulator had a part in it.
    pub simulated: bool,
    /// The result in a word.
    pub status: Option<(String, Level)>,
    /// Its parts.
    pub blocks: Vec<Block>,
}

/// A part of a topic.
pub enum Block {
    /// The decision: headline and reason, the latter without its full stop.
    Decision {
        /// Its level.
        level: Level,
        /// The decision in one line.
        headline: String,
        /// Why, as a clause.
        reason: String,
    },
    /// Short facts, in one line.
    Facts(Vec<String>),
    /// A sentence, behind a word that names its kind, if one is needed.
    Sentence(Level, &'static str, String),
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
    /// Text.
    Plain,
    /// A remark.
    Faint,
    /// As wanted.
    Good,
    /// Not certain, or to be known.
    Doubtful,
    /// Not as wanted.
    Bad,
}

/// Rows of figures, each with a name in front.
pub struct FigureTable {
    /// Title, which is the head of the names too.
    pub title: &'static str,
    /// Columns behind the names.
    pub columns: Vec<FigureColumn>,
    /// Name, significance and cells of each row.
    pub rows: Vec<(String, Level, Vec<FigureCell>)>,
    /// Meaning of the columns; empty for none.
    pub note: &'static str,
    /// Meaning of the wide columns; empty for none.
    pub wide_note: &'static str,
}

/// A column of a table.
pub struct FigureColumn {
    /// Its head.
    pub head: &'static str,
    /// Whether it is left out where there is little room.
    pub wide: bool,
}

/// A cell of a table.
pub enum FigureCell {
    /// A figure.
    Figure(String),
    /// A decision and its significance.
    Status(String, Level),
    /// A drawing, where the format has any.
    Change(Option<ChangeChart>),
}

/// A change beside the margin, each as a share of the scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangeChart {
    /// The change.
    pub value: f64,
    /// Ends of its interval.
    pub interval: Option<(f64, f64)>,
    /// The change that does not matter.
    pub margin: f64,
    /// The share at the ends of the drawing.
    pub reach: f64,
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
    /// Title.
    pub title: String,
    /// Whether it is shown at once where lists can be folded.
    pub open: bool,
    /// Number of all entries.
    pub count: usize,
    /// The first `MAX` entries.
    pub entries: Vec<ListEntry>,
}

/// An entry of a list.
pub struct ListEntry {
    /// Its subject.
    pub name: String,
    /// Whether the name is an item's id.
    pub is_item: bool,
    /// Further text; empty for nothing.
    pub detail: String,
}

impl FigureColumn {
    pub(crate) fn new(head: &'static str) -> Self {
        Self { head, wide: false }
    }

    pub(crate) fn wide(head: &'static str) -> Self {
        Self { head, wide: true }
    }
}

impl FigureCell {
    pub(crate) fn figure(text: impl Into<String>) -> Self {
        Self::Figure(text.into())
    }

    /// A figure, or a dash where there is none.
    pub(crate) fn optional<T>(value: Option<T>, shown: impl FnOnce(T) -> String) -> Self {
        Self::Figure(value.map_or_else(|| "–".to_owned(), shown))
    }

    /// The text; none for a drawing.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Figure(text) | Self::Status(text, _) => Some(text),
            Self::Change(_) => None,
        }
    }
}

impl FigureTable {
    /// Indices of the columns that hold text.
    pub(crate) fn text_columns(&self) -> Vec<usize> {
        let is_drawing = |index: &usize| {
            let mut cells = self.rows.iter().filter_map(|(.., cells)| cells.get(*index));
            cells.any(|cell| cell.text().is_none())
        };
        (0..self.columns.len()).filter(|index| !is_drawing(index)).collect()
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
    pub(crate) fn item(id: &str, detail: String) -> Self {
        Self { name: id.to_owned(), is_item: true, detail }
    }
}
