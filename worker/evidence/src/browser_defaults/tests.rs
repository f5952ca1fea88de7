//! Searches of pages of letters, whose lines are as high as their declared styles tell.

use super::*;
use crate::{raster::Raster, snapshot::PageEdit};
use juror_types::evidence::EvidenceSource;

const SIZE: [u32; 2] = [400, 220];

/// A page of eight lines of this height, below a control of three lines with letters as wide as its
/// font, and of ten lines beside them that have a height of their own.
fn page(line_height: u32, control_font: &str) -> (Raster, Snapshot) {
    page_of_lines(&[line_height; 8], control_font)
}

/// The same with lines of these heights.
fn page_of_lines(heights: &[u32], control_font: &str) -> (Raster, Snapshot) {
    let [width, height] = SIZE;
    let tops = heights.iter().scan(70, |next, height| {
        let top = *next;
        *next += height;
        Some(top)
    });
    let tops: Vec<u32> = tops.collect();
    let mut picture = Raster::filled(width, height, [250; 3]);
    let wide = if control_font == "system-ui" { 12 } else { 10 };
    let lines = tops.iter().map(|top| ([10, *top], 10));
    let control = (0..3).map(|line| ([10, 8 + line * 16], wide));
    let others = (0..10).map(|line| ([220, 8 + line * 20], 10));
    for ([left, top], letter_width) in control.chain(lines).chain(others) {
        for letter in 0..14 {
            for step in 0..6 {
                let ink = [40 + 20 * step as u8; 3];
                picture.fill([left + letter * letter_width + step, top, 1, 6 + step], ink);
            }
        }
    }
    let mut boxes = vec![[10, 8, 170, 17]];
    boxes.extend(tops.iter().zip(heights).map(|(top, height)| [10, *top, 170, *height]));
    let mut snapshot = Snapshot::of_texts(&boxes);
    (snapshot.width, snapshot.height) = (width, height);
    for element in &mut snapshot.elements {
        let styles =
            [("line-height", "normal"), ("font-size", "14px"), ("font-family", "\"Inter\", Arial")];
        element.styles = styles.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    }
    let control = &mut snapshot.elements[0];
    control.tag = "button".to_owned();
    control.styles.insert("font-family".to_owned(), control_font.to_owned());
    (picture, snapshot)
}

fn declared_value(changes: &[PageChange], element: usize, name: &str) -> Option<String> {
    let of_element = changes.iter().rev().filter(|change| change.elements.contains(&element));
    of_element.into_iter().find_map(|change| match &change.edit {
        PageEdit::Declare { property, value } => (property == name).then(|| value.clone()),
        PageEdit::Remove => None,
    })
}

/// The page with these changes.
fn changed(changes: &[PageChange]) -> (Raster, Snapshot) {
    let font = declared_value(changes, 0, "font-family").unwrap_or("Arial".to_owned());
    page(line_height(changes), &font)
}

fn line_height(changes: &[PageChange]) -> u32 {
    let height = declared_value(changes, 1, "line-height").filter(|height| height != "normal");
    height.map_or(17, |height| height.trim_end_matches("px").parse().unwrap())
}

/// The finished search for a screenshot.
fn searched(screenshot: &Raster) -> DefaultsSearch {
    searched_in(screenshot, changed)
}

/// The same for a page that changes like this.
fn searched_in(
    screenshot: &Raster,
    changed: impl Fn(&[PageChange]) -> (Raster, Snapshot),
) -> DefaultsSearch {
    let (drawing, snapshot) = changed(&[]);
    let pair = PicturePair::new(screenshot, &drawing);
    let evidence = pair.measure(EvidenceSource::Browser, Some(&snapshot));
    let mut search = DefaultsSearch::new(&pair, &evidence, &snapshot);
    while let Some(changes) = search.next_drawing() {
        let (drawing, snapshot) = changed(&changes);
        let pair = PicturePair::new(screenshot, &drawing);
        let evidence = pair.measure(EvidenceSource::Browser, Some(&snapshot));
        search.add_fit(&pair, &evidence, &snapshot);
    }
    search
}

fn found(search: &DefaultsSearch) -> Vec<String> {
    search.defaults().iter().map(ToString::to_string).collect()
}

#[test]
fn another_line_height_and_another_font_of_controls_are_found() {
    let search = searched(&page(18, "system-ui").0.smoothed());
    assert!(search.explains_most(), "{search:?}");
    let expected = [
        "font-family: system-ui for form controls without a font",
        "line-height: 18px for texts of 14px Inter without a line height",
    ];
    assert_eq!(found(&search), expected);
    let changes = search.changes_of(search.accepted.iter());
    assert_eq!(declared_value(&changes, 1, "line-height").as_deref(), Some("18px"));
    assert_eq!(declared_value(&changes, 0, "line-height").as_deref(), Some("normal"));
}

