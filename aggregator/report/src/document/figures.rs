//! Figures of a topic: metrics, tables and charts.

use super::{Level, NameKind};
use juror_analysis::metrics::Provenance;

/// A metric as it is shown.
pub struct ShownMetric {
    /// Title of the metric.
    pub title: String,
    /// Origin of its figure.
    pub origin: Provenance,
    /// Figure; `None` without data.
    pub value: Option<String>,
    /// 95 % interval and number of items.
    pub interval: String,
    /// Distribution of the scores in words; empty for none.
    pub spread: String,
    /// Bound of the gate and result; `None` without a rule.
    pub demand: Option<(String, Level)>,
    /// Chart of the interval; `None` without a scale.
    pub range: Option<RangeChart>,
    /// True for the metric of the whole verdict.
    pub whole: bool,
    /// True if the simulator had a part in it.
    pub simulated: bool,
}

/// A figure on its scale, each as a share of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RangeChart {
    /// Position of the figure.
    pub value: f64,
    /// Ends of its interval.
    pub interval: Option<(f64, f64)>,
    /// The bound that it must meet.
    pub bound: Option<f64>,
}

/// Rows of figures, each with a name in front.
pub struct FigureTable {
    /// Title; an untitled table continues its topic.
    pub title: &'static str,
    /// Head of the names.
    pub names: &'static str,
    /// Kind of the names.
    pub kind: NameKind,
    /// Columns behind the names.
    pub columns: Vec<FigureColumn>,
    /// Rows from top to bottom.
    pub rows: Vec<FigureRow>,
    /// Meaning of the columns; empty for none.
    pub note: &'static str,
    /// Meaning of the wide columns; empty for none.
    pub wide_note: &'static str,
}

/// Name, significance and cells of a row.
pub type FigureRow = (String, Level, Vec<FigureCell>);

/// A column of a table.
pub struct FigureColumn {
    /// Figure of the head run.
    pub head: String,
    /// True if it is left out where there is little room.
    pub wide: bool,
}

/// A cell of a table.
pub enum FigureCell {
    /// A figure.
    Figure(String),
    /// A decision and its significance.
    Status(String, Level),
    /// A chart, if the format supports it.
    Change(Option<ChangeChart>),
}

/// A change beside the margin, each as a share of the scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangeChart {
    /// Position of the change.
    pub value: f64,
    /// Ends of its interval.
    pub interval: Option<(f64, f64)>,
    /// The change that does not matter.
    pub margin: f64,
    /// Share at the ends of the chart.
    pub reach: f64,
}

impl FigureColumn {
    /// A column that is always shown.
    pub fn new(head: impl Into<String>) -> Self {
        Self { head: head.into(), wide: false }
    }

    pub(crate) fn wide(head: &str) -> Self {
        Self { head: head.to_owned(), wide: true }
    }
}

impl FigureCell {
    /// A figure.
    pub fn figure(text: impl Into<String>) -> Self {
        Self::Figure(text.into())
    }

    /// A figure, or a dash where there is none.
    pub(crate) fn optional<T>(value: Option<T>, shown: impl FnOnce(T) -> String) -> Self {
        Self::Figure(value.map_or_else(|| "–".to_owned(), shown))
    }

    /// Text of the cell; `None` for a chart.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Figure(text) | Self::Status(text, _) => Some(text),
            Self::Change(_) => None,
        }
    }
}

impl FigureTable {
    /// An untitled table without notes.
    pub fn new(
        names: &'static str,
        columns: impl IntoIterator<Item = FigureColumn>,
        rows: impl IntoIterator<Item = FigureRow>,
    ) -> Self {
        let (columns, rows) = (columns.into_iter().collect(), rows.into_iter().collect());
        Self { title: "", names, kind: NameKind::Text, columns, rows, note: "", wide_note: "" }
    }

    /// Indices of the columns that hold text.
    pub(crate) fn text_columns(&self) -> Vec<usize> {
        let is_drawing = |index: &usize| {
            let mut cells = self.rows.iter().filter_map(|(.., cells)| cells.get(*index));
            cells.any(|cell| cell.text().is_none())
        };
        (0..self.columns.len()).filter(|index| !is_drawing(index)).collect()
    }
}
