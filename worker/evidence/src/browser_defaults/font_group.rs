//! Elements of one font whose line height is that of the font.

use crate::{element_tree::PageTree, snapshot::Snapshot};

/// Usual line height of a font, divided by its size.
const USUAL_HEIGHT: f64 = 1.25;

/// The elements of a page of one font, whose line height is `normal`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FontGroup {
    /// The computed `font-family` and `font-size`.
    pub family: String,
    pub size: String,
    /// Height of a line in the renderer, in CSS pixels.
    pub height: i32,
    /// Indexes of the elements.
    pub elements: Vec<usize>,
}

impl FontGroup {
    /// The first of its font families, without quotes.
    pub fn first_family(&self) -> &str {
        self.family.split(',').next().unwrap_or_default().trim_matches(['"', '\'', ' '])
    }
}

/// Every group with a visible text, those of most elements first.
pub(super) fn font_groups(snapshot: &Snapshot) -> Vec<FontGroup> {
    let page = PageTree::new(snapshot);
    let mut groups: Vec<FontGroup> = Vec::new();
    for index in with_normal_line_height(snapshot) {
        let [family, size] = ["font-family", "font-size"].map(|name| page.style(index, name));
        let height = line_height(&page, index).unwrap_or(i32::MAX);
        let group = groups.iter_mut().find(|group| group.family == family && group.size == size);
        match group {
            Some(group) => {
                group.height = group.height.min(height);
                group.elements.push(index);
            }
            None => {
                let (family, size) = (family.to_owned(), size.to_owned());
                groups.push(FontGroup { family, size, height, elements: vec![index] });
            }
        }
    }
    groups.retain(|group| group.height < i32::MAX);
    groups.sort_by_key(|group| std::cmp::Reverse(group.elements.len()));
    groups
}

/// Indexes of the elements whose line height is that of their font.
pub(super) fn with_normal_line_height(snapshot: &Snapshot) -> Vec<usize> {
    let elements = snapshot.elements.iter().enumerate();
    let normal = elements.filter(|(_, element)| {
        element.styles.get("line-height").is_some_and(|height| height == "normal")
    });
    normal.map(|(index, _)| index).collect()
}

/// Height of a line of an element's own text, by the height of its content and the number of lines
/// that fit it at the usual height; `None` without text.
fn line_height(page: &PageTree<'_>, index: usize) -> Option<i32> {
    let element = page.element(index).filter(|element| element.visible)?;
    if element.text.is_empty() {
        return None;
    }
    let around = ["padding-top", "padding-bottom", "border-top-width", "border-bottom-width"];
    let around: f64 = around.iter().filter_map(|side| page.length(index, side)).sum();
    let [_, _, _, height] = element.rect;
    let (content, size) = (height - around, page.length(index, "font-size")?);
    let lines = (content / (USUAL_HEIGHT * size)).round().max(1.0);
    let height = (content / lines).round();
    (height >= size.floor()).then_some(height as i32)
}
