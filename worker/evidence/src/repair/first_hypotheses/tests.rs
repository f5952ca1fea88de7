//! Hypotheses that are measured in both pictures, for a card with two boxes in it.

use super::FirstHypotheses;
use crate::{
    difference::PixelDifference,
    element_tree::PageTree,
    pair_noise::PairNoise,
    raster::Raster,
    repair::{
        changeable_length::LengthProperty as P,
        equivalent_repairs::{equivalents, single_elements},
        hypothesis::{Hypothesis, HypothesisKind},
        shift_field::ShiftField,
    },
    snapshot::{PageEdit, Snapshot, SnapshotElement},
};

const BLUE: [u8; 3] = [37, 99, 235];

pub(super) fn element(
    index: usize,
    parent: Option<usize>,
    rect: [u32; 4],
    styles: &[(&str, &str)],
) -> SnapshotElement {
    let classes = vec![format!("part{index}")];
    SnapshotElement {
        classes,
        ..SnapshotElement::of_box(index, parent, rect.map(f64::from), styles)
    }
}

pub(super) fn page_of(elements: Vec<SnapshotElement>) -> Snapshot {
    Snapshot::of_page([160, 120], elements)
}

fn hypotheses<'page>(
    page: &'page PageTree<'page>,
    [drawing, screenshot]: [&'page Raster; 2],
    difference: &'page PixelDifference<'page>,
    field: &'page ShiftField,
) -> FirstHypotheses<'page> {
    FirstHypotheses {
        page,
        screenshot,
        drawing,
        difference,
        field,
        tolerance: 2,
        is_exact: true,
        total: difference.total(),
    }
}

