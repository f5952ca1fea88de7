//! First hypotheses for content that moved within its container: keywords of alignment that put it
//! where the screenshot shows it.

use super::FirstHypotheses;
use crate::{
    bounds::grown,
    repair::{
        changeable_length::LengthProperty as P,
        hypothesis::{Hypothesis, HypothesisKind},
        shift_field::REACH,
    },
};

/// Maximum distance of a place from the predicted one, in pixels.
pub(super) const MAX_DISTANCE: f64 = 1.5;
/// Priority of a keyword whose places are those of the screenshot.
const PRIORITY: f64 = 62.0;

/// Priority of another direction of all items, above that of a removal.
const DIRECTION_PRIORITY: f64 = 122.0;

/// Minimum share of the differences within a flexible box whose other axis is tried.
const MIN_AXIS_SHARE: f64 = 0.5;
/// Priority of that axis.
const AXIS_PRIORITY: f64 = 50.0;

const DIRECTIONS: [&str; 4] = ["row", "column", "row-reverse", "column-reverse"];
const ITEM_PLACES: [&str; 3] = ["flex-start", "center", "flex-end"];
const CONTENT_PLACES: [&str; 6] =
    ["flex-start", "center", "flex-end", "space-between", "space-around", "space-evenly"];

impl FirstHypotheses<'_> {
    /// Alignments of the items of flexible boxes, and of texts.
    pub(super) fn alignments(&self) -> Vec<Hypothesis> {
        let mut found = Vec::new();
        for index in self.page.visible() {
            if self.page.style(index, "display").contains("flex") {
                found.extend(self.flexible(index));
            }
            found.extend(self.text_alignments(index));
        }
        found
    }

    fn flexible(&self, container: usize) -> Vec<Hypothesis> {
        let page = self.page;
        let is_column = page.style(container, "flex-direction").starts_with("column");
        let (main, cross) = (usize::from(is_column), usize::from(!is_column));
        let mut found = Vec::new();
        let items = self.items(container, cross);
        let [start, end] = self.content(container, cross);
        for place in ITEM_PLACES {
            let target = |item: &AlignedItem| {
                let [before, _] = item.margins;
                match place {
                    "flex-start" => start + before,
                    "center" => (start + end - item.size()) / 2.0 + before,
                    _ => end - item.size() + before,
                }
            };
            let is_shown = |item: &AlignedItem| item.is_shown_at(target(item));
            let moved: Vec<_> = items.iter().filter(|item| item.is_moved()).collect();
            if moved.is_empty() || !moved.iter().all(|item| is_shown(item)) {
                continue;
            }
            if items.iter().all(is_shown) {
                found.extend(self.keyword(container, "align-items", place));
            } else if let [only] = moved.as_slice() {
                found.extend(self.keyword(only.element, "align-self", place));
            }
        }
        let items = self.items(container, main);
        if items.iter().any(AlignedItem::is_moved) {
            let space = self.content(container, main);
            let gap = if is_column { "row-gap" } else { "column-gap" };
            let gap = page.length(container, gap).unwrap_or(0.0) * page.snapshot.scale;
            let places = CONTENT_PLACES.into_iter();
            let mut places =
                places.filter(|place| is_justified(&items, space, gap, place)).peekable();
            // Places of lost items are not known.
            if places.peek().is_none() || items.iter().any(|item| item.is_lost) {
                found.extend(self.directions(container, &items));
            }
            found.extend(
                places.filter_map(|place| self.keyword(container, "justify-content", place)),
            );
        }
        if !found.iter().any(|other| other.property() == "flex-direction") {
            found.extend(self.other_axis(container, if is_column { "row" } else { "column" }));
        }
        found
    }

    /// The other axis for a flexible box with most of the differences, whose items are not followed:
    /// similar ones may be where they were, and its own text is an item without an element.
    fn other_axis(&self, container: usize, direction: &str) -> Option<Hypothesis> {
        let page = self.page;
        let items = page.children(container).len() + usize::from(page.has_text(container));
        let found = self.keyword(container, "flex-direction", direction).filter(|_| items > 1)?;
        let share = self.share(self.difference.weight_in(grown(page.bounds(container), 2)));
        (share >= MIN_AXIS_SHARE).then_some(Hypothesis { priority: AXIS_PRIORITY, ..found })
    }

    /// Directions of a flexible box whose items are elsewhere.
    fn directions(&self, container: usize, items: &[AlignedItem]) -> Vec<Hypothesis> {
        // The first one may keep its place, and a similar one may be where one of them was.
        let moved = items.iter().skip(1).filter(|item| item.is_moved()).count();
        if moved == 0 || moved * 2 < items.len() - 1 {
            return Vec::new();
        }
        let proposed = DIRECTIONS
            .iter()
            .filter_map(|direction| self.keyword(container, "flex-direction", direction));
        proposed.map(|found| Hypothesis { priority: DIRECTION_PRIORITY, ..found }).collect()
    }

    /// Items of a container along an axis, 0 across and 1 down.
    fn items(&self, container: usize, axis: usize) -> Vec<AlignedItem> {
        let page = self.page;
        let scale = page.snapshot.scale;
        let is_placed = |index: &usize| {
            let place = page.style(*index, "position");
            place != "absolute" && place != "fixed" && page.style(*index, "display") != "none"
        };
        let children = page.children(container).iter().copied().filter(is_placed);
        children
            .filter_map(|element| {
                let rect = page.element(element)?.rect.map(|length| length * scale);
                let (start, size) = (*rect.get(axis)?, *rect.get(axis + 2)?);
                let sides = [[P::MarginLeft, P::MarginRight], [P::MarginTop, P::MarginBottom]];
                let margins = sides.get(axis)?.map(|side| side.length(page, element) * scale);
                let targets = || self.field.of(page, element).map(|patch| patch.target);
                let shift = targets().flatten().next();
                let shift = shift.and_then(|shift| shift.get(axis).map(|part| f64::from(*part)));
                let is_lost = shift.is_none() && targets().next().is_some();
                Some(AlignedItem { element, start, end: start + size, margins, shift, is_lost })
            })
            .collect()
    }

    /// Start and end of an element's content along an axis.
    pub(super) fn content(&self, index: usize, axis: usize) -> [f64; 2] {
        let page = self.page;
        let sides = if axis == 0 { ["left", "right"] } else { ["top", "bottom"] };
        let [border, after] = sides.map(|side| page.border(index, side));
        let [padding, behind] = sides.map(|side| page.padding(index, side));
        let rect = page.element(index).map_or([0.0; 4], |element| element.rect);
        let of = |place: usize| rect.get(place).copied().unwrap_or(0.0);
        let (start, size) = (of(axis), of(axis + 2));
        [start + border + padding, start + size - after - behind]
            .map(|side| side * page.snapshot.scale)
    }

    pub(super) fn keyword(
        &self,
        element: usize,
        property: &str,
        value: &str,
    ) -> Option<Hypothesis> {
        let found = self.value(&[element], property, value, 0.0)?;
        Some(Hypothesis { kind: HypothesisKind::Alignment, priority: PRIORITY, ..found })
    }
}

