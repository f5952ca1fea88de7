//! Lengths of a page that a repair may change.

use crate::{
    page::PageTree,
    snapshot::{PageChange, PageEdit},
};

/// A property whose value is one length or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum LengthProperty {
    Padding,
    PaddingBlock,
    PaddingInline,
    PaddingTop,
    PaddingBottom,
    PaddingLeft,
    PaddingRight,
    Margin,
    MarginTop,
    MarginBottom,
    MarginLeft,
    MarginRight,
    Gap,
    LineHeight,
    FontSize,
    LetterSpacing,
    BorderWidth,
    BorderRadius,
    Width,
    Height,
}

impl LengthProperty {
    /// Its name in a style sheet.
    pub fn name(self) -> &'static str {
        match self {
            Self::Padding => "padding",
            Self::PaddingBlock => "padding-block",
            Self::PaddingInline => "padding-inline",
            Self::PaddingTop => "padding-top",
            Self::PaddingBottom => "padding-bottom",
            Self::PaddingLeft => "padding-left",
            Self::PaddingRight => "padding-right",
            Self::Margin => "margin",
            Self::MarginTop => "margin-top",
            Self::MarginBottom => "margin-bottom",
            Self::MarginLeft => "margin-left",
            Self::MarginRight => "margin-right",
            Self::Gap => "gap",
            Self::LineHeight => "line-height",
            Self::FontSize => "font-size",
            Self::LetterSpacing => "letter-spacing",
            Self::BorderWidth => "border-width",
            Self::BorderRadius => "border-radius",
            Self::Width => "width",
            Self::Height => "height",
        }
    }

    /// The computed properties that hold its lengths, in the order in which it writes them.
    fn longhands(self) -> &'static [&'static str] {
        match self {
            Self::Padding => &["padding-top", "padding-right", "padding-bottom", "padding-left"],
            Self::PaddingBlock => &["padding-top", "padding-bottom"],
            Self::PaddingInline => &["padding-left", "padding-right"],
            Self::Margin => &["margin-top", "margin-right", "margin-bottom", "margin-left"],
            Self::Gap => &["row-gap", "column-gap"],
            Self::BorderWidth => &[
                "border-top-width",
                "border-right-width",
                "border-bottom-width",
                "border-left-width",
            ],
            Self::BorderRadius => &["border-top-left-radius"],
            Self::PaddingTop => &["padding-top"],
            Self::PaddingBottom => &["padding-bottom"],
            Self::PaddingLeft => &["padding-left"],
            Self::PaddingRight => &["padding-right"],
            Self::MarginTop => &["margin-top"],
            Self::MarginBottom => &["margin-bottom"],
            Self::MarginLeft => &["margin-left"],
            Self::MarginRight => &["margin-right"],
            Self::LineHeight => &["line-height"],
            Self::FontSize => &["font-size"],
            Self::LetterSpacing => &["letter-spacing"],
            Self::Width => &["width"],
            Self::Height => &["height"],
        }
    }

    /// Steps in which such values are written, in CSS pixels.
    pub fn step(self) -> f64 {
        match self {
            Self::LetterSpacing => 0.05,
            Self::LineHeight => 0.1,
            Self::FontSize => 0.5,
            _ => 1.0,
        }
    }

    /// The computed lengths of an element, in CSS pixels.
    fn lengths(self, page: &PageTree<'_>, index: usize) -> Vec<f64> {
        let length = |property: &&str| match page.length(index, property) {
            Some(length) => length,
            None if self == Self::LineHeight => {
                1.15 * page.length(index, "font-size").unwrap_or(16.0)
            }
            None => 0.0,
        };
        self.longhands().iter().map(length).collect()
    }

    /// The first computed length of an element.
    pub fn length(self, page: &PageTree<'_>, index: usize) -> f64 {
        self.lengths(page, index).first().copied().unwrap_or_default()
    }

    /// The computed value as a style sheet writes it.
    pub fn current(self, page: &PageTree<'_>, index: usize) -> String {
        written(&self.lengths(page, index))
    }

    /// The least value that a page sensibly has: no length gets negative unless it is, lines overlap
    /// little, and letters may stand closer.
    fn least(self, page: &PageTree<'_>, index: usize) -> f64 {
        match self {
            Self::LetterSpacing => f64::NEG_INFINITY,
            Self::LineHeight => 0.8 * page.length(index, "font-size").unwrap_or_default(),
            _ => 0.0,
        }
    }

    /// The change that adds to the lengths of elements; none where nothing would change.
    pub fn change(self, page: &PageTree<'_>, elements: &[usize], delta: f64) -> Option<PageChange> {
        let first = *elements.first()?;
        let mut lengths = self.lengths(page, first);
        let least = self.least(page, first);
        for length in &mut lengths {
            *length = (*length + delta).max(least.min(*length));
        }
        if lengths == self.lengths(page, first) {
            return None;
        }
        let edit = PageEdit::Declare { property: self.name().to_owned(), value: written(&lengths) };
        Some(PageChange { elements: elements.to_vec(), edit })
    }
}

fn written(lengths: &[f64]) -> String {
    let px = |length: &f64| format!("{}px", (length * 100.0).round() / 100.0);
    match lengths.split_first() {
        Some((first, rest)) if rest.iter().all(|other| (other - first).abs() < 0.005) => px(first),
        _ => lengths.iter().map(px).collect::<Vec<_>>().join(" "),
    }
}
