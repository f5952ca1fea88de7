//! First hypotheses for elements that the screenshot lacks, and for those that the code hides.

use super::FirstHypotheses;
use crate::{
    bounds::grown,
    region_kind::far_shift_of,
    repair::hypothesis::{Hypothesis, HypothesisKind},
    snapshot::{PageChange, PageEdit},
};

/// Maximum share of an element's edges at its place in the screenshot, if the screenshot lacks the
/// element.
const BARE: f64 = 0.6;
/// Maximum share of its edges for an element that is missing although its patches resemble content
/// elsewhere.
const EMPTY: f64 = 0.04;
/// Maximum number of elements that are searched for elsewhere in the screenshot.
const MAX_FAR_SEARCHES: usize = 8;
/// Maximum opacity of an element that cannot be seen.
const MAX_HIDDEN_OPACITY: f64 = 0.05;
/// Likelihood of showing a hidden element: above that of any color.
const APPEARANCE: f64 = 1.1;
/// Maximum number of elements without room that are tried: pages have hidden menus and dialogs.
const MAX_DISPLAYS: usize = 4;
/// Elements that never draw anything.
const UNDRAWN: [&str; 12] = [
    "base", "datalist", "link", "meta", "noscript", "param", "script", "source", "style",
    "template", "title", "track",
];

impl FirstHypotheses<'_> {
    /// Elements that the screenshot lacks.
    pub(super) fn removals(&self, differing: &[usize]) -> Vec<Hypothesis> {
        let (mut found, mut searches) = (Vec::new(), 0);
        for &index in differing {
            let bounds = self.page.bounds(index);
            let patches: Vec<_> = self.field.of(self.page, index).collect();
            let lost = patches.iter().filter(|patch| patch.target.is_none()).count();
            let is_lost = !patches.is_empty() && lost * 10 >= patches.len() * 7;
            let edge_pixels = self.screenshot.edge_pixels_in(bounds) as f64;
            let own_edge_pixels = self.drawing.edge_pixels_in(bounds) as f64;
            let is_empty = own_edge_pixels > 0.0 && edge_pixels <= EMPTY * own_edge_pixels;
            let is_body = self.page.tag(index) == "body";
            if is_body || !(is_lost || is_empty) || self.is_whole_content(index) {
                continue;
            }
            // Its text is elsewhere in its line.
            if !self.text_alignments(index).is_empty() {
                continue;
            }
            searches += 1;
            if searches <= MAX_FAR_SEARCHES && far_shift_of(self.difference, bounds).is_some() {
                continue;
            }
            // Few edges there mean that the element is missing, not restyled.
            let is_bare = edge_pixels <= BARE * own_edge_pixels;
            let share = self.share(self.difference.weight_in(bounds));
            // A missing element comes before any color that would hide it, which is at most as
            // likely as its share.
            let likely = if is_bare { 1.1 + 0.1 * share } else { 0.2 + 0.5 * share };
            let change = PageChange { elements: vec![index], edit: PageEdit::Remove };
            let (kind, is) = (HypothesisKind::Value, self.page.style(index, "display").to_owned());
            let priority = 100.0 * likely;
            found.push(Hypothesis { element: index, change, kind, is, priority });
            // What follows stays in its place.
            found.extend(self.value(&[index], "visibility", "hidden", likely - 0.01));
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
                found.extend(self.value(&members, "opacity", "1", APPEARANCE).filter(|_| is_first));
            }
            // Elements inherit it.
            if is_hidden(&index) && !page.parent(index).is_some_and(|parent| is_hidden(&parent)) {
                found.extend(self.value(&[index], "visibility", "visible", APPEARANCE));
            }
        }
        found.extend(self.displays());
        found
    }

    /// Elements that take no room in the code: they have no place, so what differs may be theirs
    /// wherever it is.
    fn displays(&self) -> Vec<Hypothesis> {
        let page = self.page;
        let is_none = |index: usize| page.style(index, "display") == "none";
        let is_outermost =
            |index: &usize| is_none(*index) && !page.parent(*index).is_some_and(is_none);
        let elements = page.snapshot.elements.iter();
        let drawable = elements.filter(|element| !UNDRAWN.contains(&element.tag.as_str()));
        let hidden = drawable.map(|element| element.index).filter(is_outermost);
        let values = hidden.take(MAX_DISPLAYS).flat_map(|index| {
            displays_of(page.tag(index)).iter().map(move |value| (index, *value))
        });
        let shown =
            values.filter_map(|(index, value)| self.value(&[index], "display", value, APPEARANCE));
        shown.collect()
    }
}

/// Values of `display` that an element of this tag usually has.
fn displays_of(tag: &str) -> &'static [&'static str] {
    match tag {
        "a" | "abbr" | "b" | "cite" | "code" | "em" | "i" | "img" | "kbd" | "label" | "mark"
        | "small" | "span" | "strong" | "sub" | "sup" | "svg" | "time" => &["inline", "flex"],
        "button" | "input" | "meter" | "progress" | "select" | "textarea" => &["inline-block"],
        "li" => &["list-item", "flex"],
        "table" => &["table"],
        "thead" => &["table-header-group"],
        "tbody" => &["table-row-group"],
        "tr" => &["table-row"],
        "td" | "th" => &["table-cell"],
        _ => &["block", "flex"],
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
    fn element_without_room_is_shown_where_the_screenshot_differs() {
        let found = |tag: &str, display: &str| {
            let card = element(0, None, CARD, &[]);
            let note = element(1, Some(0), [0; 4], &[("display", display)]);
            let part = element(2, Some(1), [0; 4], &[("display", "none")]);
            let note = SnapshotElement { tag: tag.to_owned(), visible: false, ..note };
            let page = page_of(vec![card, note, SnapshotElement { visible: false, ..part }]);
            proposed(&page, &drawn(&[]), &drawn(&[NOTE]), |hypotheses| hypotheses.appearances())
        };
        let declared = |element: usize, value: &str| (element, format!("display: {value}"));
        assert_eq!(found("p", "none"), [declared(1, "block"), declared(1, "flex")]);
        assert_eq!(found("td", "none"), [declared(1, "table-cell")]);
        assert_eq!(found("template", "none"), []);
        assert_eq!(found("p", "block"), [declared(2, "block"), declared(2, "flex")]);
    }

    #[test]
    fn element_that_is_shown_elsewhere_is_not_removed() {
        let filled = [("background-color", "rgb(30, 30, 30)"), ("visibility", "visible")];
        let parts = [(1, LABEL), (2, NOTE)];
        let parts = parts.map(|(index, rect)| element(index, Some(0), rect, &filled));
        let page = page_of([vec![element(0, None, CARD, &[])], parts.to_vec()].concat());
        let removed = |shown: &[[u32; 4]]| {
            let drawing = drawn(&[LABEL, NOTE]);
            proposed(&page, &drawing, &drawn(shown), |found| found.removals(&[1])).len()
        };
        assert_eq!((removed(&[NOTE]), removed(&[[44, 43, 60, 20], NOTE])), (2, 0));
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
