//! Alignments of items in a row, and of a text.

use super::*;
use crate::{
    difference::PixelDifference,
    element_tree::PageTree,
    pair_noise::PairNoise,
    picture_pair::PicturePair,
    raster::Raster,
    repair::{RepairLimits, RepairSearch, shift_field::ShiftField},
    snapshot::{PageChange, PageEdit, Snapshot, SnapshotElement},
};
use juror_types::evidence::{Evidence, EvidenceSource, RegionKind};

fn element(index: usize, rect: [f64; 4], styles: &[(&str, &str)]) -> SnapshotElement {
    let (parent, classes) = (index.checked_sub(1).map(|_| 0), vec![format!("part{index}")]);
    SnapshotElement { classes, ..SnapshotElement::of_box(index, parent, rect, styles) }
}

fn drawn(items: [[u32; 4]; 2]) -> Raster {
    let mut picture = Raster::filled(110, 66, [255; 3]);
    let colors = [[37, 99, 235], [190, 20, 60]];
    items.into_iter().zip(colors).for_each(|(item, color)| picture.fill(item, color));
    picture
}

/// Properties and values that are proposed for two items in a row of 90 x 50 pixels, which the
/// screenshot shows elsewhere.
fn proposed(shown: [[u32; 4]; 2]) -> Vec<(usize, String, String)> {
    let items = [[5, 5, 30, 20], [40, 5, 30, 20]];
    let fill = [("background-color", "rgb(37, 99, 235)")];
    let row = [
        ("display", "flex"),
        ("flex-direction", "row"),
        ("align-items", "flex-start"),
        ("justify-content", "normal"),
        ("column-gap", "5px"),
        ("background-color", "rgb(255, 255, 255)"),
    ];
    let rects = items.map(|item| item.map(f64::from));
    let elements = vec![
        element(0, [5.0, 5.0, 90.0, 50.0], &row),
        element(1, rects[0], &fill),
        element(2, rects[1], &fill),
    ];
    let snapshot = Snapshot::of_page([110, 66], elements);
    let (page, screenshot, drawing) = (PageTree::new(&snapshot), drawn(shown), drawn(items));
    let difference = PixelDifference::new(&screenshot, &drawing, &PairNoise::NONE);
    let field = ShiftField::new(&page, &drawing, &screenshot);
    let hypotheses = FirstHypotheses {
        page: &page,
        screenshot: &screenshot,
        drawing: &drawing,
        difference: &difference,
        field: &field,
        tolerance: 2,
        is_exact: true,
        total: difference.total(),
    };
    let found = hypotheses.alignments().into_iter();
    found
        .map(|other| (other.element, other.property().to_owned(), other.value().to_owned()))
        .collect()
}

#[test]
fn keywords_are_those_that_put_items_where_the_screenshot_shows_them() {
    // The other axis is tried, too, since all differences are in the box.
    let direction = |value: &str| (0, "flex-direction".to_owned(), value.to_owned());
    let one = |element: usize, property: &str, value: &str| {
        vec![(element, property.to_owned(), value.to_owned()), direction("column")]
    };
    let end = proposed([[30, 5, 30, 20], [65, 5, 30, 20]]);
    assert_eq!(end, one(0, "justify-content", "flex-end"));
    let apart = proposed([[5, 5, 30, 20], [65, 5, 30, 20]]);
    assert_eq!(apart, one(0, "justify-content", "space-between"));
    let middle = proposed([[5, 20, 30, 20], [40, 20, 30, 20]]);
    assert_eq!(middle, one(0, "align-items", "center"));
    let last = proposed([[5, 5, 30, 20], [40, 35, 30, 20]]);
    assert_eq!(last, one(2, "align-self", "flex-end"));
    let column = proposed([[5, 5, 30, 20], [5, 30, 30, 20]]);
    assert_eq!(column.first(), Some(&direction("column")), "{column:?}");
    let far = proposed([[110, 5, 30, 20], [145, 5, 30, 20]]);
    let others = ["column", "row-reverse", "column-reverse"].map(direction);
    assert_eq!(far, others, "there is no room for it");
    assert_eq!(proposed([[5, 12, 30, 20], [40, 12, 30, 20]]), [direction("column")]);
    assert_eq!(proposed([[5, 5, 30, 20], [40, 5, 30, 20]]), []);
}

