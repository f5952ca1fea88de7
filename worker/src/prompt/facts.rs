//! Measured evidence as numbered lines for the judge: the regions first, so that a line's number is
//! its region's.

mod region;
#[cfg(test)]
mod tests;

use super::fence::neutralize;
use juror_evidence::is_color;
use juror_types::{
    evidence::{Evidence, SAME_COLOR_DELTA_E, TokenEvidence},
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
    let regions = evidence.regions.iter().map(region::fact);
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

fn whole(evidence: &Evidence) -> Vec<String> {
    let mut facts = Vec::new();
    if evidence.regions.is_empty() {
        let place = if evidence.overflow.is_some() { " within the screenshot" } else { "" };
        facts.push(format!("nothing differs between screenshot and render{place}"));
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
    if let Some([right, below]) = evidence.overflow {
        facts.push(format!(
            "the render goes on beyond the screenshot's edges, by {right} pixels to the right and \
             {below} below, which are not compared"
        ));
    }
    if let Some(frame) = &evidence.frame {
        facts.push(format!(
            "the render stands {frame}, as the screenshot does; the code does not hold that page"
        ));
    }
    if !evidence.defaults.is_empty() {
        let defaults: Vec<_> = evidence.defaults.iter().map(ToString::to_string).collect();
        facts.push(format!(
            "the screenshot is of another browser, with whose default styles the render was made: {}",
            defaults.join("; ")
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
    if let Some(error) = &evidence.page_error {
        facts.push(format!("the code throws and still shows something: {error}"));
    }
    if evidence.cut_short {
        facts.push(
            "rendering ended before everything was tried: part of what differs may be the \
             place of the page and no fault of the code"
                .to_owned(),
        );
    }
    if evidence.pastes_screenshot {
        facts.push(
            "the code shows an image over 30 % of the page that equals the screenshot there"
                .to_owned(),
        );
    }
    facts
}

/// The place of an expected color, or the use of another value; none where nothing is amiss.
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
