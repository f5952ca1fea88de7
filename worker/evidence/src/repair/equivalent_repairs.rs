//! Other ways to write the same repair.

use super::{
    changeable_length::LengthProperty,
    hypothesis::{Hypothesis, Lever},
};
use crate::element_tree::PageTree;
use LengthProperty as P;

/// Step in CSS pixels to which a padding is rounded; line heights may be fractional.
const HALF: f64 = 0.5;
/// Maximum distance of a length from such a step that comes from the fractions of lines alone.
const MAX_ROUNDING: f64 = 0.1;
/// Maximum number of similar elements of which each is tried alone.
const MAX_MEMBERS: usize = 4;

/// The same change of each one of a few similar elements.
pub(crate) fn single_elements(page: &PageTree<'_>, found: &Hypothesis) -> Vec<Hypothesis> {
    let Lever::Length { property, delta } = found.lever else { return Vec::new() };
    let members = found.change.elements.as_slice();
    if !(2..=MAX_MEMBERS).contains(&members.len()) {
        return Vec::new();
    }
    let alone = members.iter().filter_map(|&element| {
        let change = property.change(page, &[element], delta)?;
        let is = property.current(page, element);
        Some(Hypothesis { element, change, lever: found.lever, is, priority: found.priority })
    });
    alone.collect()
}

/// Changes that often render the same picture as a change of lengths; likelier ones have a higher
/// priority.
pub(crate) fn equivalents(page: &PageTree<'_>, found: &Hypothesis) -> Vec<Hypothesis> {
    let Lever::Length { property, delta } = found.lever else { return Vec::new() };
    let element = found.element;
    let parent = page.parent(element);
    let siblings = parent.map(|parent| page.children(parent)).unwrap_or_default();
    let previous = siblings.iter().rev().find(|sibling| **sibling < element).copied();
    let next = siblings.iter().find(|sibling| **sibling > element).copied();
    let (first, last) = (page.children(element).first(), page.children(element).last());
    let mut ways: Vec<(Option<usize>, P, f64)> = Vec::new();
    match property {
        P::LineHeight | P::FontSize | P::Height => {
            ways.extend([
                (Some(element), P::LineHeight, delta),
                (Some(element), P::PaddingBlock, delta / 2.0),
                (Some(element), P::MarginBottom, delta),
                (Some(element), P::Height, delta),
                (parent, P::LineHeight, delta),
                (first.copied(), P::LineHeight, delta),
            ]);
        }
        P::Padding
        | P::PaddingBlock
        | P::PaddingInline
        | P::PaddingTop
        | P::PaddingBottom
        | P::PaddingLeft
        | P::PaddingRight => {
            ways.extend([
                (Some(element), P::Padding, delta),
                (Some(element), P::BorderWidth, delta),
                (Some(element), P::PaddingBlock, delta),
                (Some(element), P::PaddingInline, delta),
                (Some(element), P::LineHeight, 2.0 * delta),
                (Some(element), P::Height, 2.0 * delta),
                (Some(element), P::MarginTop, delta),
                (Some(element), P::MarginBottom, delta),
                (first.copied(), P::MarginTop, delta),
                (last.copied(), P::MarginBottom, delta),
                (first.copied(), P::Margin, delta),
                (parent, P::Gap, delta),
                (parent, P::Padding, delta),
            ]);
            // A centered child grows its row by twice the delta, as padding on both sides does.
            for child in page.children(element) {
                ways.extend(
                    [P::MarginBottom, P::LineHeight].map(|p| (Some(*child), p, 2.0 * delta)),
                );
            }
        }
        P::Gap => {
            ways.extend([
                (first.copied(), P::MarginBottom, delta),
                (first.copied(), P::MarginRight, delta),
                (last.copied(), P::MarginTop, delta),
                (last.copied(), P::MarginLeft, delta),
                (first.copied(), P::PaddingBottom, delta),
            ]);
        }
        P::Margin | P::MarginTop | P::MarginBottom | P::MarginLeft | P::MarginRight => {
            ways.extend([
                (parent, P::Gap, delta),
                (Some(element), P::MarginTop, delta),
                (Some(element), P::MarginBottom, delta),
                (previous, P::MarginBottom, delta),
                (next, P::MarginTop, delta),
                (previous, P::MarginRight, delta),
                (next, P::MarginLeft, delta),
                (Some(element), P::PaddingBottom, delta),
                (Some(element), P::PaddingTop, delta),
                (parent, P::PaddingTop, delta),
                (parent, P::PaddingBottom, delta),
                (parent, P::MarginBottom, delta),
                (last.copied(), P::MarginBottom, delta),
                (Some(element), P::Margin, delta),
                (Some(element), P::LineHeight, delta),
                (parent, P::LineHeight, delta),
                // Centered content moves up by half of a bottom margin.
                (Some(element), P::MarginBottom, -2.0 * delta),
                (last.copied(), P::MarginBottom, -2.0 * delta),
            ]);
            // A higher child moves what is below it as well.
            for child in page.children(element).iter().chain(siblings) {
                ways.extend([P::LineHeight, P::MarginBottom].map(|p| (Some(*child), p, delta)));
            }
        }
        _ => {}
    }
    ways.extend(boundary_ways(page, element, property, delta));
    let changes = ways.into_iter().enumerate().filter_map(|(place, (element, property, delta))| {
        let element = element?;
        let half = (delta / HALF).round() * HALF;
        let is_rounded = property.step() >= 1.0 && (delta - half).abs() <= MAX_ROUNDING;
        let delta = if is_rounded { half } else { delta };
        let alike = page.alike(element);
        let elements =
            if found.change.elements.len() > 1 && alike.len() > 1 { alike } else { vec![element] };
        let change = property.change(page, &elements, delta)?;
        let (lever, is) = (Lever::Length { property, delta }, property.current(page, element));
        let other = Hypothesis { element, change, lever, is, priority: 0.0 };
        let priority = 80.0 + 10.0 * other.plausibility(page) - 0.3 * place as f64;
        Some(Hypothesis { priority, ..other })
    });
    changes.collect()
}

