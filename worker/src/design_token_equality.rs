//! Equality of two values of a design token.
//!
//! Two values are equal if, in this order, one of these holds:
//! 1. They are the same after folding: lower case, runs of blanks as one, no quotes, no blanks
//!    around commas and inside parentheses. Numbers and booleans are taken as they are written.
//! 2. Both are colors (hex with 3, 4, 6 or 8 digits, `rgb()`, `hsl()` and the like, CSS names) and
//!    differ by at most 1/255 in every channel; all fully transparent colors are one. Six or eight
//!    hex digits without `#` count as a color only opposite one that is plainly written.
//! 3. Both are numbers with a unit. Lengths become pixels (1 rem = 1 em = 16 px, 1 in = 96 px,
//!    1 pt = 4/3 px; no unit means px) and may differ by 0.01 px; times become milliseconds; other
//!    units must be the same. Two numbers without any unit may only differ by rounding.
//! 4. Both are lists of as many parts, by commas or else by blanks (`font-family`, shadows,
//!    `padding: 4px 8px`), and the parts are equal pairwise.

use csscolorparser::Color;
use serde_json::Value;

/// True if an extracted value is equivalent to the expected one.
pub fn equal(expected: &Value, extracted: &Value) -> bool {
    match (written(expected), written(extracted)) {
        (Some(expected), Some(extracted)) => texts_equal(&fold(&expected), &fold(&extracted)),
        _ => expected == extracted,
    }
}

/// A number with its unit.
struct Quantity<'text> {
    amount: f64,
    /// `px` for every length, `ms` for every time; empty for a number alone.
    unit: &'text str,
}

impl<'text> Quantity<'text> {
    fn parse(text: &'text str) -> Option<Self> {
        let end = text
            .find(|character: char| !(character.is_ascii_digit() || "+-.".contains(character)))
            .unwrap_or(text.len());
        let (number, unit) = text.split_at_checked(end)?;
        let amount: f64 = number.parse().ok()?;
        let (factor, unit) = match unit {
            "rem" | "em" | "pc" => (16.0, "px"),
            "pt" => (4.0 / 3.0, "px"),
            "in" => (96.0, "px"),
            "cm" => (96.0 / 2.54, "px"),
            "mm" => (96.0 / 25.4, "px"),
            "s" => (1000.0, "ms"),
            "%" => (1.0, unit),
            other if other.bytes().all(|byte| byte.is_ascii_alphabetic()) => (1.0, unit),
            _ => return None,
        };
        Some(Self { amount: amount * factor, unit })
    }

    fn equals(&self, other: &Self) -> bool {
        let tolerance = match (self.unit, other.unit) {
            ("", "") => 1e-9 * self.amount.abs().max(1.0),
            ("px" | "", "px" | "") => 0.01,
            (one, other) if one == other => 1e-6 * self.amount.abs().max(1.0),
            _ => return false,
        };
        (self.amount - other.amount).abs() <= tolerance
    }
}

fn written(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let mut blank = false;
    for character in text.trim().chars().filter(|character| !matches!(character, '"' | '\'')) {
        if character.is_whitespace() {
            blank = true;
            continue;
        }
        let glued = matches!(character, ',' | ')') || folded.ends_with([',', '(']);
        if blank && !glued && !folded.is_empty() {
            folded.push(' ');
        }
        blank = false;
        folded.extend(character.to_lowercase());
    }
    folded
}

fn texts_equal(expected: &str, extracted: &str) -> bool {
    expected == extracted
        || colors_equal(expected, extracted)
        || match (Quantity::parse(expected), Quantity::parse(extracted)) {
            (Some(expected), Some(extracted)) => expected.equals(&extracted),
            _ => lists_equal(expected, extracted, ',') || lists_equal(expected, extracted, ' '),
        }
}

