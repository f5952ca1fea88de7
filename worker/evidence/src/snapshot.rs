//! A rendered page as its renderer describes it, and changes of it to try.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The computed properties that a snapshot carries for each element.
pub const SNAPSHOT_PROPERTIES: [&str; 48] = [
    "align-items",
    "align-self",
    "background-color",
    "background-image",
    "border-bottom-color",
    "border-bottom-left-radius",
    "border-bottom-right-radius",
    "border-bottom-width",
    "border-left-color",
    "border-left-width",
    "border-right-color",
    "border-right-width",
    "border-top-color",
    "border-top-left-radius",
    "border-top-right-radius",
    "border-top-style",
    "border-top-width",
    "box-shadow",
    "box-sizing",
    "color",
    "column-gap",
    "display",
    "fill",
    "flex-direction",
    "font-family",
    "font-size",
    "font-style",
    "font-weight",
    "height",
    "justify-content",
    "letter-spacing",
    "line-height",
    "margin-bottom",
    "margin-left",
    "margin-right",
    "margin-top",
    "opacity",
    "padding-bottom",
    "padding-left",
    "padding-right",
    "padding-top",
    "position",
    "row-gap",
    "text-align",
    "text-decoration-line",
    "text-transform",
    "visibility",
    "width",
];

/// A rendered page: its elements in document order, with boxes in CSS pixels of the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Width of the viewport in CSS pixels.
    pub width: u32,
    /// Height of the viewport in CSS pixels.
    pub height: u32,
    /// Device pixels for each CSS pixel.
    pub scale: f64,
    /// Color of the page's canvas: red, green, blue, alpha.
    pub background: [u8; 4],
    /// Width and height of the page with all its content, in CSS pixels; zero in snapshots of earlier
    /// versions.
    #[serde(default)]
    pub content: [u32; 2],
    /// Boxes of what each browser draws by its own design, such as check boxes, sliders and emoji:
    /// x, y, width, height in CSS pixels of the page; empty in snapshots of earlier versions.
    #[serde(default)]
    pub browser_drawn: Vec<[f64; 4]>,
    /// Elements in document order.
    pub elements: Vec<SnapshotElement>,
}

/// An element of a rendered page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SnapshotElement {
    /// Place among the snapshot's elements.
    pub index: usize,
    /// Index of the parent element; `None` for the root.
    pub parent: Option<usize>,
    /// Tag, in lower case.
    pub tag: String,
    /// The `id` attribute.
    pub id: Option<String>,
    /// Names of the `class` attribute.
    pub classes: Vec<String>,
    /// A CSS path that matches this element alone.
    pub path: String,
    /// Its own text, at most 80 characters.
    pub text: String,
    /// x, y, width, height in CSS pixels of the page.
    pub rect: [f64; 4],
    /// Computed styles, of [`SNAPSHOT_PROPERTIES`].
    pub styles: BTreeMap<String, String>,
    /// True if it draws anything or contains something that does.
    pub visible: bool,
    /// Source of an image or a background image, the digest of a data URI; `svg` for a drawing
    /// without an image, and the tag of a canvas or frame without a source.
    pub image: Option<String>,
}

/// A change of a rendered page to try.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageChange {
    /// Indexes of the elements that it changes.
    pub elements: Vec<usize>,
    /// The change of each of them.
    pub edit: PageEdit,
}

/// A CSS declaration for elements, or their removal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageEdit {
    /// Sets a property, above the page's own style sheets.
    Declare {
        /// The CSS property; `size` for width and height together.
        property: String,
        /// Its value.
        value: String,
    },
    /// Removes the elements from the layout (`display: none`).
    Remove,
}

impl PageChange {
    /// A declaration for elements.
    pub(crate) fn declare(elements: &[usize], property: &str, value: impl Into<String>) -> Self {
        let edit = PageEdit::Declare { property: property.to_owned(), value: value.into() };
        Self { elements: elements.to_vec(), edit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    impl Snapshot {
        /// A white page of this width and height with these elements.
        pub(crate) fn of_page([width, height]: [u32; 2], elements: Vec<SnapshotElement>) -> Self {
            Self {
                width,
                height,
                scale: 1.0,
                background: [255; 4],
                content: [0; 2],
                browser_drawn: Vec::new(),
                elements,
            }
        }

        /// A page of texts in these boxes: left, top, width and height.
        pub(crate) fn of_texts(boxes: &[[u32; 4]]) -> Self {
            let element = |(index, rect): (usize, &[u32; 4])| SnapshotElement {
                tag: "p".to_owned(),
                path: format!("body > p:nth-child({})", index + 1),
                text: "text".to_owned(),
                ..SnapshotElement::of_box(index, None, rect.map(f64::from), &[])
            };
            let elements = boxes.iter().enumerate().map(element).collect();
            Self::of_page([160, 160], elements)
        }
    }

    impl SnapshotElement {
        /// A visible box (left, top, width and height) with these styles.
        pub(crate) fn of_box(
            index: usize,
            parent: Option<usize>,
            rect: [f64; 4],
            styles: &[(&str, &str)],
        ) -> Self {
            let styles = styles.iter().map(|(name, value)| ((*name).into(), (*value).into()));
            Self {
                index,
                parent,
                tag: "div".to_owned(),
                id: None,
                classes: Vec::new(),
                path: String::new(),
                text: String::new(),
                rect,
                styles: styles.collect(),
                visible: true,
                image: None,
            }
        }
    }

    #[test]
    fn properties_are_sorted_and_named_once() {
        assert!(SNAPSHOT_PROPERTIES.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn changes_are_written_by_what_they_do() {
        let change = PageChange::declare(&[2, 5], "gap", "4px");
        let record =
            json!({"elements": [2, 5], "edit": {"declare": {"property": "gap", "value": "4px"}}});
        assert_eq!(serde_json::to_value(change).unwrap(), record);
        let removal = PageChange { elements: vec![1], edit: PageEdit::Remove };
        let record = json!({"elements": [1], "edit": "remove"});
        assert_eq!(serde_json::from_value::<PageChange>(record).unwrap(), removal);
    }
}
