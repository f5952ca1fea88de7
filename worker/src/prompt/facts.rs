//! Measured evidence as numbered lines for the judge: the regions first, so that a line's number is
//! its region's.

#[cfg(test)]
mod tests;

use super::fence::neutralize;
use juror_evidence::is_color;
use juror_types::{
    evidence::{Evidence, EvidenceRegion, RegionKind, SAME_COLOR_DELTA_E, TokenEvidence},
    item::Tokens,
    model::TextTokens,
};

/// Maximum number of lines.
const MAX_LINES: usize = 30;
/// Maximum length of all lines in bytes, line ends included; later ones are left out.
const MAX_BYTES: usize = 6_000;
/// Maximum length of a line in bytes; a longer one is cut and ends in `…`.
const MAX_LINE_BYTES: usize = 600;
/// Tokens of the lines of a usual item: the overall figures, and a region or two.
const USUAL_TOKENS: u64 = 130;
/// Tokens of the line of a color.
const COLOR_TOKENS: u64 = 22;

/// Facts of a measurement, one a line.
pub(super) fn lines(evidence: &Evidence) -> Vec<String> {
    let regions = evidence.regions.iter().map(region_fact);
    let tokens = evidence.tokens.iter().filter_map(token);
    let facts = regions.chain(whole(evidence)).chain(page(evidence)).chain(tokens).take(MAX_LINES);
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
    let is_color = |value: &serde_json::Value| value.as_str().is_some_and(is_color);
    let colors =
        expected.into_iter().flat_map(Tokens::values).filter(|value| is_color(value)).count();
    let lines = colors.min(MAX_LINES) as u64 * COLOR_TOKENS;
    // A text has at most as many tokens as bytes.
    TextTokens { bound: MAX_BYTES as u64, expected: USUAL_TOKENS + lines }
}

fn line(number: usize, fact: &str) -> String {
    let mut line = neutralize(&format!("{number}. {fact}"));
    if line.len() > MAX_LINE_BYTES {
        line.truncate(line.floor_char_boundary(MAX_LINE_BYTES - '…'.len_utf8()));
        line.push('…');
    }
    line
}

/// The region as a fact: its place, element and kind, its weight, and its repair.
fn region_fact(region: &EvidenceRegion) -> String {
    let [x, y, width, height] = region.place;
    let mut text = format!("region at {x}, {y}, {width}, {height}");
    match &region.element {
        Some(element) if region.lacks_content() => {
            text.push_str(&format!(": in {element}: content missing in the render"));
        }
        Some(element) => text.push_str(&format!(": {element}: {}", kind(region))),
        None => text.push_str(&format!(": {}", kind(region))),
    }
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

/// Facts about the two pictures as a whole.
fn whole(evidence: &Evidence) -> impl Iterator<Item = String> {
    let place = if evidence.overflow.is_some() { " within the screenshot" } else { "" };
    let [right, down] = evidence.shift;
    let facts = [
        evidence
            .regions
            .is_empty()
            .then(|| format!("nothing differs between screenshot and render{place}")),
        Some(format!(
            "{} of all pixels are equal; structural similarity is {:.3}, {:.3} in its lowest tenth",
            percent(evidence.pixels_equal),
            evidence.ssim,
            evidence.ssim_low
        )),
        (evidence.noise > 0.0).then(|| {
            format!(
                "{} of all pixels differ without any change of the code, since the two pictures were \
                 not made alike (another browser, JPEG, another size); the regions stand out of that",
                percent(evidence.noise)
            )
        }),
        (evidence.shift != [0, 0]).then(|| {
            format!("the render was moved by {right}, {down} to fit the screenshot")
        }),
        evidence.size_ratio.map(|[width, height]| {
            format!(
                "the render has {width:.3} of the screenshot's width and {height:.3} of its height"
            )
        }),
        evidence.overflow.map(|[right, below]| {
            format!(
                "the render goes on beyond the screenshot's edges, by {right} pixels to the right \
                 and {below} below, which are not compared"
            )
        }),
    ];
    facts.into_iter().flatten()
}

/// Facts about the page that was rendered.
fn page(evidence: &Evidence) -> impl Iterator<Item = String> {
    let listed = |names: &[String]| (!names.is_empty()).then(|| names.join(", "));
    let defaults: Vec<_> = evidence.defaults.iter().map(ToString::to_string).collect();
    let facts = [
        evidence.frame.as_ref().map(|frame| {
            format!(
                "the render stands {frame}, as the screenshot does; the code does not hold that page"
            )
        }),
        (!defaults.is_empty()).then(|| {
            format!(
                "the screenshot is of another browser, with whose default styles the render was \
                 made: {}",
                defaults.join("; ")
            )
        }),
        listed(&evidence.partial).map(|names| {
            format!("stand-ins were drawn in the place of imports that are not there: {names}")
        }),
        listed(&evidence.refused).map(|addresses| {
            format!("the render lacks what its page requested from elsewhere: {addresses}")
        }),
        evidence
            .page_error
            .as_ref()
            .map(|error| format!("the code throws and still shows something: {error}")),
        evidence.cut_short.then(|| {
            "rendering ended before everything was tried: part of what differs may be the place of \
             the page and no fault of the code"
                .to_owned()
        }),
        evidence.pastes_screenshot.then(|| {
            "the code shows an image over 30 % of the page that equals the screenshot there"
                .to_owned()
        }),
    ];
    facts.into_iter().flatten()
}

/// The place of an expected color, or the use of another value; `None` if nothing is amiss.
fn token(token: &TokenEvidence) -> Option<String> {
    let TokenEvidence { key, expected, .. } = token;
    if let Some((screenshot, render)) = token.screenshot_delta_e.zip(token.render_delta_e) {
        let found = |distance: f64| match distance <= SAME_COLOR_DELTA_E {
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

/// A share in percent; one that is neither 0 nor 1 is not rounded to it.
fn percent(share: f64) -> String {
    match share {
        share if share > 0.0 && share < 0.0005 => "less than 0.1 %".to_owned(),
        share if (0.9995..1.0).contains(&share) => "more than 99.9 %".to_owned(),
        share => format!("{:.1} %", share * 100.0),
    }
}
