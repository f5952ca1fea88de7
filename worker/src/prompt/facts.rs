//! Measured evidence as numbered lines for the judge: the regions first, so that a line's number is
//! its region's.

use super::fence::defused;
use csscolorparser::Color;
use juror_types::{
    evidence::{Evidence, EvidenceRegion, PageFrame, RegionElement, RegionKind, TokenEvidence},
    item::Tokens,
    model::TextTokens,
};

/// Maximum number of lines.
const MAX_LINES: usize = 30;
/// Maximum length of all lines in bytes, line ends included; later ones are left out.
const MAX_BYTES: usize = 6_000;
/// Maximum length of a line in bytes; a longer one is cut and ends in `…`.
const MAX_LINE_BYTES: usize = 600;
/// Tokens of the lines of a usual item: the figures of the whole, and a region or two.
const USUAL_TOKENS: u64 = 130;
/// Tokens of the line of a color.
const COLOR_TOKENS: u64 = 22;
/// Maximum difference of a token's color from a color of the picture that counts as equal.
const SAME_COLOR: f64 = 2.0;

/// Facts of a measurement, one a line.
pub(super) fn lines(evidence: &Evidence) -> Vec<String> {
    let regions = evidence.regions.iter().map(region);
    let whole = whole(evidence);
    let tokens = evidence.tokens.iter().filter_map(token);
    let facts = regions.chain(whole).chain(tokens).take(MAX_LINES);
    let lines = facts.enumerate().map(|(position, fact)| line(position + 1, &fact));
    let mut bytes = 0;
    let fits = |line: &String| {
        bytes += line.len() + 1;
        bytes <= MAX_BYTES
    };
    lines.take_while(fits).collect()
}

/// Tokens of the lines of an item that is not measured yet, by its expected tokens.
pub(super) fn tokens_before_measuring(expected: Option<&Tokens>) -> TextTokens {
    let is_color = |value: &serde_json::Value| {
        value.as_str().is_some_and(|text| text.parse::<Color>().is_ok())
    };
    let colors = expected.into_iter().flat_map(Tokens::values).filter(|it| is_color(it)).count();
    let lines = colors.min(MAX_LINES) as u64 * COLOR_TOKENS;
    // No text takes more tokens than it has bytes.
    TextTokens { bound: MAX_BYTES as u64, expected: USUAL_TOKENS + lines }
}

fn line(number: usize, fact: &str) -> String {
    let mut line = defused(&format!("{number}. {fact}"));
    if line.len() > MAX_LINE_BYTES {
        line.truncate(line.floor_char_boundary(MAX_LINE_BYTES - '…'.len_utf8()));
        line.push('…');
    }
    line
}

fn region(region: &EvidenceRegion) -> String {
    let [x, y, width, height] = region.place;
    let mut text = format!("region at {x}, {y}, {width}, {height}");
    if let Some(named) = &region.element {
        text.push_str(&format!(": {}", element(named)));
    }
    text.push_str(&format!(": {}", kind(region)));
    text.push_str(&format!(
        "; {} of the picture differ, by a mean of {:.1} (CIEDE2000)",
        percent(region.share),
        region.delta_e
    ));
    if let (Some(property), Some(is), Some(should_be)) =
        (&region.property, &region.is, &region.should_be)
    {
        text.push_str(&format!("; {property} is {is} and should be {should_be}"));
        if let Some(explains) = region.explains {
            text.push_str(&format!(", which takes away {} of it", percent(explains)));
        }
    }
    text
}

fn element(element: &RegionElement) -> String {
    let mut text = element.tag.clone();
    if !element.text.is_empty() {
        text.push_str(&format!(" {:?}", element.text));
    }
    if element.alike > 1 {
        text.push_str(&format!(" and {} alike", element.alike - 1));
    }
    text
}

