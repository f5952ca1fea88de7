//! Other ways to write the same repair.

use super::{
    changeable_length::LengthProperty,
    hypothesis::{Hypothesis, HypothesisKind},
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
    let HypothesisKind::Length { property, delta } = found.kind else { return Vec::new() };
    let members = found.change.elements.as_slice();
    if !(2..=MAX_MEMBERS).contains(&members.len()) {
        return Vec::new();
    }
    let alone = members.iter().filter_map(|&element| {
        Hypothesis::length(page, element, &[element], (property, delta), found.priority)
    });
    alone.collect()
}

/// Changes that often render the same picture as a change of lengths; likelier ones have a higher
/// priority. In a noisy pair, which shows lengths to a pixel or so, they are whole numbers.
pub(crate) fn equivalents(
    page: &PageTree<'_>,
    found: &Hypothesis,
    is_exact: bool,
) -> Vec<Hypothesis> {
    let HypothesisKind::Length { property, delta } = found.kind else { return Vec::new() };
    let mut ways = nearby_ways(page, found.element, property, delta);
    ways.extend(boundary_ways(page, found.element, property, delta));
    let is_shared = found.change.elements.len() > 1;
    let changes = ways.into_iter().enumerate().filter_map(|(place, (element, property, delta))| {
        let element = element?;
        let present = property.length(page, element);
        let delta = match is_exact {
            true => without_rounding(property, delta),
            false => (present + delta).round() - present,
        };
        let alike = page.alike(element);
        let elements = if is_shared && alike.len() > 1 { alike } else { vec![element] };
        let other = Hypothesis::length(page, element, &elements, (property, delta), 0.0)?;
        let priority = 80.0 + 10.0 * other.plausibility(page) - 0.3 * place as f64;
        Some(Hypothesis { priority, ..other })
    });
    changes.collect()
}

/// A length of an element, if there is such an element, and its change.
type LengthChange = (Option<usize>, P, f64);

/// The change of a length without what comes from the fractions of lines.
fn without_rounding(property: P, delta: f64) -> f64 {
    let half = (delta / HALF).round() * HALF;
    let is_rounded = property.step() >= 1.0 && (delta - half).abs() <= MAX_ROUNDING;
    if is_rounded { half } else { delta }
}

/// Lengths of an element, its parent, its children and its siblings that move the same content.
fn nearby_ways(page: &PageTree<'_>, element: usize, property: P, delta: f64) -> Vec<LengthChange> {
    let (own, parent, children) = (Some(element), page.parent(element), page.children(element));
    let (first, last) = (children.first().copied(), children.last().copied());
    match property {
        P::LineHeight | P::FontSize | P::Height => vec![
            (own, P::LineHeight, delta),
            (own, P::PaddingBlock, delta / 2.0),
            (own, P::MarginBottom, delta),
            (own, P::Height, delta),
            (parent, P::LineHeight, delta),
            (first, P::LineHeight, delta),
        ],
        P::Gap => vec![
            (first, P::MarginBottom, delta),
            (first, P::MarginRight, delta),
            (last, P::MarginTop, delta),
            (last, P::MarginLeft, delta),
            (first, P::PaddingBottom, delta),
        ],
        _ if property.is_padding() => instead_of_padding(page, element, property, delta),
        _ if property.is_margin() => instead_of_margin(page, element, delta),
        _ => Vec::new(),
    }
}

fn instead_of_padding(
    page: &PageTree<'_>,
    element: usize,
    property: P,
    delta: f64,
) -> Vec<LengthChange> {
    let (parent, children) = (page.parent(element), page.children(element));
    let (first, last) = (children.first().copied(), children.last().copied());
    // One side grows the box as much as half of it on both sides.
    let both_sides = match property {
        P::PaddingTop | P::PaddingBottom => Some(P::PaddingBlock),
        P::PaddingLeft | P::PaddingRight => Some(P::PaddingInline),
        _ => None,
    };
    let mut ways: Vec<LengthChange> =
        both_sides.map(|both| (Some(element), both, delta / 2.0)).into_iter().collect();
    ways.extend([
        (Some(element), P::Padding, delta),
        (Some(element), P::BorderWidth, delta),
        (Some(element), P::PaddingBlock, delta),
        (Some(element), P::PaddingInline, delta),
        (Some(element), P::LineHeight, 2.0 * delta),
        (Some(element), P::Height, 2.0 * delta),
        (Some(element), P::MarginTop, delta),
        (Some(element), P::MarginBottom, delta),
        (first, P::MarginTop, delta),
        (last, P::MarginBottom, delta),
        (first, P::Margin, delta),
        (parent, P::Gap, delta),
        (parent, P::Padding, delta),
    ]);
    // A centered child grows its row by twice the delta, as padding on both sides does.
    for child in children {
        ways.extend([P::MarginBottom, P::LineHeight].map(|p| (Some(*child), p, 2.0 * delta)));
    }
    ways
}

fn instead_of_margin(page: &PageTree<'_>, element: usize, delta: f64) -> Vec<LengthChange> {
    let (parent, children) = (page.parent(element), page.children(element));
    let (previous, next) = (page.previous_sibling(element), page.next_sibling(element));
    let last = children.last().copied();
    let mut ways = vec![
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
        (last, P::MarginBottom, delta),
        (Some(element), P::Margin, delta),
        (Some(element), P::LineHeight, delta),
        (parent, P::LineHeight, delta),
        // Centered content moves up by half of a bottom margin.
        (Some(element), P::MarginBottom, -2.0 * delta),
        (last, P::MarginBottom, -2.0 * delta),
    ];
    let siblings = parent.map(|parent| page.children(parent)).unwrap_or_default();
    // A higher child moves what is below it as well.
    for child in children.iter().chain(siblings) {
        ways.extend([P::LineHeight, P::MarginBottom].map(|p| (Some(*child), p, delta)));
    }
    ways
}

/// Lengths on both sides of the boundary that a change of an element moves: the bottoms of what lies
/// above it, the tops of what lies below, and the space between both.
fn boundary_ways(
    page: &PageTree<'_>,
    element: usize,
    property: P,
    delta: f64,
) -> Vec<LengthChange> {
    let is_top = match property {
        P::MarginTop | P::PaddingTop => true,
        P::MarginBottom | P::PaddingBottom | P::Height | P::LineHeight => false,
        _ => return Vec::new(),
    };
    // Climb while the element is the first child, or the last one for a bottom.
    let mut outermost = element;
    let (mut before, mut after) = (None, None);
    let mut ways = Vec::new();
    while let Some(parent) = page.parent(outermost) {
        (before, after) = (page.previous_sibling(outermost), page.next_sibling(outermost));
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
    for end in above.map(|above| along(page, above, true)).unwrap_or_default() {
        ways.extend([P::MarginBottom, P::PaddingBottom].map(|side| (Some(end), side, delta)));
    }
    for start in below.map(|below| along(page, below, false)).unwrap_or_default() {
        ways.extend([P::MarginTop, P::PaddingTop].map(|side| (Some(start), side, delta)));
    }
    ways
}

/// An element and those in it that end, or begin, where it does.
fn along(page: &PageTree<'_>, element: usize, is_end: bool) -> Vec<usize> {
    page.reached(element, |here| {
        let inner = page.children(here);
        let outer = if is_end { inner.rchunks(1).next() } else { inner.chunks(1).next() };
        if page.is_grid(here) || page.is_row(here) { inner } else { outer.unwrap_or_default() }
    })
}