fn colors_equal(expected: &str, extracted: &str) -> bool {
    // Hex digits without # may as well be a number or a word ("100", "add").
    let is_bare = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_too_short = |text: &str| is_bare(text) && text.len() < 6;
    if is_bare(expected) && is_bare(extracted) || is_too_short(expected) || is_too_short(extracted)
    {
        return false;
    }
    let (Ok(expected), Ok(extracted)) = (expected.parse::<Color>(), extracted.parse::<Color>())
    else {
        return false;
    };
    let (expected, extracted) = (expected.to_rgba8(), extracted.to_rgba8());
    let is_clear = |[_, _, _, alpha]: [u8; 4]| alpha == 0;
    (is_clear(expected) && is_clear(extracted))
        || expected.iter().zip(extracted).all(|(one, other)| one.abs_diff(other) <= 1)
}

fn lists_equal(expected: &str, extracted: &str, separator: char) -> bool {
    let (expected, extracted) = (split(expected, separator), split(extracted, separator));
    let lengths_fit = expected.len() > 1 && expected.len() == extracted.len();
    lengths_fit && expected.iter().zip(&extracted).all(|(one, other)| texts_equal(one, other))
}

/// Parts of a text between separators, ignoring those inside parentheses.
fn split(text: &str, separator: char) -> Vec<&str> {
    let mut depth = 0_i64;
    let splits = |character: char| {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        character == separator && depth == 0
    };
    text.split(splits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn equivalent_values_are_equal() {
        for (one, other) in [
            (json!("#1D4ED8"), json!("#1d4ed8")),
            (json!("#fff"), json!("white")),
            (json!("#FFF"), json!("rgb(255, 255, 255)")),
            (json!("#ffffffff"), json!("rgba(255 255 255 / 100%)")),
            (json!("#f008"), json!("rgba(255,0,0,0.533)")),
            (json!("#ff0000"), json!("hsl(0, 100%, 50%)")),
            (json!("#1D4ED8"), json!("1d4ed8")),
            (json!("#1D4ED8"), json!("#1d4fd8")),
            (json!("transparent"), json!("rgba(255,255,255,0)")),
            (json!(16), json!("16px")),
            (json!("16"), json!(16.0)),
            (json!("1rem"), json!("16PX")),
            (json!("0.875em"), json!("14px")),
            (json!("12pt"), json!("16px")),
            (json!("10pt"), json!("13.33px")),
            (json!(0), json!("0px")),
            (json!(".5rem"), json!("8px")),
            (json!("0.2s"), json!("200ms")),
            (json!("50%"), json!("50.0%")),
            (json!(1.5), json!("1.50")),
            (json!("Inter"), json!(" inter ")),
            (json!("\"Open  Sans\", sans-serif"), json!("Open Sans,sans-serif")),
            (json!("4px 8px"), json!("0.25rem 0.5rem")),
            (json!("0 1px 2px rgba(0, 0, 0, 0.05)"), json!("0px 1px 2px rgb(0 0 0 / 5%)")),
            (json!("0 0 1px #000, 0 0 2px red"), json!("0 0 1px black,0 0 2px #f00")),
            (json!(true), json!("true")),
            (json!(null), json!(null)),
        ] {
            assert!(equal(&one, &other), "{one} and {other}");
            assert!(equal(&other, &one), "{other} and {one}");
        }
    }

    #[test]
    fn values_that_differ_are_not_equal() {
        for (one, other) in [
            (json!("#1D4ED8"), json!("#1d51d8")),
            (json!("#fff"), json!("#fff8")),
            (json!("100"), json!("110000")),
            (json!("bad"), json!("bbaadd")),
            (json!("400"), json!("#440000")),
            (json!("fade"), json!("#ffaaddee")),
            (json!("12px"), json!("16px")),
            (json!("1rem"), json!("16.1px")),
            (json!("50%"), json!("50px")),
            (json!(0.5), json!(0.505)),
            (json!("1s"), json!("1px")),
            (json!("4px 8px"), json!("8px 4px")),
            (json!("4px 8px"), json!("4px 8px 4px")),
            (json!("Inter, serif"), json!("Inter, sans-serif")),
            (json!("16px"), json!("16pxx")),
            (json!(true), json!(false)),
            (json!(null), json!(0)),
            (json!("bold"), json!("")),
        ] {
            assert!(!equal(&one, &other), "{one} and {other}");
            assert!(!equal(&other, &one), "{other} and {one}");
        }
    }
}
