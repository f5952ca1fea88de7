//! Hypotheses for a list of rows, each of which moves all that are below it.

use super::{
    FirstHypotheses,
    tests::{element, proposed},
};
use crate::{
    element_tree::PageTree,
    raster::Raster,
    repair::{
        hypothesis::{Hypothesis, HypothesisKind},
        hypothesis_queue::HypothesisQueue,
        shift_field::ShiftField,
    },
    snapshot::{PageChange, Snapshot, SnapshotElement},
};

const ROWS: usize = 16;

/// A list of rows with this padding and line height, and a text in each that no other row has.
fn list(padding: u32, line: u32) -> (Raster, Snapshot) {
    let height = line + 2 * padding;
    let styles = [
        ("background-color", "rgb(226, 232, 240)".to_owned()),
        ("padding-top", format!("{padding}px")),
        ("padding-bottom", format!("{padding}px")),
        ("padding-left", format!("{padding}px")),
        ("padding-right", format!("{padding}px")),
        ("line-height", format!("{line}px")),
        ("display", "block".to_owned()),
    ];
    let styles = styles.each_ref().map(|(name, value)| (*name, value.as_str()));
    let text_styles = [("line-height", format!("{line}px")), ("font-size", "12px".to_owned())];
    let text_styles = text_styles.each_ref().map(|(name, value)| (*name, value.as_str()));
    let mut picture = Raster::filled(200, 640, [255; 3]);
    let mut elements = vec![element(0, None, [0, 0, 200, 640], &[("display", "block")])];
    for row in 0..ROWS as u32 {
        let top = 10 + row * (height + 2);
        let text_top = top + padding + (line - 10) / 2;
        picture.fill([10, top, 150, height], [226, 232, 240]);
        for letter in 0..8 {
            let place = 10 + padding + letter * 7 + (row * 5 + letter * letter * (row + 1)) % 3;
            let size = 3 + (row * 3 + letter * 2) % 7;
            picture.fill([place, text_top + 9 - size, 3, size], [30, 41, 59]);
        }
        let index = elements.len();
        let mut own = element(index, Some(0), [10, top, 150, height], &styles);
        own.classes = vec!["row".to_owned()];
        let mut text =
            element(index + 1, Some(index), [10 + padding, top + padding, 60, line], &text_styles);
        text.tag = "span".to_owned();
        text.classes = Vec::new();
        text.text = format!("Row {row}");
        elements.extend([own, text]);
    }
    (picture, Snapshot::of_page([200, 640], elements))
}

/// Proposed changes of all rows together, the likeliest first.
fn of_all_rows(
    screenshot: &Raster,
    ask: impl Fn(&FirstHypotheses<'_>) -> Vec<Hypothesis>,
) -> Vec<(usize, String)> {
    let (drawing, snapshot) = list(4, 14);
    proposed(&snapshot, &drawing, screenshot, |hypotheses| {
        let found = ask(hypotheses).into_iter();
        found.filter(|hypothesis| hypothesis.change.elements.len() == ROWS).collect()
    })
}

#[test]
fn rows_are_followed_however_far_the_rows_above_move_them() {
    let ((drawing, snapshot), (screenshot, _)) = (list(4, 14), list(6, 14));
    let page = PageTree::new(&snapshot);
    let field = ShiftField::new(&page, &drawing, &screenshot);
    let last_text = 2 * ROWS;
    let last: Vec<_> = field.patches.iter().filter(|patch| patch.element == last_text).collect();
    assert!(!last.is_empty());
    let shift = [2, 4 * (ROWS as i32 - 1) + 2];
    assert!(last.iter().all(|patch| patch.target == Some(shift)), "{last:?}");
    assert_eq!(field.shifts_near(last_text)[0], shift);
}

#[test]
fn a_space_of_every_row_is_predicted_by_what_all_rows_above_move() {
    let (padded, _) = list(6, 14);
    let found = of_all_rows(&padded, |hypotheses| hypotheses.predicted_spaces());
    assert_eq!(found[0], (1, "padding: 6px".to_owned()));
    let (higher, _) = list(4, 18);
    let found = of_all_rows(&higher, |hypotheses| hypotheses.predicted_spaces());
    assert_eq!(found[0], (1, "line-height: 18px".to_owned()));
}

#[test]
fn a_text_that_only_moved_is_not_measured_as_another() {
    let (padded, _) = list(6, 14);
    let texts = |hypotheses: &FirstHypotheses<'_>| {
        hypotheses.measured_texts(&(1..=2 * ROWS).collect::<Vec<_>>())
    };
    let (drawing, snapshot) = list(4, 14);
    assert_eq!(proposed(&snapshot, &drawing, &padded, texts), []);
}

#[test]
fn a_change_that_failed_for_one_row_waits_for_the_other_rows() {
    let (_, snapshot) = list(4, 14);
    let page = PageTree::new(&snapshot);
    let spaced = |elements: Vec<usize>, priority: f64| {
        let change = PageChange::declare(&elements, "color", "#111827");
        let (element, kind, is) = (elements[0], HypothesisKind::Value, String::new());
        Hypothesis { element, change, kind, is, priority }
    };
    let rows = [2, 4, 6].map(|text| spaced(vec![text], 90.0));
    let mut queue = HypothesisQueue::default();
    queue.waiting.extend(rows.clone());
    queue.waiting.extend([spaced(vec![1], 85.0), spaced(vec![2, 4, 6], 84.0)]);
    queue.waiting.extend(rows);
    let first = queue.pop().unwrap();
    assert_eq!(first.element, 2);
    queue.defer_similar(&page, &first);
    let order: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
    let order: Vec<_> = order.iter().map(|next| next.change.elements.clone()).collect();
    assert_eq!(order, [vec![1], vec![2, 4, 6], vec![4], vec![6]]);
}

#[test]
fn elements_without_classes_are_alike_in_alike_parents() {
    let (_, mut snapshot) = list(4, 14);
    let alike = |snapshot: &Snapshot, index: usize| PageTree::new(snapshot).alike(index);
    let texts: Vec<usize> = (1..=ROWS).map(|row| 2 * row).collect();
    assert_eq!(alike(&snapshot, 2), texts);
    let rename = |element: &mut SnapshotElement| element.classes = vec!["total".to_owned()];
    rename(&mut snapshot.elements[3]);
    assert!(!alike(&snapshot, 2).contains(&4), "its row is another one");
    assert_eq!(alike(&snapshot, 4), [4]);

    let page = PageTree::new(&snapshot);
    let selector = |index: usize, alike: usize| page.record(index, alike, 1).unwrap().selector;
    assert_eq!(selector(2, ROWS - 1).as_deref(), Some("div.row > span"));
    assert_eq!(selector(2, 1), None);
    snapshot.elements[3].classes = vec!["row".to_owned(), "last".to_owned()];
    let written = PageTree::new(&snapshot).record(2, 2, 1).unwrap().selector;
    assert_eq!(written.as_deref(), Some("div.row:not(.last) > span"));
    let rename = |element: &mut SnapshotElement| element.classes = vec!["md:p-[2px]".to_owned()];
    rename(&mut snapshot.elements[1]);
    let written = PageTree::new(&snapshot).record(1, 2, 1).unwrap().selector;
    assert_eq!(written.as_deref(), Some(r"div.md\:p-\[2px\]"));
}
