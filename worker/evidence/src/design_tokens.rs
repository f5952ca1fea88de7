//! Evidence of expected design tokens in the two pictures and in the page.

use crate::{
    color::{self, delta_e},
    element_tree::PageTree,
    picture_pair::{PicturePair, rounded},
    raster::{Raster, Rgb},
    snapshot::Snapshot,
};
use juror_types::evidence::TokenEvidence;
use std::{cell::LazyCell, collections::BTreeMap};

/// Minimum number of pixels that a color covers.
const MIN_AREA: usize = 24;
/// Maximum number of a picture's colors that are compared, the most frequent first.
const MAX_COLORS: usize = 512;
/// Minimum line height in pixels.
const MIN_LINE_HEIGHT: f64 = 5.0;
/// Maximum number of elements named for one token.
const MAX_OTHERS: usize = 8;

impl PicturePair<'_> {
    /// Evidence of expected tokens, given by name and value.
    pub fn tokens<'token>(
        &self,
        expected: impl IntoIterator<Item = (&'token str, &'token str)>,
        snapshot: Option<&Snapshot>,
    ) -> Vec<TokenEvidence> {
        let colors =
            LazyCell::new(|| [&self.alignment.screenshot, self.drawing].map(colors_with_area));
        let page = snapshot.map(PageTree::new);
        let evidence = expected.into_iter().filter_map(|(key, value)| match color::parse(value) {
            // What a translucent color looks like depends on what is behind it.
            Some((_, alpha)) if alpha < 1.0 => None,
            Some((color, _)) => {
                let [screenshot, drawing] = colors.each_ref().map(|own| nearest(own, color));
                Some(TokenEvidence {
                    screenshot_delta_e: screenshot.map(|(distance, _)| distance),
                    render_delta_e: drawing.map(|(distance, _)| distance),
                    screenshot_color: screenshot.map(|(_, color)| color::hex(color)),
                    render_color: drawing.map(|(_, color)| color::hex(color)),
                    ..named(key, value)
                })
            }
            None => page.as_ref().and_then(|page| used(page, key, value)),
        });
        evidence.collect()
    }
}

fn named(key: &str, value: &str) -> TokenEvidence {
    TokenEvidence { key: key.to_owned(), expected: value.to_owned(), ..TokenEvidence::default() }
}

fn colors_with_area(picture: &Raster) -> Vec<Rgb> {
    let mut counts: BTreeMap<Rgb, usize> = BTreeMap::new();
    for run in picture.pixels().chunk_by(|one, other| one == other) {
        if let Some(color) = run.first() {
            *counts.entry(*color).or_default() += run.len();
        }
    }
    let mut colors: Vec<(Rgb, usize)> =
        counts.into_iter().filter(|(_, count)| *count >= MIN_AREA).collect();
    colors.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    colors.truncate(MAX_COLORS);
    colors.into_iter().map(|(color, _)| color).collect()
}

/// The nearest color and its distance.
fn nearest(colors: &[Rgb], wanted: Rgb) -> Option<(f64, Rgb)> {
    let distances = colors.iter().map(|color| (delta_e(*color, wanted), *color));
    let nearest = distances.min_by(|(one, _), (other, _)| one.total_cmp(other));
    nearest.map(|(distance, color)| (rounded(distance), color))
}

/// Elements that use a length or a weight, and similar ones that use another.
fn used(page: &PageTree<'_>, key: &str, value: &str) -> Option<TokenEvidence> {
    let properties = properties_of(key)?;
    // A line height without a unit is a multiple of the font size.
    let is_multiple = |wanted: f64| properties.contains(&"line-height") && wanted < MIN_LINE_HEIGHT;
    let wanted = number(value).filter(|wanted| !is_multiple(*wanted))?;
    let uses = |index: usize, property: &str| {
        number(page.style(index, property)).is_some_and(|own| (own - wanted).abs() < 0.01)
    };
    let users: Vec<(usize, &str)> = page
        .visible()
        .flat_map(|index| properties.iter().map(move |property| (index, *property)))
        .filter(|(index, property)| uses(*index, property))
        .collect();
    let mut elements: Vec<usize> = users.iter().map(|(index, _)| *index).collect();
    elements.dedup();
    let mut others: Vec<[String; 2]> = Vec::new();
    for (user, property) in &users {
        for other in page.alike(*user).into_iter().filter(|other| !uses(*other, property)) {
            let Some(element) = page.element(other) else { continue };
            let entry = [element.path.clone(), page.style(other, property).to_owned()];
            if others.len() < MAX_OTHERS && !others.contains(&entry) {
                others.push(entry);
            }
        }
    }
    let used_by = Some(elements.len() as u32);
    Some(TokenEvidence { used_by, other_values: others, ..named(key, value) })
}

