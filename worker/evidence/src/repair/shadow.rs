//! Shadows to try: usual ones, and variations of one that helps.

use super::hypothesis::Hypothesis;
use crate::{color, snapshot::PageChange};

/// Minimum share of the difference that a shadow removes before it is refined.
const MIN_GAIN: f64 = 0.08;

/// Shadows to try in place of a computed one.
pub(crate) fn shadows(own: &str) -> Vec<String> {
    let mut values = Vec::new();
    if !own.is_empty() && own != "none" {
        values.push("none".to_owned());
        for (lengths, alpha) in [(2.0, 1.0), (0.5, 1.0), (1.0, 2.0), (1.0, 0.5), (3.0, 1.0)] {
            values.extend(scaled(own, lengths, alpha));
        }
    }
    let usual = [
        "rgba(0, 0, 0, 0.2) 0px 4px 12px",
        "rgba(0, 0, 0, 0.2) 0px 1px 3px",
        "rgba(0, 0, 0, 0.25) 0px 10px 28px",
        "rgba(0, 0, 0, 0.1) 0px 2px 6px",
    ];
    values.extend(usual.map(str::to_owned));
    values
}

/// Variations of a shadow that removes differences.
pub(crate) fn refined(hypothesis: &Hypothesis, gain: f64) -> Vec<Hypothesis> {
    if hypothesis.property() != "box-shadow" || gain < MIN_GAIN {
        return Vec::new();
    }
    let ways = [(1.0, 1.5), (1.4, 1.0), (0.7, 1.0), (1.0, 0.7), (1.4, 1.4)];
    let values =
        ways.into_iter().filter_map(|(lengths, alpha)| scaled(hypothesis.value(), lengths, alpha));
    let changes = values.map(|value| {
        let change = PageChange::declare(&hypothesis.change.elements, "box-shadow", value);
        Hypothesis { change, priority: 80.0 + 100.0 * gain, ..hypothesis.clone() }
    });
    changes.collect()
}

/// The first of computed shadows, with its lengths and its alpha multiplied.
fn scaled(shadow: &str, lengths: f64, alpha: f64) -> Option<String> {
    let (color, rest) = shadow.split_at_checked(shadow.find(')')? + 1)?;
    let parts = rest.split(',').next()?.split_whitespace().filter(|part| *part != "inset");
    let scaled: Option<Vec<String>> = parts
        .map(|part| {
            let length: f64 = part.strip_suffix("px")?.parse().ok()?;
            Some(format!("{}px", (length * lengths * 10.0).round() / 10.0))
        })
        .collect();
    let ([red, green, blue], own_alpha) = color::parse(color)?;
    let alpha = ((f64::from(own_alpha) * alpha).min(1.0) * 1000.0).round() / 1000.0;
    Some(format!("rgba({red}, {green}, {blue}, {alpha}) {}", scaled?.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computed_shadows_are_scaled() {
        let own = "rgba(15, 23, 42, 0.2) 0px 6px 14px 0px";
        assert_eq!(
            scaled(own, 2.0, 0.5).unwrap(),
            "rgba(15, 23, 42, 0.102) 0px 12px 28px 0px".replace("0.102", "0.1")
        );
        assert_eq!(scaled("none", 2.0, 1.0), None);
        assert_eq!(shadows("none").len() + 6, shadows(own).len());
    }
}