/// Lengths on both sides of the boundary that a change of an element moves: the bottoms of what lies
/// above it, the tops of what lies below, and the space between both.
fn boundary_ways(
    page: &PageTree<'_>,
    element: usize,
    property: P,
    delta: f64,
) -> Vec<(Option<usize>, P, f64)> {
    let is_top = match property {
        P::MarginTop | P::PaddingTop => true,
        P::MarginBottom | P::PaddingBottom | P::Height | P::LineHeight => false,
        _ => return Vec::new(),
    };
    // Climb while the element is the first child, or the last one for a bottom.
    let mut outermost = element;
    let (mut before, mut after) = (None, None);
    let mut ways: Vec<(Option<usize>, P, f64)> = Vec::new();
    while let Some(parent) = page.parent(outermost) {
        let siblings = page.children(parent);
        before = siblings.iter().rev().find(|sibling| **sibling < outermost).copied();
        after = siblings.iter().find(|sibling| **sibling > outermost).copied();
        ways.push((Some(parent), P::Gap, delta));
        let beside = if is_top { before } else { after };
        if beside.is_some() {
            break;
        }
        let sides = if is_top {
            [P::PaddingTop, P::MarginTop]
        } else {
            [P::PaddingBottom, P::MarginBottom]
        };
        ways.extend(sides.map(|side| (Some(parent), side, delta)));
        outermost = parent;
    }
    let (above, below) = if is_top { (before, Some(element)) } else { (Some(element), after) };
    let ends = above.map(|above| along(page, above, true)).unwrap_or_default();
    let starts = below.map(|below| along(page, below, false)).unwrap_or_default();
    ways.extend(
        ends.into_iter().flat_map(|end| {
            [P::MarginBottom, P::PaddingBottom].map(|side| (Some(end), side, delta))
        }),
    );
    ways.extend(
        starts
            .into_iter()
            .flat_map(|start| [P::MarginTop, P::PaddingTop].map(|side| (Some(start), side, delta))),
    );
    ways
}

/// An element and those in it that end, or begin, where it does.
fn along(page: &PageTree<'_>, element: usize, is_end: bool) -> Vec<usize> {
    let mut found = vec![element];
    let mut at = 0;
    while let Some(&here) = found.get(at) {
        let inner = page.children(here);
        let is_row = page.style(here, "display").contains("grid")
            || page.style(here, "display").contains("flex")
                && !page.style(here, "flex-direction").starts_with("column");
        let outer = if is_end { inner.last() } else { inner.first() };
        match is_row {
            true => found.extend(inner),
            false => found.extend(outer),
        }
        at += 1;
    }
    found
}
