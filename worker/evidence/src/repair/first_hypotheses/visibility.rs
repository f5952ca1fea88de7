//! First hypotheses for elements that the screenshot lacks, and for those that the code hides.

use super::FirstHypotheses;
use crate::{
    element_tree::grown,
    repair::hypothesis::{Hypothesis, HypothesisKind},
    snapshot::{PageChange, PageEdit},
};

/// Maximum share of an element's edges at its place in the screenshot, if the screenshot lacks the
/// element.
const BARE: f64 = 0.6;
/// Maximum share of its edges for an element that is missing although its patches resemble content
/// elsewhere.
const EMPTY: f64 = 0.04;
/// Maximum opacity of an element that cannot be seen.
const MAX_HIDDEN_OPACITY: f64 = 0.05;
/// Likelihood of showing a hidden element: above that of any color.
const APPEARANCE: f64 = 1.1;

impl FirstHypotheses<'_> {
    /// Elements that the screenshot lacks.
    pub(super) fn removals(&self, differing: &[usize]) -> Vec<Hypothesis> {
        let mut found = Vec::new();
        for &index in differing {
            let bounds = self.page.bounds(index);
            let patches: Vec<_> = self.field.of(self.page, index).collect();
            let lost = patches.iter().filter(|patch| patch.target.is_none()).count();
            let tag = self.page.element(index).map_or("body", |element| element.tag.as_str());
            let is_lost = !patches.is_empty() && lost * 10 >= patches.len() * 7;
            let rims = self.screenshot.rims_in(bounds) as f64;
            let own_rims = self.drawing.rims_in(bounds) as f64;
            let is_empty = own_rims > 0.0 && rims <= EMPTY * own_rims;
            let is_missing = is_lost || is_empty;
            if tag == "body" || !is_missing || self.is_whole_content(index) {
                continue;
            }
            // Its text is elsewhere in its line.
            if !self.text_alignments(index).is_empty() {
                continue;
            }
            // Few edges there mean that the element is missing, not restyled.
            let is_bare = rims <= BARE * own_rims;
            let share = self.share(self.difference.weight_in(bounds));
            // A missing element comes before any color that would hide it, which is at most as
            // likely as its share.
            let likely = if is_bare { 1.1 + 0.1 * share } else { 0.2 + 0.5 * share };
            let priority = 100.0 * likely;
            let change = PageChange { elements: vec![index], edit: PageEdit::Remove };
            let is = self.page.style(index, "display").to_owned();
            found.push(Hypothesis {
                element: index,
                change,
                kind: HypothesisKind::Value,
                is,
                priority,
            });
            // What follows stays in its place.
            found.extend(self.value(vec![index], "visibility", "hidden", likely - 0.01, 0));
        }
        found
    }

    /// True if an element is, or has in it, all that the page shows: its removal would hide what
    /// differs.
    fn is_whole_content(&self, index: usize) -> bool {
        let (page, mut others) = (self.page, self.page.visible());
        others.all(|other| page.contains(index, other) || page.contains(other, index))
    }

    /// Elements that the code hides and in whose place the screenshot differs.
    pub(super) fn appearances(&self) -> Vec<Hypothesis> {
        let page = self.page;
        let is_faded = |index: &usize| is_unseen(page.style(*index, "opacity"));
        let is_hidden = |index: &usize| page.style(*index, "visibility") == "hidden";
        let mut found = Vec::new();
        for index in 0..page.snapshot.elements.len() {
            if self.difference.count_in(grown(page.bounds(index), 2)) == 0 {
                continue;
            }
            if is_faded(&index) {
                let members = self.all_or_one(index, is_faded);
                let is_first = members.first() == Some(&index);
                let members = if is_first { members } else { Vec::new() };
                found.extend(self.value(members, "opacity", "1", APPEARANCE, 0));
            }
            // Elements inherit it.
            if is_hidden(&index) && !page.parent(index).is_some_and(|parent| is_hidden(&parent)) {
                found.extend(self.value(vec![index], "visibility", "visible", APPEARANCE, 0));
            }
        }
        found
    }
}

/// True for an opacity at which an element cannot be seen.
pub(in crate::repair) fn is_unseen(opacity: &str) -> bool {
    opacity.parse::<f64>().is_ok_and(|opacity| opacity <= MAX_HIDDEN_OPACITY)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{element, page_of, proposed};
    use crate::{raster::Raster, snapshot::SnapshotElement};

    const CARD: [u32; 4] = [10, 10, 100, 80];
    const LABEL: [u32; 4] = [20, 20, 60, 20];
    const NOTE: [u32; 4] = [20, 66, 60, 20];

    fn drawn(parts: &[[u32; 4]]) -> Raster {
        let mut picture = Raster::filled(160, 120, [255; 3]);
        picture.fill(CARD, [240; 3]);
        for [x, y, width, height] in parts.iter().copied() {
            picture.fill([x, y, width, height], [30; 3]);
            picture.fill([x + 4, y + 4, width / 2, height / 2], [220, 40, 40]);
        }
        picture
    }

    #[test]
    fn hidden_element_is_shown_where_the_screenshot_has_content() {
        let found = |label: &[(&str, &str)], shown: &[[u32; 4]]| {
            let card = element(0, None, CARD, &[]);
            let label = SnapshotElement {
                visible: !label.contains(&("visibility", "hidden")),
                ..element(1, Some(0), LABEL, label)
            };
            let page = page_of(vec![card, label]);
            proposed(&page, &drawn(&[]), &drawn(shown), |hypotheses| hypotheses.appearances())
        };
        let one = |declaration: &str| vec![(1, declaration.to_owned())];
        assert_eq!(found(&[("opacity", "0")], &[LABEL]), one("opacity: 1"));
        assert_eq!(found(&[("visibility", "hidden")], &[LABEL]), one("visibility: visible"));
        assert_eq!(found(&[("opacity", "0.4")], &[LABEL]), []);
        assert_eq!(found(&[("opacity", "0")], &[NOTE]), [], "nothing is missing in its place");
    }

    #[test]
    fn element_that_the_screenshot_lacks_is_removed_or_else_hidden_in_its_place() {
        let filled = [("background-color", "rgb(30, 30, 30)"), ("visibility", "visible")];
        let parts = [(1, LABEL), (2, NOTE)];
        let parts = parts.map(|(index, rect)| element(index, Some(0), rect, &filled));
        let page = page_of([vec![element(0, None, CARD, &[])], parts.to_vec()].concat());
        let found = proposed(&page, &drawn(&[LABEL, NOTE]), &drawn(&[NOTE]), |hypotheses| {
            hypotheses.removals(&[1, 2])
        });
        let expected = ["display: none", "visibility: hidden"];
        assert_eq!(found, expected.map(|declaration| (1, declaration.to_owned())));
    }
}
