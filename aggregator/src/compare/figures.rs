//! Changes as people read them.

use crate::metrics::Unit;

/// A difference with its sign and without its unit: `−3.2` of a share is in percentage points.
pub(crate) fn change(value: f64, unit: Unit) -> String {
    let text = size(value.abs(), unit);
    let is_zero = !text.contains(|digit: char| ('1'..='9').contains(&digit));
    match value {
        _ if is_zero => text,
        _ if value < 0.0 => format!("−{text}"),
        _ => format!("+{text}"),
    }
}

/// A size without its sign.
pub(crate) fn size(value: f64, unit: Unit) -> String {
    let (value, places) = match unit {
        Unit::Share => (value * 100.0, 1),
        Unit::Percent => (value, 1),
        Unit::Score | Unit::Points { .. } => (value, 2),
        Unit::Milliseconds => (value, 0),
    };
    format!("{value:.places$}")
}

/// What a difference is counted in.
pub(crate) fn name_of(unit: Unit) -> &'static str {
    match unit {
        Unit::Share | Unit::Percent => "percentage points",
        Unit::Score | Unit::Points { .. } => "points",
        Unit::Milliseconds => "ms",
    }
}

/// A p-value.
pub(crate) fn p_value(value: Option<f64>) -> String {
    match value {
        None => "–".to_owned(),
        Some(value) if value < 0.001 => "<0.001".to_owned(),
        Some(value) => format!("{value:.3}"),
    }
}