/// A paragraph of this width with a text of 48 pixels, drawn by an engine that knows its alignment
/// and its left padding.
fn paragraph(width: u32, align: &str, changes: &[PageChange]) -> (Raster, Snapshot) {
    let (mut align, mut padding) = (align, 0);
    for change in changes {
        match &change.edit {
            PageEdit::Declare { property, value } if property == "text-align" => align = value,
            PageEdit::Declare { property, value } if property == "padding-left" => {
                padding = value.trim_end_matches("px").parse::<f64>().unwrap() as u32;
            }
            _ => {}
        }
    }
    let free = (width - 48).saturating_sub(padding);
    let left = 20
        + padding
        + [("center", free / 2), ("right", free)]
            .into_iter()
            .find_map(|(name, before)| (name == align).then_some(before))
            .unwrap_or(0);
    let mut picture = Raster::filled(width + 40, 60, [255; 3]);
    for glyph in 0..8 {
        let [width, height] = [3 + glyph % 2, 9 - glyph % 4];
        picture.fill([left + 6 * glyph, 14 + glyph % 3, width, height], [20; 3]);
    }
    let padding = format!("{padding}px");
    let styles = [("display", "block"), ("text-align", align), ("padding-left", &padding)];
    let text = SnapshotElement {
        tag: "p".to_owned(),
        text: "Save all".to_owned(),
        path: "body > p".to_owned(),
        ..element(1, [20.0, 10.0, f64::from(width), 20.0], &styles)
    };
    let body = element(0, [0.0, 0.0, f64::from(width + 40), 60.0], &[("display", "block")]);
    let elements = vec![SnapshotElement { tag: "body".to_owned(), ..body }, text];
    (picture, Snapshot::of_page([width + 40, 60], elements))
}

/// Evidence of a paragraph with one alignment whose screenshot has another.
fn realigned(width: u32, code: &str, shown: &str) -> Evidence {
    let (screenshot, _) = paragraph(width, shown, &[]);
    let (drawing, snapshot) = paragraph(width, code, &[]);
    let pair = PicturePair::new(&screenshot, &drawing);
    let mut evidence = pair.measure(EvidenceSource::Browser, Some(&snapshot));
    let mut search = RepairSearch::new(&pair, &snapshot, RepairLimits::default());
    while let Some(changes) = search.next_drawing() {
        let (drawing, snapshot) = paragraph(width, code, &changes);
        search.add_drawing(drawing, snapshot);
    }
    search.finish(&pair, &snapshot, &mut evidence);
    evidence
}

#[test]
fn a_text_that_is_aligned_otherwise_is_repaired_by_its_alignment() {
    let near = [("left", "center"), ("left", "right"), ("center", "left"), ("right", "center")];
    let far = [("left", "center"), ("left", "right"), ("center", "left"), ("right", "left")];
    let near = near.map(|(code, shown)| (80, code, shown));
    for (width, code, shown) in near.into_iter().chain(far.map(|(code, shown)| (300, code, shown)))
    {
        let evidence = realigned(width, code, shown);
        let region = &evidence.regions[0];
        assert_eq!(
            region.property.as_deref(),
            Some("text-align"),
            "{code} for {shown}: {region:?}"
        );
        assert_eq!((region.is.as_deref(), region.should_be.as_deref()), (Some(code), Some(shown)));
        assert_eq!((region.explains, evidence.explained), (Some(1.0), Some(1.0)));
        assert_eq!((region.kind, evidence.regions.len()), (RegionKind::Moved, 1));
    }
}

/// Hostile code has boxes of millions of pixels, whose places outside the picture no loop may visit.
#[test]
fn boxes_that_exceed_the_picture_are_read_within_it() {
    let (screenshot, _) = paragraph(80, "right", &[]);
    let (drawing, mut snapshot) = paragraph(80, "left", &[]);
    for element in &mut snapshot.elements {
        element.rect = [-16_777_214.0, -16_777_214.0, 33_554_428.0, 33_554_428.0];
    }
    let pair = PicturePair::new(&screenshot, &drawing);
    let mut evidence = pair.measure(EvidenceSource::Browser, Some(&snapshot));
    let mut search = RepairSearch::new(&pair, &snapshot, RepairLimits::default());
    while search.next_drawing().is_some() {
        search.add_drawing(drawing.clone(), snapshot.clone());
    }
    search.finish(&pair, &snapshot, &mut evidence);
    assert_eq!(evidence.regions.len(), 1);
    assert_eq!(evidence.regions[0].property, None);
}
