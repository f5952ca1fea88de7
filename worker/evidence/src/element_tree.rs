//! The tree of a snapshot's elements, with boxes in pixels of the drawing.

use crate::{
    bounds::{boxed, inset},
    color,
    snapshot::{Snapshot, SnapshotElement},
};
use juror_types::evidence::RegionElement;
use std::collections::BTreeSet;

/// Maximum number of classes that a selector excludes, so that people can read it.
const MAX_EXCLUDED_CLASSES: usize = 3;

/// Names of the sides of a box, in the order of its bounds.
pub(crate) const SIDES: [&str; 4] = ["left", "top", "right", "bottom"];

/// A snapshot's elements as a tree.
pub(crate) struct PageTree<'page> {
    pub snapshot: &'page Snapshot,
    children: Vec<Vec<usize>>,
}

impl<'page> PageTree<'page> {
    pub fn new(snapshot: &'page Snapshot) -> Self {
        let mut children = vec![Vec::new(); snapshot.elements.len()];
        for (place, element) in snapshot.elements.iter().enumerate() {
            let siblings = element.parent.and_then(|parent| children.get_mut(parent));
            if let Some(siblings) = siblings {
                siblings.push(place);
            }
        }
        Self { snapshot, children }
    }

    pub fn element(&self, index: usize) -> Option<&'page SnapshotElement> {
        self.snapshot.elements.get(index)
    }

    pub fn tag(&self, index: usize) -> &'page str {
        self.element(index).map_or("", |element| element.tag.as_str())
    }

    /// True if an element has text of its own.
    pub fn has_text(&self, index: usize) -> bool {
        self.element(index).is_some_and(|element| !element.text.is_empty())
    }

    /// True for a grid.
    pub fn is_grid(&self, index: usize) -> bool {
        self.style(index, "display").contains("grid")
    }

    /// True for a flexible box whose items stand side by side.
    pub fn is_row(&self, index: usize) -> bool {
        self.is_flexible(index) && !self.style(index, "flex-direction").starts_with("column")
    }

    /// True for a flexible box whose items stand one below the other.
    pub fn is_column(&self, index: usize) -> bool {
        self.is_flexible(index) && !self.is_row(index)
    }

    fn is_flexible(&self, index: usize) -> bool {
        self.style(index, "display").contains("flex")
    }

    pub fn children(&self, index: usize) -> &[usize] {
        self.children.get(index).map(Vec::as_slice).unwrap_or_default()
    }

    pub fn parent(&self, index: usize) -> Option<usize> {
        self.element(index)?.parent
    }

    pub fn previous_sibling(&self, index: usize) -> Option<usize> {
        let siblings = self.children(self.parent(index)?);
        siblings.iter().rev().find(|sibling| **sibling < index).copied()
    }

    pub fn next_sibling(&self, index: usize) -> Option<usize> {
        let siblings = self.children(self.parent(index)?);
        siblings.iter().find(|sibling| **sibling > index).copied()
    }

    /// Elements that are drawn in the page, without the document's own ones.
    pub fn visible(&self) -> impl Iterator<Item = usize> {
        let elements = self.snapshot.elements.iter().enumerate();
        elements.filter(|(_, element)| element.visible && !is_document(element)).map(|(at, _)| at)
    }

    /// Left, top, right and bottom of an element's box in pixels of the drawing.
    pub fn bounds(&self, index: usize) -> [i32; 4] {
        self.element(index).map_or([0; 4], |element| self.bounds_of(element.rect))
    }

    /// The same of a box in CSS pixels of the page: x, y, width and height.
    pub fn bounds_of(&self, rect: [f64; 4]) -> [i32; 4] {
        let [left, top, right, bottom] = self.sides(rect);
        [left.floor(), top.floor(), right.ceil(), bottom.ceil()].map(|side| side as i32)
    }

    /// The same of an element's box within its border and padding.
    pub fn content_bounds(&self, index: usize) -> [i32; 4] {
        let parts = SIDES.map(|side| {
            let length = self.padding(index, side) + self.border(index, side);
            (length * self.snapshot.scale).ceil() as i32
        });
        inset(self.bounds(index), parts)
    }

    /// The same of an element's box as it is painted: browsers round its sides to whole pixels.
    pub fn painted_bounds(&self, index: usize) -> [i32; 4] {
        let painted = |rect| self.sides(rect).map(|side| side.round() as i32);
        self.element(index).map_or([0; 4], |element| painted(element.rect))
    }

    /// Sides of a box in pixels of the drawing, at most as far beyond the page as the page is large:
    /// hostile code makes boxes of millions of pixels.
    fn sides(&self, rect: [f64; 4]) -> [f64; 4] {
        let scale = self.snapshot.scale;
        let [x, y, width, height] = rect.map(|length| length * scale);
        let [across, down] =
            [self.snapshot.width, self.snapshot.height].map(|side| f64::from(side) * scale);
        let sides = [(x, across), (y, down), (x + width, across), (y + height, down)];
        sides.map(|(side, page)| side.clamp(-page, 2.0 * page))
    }

    pub fn style(&self, index: usize, property: &str) -> &'page str {
        let style = self.element(index).and_then(|element| element.styles.get(property));
        style.map(String::as_str).unwrap_or_default()
    }

    /// A computed length in CSS pixels.
    pub fn length(&self, index: usize, property: &str) -> Option<f64> {
        self.style(index, property).strip_suffix("px")?.parse().ok()
    }

    /// The width of an element's border on a side, in CSS pixels; 0 without one.
    pub fn border(&self, index: usize, side: &str) -> f64 {
        self.length(index, &format!("border-{side}-width")).unwrap_or(0.0)
    }

    /// The padding of an element on a side, in CSS pixels.
    pub fn padding(&self, index: usize, side: &str) -> f64 {
        self.length(index, &format!("padding-{side}")).unwrap_or(0.0)
    }

    /// A computed color; `None` unless it is opaque.
    pub fn opaque_color(&self, index: usize, property: &str) -> Option<[u8; 3]> {
        let (color, alpha) = color::parse(self.style(index, property))?;
        (alpha > 0.99).then_some(color)
    }

    /// The nearest opaque background of an element or an ancestor, white without one.
    pub fn visible_background(&self, index: usize) -> [u8; 3] {
        let mut colors = self.lineage(index).map(|at| self.opaque_color(at, "background-color"));
        colors.find_map(|color| color).unwrap_or([255; 3])
    }

    /// True if an element has a border, or a background other than what is behind it.
    pub fn is_painted(&self, index: usize) -> bool {
        let has_border = ["top", "bottom"].iter().any(|side| self.border(index, side) > 0.0);
        let background = self.opaque_color(index, "background-color");
        let behind = self.parent(index).map(|parent| self.visible_background(parent));
        let is_filled = background.is_some() && background != behind;
        let has_image = self.style(index, "background-image").contains("gradient");
        has_border || is_filled || has_image
    }

    /// An element and all below it, in document order.
    pub fn subtree(&self, index: usize) -> Vec<usize> {
        let mut found = self.reached(index, |at| self.children(at));
        found.sort_unstable();
        found
    }

    /// An element, those that it leads to, and those that they lead to.
    pub fn reached<'own>(&self, index: usize, next: impl Fn(usize) -> &'own [usize]) -> Vec<usize> {
        let mut found = vec![index];
        let mut at = 0;
        while let Some(&here) = found.get(at) {
            found.extend(next(here));
            at += 1;
        }
        found
    }

    pub fn contains(&self, ancestor: usize, index: usize) -> bool {
        self.lineage(index).any(|at| at == ancestor)
    }

    /// An element and its ancestors, from the inside.
    pub fn lineage(&self, index: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(index), |&at| self.parent(at))
    }

    /// Visible elements that one rule of a style sheet would name together with this one, itself
    /// included.
    pub fn alike(&self, index: usize) -> Vec<usize> {
        self.visible().filter(|&other| self.is_alike(index, other)).collect()
    }

    /// True for equal tags and classes; without classes, the parents must be the same or alike too.
    pub fn is_alike(&self, one: usize, other: usize) -> bool {
        let mut pair = self.element(one).zip(self.element(other));
        while let Some((one, other)) = pair {
            if one.tag != other.tag || one.classes != other.classes {
                return false;
            }
            if !one.classes.is_empty() || one.parent == other.parent || is_cell(one) {
                return true;
            }
            let parents = one.parent.zip(other.parent);
            pair = parents.and_then(|(one, other)| self.element(one).zip(self.element(other)));
        }
        false
    }

    /// The record of an element, with its box in pixels of the screenshot.
    pub fn record(&self, index: usize, alike: usize, scale: u32) -> Option<RegionElement> {
        let element = self.element(index)?;
        let place = boxed(self.bounds(index), scale);
        Some(RegionElement {
            tag: element.tag.clone(),
            id: element.id.clone(),
            text: element.text.clone(),
            path: element.path.clone(),
            selector: (alike > 1).then(|| self.selector(index)),
            place,
            alike: alike.max(1) as u32,
        })
    }

    /// A CSS selector of an element and those alike.
    fn selector(&self, index: usize) -> String {
        let mut selector = String::new();
        let mut at = self.element(index);
        while let Some(element) = at {
            let own = self.own_selector(element);
            let below = if selector.is_empty() { String::new() } else { format!(" > {selector}") };
            selector = own + &below;
            if !element.classes.is_empty() || is_cell(element) {
                return selector;
            }
            let parent = element.parent.and_then(|parent| self.element(parent));
            if let Some(parent) = parent.filter(|_| self.are_siblings(element)) {
                return format!("{} > {selector}", parent.path);
            }
            at = parent;
        }
        selector
    }

    /// A CSS selector of an element's tag and classes that leaves out elements with further
    /// classes, unless they have too many different ones.
    fn own_selector(&self, element: &SnapshotElement) -> String {
        let class = |name: &String| format!(".{}", escaped(name));
        let has = |other: &SnapshotElement, name: &String| other.classes.contains(name);
        let others = self.visible().filter_map(|other| self.element(other)).filter(|other| {
            other.tag == element.tag && element.classes.iter().all(|name| has(other, name))
        });
        let further: BTreeSet<&String> = others
            .filter_map(|other| other.classes.iter().find(|name| !has(element, name)))
            .collect();
        let own: String = element.classes.iter().map(class).collect();
        let without = further.iter().filter(|_| further.len() <= MAX_EXCLUDED_CLASSES);
        let without: String = without.map(|name| format!(":not({})", class(name))).collect();
        format!("{}{own}{without}", element.tag)
    }

    /// True if all elements that are alike have one parent.
    fn are_siblings(&self, element: &SnapshotElement) -> bool {
        let parent = |&other: &usize| self.parent(other) == element.parent;
        self.alike(element.index).iter().all(parent)
    }
}

/// An identifier in a selector of CSS.
fn escaped(name: &str) -> String {
    let mut written = String::with_capacity(name.len());
    for (place, letter) in name.chars().enumerate() {
        let is_plain = letter.is_alphanumeric() || letter == '-' || letter == '_';
        match letter {
            '0'..='9' if place == 0 => written.push_str(&format!("\\{:x} ", letter as u32)),
            letter if is_plain => written.push(letter),
            letter => written.extend(['\\', letter]),
        }
    }
    written
}

fn is_document(element: &SnapshotElement) -> bool {
    ["html", "head", "script", "style", "title", "meta", "link"].contains(&element.tag.as_str())
}

fn is_cell(element: &SnapshotElement) -> bool {
    ["td", "th", "tr", "li", "option", "dt", "dd"].contains(&element.tag.as_str())
}
