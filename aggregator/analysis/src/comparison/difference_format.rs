//! Formatting of changes.

use crate::metrics::Unit;

/// A difference with its sign and without its unit: `−3.2` of a share is in percentage points.
pub fn change(value: f64, unit: Unit) -> String {
    let text = size(value.abs(), unit);
    let is_zero = !text.contains(|digit: char| ('1'..='9').contains(&digit));
    match value {
        _ if is_zero => text,
        _ if value < 0.0 => format!("−{text}"),
        _ => format!("+{text}"),
    }
}

/// `[−5.0, −1.4]`: the ends of a difference's interval.
pub fn change_interval(low: f64, high: f64, unit: Unit) -> String {
    format!("[{}, {}]", change(low, unit), change(high, unit))
}

/// A size without its sign.
pub(crate) fn size(value: f64, unit: Unit) -> String {
    let (value, places) = scaled(value, unit);
    format!("{value:.places$}")
}

/// A size without its sign, with enough digits to show its first nonzero one.
pub fn distinct_size(value: f64, unit: Unit) -> String {
    let (value, places) = scaled(value, unit);
    let needed = if value > 0.0 { (-value.log10()).ceil().clamp(0.0, 12.0) as usize } else { 0 };
    format!("{value:.*}", places.max(needed))
}

/// Unit of a difference.
pub fn change_unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Share | Unit::Percent => "percentage points",
        Unit::Score | Unit::Points { .. } => "points",
        Unit::Milliseconds => "ms",
    }
}

/// A p-value.
pub fn p_value(value: Option<f64>) -> String {
    match value {
        None => "–".to_owned(),
        Some(value) if value < 0.001 => "<0.001".to_owned(),
        Some(value) => format!("{value:.3}"),
    }
}

/// `p = 0.016` or `p < 0.001`.
pub(crate) fn p_equals(value: Option<f64>) -> String {
    match value {
        None => "p unknown".to_owned(),
        Some(value) if value < 0.001 => "p < 0.001".to_owned(),
        Some(value) => format!("p = {value:.3}"),
    }
}

/// A figure scaled for display, and its decimals.
fn scaled(value: f64, unit: Unit) -> (f64, usize) {
    match unit {
        Unit::Share => (value * 100.0, 1),
        Unit::Percent => (value, 1),
        Unit::Score | Unit::Points { .. } => (value, 2),
        Unit::Milliseconds => (value, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_nonzero_difference_is_not_shown_as_zero() {
        for (value, text) in [(0.0005, "0.05"), (0.00004, "0.004"), (0.051, "5.1"), (0.0, "0.0")] {
            assert_eq!(distinct_size(value, Unit::Share), text);
        }
        assert_eq!(distinct_size(0.003, Unit::Score), "0.003");
    }
}
