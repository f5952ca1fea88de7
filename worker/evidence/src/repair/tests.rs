//! Searches over a page that is drawn without a browser: boxes in a column.

use super::{RepairLimits, RepairSearch};
use crate::{
    picture_pair::PicturePair,
    raster::Raster,
    snapshot::{PageChange, PageEdit, Snapshot, SnapshotElement},
};
use juror_types::evidence::{Evidence, EvidenceSource, RegionKind};

/// A column of boxes with a bar in each, drawn by a simple layout engine.
pub(super) fn draw(colors: &[&str], gaps: &[i32], changes: &[PageChange]) -> (Raster, Snapshot) {
    let mut picture = Raster::filled(160, 220, [255; 3]);
    let (mut top, mut elements) =
        (10, vec![element(0, None, [0.0, 0.0, 160.0, 220.0], "rgb(255, 255, 255)", 0)]);
    for (at, (&color, &gap)) in colors.iter().zip(gaps).enumerate() {
        let index = at + 1;
        let (mut color, mut gap, mut is_gone) = (color.to_owned(), gap, false);
        for change in changes.iter().filter(|change| change.elements.contains(&index)) {
            match &change.edit {
                PageEdit::Remove => is_gone = true,
                PageEdit::Declare { property, value } if property == "background-color" => {
                    color.clone_from(value)
                }
                PageEdit::Declare { property, value } if property == "margin-bottom" => {
                    gap = value.trim_end_matches("px").parse::<f64>().unwrap() as i32;
                }
                PageEdit::Declare { .. } => {}
            }
        }
        let height = if is_gone { 0 } else { 30 };
        let (rgb, _) = crate::color::parse(&color).unwrap();
        picture.fill([20, top as u32, 100, height as u32], rgb);
        if !is_gone && colors.get(index - 1) != Some(&PLAIN) {
            picture.fill([30, top as u32 + 10, 20 + 14 * index as u32, 8], [40; 3]);
        }
        let rect = [20.0, f64::from(top), 100.0, f64::from(height)];
        elements.push(element(index, Some(0), rect, &color, gap));
        top += height + gap;
    }
    (picture, Snapshot::of_page([160, 220], elements))
}

fn element(
    index: usize,
    parent: Option<usize>,
    rect: [f64; 4],
    color: &str,
    gap: i32,
) -> SnapshotElement {
    let gap = format!("{gap}px");
    let styles = [("background-color", color), ("margin-bottom", &gap), ("display", "block")];
    SnapshotElement {
        tag: if index == 0 { "body" } else { "div" }.to_owned(),
        classes: vec![format!("box{index}")],
        path: format!("body > div:nth-child({index})"),
        ..SnapshotElement::of_box(index, parent, rect, &styles)
    }
}

/// Color of boxes without a bar.
const PLAIN: &str = "#282828";
pub(super) const COLORS: &[&str] = &["#2563EB", "#E2E8F0", "#FCD34D"];
pub(super) const GAPS: &[i32] = &[8, 8, 8];

/// The evidence for a page of [`COLORS`] and [`GAPS`], and the number of drawings.
fn search(screenshot: &Raster, limits: RepairLimits) -> (Evidence, usize) {
    search_with(COLORS, GAPS, screenshot, limits)
}

/// The evidence for a page of these colors and gaps.
fn search_with(
    colors: &[&str],
    gaps: &[i32],
    screenshot: &Raster,
    limits: RepairLimits,
) -> (Evidence, usize) {
    let (drawing, snapshot) = draw(colors, gaps, &[]);
    let pair = PicturePair::new(screenshot, &drawing);
    let mut evidence = pair.measure(EvidenceSource::Browser, Some(&snapshot));
    let mut search = RepairSearch::new(&pair, &snapshot, limits);
    while let Some(changes) = search.next_drawing() {
        let (drawing, snapshot) = draw(colors, gaps, &changes);
        search.add_drawing(drawing, snapshot);
    }
    let drawn = search.drawn();
    search.finish(&pair, &snapshot, &mut evidence);
    (evidence, drawn)
}

#[test]
fn a_color_is_found_and_proved() {
    let (screenshot, _) = draw(&["#1D4ED8", COLORS[1], COLORS[2]], GAPS, &[]);
    let (evidence, _) = search(&screenshot, RepairLimits::default());
    let region = &evidence.regions[0];
    assert_eq!(region.element.as_ref().unwrap().path, "body > div:nth-child(1)");
    assert_eq!(region.property.as_deref(), Some("background-color"));
    assert_eq!(
        (region.is.as_deref(), region.should_be.as_deref()),
        (Some("#2563EB"), Some("#1D4ED8"))
    );
    assert_eq!(
        (region.kind, region.explains, evidence.explained),
        (RegionKind::Color, Some(1.0), Some(1.0))
    );
    assert_eq!(evidence.regions.len(), 1);
}

#[test]
fn a_margin_is_named_before_what_it_moves() {
    let (screenshot, _) = draw(COLORS, &[8, 19, 8], &[]);
    let (evidence, drawn) = search(&screenshot, RepairLimits::default());
    let region = &evidence.regions[0];
    assert_eq!(region.element.as_ref().unwrap().path, "body > div:nth-child(2)");
    assert_eq!(region.property.as_deref(), Some("margin-bottom"));
    assert_eq!((region.should_be.as_deref(), region.explains), (Some("19px"), Some(1.0)));
    assert!(drawn <= 60);
}