/// An item of a container along one axis, in pixels of the drawing.
#[derive(Clone, Copy)]
struct AlignedItem {
    element: usize,
    start: f64,
    end: f64,
    margins: [f64; 2],
    /// Its shift to the screenshot; `None` if it is not found near its place.
    shift: Option<f64>,
    /// True if it has content that is not found.
    is_lost: bool,
}

impl AlignedItem {
    fn size(&self) -> f64 {
        self.end - self.start + self.margins.iter().sum::<f64>()
    }

    /// True if the screenshot shows it where it would start, or may: it is not looked for so far
    /// away.
    fn is_shown_at(&self, start: f64) -> bool {
        match self.shift {
            Some(shift) => (self.start + shift - start).abs() <= MAX_DISTANCE,
            None => !self.is_lost || (start - self.start).abs() > f64::from(REACH),
        }
    }

    fn is_moved(&self) -> bool {
        self.is_lost || self.shift.is_some_and(|shift| shift != 0.0)
    }
}

/// True if the screenshot shows items where a value of `justify-content` puts them.
fn is_justified(items: &[AlignedItem], [start, end]: [f64; 2], gap: f64, place: &str) -> bool {
    let between = items.len().saturating_sub(1) as f64;
    let taken: f64 = items.iter().map(AlignedItem::size).sum();
    let free = end - start - taken - gap * between;
    if free <= MAX_DISTANCE {
        return false;
    }
    let (before, further) = match place {
        "flex-start" => (0.0, 0.0),
        "center" => (free / 2.0, 0.0),
        "flex-end" => (free, 0.0),
        "space-between" if between > 0.0 => (0.0, free / between),
        "space-around" => (free / (between + 1.0) / 2.0, free / (between + 1.0)),
        "space-evenly" => (free / (between + 2.0), free / (between + 2.0)),
        _ => return false,
    };
    let mut at = start + before;
    items.iter().all(|item| {
        let [margin, _] = item.margins;
        let is_shown = item.is_shown_at(at + margin);
        at += item.size() + gap + further;
        is_shown
    })
}

#[cfg(test)]
mod tests;