/// The computed properties that a token of this name applies to.
fn properties_of(key: &str) -> Option<&'static [&'static str]> {
    let key = key.to_ascii_lowercase();
    let has = |word: &str| key.contains(word);
    if has("radius") || has("radii") || has("rounded") {
        Some(&["border-top-left-radius", "border-bottom-right-radius"])
    } else if has("weight") {
        Some(&["font-weight"])
    } else if has("lineheight") || has("line-height") || has("leading") {
        Some(&["line-height"])
    } else if has("size") && (has("font") || has("text")) {
        Some(&["font-size"])
    } else if has("letter") || has("word") {
        None
    } else if has("spac") || has("gap") || has("padding") || has("margin") {
        Some(&[
            "padding-top",
            "padding-right",
            "padding-bottom",
            "padding-left",
            "margin-top",
            "margin-bottom",
            "row-gap",
            "column-gap",
        ])
    } else {
        None
    }
}

/// A length in pixels (16 to a rem) or a plain number.
fn number(value: &str) -> Option<f64> {
    let value = value.trim();
    let rem = value.strip_suffix("rem").and_then(|number| number.parse::<f64>().ok());
    match rem {
        Some(rem) => Some(rem * 16.0),
        None => value.strip_suffix("px").unwrap_or(value).parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::SnapshotElement;

    fn card(index: usize, radius: &str) -> SnapshotElement {
        let styles = [("border-top-left-radius", radius)];
        SnapshotElement {
            classes: vec!["card".to_owned()],
            path: format!("div:nth-child({})", index + 1),
            ..SnapshotElement::of_box(index, None, [0.0, 0.0, 10.0, 10.0], &styles)
        }
    }

    #[test]
    fn colors_are_looked_for_where_they_have_area() {
        let mut screenshot = Raster::filled(60, 40, [255; 3]);
        let mut drawing = screenshot.clone();
        screenshot.fill([5, 5, 20, 10], [0x1D, 0x4E, 0xD8]);
        screenshot.fill([50, 30, 2, 2], [0xDC, 0x26, 0x26]);
        drawing.fill([5, 5, 20, 10], [0x25, 0x63, 0xEB]);
        let pair = PicturePair::new(&screenshot, &drawing);
        let tokens = pair.tokens([("color.primary", "#1D4ED8"), ("color.danger", "#DC2626")], None);
        assert_eq!(tokens[0].screenshot_delta_e, Some(0.0));
        assert!(tokens[0].render_delta_e.unwrap() > 5.0);
        let colors = [&tokens[0].screenshot_color, &tokens[0].render_color];
        assert_eq!(colors.map(Option::as_deref), [Some("#1D4ED8"), Some("#2563EB")]);
        assert!(tokens[1].screenshot_delta_e.unwrap() > 20.0);
    }

    #[test]
    fn lengths_are_counted_and_other_values_beside_them_named() {
        let elements = vec![card(0, "8px"), card(1, "8px"), card(2, "12px")];
        let snapshot = Snapshot::of_page([60, 40], elements);
        let picture = Raster::filled(60, 40, [255; 3]);
        let pair = PicturePair::new(&picture, &picture);
        let tokens =
            pair.tokens([("radius.card", "0.5rem"), ("motion.fast", "80ms")], Some(&snapshot));
        assert_eq!(tokens.len(), 1);
        assert_eq!(tokens[0].used_by, Some(2));
        assert_eq!(tokens[0].other_values, [["div:nth-child(3)".to_owned(), "12px".to_owned()]]);
    }
}
