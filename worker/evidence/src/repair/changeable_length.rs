//! Lengths of a page that a repair may change.

use crate::{element_tree::PageTree, snapshot::PageChange};

juror_types::named_enum! {
    /// A property whose value is one length or several.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub(crate) enum LengthProperty {
        Padding = "padding",
        PaddingBlock = "padding-block",
        PaddingInline = "padding-inline",
        PaddingTop = "padding-top",
        PaddingBottom = "padding-bottom",
        PaddingLeft = "padding-left",
        PaddingRight = "padding-right",
        Margin = "margin",
        MarginTop = "margin-top",
        MarginBottom = "margin-bottom",
        MarginLeft = "margin-left",
        MarginRight = "margin-right",
        Gap = "gap",
        LineHeight = "line-height",
        FontSize = "font-size",
        LetterSpacing = "letter-spacing",
        BorderWidth = "border-width",
        BorderRadius = "border-radius",
        Width = "width",
        Height = "height",
        /// Width and height of an image, in their present ratio.
        Size = "size",
    }
}

impl LengthProperty {
    /// The computed properties that hold its lengths, in the order in which it writes them.
    fn longhands(self) -> Vec<&'static str> {
        match self {
            Self::Padding => vec!["padding-top", "padding-right", "padding-bottom", "padding-left"],
            Self::PaddingBlock => vec!["padding-top", "padding-bottom"],
            Self::PaddingInline => vec!["padding-left", "padding-right"],
            Self::Margin => vec!["margin-top", "margin-right", "margin-bottom", "margin-left"],
            Self::Gap => vec!["row-gap", "column-gap"],
            Self::BorderWidth => vec![
                "border-top-width",
                "border-right-width",
                "border-bottom-width",
                "border-left-width",
            ],
            Self::BorderRadius => vec!["border-top-left-radius"],
            Self::Size => vec!["width", "height"],
            single => vec![single.name()],
        }
    }

    /// True if it moves content and leaves its looks as they are.
    pub fn is_space(self) -> bool {
        let looks = [Self::FontSize, Self::LetterSpacing, Self::BorderWidth, Self::BorderRadius];
        !looks.contains(&self)
    }

    pub fn is_padding(self) -> bool {
        self.name().starts_with("padding")
    }

    pub fn is_margin(self) -> bool {
        self.name().starts_with("margin")
    }

    /// Usual step of such values, in CSS pixels.
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
        let unknown = match self {
            Self::LineHeight => 1.15 * font_size(page, index),
            _ => 0.0,
        };
        let length = |property: &str| page.length(index, property).unwrap_or(unknown);
        self.longhands().into_iter().map(length).collect()
    }

    /// The first computed length of an element.
    pub fn length(self, page: &PageTree<'_>, index: usize) -> f64 {
        self.lengths(page, index).first().copied().unwrap_or_default()
    }

    /// True if the browser derives the length from the font.
    pub fn is_normal(self, page: &PageTree<'_>, index: usize) -> bool {
        self.longhands().iter().all(|name| page.style(index, name) == "normal")
    }

    /// The computed value as a style sheet writes it.
    pub fn current(self, page: &PageTree<'_>, index: usize) -> String {
        written(&self.lengths(page, index))
    }

    /// The smallest and the largest sensible value, in CSS pixels: texts stay readable, lines
    /// overlap little, and no other length is negative. Beyond them, a change would hide
    /// differences.
    fn sensible(self, page: &PageTree<'_>, index: usize) -> [f64; 2] {
        let font = font_size(page, index);
        match self {
            Self::FontSize => [(0.5 * font).max(8.0), 2.0 * font],
            Self::LetterSpacing => [-0.1 * font, 0.3 * font],
            Self::LineHeight => [0.8 * font, 3.0 * font],
            Self::BorderWidth => [0.0, 16.0],
            Self::BorderRadius | Self::Width | Self::Height | Self::Size => [0.0, f64::INFINITY],
            _ => [0.0, 160.0],
        }
    }

    /// The change that adds `delta` to the lengths of elements; `None` if nothing would change.
    pub fn change(self, page: &PageTree<'_>, elements: &[usize], delta: f64) -> Option<PageChange> {
        let first = *elements.first()?;
        let mut lengths = self.lengths(page, first);
        let [least, most] = self.sensible(page, first);
        let width = lengths.first().copied().unwrap_or_default();
        for length in &mut lengths {
            let ratio = if self == Self::Size { *length / width.max(1.0) } else { 1.0 };
            *length = (*length + delta * ratio).clamp(least.min(*length), most.max(*length));
        }
        if lengths == self.lengths(page, first) {
            return None;
        }
        Some(PageChange::declare(elements, self.name(), written(&lengths)))
    }
}

fn font_size(page: &PageTree<'_>, index: usize) -> f64 {
    page.length(index, "font-size").unwrap_or(16.0)
}

fn written(lengths: &[f64]) -> String {
    let px = |length: &f64| format!("{}px", (length * 100.0).round() / 100.0);
    match lengths.split_first() {
        Some((first, rest)) if rest.iter().all(|other| (other - first).abs() < 0.005) => px(first),
        _ => lengths.iter().map(px).collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::{PageEdit, Snapshot, SnapshotElement};

    fn label() -> Snapshot {
        let styles = [("font-size", "15px"), ("line-height", "20px"), ("margin-bottom", "-4px")];
        let label = SnapshotElement::of_box(0, None, [0.0, 0.0, 100.0, 20.0], &styles);
        Snapshot::of_page([100, 20], vec![label])
    }

    fn value(property: LengthProperty, delta: f64) -> Option<String> {
        let snapshot = label();
        match property.change(&PageTree::new(&snapshot), &[0], delta)?.edit {
            PageEdit::Declare { value, .. } => Some(value),
            PageEdit::Remove => None,
        }
    }

    #[test]
    fn no_value_hides_a_text_or_gets_negative() {
        assert_eq!(value(LengthProperty::FontSize, 2.0).unwrap(), "17px");
        assert_eq!(value(LengthProperty::FontSize, -12.0).unwrap(), "8px");
        assert_eq!(value(LengthProperty::FontSize, 40.0).unwrap(), "30px");
        assert_eq!(value(LengthProperty::LineHeight, -15.0).unwrap(), "12px");
        assert_eq!(value(LengthProperty::LineHeight, 90.0).unwrap(), "45px");
        assert_eq!(value(LengthProperty::PaddingTop, -3.0), None);
        assert_eq!(value(LengthProperty::MarginBottom, -3.0), None, "as negative as it is");
        assert_eq!(value(LengthProperty::MarginBottom, 400.0).unwrap(), "160px");
    }
}