/// Declarations that are proposed, the likeliest first.
pub(super) fn proposed(
    snapshot: &Snapshot,
    drawing: &Raster,
    screenshot: &Raster,
    ask: impl Fn(&FirstHypotheses<'_>) -> Vec<Hypothesis>,
) -> Vec<(usize, String)> {
    let page = PageTree::new(snapshot);
    let difference = PixelDifference::new(screenshot, drawing, &PairNoise::NONE);
    let field = ShiftField::new(&page, drawing, screenshot);
    let mut found = ask(&hypotheses(&page, [drawing, screenshot], &difference, &field));
    found.sort_by(|one, other| other.priority.total_cmp(&one.priority));
    let written = |other: &Hypothesis| format!("{}: {}", other.property(), other.value());
    found.iter().map(|other| (other.element, written(other))).collect()
}

/// A box with round corners, each pixel by the part of it that lies in the box.
fn rounded(picture: &mut Raster, [x, y, width, height]: [u32; 4], radius: f64) {
    let samples = || (0..16).map(|part| (f64::from(part) + 0.5) / 16.0);
    for row in 0..height {
        for column in 0..width {
            let is_inside = |dx: f64, dy: f64| {
                let aside =
                    |at: f64, length: u32| (radius - at.min(f64::from(length) - at)).max(0.0);
                let across = aside(f64::from(column) + dx, width);
                let down = aside(f64::from(row) + dy, height);
                across.hypot(down) <= radius
            };
            let inside = samples().flat_map(|dx| samples().map(move |dy| (dx, dy)));
            let share = inside.filter(|(dx, dy)| is_inside(*dx, *dy)).count() as f64 / 256.0;
            let color = BLUE.map(|own| (255.0 + share * (f64::from(own) - 255.0)).round() as u8);
            picture.fill([x + column, y + row, 1, 1], color);
        }
    }
}

#[test]
fn a_border_and_a_radius_are_those_of_the_screenshot() {
    let styles = [
        ("border-top-width", "1px"),
        ("border-top-color", "rgb(37, 99, 235)"),
        ("border-bottom-width", "1px"),
        ("border-left-width", "1px"),
        ("border-right-width", "1px"),
    ];
    let snapshot = page_of(vec![element(0, None, [20, 20, 80, 40], &styles)]);
    let bordered = |width: u32| {
        let mut picture = Raster::filled(160, 120, [255; 3]);
        picture.fill([20, 20, 78 + 2 * width, 38 + 2 * width], BLUE);
        picture.fill([20 + width, 20 + width, 78, 38], [240; 3]);
        picture
    };
    let outlines = |hypotheses: &FirstHypotheses<'_>| hypotheses.measured_outlines(&[0]);
    let found = proposed(&snapshot, &bordered(1), &bordered(4), outlines);
    assert_eq!(found, [(0, "border-width: 4px".to_owned())]);
    assert_eq!(proposed(&snapshot, &bordered(1), &bordered(1), outlines), []);

    let styles = [("background-color", "rgb(37, 99, 235)"), ("border-top-left-radius", "4px")];
    let snapshot = page_of(vec![element(0, None, [20, 20, 80, 40], &styles)]);
    let round = |radius: f64| {
        let mut picture = Raster::filled(160, 120, [255; 3]);
        rounded(&mut picture, [20, 20, 80, 40], radius);
        picture
    };
    let larger = proposed(&snapshot, &round(4.0), &round(10.0), outlines);
    assert_eq!(larger[0], (0, "border-radius: 10px".to_owned()));
    let smaller = proposed(&snapshot, &round(4.0), &round(2.0), outlines);
    assert_eq!(smaller[0], (0, "border-radius: 2px".to_owned()));
}

#[test]
fn a_wider_text_of_the_same_height_is_spaced() {
    let mut label = element(0, None, [20, 20, 60, 14], &[("font-size", "12px")]);
    label.text = "Save it".to_owned();
    let snapshot = page_of(vec![label]);
    let text = |advance: u32, height: u32| {
        let mut picture = Raster::filled(160, 120, [255; 3]);
        (0..7).for_each(|letter| picture.fill([22 + advance * letter, 22, 4, height], [20; 3]));
        picture
    };
    let texts = |hypotheses: &FirstHypotheses<'_>| hypotheses.measured_texts(&[0]);
    let spaced = proposed(&snapshot, &text(7, 9), &text(9, 9), texts);
    assert_eq!(spaced[0], (0, "letter-spacing: 2px".to_owned()));
    let larger = proposed(&snapshot, &text(7, 9), &text(9, 11), texts);
    assert_eq!(larger[0], (0, "font-size: 15px".to_owned()));
    assert_eq!(proposed(&snapshot, &text(7, 9), &text(7, 9), texts), []);
}

/// A card with two boxes, one below the other, and a page with their places.
fn card(sizes: [[u32; 2]; 2], between: u32) -> (Raster, Snapshot) {
    let [[width, height], [other_width, other_height]] = sizes;
    let below = 20 + height + between;
    let mut picture = Raster::filled(160, 120, [255; 3]);
    picture.fill([20, 20, width, height], BLUE);
    picture.fill([20, below, other_width, other_height], [190, 20, 60]);
    let fill = [("background-color", "rgb(37, 99, 235)"), ("margin-bottom", "8px")];
    let card = [("background-color", "rgb(255, 255, 255)"), ("display", "block")];
    let elements = vec![
        element(0, None, [10, 10, 140, 100], &card),
        element(1, Some(0), [20, 20, width, height], &fill),
        element(2, Some(0), [20, below, other_width, other_height], &fill),
    ];
    (picture, page_of(elements))
}

#[test]
fn a_box_that_grows_both_ways_has_another_padding() {
    let (drawing, snapshot) = card([[60, 20], [40, 20]], 8);
    let (screenshot, _) = card([[68, 28], [40, 20]], 8);
    let found = proposed(&snapshot, &drawing, &screenshot, |hypotheses| hypotheses.grown_boxes());
    assert_eq!(found, [(1, "padding: 4px".to_owned())]);
}

#[test]
fn a_margin_is_predicted_by_what_lies_below_it() {
    let (drawing, snapshot) = card([[60, 20], [40, 20]], 8);
    let (screenshot, _) = card([[60, 20], [40, 20]], 14);
    let found =
        proposed(&snapshot, &drawing, &screenshot, |hypotheses| hypotheses.predicted_spaces());
    assert_eq!(found[0], (1, "margin-bottom: 14px".to_owned()));
    let (same, _) = card([[60, 20], [40, 20]], 8);
    assert_eq!(
        proposed(&snapshot, &drawing, &same, |hypotheses| hypotheses.predicted_spaces()),
        []
    );
}

#[test]
fn a_space_is_written_on_either_side_of_its_boundary() {
    let elements = vec![
        element(0, None, [0, 0, 160, 120], &[]),
        element(1, Some(0), [0, 0, 160, 60], &[]),
        element(2, Some(1), [0, 30, 160, 30], &[]),
        element(3, Some(0), [0, 60, 160, 60], &[]),
    ];
    let snapshot = page_of(elements);
    let page = PageTree::new(&snapshot);
    let change = P::MarginTop.change(&page, &[3], 6.0).unwrap();
    let kind = HypothesisKind::Length { property: P::MarginTop, delta: 6.0 };
    let found = Hypothesis { element: 3, change, kind, is: String::new(), priority: 0.0 };
    let ways = equivalents(&page, &found, true);
    let has = |element: usize, property: &str| {
        ways.iter().any(|way| way.element == element && way.property() == property)
    };
    assert!(has(0, "gap") && has(1, "margin-bottom") && has(2, "margin-bottom"));
    assert!(!has(0, "margin-top"), "the card does not begin there");
}

#[test]
fn a_change_of_similar_elements_is_tried_for_each_of_a_few() {
    let badges = |count: usize| {
        let mut elements = vec![element(0, None, [0, 0, 160, 120], &[])];
        for index in 1..=count {
            let mut badge = element(index, Some(0), [0, 20 * index as u32, 60, 20], &[]);
            badge.classes = vec!["badge".to_owned()];
            elements.push(badge);
        }
        page_of(elements)
    };
    let alone = |count: usize, members: &[usize]| -> Vec<(Vec<usize>, String)> {
        let snapshot = badges(count);
        let page = PageTree::new(&snapshot);
        let change = P::MarginBottom.change(&page, members, 6.0).unwrap();
        let kind = HypothesisKind::Length { property: P::MarginBottom, delta: 6.0 };
        let found = Hypothesis { element: 1, change, kind, is: String::new(), priority: 0.0 };
        let single = single_elements(&page, &found).into_iter();
        single.map(|other| (other.change.elements.clone(), other.value().to_owned())).collect()
    };
    let each = |index: usize| (vec![index], "6px".to_owned());
    assert_eq!(alone(3, &[1, 2, 3]), [each(1), each(2), each(3)]);
    assert_eq!(alone(1, &[1]), [], "it is one already");
    assert_eq!(alone(5, &[1, 2, 3, 4, 5]), [], "there are more than trials for them");
}

#[test]
fn other_ways_have_lengths_of_half_a_pixel_at_least() {
    let line = [("line-height", "14.95px"), ("font-size", "13px")];
    let snapshot = page_of(vec![element(0, None, [0, 0, 160, 20], &line)]);
    let page = PageTree::new(&snapshot);
    let change = P::LineHeight.change(&page, &[0], 6.05).unwrap();
    let kind = HypothesisKind::Length { property: P::LineHeight, delta: 6.05 };
    let found = Hypothesis { element: 0, change, kind, is: String::new(), priority: 0.0 };
    let ways = equivalents(&page, &found, true);
    let padding = ways.iter().find(|way| way.property() == "padding-block").unwrap();
    assert_eq!(padding.value(), "3px");
}

#[test]
fn padding_on_one_side_may_be_half_of_it_on_both() {
    let cell = [("padding-top", "6px"), ("padding-bottom", "6px")];
    let snapshot = page_of(vec![element(0, None, [0, 0, 160, 20], &cell)]);
    let page = PageTree::new(&snapshot);
    let found = Hypothesis::length(&page, 0, &[0], (P::PaddingBottom, 16.0), 0.0).unwrap();
    let ways = equivalents(&page, &found, true);
    let both = ways.iter().filter(|way| way.property() == "padding-block");
    let values: Vec<&str> = both.map(Hypothesis::value).collect();
    assert_eq!(values, ["14px", "22px"]);
}

#[test]
fn no_background_is_proposed_for_an_image() {
    let (drawing, mut snapshot) = card([[60, 20], [40, 20]], 8);
    let (mut screenshot, _) = card([[60, 20], [40, 20]], 8);
    screenshot.fill([20, 20, 60, 20], [10, 120, 40]);
    let estimates = |snapshot: &Snapshot, element: usize| {
        let page = PageTree::new(snapshot);
        let difference = PixelDifference::new(&screenshot, &drawing, &PairNoise::NONE);
        let field = ShiftField::default();
        let first = hypotheses(&page, [&drawing, &screenshot], &difference, &field);
        first.estimates(element).into_iter().map(|found| found.property).collect::<Vec<_>>()
    };
    assert!(estimates(&snapshot, 1).contains(&"background-color"));
    let image = &mut snapshot.elements[1];
    image.tag = "img".to_owned();
    image.styles.remove("background-color");
    assert!(!estimates(&snapshot, 1).contains(&"background-color"));
}

#[test]
fn an_image_keeps_its_ratio_in_another_size() {
    let mut icon = element(0, None, [20, 20, 60, 40], &[("width", "60px"), ("height", "40px")]);
    icon.tag = "svg".to_owned();
    let snapshot = page_of(vec![icon]);
    let page = PageTree::new(&snapshot);
    let edit = |delta: f64| P::Size.change(&page, &[0], delta).map(|change| change.edit);
    let size = |value: &str| {
        let (property, value) = ("size".to_owned(), value.to_owned());
        Some(PageEdit::Declare { property, value })
    };
    assert_eq!(P::Size.current(&page, 0), "60px 40px");
    assert_eq!(edit(30.0), size("90px 60px"));
    assert_eq!(edit(-60.0), size("0px"));
    assert_eq!(edit(0.0), None);
}

#[test]
fn elements_that_have_a_value_already_are_not_changed_to_it() {
    let bold = |index: usize, weight: &str| {
        element(index, None, [10, 30 * index as u32, 80, 20], &[("font-weight", weight)])
    };
    let snapshot = page_of(vec![bold(0, "400"), bold(1, "700"), bold(2, "400")]);
    let page = PageTree::new(&snapshot);
    let picture = Raster::filled(160, 120, [255; 3]);
    let difference = PixelDifference::new(&picture, &picture, &PairNoise::NONE);
    let field = ShiftField::new(&page, &picture, &picture);
    let first = hypotheses(&page, [&picture, &picture], &difference, &field);
    let found = first.value(&[0, 1, 2], "font-weight", "400", 0.5).unwrap();
    assert_eq!((found.element, found.is.as_str(), found.change.elements), (1, "700", vec![1]));
    assert!(first.value(&[0, 2], "font-weight", "400", 0.5).is_none());
}

/// Both pictures are smoothed before they are compared, so that most of a line's difference is beside it.
#[test]
fn the_color_of_a_thin_border_explains_what_differs_beside_it_in_a_noisy_pair() {
    let bordered = |color: [u8; 3]| {
        let mut picture = Raster::filled(160, 120, [255; 3]);
        picture.fill([20, 20, 80, 60], color);
        picture.fill([21, 21, 78, 58], [255; 3]);
        picture
    };
    let styles = [
        ("border-top-width", "1px"),
        ("border-bottom-width", "1px"),
        ("border-top-color", "rgb(60, 60, 90)"),
    ];
    let body = element(0, None, [0, 0, 160, 120], &[]);
    let snapshot = page_of(vec![body, element(1, Some(0), [20, 20, 80, 60], &styles)]);
    let page = PageTree::new(&snapshot);
    let (drawing, screenshot) = (bordered([60, 60, 90]), bordered([190, 190, 220]));
    let difference = PixelDifference::new(&screenshot, &drawing, &PairNoise::USUAL);
    let field = ShiftField::default();
    let first = hypotheses(&page, [&drawing, &screenshot], &difference, &field);
    let tolerance = PairNoise::USUAL.flat_levels;
    let estimates = FirstHypotheses { tolerance, ..first }.estimates(1);
    let border = estimates.iter().find(|found| found.property == "border-color").unwrap();
    assert_eq!(border.value, "#BEBEDC");
    assert_eq!(border.weight, difference.total());
}
