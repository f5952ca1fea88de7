//! Repairs that make space for content which the page lacks: they bring the rest of the page into
//! its place, and the missing content is the cause.

use super::hypothesis::{Hypothesis, HypothesisKind};
use crate::element_tree::{PageTree, area, intersection};

/// True if a change places content in or around an element that lacks the content of this box.
pub(super) fn makes_space_for(
    page: &PageTree<'_>,
    hypothesis: &Hypothesis,
    missing: [i32; 4],
) -> bool {
    let moves_content = match hypothesis.kind {
        HypothesisKind::Length { property, .. } => property.is_space(),
        HypothesisKind::Alignment => true,
        HypothesisKind::Value => false,
    };
    let Some(lacking) = innermost_around(page, missing).filter(|_| moves_content) else {
        return false;
    };
    hypothesis.change.elements.iter().any(|&element| {
        let holder = page.parent(element).unwrap_or(element);
        page.contains(lacking, element) || page.contains(holder, lacking)
    })
}

/// The smallest visible element around a box.
pub(super) fn innermost_around(page: &PageTree<'_>, place: [i32; 4]) -> Option<usize> {
    let size = |index: &usize| area(page.bounds(*index));
    let around = page.visible().filter(|&index| intersection(page.bounds(index), place) == place);
    around.min_by(|one, other| size(one).total_cmp(&size(other)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        repair::changeable_length::LengthProperty as P,
        snapshot::{PageChange, PageEdit, Snapshot},
    };

    #[test]
    fn lengths_and_alignments_beside_missing_content_are_no_cause() {
        // A card with a text, and another one.
        let mut snapshot = Snapshot::of_texts(&[
            [0, 0, 160, 160],
            [0, 0, 160, 60],
            [10, 30, 80, 20],
            [0, 80, 160, 60],
            [10, 90, 80, 20],
        ]);
        for (element, parent) in
            snapshot.elements.iter_mut().zip([None, Some(0), Some(1), Some(0), Some(3)])
        {
            element.parent = parent;
        }
        let page = PageTree::new(&snapshot);
        let makes_space = |element: usize, kind: HypothesisKind| {
            let edit = PageEdit::Declare { property: "margin-top".into(), value: "20px".into() };
            let change = PageChange { elements: vec![element], edit };
            let hypothesis = Hypothesis { element, change, kind, is: String::new(), priority: 0.0 };
            // Missing in the first card, above its text.
            makes_space_for(&page, &hypothesis, [10, 5, 90, 20])
        };
        let length = |property| HypothesisKind::Length { property, delta: 20.0 };
        assert!(makes_space(2, length(P::MarginTop)), "the text below");
        assert!(makes_space(1, length(P::PaddingTop)) && makes_space(1, HypothesisKind::Alignment));
        assert!(makes_space(3, length(P::MarginTop)), "the card below");
        assert!(!makes_space(4, length(P::MarginTop)), "a text of the other card");
        assert!(!makes_space(2, length(P::FontSize)) && !makes_space(2, HypothesisKind::Value));
    }
}
