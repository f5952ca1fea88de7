//! Formatting of numbers for display.

use crate::metrics::{Interval, Unit};
use juror_types::usage::Money;

/// A metric's figure: `88.5%`, `8.9/10`, `0.88`, `2.85 s`.
pub fn figure(value: f64, unit: Unit) -> String {
    figure_with(value, unit, 0)
}

/// A metric's figure with `further` more decimals than usual, for one that rounding would make
/// equal to a bound.
pub fn figure_with(value: f64, unit: Unit, further: usize) -> String {
    match unit {
        Unit::Share => format!("{}%", below_end(value * 100.0, 1 + further, 100.0)),
        Unit::Score => below_end(value, 2 + further, 1.0),
        Unit::Percent => format!("{}%", below_end(value, 1 + further, 100.0)),
        Unit::Points { most, .. } => {
            let text = below_end(value, point_places(most) + further, most);
            format!("{text}/{}", decimals(most, 1))
        }
        Unit::Milliseconds => duration(value),
    }
}

/// `[85.1, 91.2] n=18`, in the unit of the figure; without an interval if there is none.
pub fn interval(interval: &Interval, unit: Unit) -> String {
    format!("{} n={}", interval_ends(interval, unit), grouped(interval.n)).trim_start().to_owned()
}

/// `[85.1, 91.2]`, in the unit of the figure; empty without ends.
pub fn interval_ends(interval: &Interval, unit: Unit) -> String {
    let end = |value: f64| match unit {
        Unit::Share => format!("{:.1}", value * 100.0),
        Unit::Percent => format!("{value:.1}"),
        Unit::Score => format!("{value:.2}"),
        Unit::Points { most, .. } => format!("{value:.*}", point_places(most)),
        Unit::Milliseconds => duration(value),
    };
    match (interval.low, interval.high) {
        (Some(low), Some(high)) => format!("[{}, {}]", end(low), end(high)),
        _ => String::new(),
    }
}

/// A number rounded to at most `places` decimals, without trailing zeros.
pub fn decimals(value: f64, places: usize) -> String {
    let scale = 10_f64.powi(i32::try_from(places).unwrap_or(0));
    let text = format!("{:.places$}", (value * scale).round() / scale);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// `950 ms`, `2.85 s`, `3 min 12 s`, `2 h 5 min`.
pub fn duration(milliseconds: f64) -> String {
    let seconds = milliseconds / 1000.0;
    if milliseconds < 1000.0 {
        format!("{} ms", decimals(milliseconds, 0))
    } else if seconds < 60.0 {
        format!("{} s", decimals(seconds, 2))
    } else {
        let seconds = seconds.round() as u64;
        let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        if hours > 0 {
            format!("{hours} h {minutes} min")
        } else {
            format!("{minutes} min {seconds} s")
        }
    }
}

/// `$1,212.35` from a dollar on, `$0.1067` below.
pub fn dollars(money: Money) -> String {
    let places = if money.pico().unsigned_abs() >= 1_000_000_000_000 || money == Money::ZERO {
        2
    } else {
        4
    };
    let amount = money.rounded(places);
    let (whole, fraction) = amount.split_once('.').unwrap_or((&amount, ""));
    let whole = whole.parse().map_or_else(|_| whole.to_owned(), grouped);
    format!("${whole}.{fraction}")
}

/// `27,414`.
pub fn grouped(count: u64) -> String {
    match count / 1000 {
        0 => count.to_string(),
        thousands => format!("{},{:03}", grouped(thousands), count % 1000),
    }
}

/// `1 item`, `2 items`.
pub fn counted(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// A rounded figure, with enough decimals to differ from the end of its scale: 99.97 is not 100.
fn below_end(value: f64, places: usize, end: f64) -> String {
    let mut texts = (places..9).map(|places| decimals(value, places));
    let is_end = |text: &String| value < end && *text == decimals(end, 0);
    texts.find(|text| !is_end(text)).unwrap_or_else(|| decimals(value, places))
}

/// Number of decimals of a scale: a tenth for scales up to 10, a hundredth for shorter ones.
fn point_places(most: f64) -> usize {
    if most < 10.0 { 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_use_conventional_notation() {
        assert_eq!(figure(0.885, Unit::Share), "88.5%");
        assert_eq!(figure(1.0, Unit::Share), "100%");
        assert_eq!(figure(0.85, Unit::Share), "85%");
        assert_eq!(figure(8.9, Unit::Points { least: 0.0, most: 10.0 }), "8.9/10");
        assert_eq!(figure(0.88, Unit::Score), "0.88");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(duration(28_450.0), "28.45 s");
        assert_eq!(duration(192_000.0), "3 min 12 s");
        assert_eq!(duration(40.0), "40 ms");
        assert_eq!(dollars("0.106695".parse().unwrap()), "$0.1067");
        assert_eq!(dollars("5".parse().unwrap()), "$5.00");
        assert_eq!(dollars("4575.72".parse().unwrap()), "$4,575.72");
    }

    #[test]
    fn figures_are_rounded_and_near_totals_are_not_shown_as_100_percent() {
        let points = Unit::Points { least: 0.0, most: 10.0 };
        assert_eq!(figure(0.6596, Unit::Share), "66%");
        assert_eq!(figure(8.96, points), "9/10");
        assert_eq!(figure(0.85001, Unit::Share), "85%");
        assert_eq!(figure_with(0.85001, Unit::Share, 2), "85.001%");
        assert_eq!(figure(0.9999, Unit::Share), "99.99%");
        assert_eq!(figure(0.9996, Unit::Share), "99.96%");
        assert_eq!(figure(9.996, points), "9.996/10");
        assert_eq!(figure(0.999, Unit::Score), "0.999");
        assert_eq!(decimals(0.0, 1), "0");
        assert_eq!(decimals(65.96, 1), "66");
    }
}