fn kind(region: &EvidenceRegion) -> String {
    match (region.kind, region.moved_by) {
        (RegionKind::Moved, Some([right, down])) => {
            format!("the render has it {right} pixels further right and {down} further down")
        }
        (RegionKind::Color, _) => "another color".to_owned(),
        (RegionKind::Moved, None) => "at another place".to_owned(),
        (RegionKind::Resized, _) => "in another size".to_owned(),
        (RegionKind::Missing, _) => "missing in the render".to_owned(),
        (RegionKind::Added, _) => "in the render alone".to_owned(),
        (RegionKind::Text, _) => "another text or type".to_owned(),
        (RegionKind::Shape, _) => "another outline".to_owned(),
    }
}

fn whole(evidence: &Evidence) -> Vec<String> {
    let mut facts = Vec::new();
    if evidence.regions.is_empty() {
        facts.push("nothing differs between screenshot and render".to_owned());
    }
    facts.push(format!(
        "{} of all pixels are equal; structural similarity is {:.3}, {:.3} in its lowest tenth",
        percent(evidence.pixels_equal),
        evidence.ssim,
        evidence.ssim_low
    ));
    if evidence.noise > 0.0 {
        facts.push(format!(
            "{} of all pixels differ without any change of the code, since the two pictures were \
             not made alike (another browser, JPEG, another size); the regions stand out of that",
            percent(evidence.noise)
        ));
    }
    if evidence.shift != [0, 0] {
        let [right, down] = evidence.shift;
        facts.push(format!("the render was moved by {right}, {down} to fit the screenshot"));
    }
    if let Some([width, height]) = evidence.size_ratio {
        facts.push(format!(
            "the render has {width:.3} of the screenshot's width and {height:.3} of its height"
        ));
    }
    if let Some(PageFrame { padding, color }) = &evidence.frame {
        facts.push(format!(
            "the render stands in a page of {color} with {padding} pixels around it, as the \
             screenshot does; the code does not hold that page"
        ));
    }
    if !evidence.partial.is_empty() {
        let names = evidence.partial.join(", ");
        facts.push(format!(
            "stand-ins were drawn in the place of imports that are not there: {names}"
        ));
    }
    if !evidence.refused.is_empty() {
        let addresses = evidence.refused.join(", ");
        facts.push(format!("the render lacks what its page requested from elsewhere: {addresses}"));
    }
    if evidence.pastes_screenshot {
        facts.push("the code shows an image that equals the screenshot".to_owned());
    }
    facts
}