#[test]
fn what_a_repair_takes_away_is_no_region_of_its_own() {
    // The margin moves what is below it; nothing of that remains once it is repaired.
    let gaps = &[24, 50, 8];
    let (screenshot, _) = draw(COLORS, &[30, 50, 8], &[]);
    let (before, snapshot) = draw(COLORS, gaps, &[]);
    let pair = PicturePair::new(&screenshot, &before);
    assert!(pair.measure(EvidenceSource::Browser, Some(&snapshot)).regions.len() > 1);
    let (evidence, _) = search_with(COLORS, gaps, &screenshot, RepairLimits::default());
    assert_eq!((evidence.regions.len(), evidence.explained), (1, Some(1.0)));
    // What only another repair would take away is still listed.
    let (screenshot, _) = draw(&["#1D4ED8", COLORS[1], "#FB7185"], GAPS, &[]);
    let (evidence, _) = search(&screenshot, RepairLimits { trials: 60, repairs: 1 });
    let explained: Vec<bool> = evidence.regions.iter().map(|r| r.explains.is_some()).collect();
    assert_eq!(explained, [true, false]);
}

#[test]
fn two_changes_are_two_repairs() {
    let (screenshot, _) = draw(&["#1D4ED8", COLORS[1], "#FB7185"], GAPS, &[]);
    let (evidence, _) = search(&screenshot, RepairLimits::default());
    let repaired = evidence.regions.iter().filter_map(|region| region.should_be.as_deref());
    let mut repaired: Vec<&str> = repaired.collect();
    repaired.sort_unstable();
    assert_eq!(repaired, ["#1D4ED8", "#FB7185"]);
    assert_eq!(evidence.explained, Some(1.0));
}

#[test]
fn an_element_is_removed_rather_than_hidden_by_a_color() {
    let (screenshot, _) = draw(&COLORS[..2], &GAPS[..2], &[]);
    let code = [COLORS[0], COLORS[1], PLAIN];
    let (evidence, _) = search_with(&code, GAPS, &screenshot, RepairLimits::default());
    let region = &evidence.regions[0];
    assert_eq!((region.property.as_deref(), region.explains), (Some("display"), Some(1.0)));
    assert_eq!(region.kind, RegionKind::Added);
    let others: Vec<_> = region.alternatives.iter().map(|way| way.property.as_str()).collect();
    assert!(!others.contains(&"display"), "{others:?}");
}

#[test]
fn what_differs_is_not_removed_where_nothing_else_would_be_left_or_other_content_is_shown() {
    let blank = Raster::filled(160, 220, [255; 3]);
    let mut other = blank.clone();
    for letter in 0..6 {
        other.fill([24 + 14 * letter, 16, 7, 20 - 2 * letter], [30; 3]);
    }
    let (mut below, _) = draw(&[PLAIN, COLORS[0]], GAPS, &[]);
    below.fill([0, 0, 160, 44], [255; 3]);
    for letter in 0..6 {
        below.fill([24 + 14 * letter, 6, 7, 38 - 2 * letter], [30; 3]);
    }
    let cases: [(&[&str], &Raster); 3] =
        [(&[PLAIN], &blank), (&[PLAIN], &other), (&[PLAIN, COLORS[0]], &below)];
    for (code, screenshot) in cases {
        let (evidence, _) = search_with(code, GAPS, screenshot, RepairLimits::default());
        assert!(!evidence.regions.is_empty());
        let properties: Vec<_> =
            evidence.regions.iter().filter_map(|region| region.property.as_deref()).collect();
        assert!(!properties.contains(&"display"), "{properties:?}");
    }
}

#[test]
fn equal_changes_are_each_explained_in_full() {
    for count in [2, 5] {
        let (code, gaps) = (vec!["#E2E8F0"; count], vec![10; count]);
        let (screenshot, _) = draw(&vec!["#1D4ED8"; count], &gaps, &[]);
        let (evidence, _) = search_with(&code, &gaps, &screenshot, RepairLimits::default());
        let explains: Vec<_> = evidence.regions.iter().filter_map(|r| r.explains).collect();
        let repairs = count.min(3);
        assert_eq!(explains, vec![1.0; repairs]);
        assert_eq!(evidence.regions.len(), count, "what is not repaired is listed");
        let explained = evidence.explained.unwrap();
        assert!((explained - repairs as f64 / count as f64).abs() < 0.05, "{explained}");
    }
}

#[test]
fn nothing_is_drawn_where_nothing_differs_or_no_trial_is_allowed() {
    let (same, _) = draw(COLORS, GAPS, &[]);
    let (evidence, drawn) = search(&same, RepairLimits::default());
    assert_eq!((drawn, evidence.regions.len(), evidence.explained), (0, 0, None));
    let (other, _) = draw(&[COLORS[1], COLORS[1], COLORS[2]], GAPS, &[]);
    let (evidence, drawn) = search(&other, RepairLimits { trials: 0, repairs: 3 });
    assert_eq!((drawn, evidence.explained), (0, None));
    assert_eq!(evidence.regions[0].property, None);
}