#[test]
fn pictures_of_one_browser_and_equal_pages_are_not_drawn_again() {
    assert_eq!(searched(&page(18, "Arial").0).drawings, 0, "a changed line height of one browser");
    assert_eq!(searched(&page(17, "Arial").0.smoothed()).drawings, 0, "no difference");
}

#[test]
fn a_larger_margin_after_texts_that_fit_is_not_explained_by_line_heights() {
    let screenshot = page_of_lines(&[17, 17, 20, 17, 17], "Arial").0.smoothed();
    let five_lines = |changes: &[PageChange]| page_of_lines(&[line_height(changes); 5], "Arial");
    let search = searched_in(&screenshot, five_lines);
    assert_eq!(found(&search), ["line-height: 18px for texts of 14px Inter without a line height"]);
    assert!(search.fewest_differing < 0.5 * search.first_differing, "{search:?}");
    assert!(!search.explains_most(), "the third line moves away from its place");
}

/// The finished search for a page whose evidence is `fit` of the line height, without a region above
/// 0.93.
fn searched_by(fit: impl Fn(u32) -> f64) -> DefaultsSearch {
    let (screenshot, (drawing, snapshot)) = (page(18, "system-ui").0.smoothed(), changed(&[]));
    let pair = PicturePair::new(&screenshot, &drawing);
    let mut evidence = pair.measure(EvidenceSource::Browser, Some(&snapshot));
    evidence.pixels_equal = fit(17);
    let mut search = DefaultsSearch::new(&pair, &evidence, &snapshot);
    while let Some(changes) = search.next_drawing() {
        evidence.pixels_equal = fit(line_height(&changes));
        if evidence.pixels_equal > 0.93 {
            evidence.regions.clear();
        }
        search.add_fit(&pair, &evidence, &snapshot);
    }
    search
}

#[test]
fn defaults_that_leave_no_region_explain_the_pair() {
    let most =
        |share: f64| searched_by(|height| if height == 18 { share } else { 0.90 }).explains_most();
    assert_eq!([0.94, 0.92].map(most), [true, false]);
}

#[test]
fn other_content_is_not_explained_by_defaults() {
    let mut screenshot = page(18, "Arial").0.smoothed();
    screenshot.fill([0, 66, 190, 150], [90, 200, 90]);
    let search = searched(&screenshot);
    assert!(search.drawings > 0 && !search.explains_most(), "{search:?}");
}

#[test]
fn a_search_is_bounded_however_many_fonts_a_page_has() {
    let (_, mut snapshot) = page(17, "Arial");
    for (number, element) in snapshot.elements.iter_mut().enumerate() {
        let (tops, size) = ((number * 20) as f64, format!("{}px", 10 + number));
        element.rect = [0.0, tops, 100.0, 12.0 + number as f64];
        element.styles.insert("font-size".to_owned(), size);
    }
    let (screenshot, drawing) = (page(18, "Arial").0.smoothed(), page(17, "Arial").0);
    let pair = PicturePair::new(&screenshot, &drawing);
    let evidence = pair.measure(EvidenceSource::Browser, Some(&snapshot));
    let mut search = DefaultsSearch::new(&pair, &evidence, &snapshot);
    while search.next_drawing().is_some() {
        assert!(!search.add_fit(&pair, &evidence, &snapshot));
    }
    assert_eq!(search.drawings, MAX_DRAWINGS);
}

#[test]
fn height_of_a_line_is_that_of_the_content_by_its_lines() {
    let (_, mut snapshot) = page(17, "Arial");
    snapshot.elements.truncate(2);
    let paragraph = &mut snapshot.elements[1];
    paragraph.rect[3] = 3.0 * 17.0 + 20.0 + 2.0;
    for (name, value) in [("padding-top", "8px"), ("padding-bottom", "12px")] {
        paragraph.styles.insert(name.to_owned(), value.to_owned());
    }
    for name in ["border-top-width", "border-bottom-width"] {
        paragraph.styles.insert(name.to_owned(), "1px".to_owned());
    }
    let heights = |snapshot: &Snapshot| {
        font_groups(snapshot).iter().map(|group| group.height).collect::<Vec<_>>()
    };
    assert_eq!(heights(&snapshot), [17, 17]);
    snapshot.elements[1].text.clear();
    assert_eq!(heights(&snapshot), [17], "a font without a text has no height");
}