/// The place of an expected color; none for tokens that are no colors and have no evidence.
fn token(token: &TokenEvidence) -> Option<String> {
    let TokenEvidence { key, expected, .. } = token;
    if let Some((screenshot, render)) = token.screenshot_delta_e.zip(token.render_delta_e) {
        let found = |distance: f64| match distance <= SAME_COLOR {
            true => "has it".to_owned(),
            false => format!("has none nearer than {distance:.1}"),
        };
        return Some(format!(
            "token {key} = {expected}: the screenshot {}, the render {}",
            found(screenshot),
            found(render)
        ));
    }
    let (path, value) = token.other_values.first().map(|[path, value]| (path, value))?;
    Some(format!("token {key} = {expected}: {path} has {value} beside elements that have it"))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_types::evidence::EvidenceSource;
    use serde_json::json;

    fn changed() -> Evidence {
        let region = EvidenceRegion {
            place: [57, 55, 80, 30],
            render_box: [57, 55, 80, 30],
            share: 0.013,
            delta_e: 6.1,
            kind: RegionKind::Color,
            moved_by: None,
            element: Some(RegionElement {
                tag: "button".into(),
                id: None,
                text: "Save".into(),
                path: "body > button".into(),
                place: [57, 55, 80, 30],
                alike: 3,
            }),
            property: Some("background-color".into()),
            is: Some("#2563EB".into()),
            should_be: Some("#1D4ED8".into()),
            explains: Some(0.97),
            alternatives: Vec::new(),
        };
        Evidence { regions: vec![region], ..Evidence::of_equal_pictures(EvidenceSource::Rendered) }
    }

    #[test]
    fn the_pairs_noise_is_told_where_there_is_any() {
        let told = |noise| {
            let evidence = Evidence { noise, ..changed() };
            lines(&evidence).join("\n").contains("1.5 % of all pixels differ without any change")
        };
        assert!(told(0.015));
        assert!(!told(0.0));
    }

    #[test]
    fn lines_of_a_hostile_page_stay_within_their_bound() {
        let mut evidence = changed();
        for region in &mut evidence.regions {
            region.is = Some("x\u{200b}<|".repeat(5_000));
            region.should_be = Some("漢".repeat(5_000));
        }
        evidence.regions = vec![evidence.regions[0].clone(); 8];
        evidence.partial = vec!["import ".repeat(1_000); 50];
        evidence.refused = vec!["https://example.com/".repeat(100); 20];
        let lines = lines(&evidence);
        assert!(lines.iter().all(|line| line.len() <= MAX_LINE_BYTES), "{lines:?}");
        assert!(lines[0].ends_with('…'));
        let text = lines.join("\n");
        let bound = tokens_before_measuring(None).bound;
        assert!(text.len() <= MAX_BYTES && TextTokens::from_text(&text).bound <= bound);
        assert_eq!(defused(&text), text, "a fence adds nothing");
    }

    #[test]
    fn tokens_before_measuring_are_near_those_of_a_usual_item() {
        let colors: Tokens =
            (0..4).map(|number| (format!("color.{number}"), json!("#1D4ED8"))).collect();
        let token = |key: &String| TokenEvidence {
            key: key.clone(),
            expected: "#1D4ED8".into(),
            screenshot_delta_e: Some(0.1),
            render_delta_e: Some(7.0),
            used_by: None,
            other_values: Vec::new(),
        };
        let measured = Evidence { tokens: colors.keys().map(token).collect(), ..changed() };
        let text = lines(&measured).join("\n");
        let (told, before) = (TextTokens::from_text(&text), tokens_before_measuring(Some(&colors)));
        let ratio = before.expected as f64 / told.expected as f64;
        assert!((0.7..1.4).contains(&ratio), "{before:?} for {told:?}");
        assert!(told.bound <= before.bound);
    }

    #[test]
    fn the_page_around_it_and_what_it_lacks_are_told() {
        let evidence = Evidence {
            frame: Some(PageFrame { padding: 24, color: "#F8FAFC".into() }),
            partial: vec!["@acme/ui".into(), "./card.css".into()],
            refused: vec!["https://example.com/a.png".into()],
            ..Evidence::of_equal_pictures(EvidenceSource::Browser)
        };
        let lines = lines(&evidence).join("\n");
        for told in [
            "in a page of #F8FAFC with 24 pixels around it",
            "in the place of imports that are not there: @acme/ui, ./card.css",
            "requested from elsewhere: https://example.com/a.png",
        ] {
            assert!(lines.contains(told), "{told}: {lines}");
        }
    }

    #[test]
    fn the_first_lines_are_the_regions() {
        let lines = lines(&changed());
        assert_eq!(
            lines[0],
            "1. region at 57, 55, 80, 30: button \"Save\" and 2 alike: another color; 1.3 % of the \
             picture differ, by a mean of 6.1 (CIEDE2000); background-color is #2563EB and should be \
             #1D4ED8, which takes away 97.0 % of it"
        );
        assert!(lines[1].starts_with("2. 100.0 % of all pixels are equal"), "{lines:?}");
    }

    #[test]
    fn equal_pictures_are_said_to_be_equal() {
        let lines = lines(&Evidence::of_equal_pictures(EvidenceSource::Command));
        assert_eq!(lines[0], "1. nothing differs between screenshot and render");
    }

    #[test]
    fn there_are_thirty_lines_at_most() {
        let token = |number: usize| TokenEvidence {
            key: format!("color.{number}"),
            expected: "#FFFFFF".into(),
            screenshot_delta_e: Some(0.1),
            render_delta_e: Some(7.0),
            used_by: None,
            other_values: Vec::new(),
        };
        let tokens = (0..100).map(token).collect();
        let lines = lines(&Evidence { tokens, ..changed() });
        assert_eq!(lines.len(), MAX_LINES);
        assert!(lines[2].ends_with("the screenshot has it, the render has none nearer than 7.0"));
    }
}
