//! Other ways to write the same repair.

use super::{
    changeable_length::LengthProperty,
    hypothesis::{Hypothesis, Lever},
};
use crate::element_tree::PageTree;
use LengthProperty as P;

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
            // A child in the middle of a row makes the row higher.
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
                // Content in the middle goes half the way, and upward.
                (Some(element), P::MarginBottom, -2.0 * delta),
                (last.copied(), P::MarginBottom, -2.0 * delta),
            ]);
            // What makes a child higher makes room below it too.
            for child in page.children(element).iter().chain(siblings) {
                ways.extend([P::LineHeight, P::MarginBottom].map(|p| (Some(*child), p, delta)));
            }
        }
        _ => {}
    }
    let changes = ways.into_iter().enumerate().filter_map(|(place, (element, property, delta))| {
        let element = element?;
        let alike = page.alike(element);
        let elements =
            if found.change.elements.len() > 1 && alike.len() > 1 { alike } else { vec![element] };
        let change = property.change(page, &elements, delta)?;
        let (lever, is) = (Lever::Length { property, delta }, property.current(page, element));
        let other = Hypothesis { element, change, lever, is, priority: 0.0 };
        let priority = 80.0 + 10.0 * other.plausibility(page) - 0.5 * place as f64;
        Some(Hypothesis { priority, ..other })
    });
    changes.collect()
}
