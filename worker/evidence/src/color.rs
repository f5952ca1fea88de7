//! Colors of style sheets, and the perceived difference of colors.

use crate::raster::Rgb;
use palette::{IntoColor, Lab, Srgb, color_difference::Ciede2000, white_point::D65};

/// CIEDE2000 between two colors.
pub(crate) fn delta_e(one: Rgb, other: Rgb) -> f64 {
    if one == other {
        return 0.0;
    }
    f64::from(lab(one).difference(lab(other)))
}

/// True if a value is a color of CSS. Hex digits without `#` are none: they may as well be a number
/// or a word, as a weight of 400.
pub fn is_color(text: &str) -> bool {
    parse(text).is_some()
}

/// A computed color, with its alpha; `None` if the text is no color.
pub(crate) fn parse(text: &str) -> Option<([u8; 3], f32)> {
    if text.trim().bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let [red, green, blue, alpha] = csscolorparser::parse(text).ok()?.to_rgba8();
    Some(([red, green, blue], f32::from(alpha) / 255.0))
}

/// A color as `#RRGGBB`.
pub(crate) fn hex([red, green, blue]: Rgb) -> String {
    format!("#{red:02X}{green:02X}{blue:02X}")
}

/// A computed value in the form of reports: colors as hexadecimal.
pub(crate) fn shown(value: &str) -> String {
    match parse(value) {
        Some((color, alpha)) if alpha >= 1.0 => hex(color),
        _ => value.to_owned(),
    }
}

/// The most frequent of colors, and how often it occurs.
pub(crate) fn most_frequent_color(colors: &[Rgb]) -> Option<(Rgb, usize)> {
    // Numbers are sorted in a fraction of the time that arrays take.
    let numbers =
        colors.iter().map(|&[red, green, blue]| u32::from_be_bytes([0, red, green, blue]));
    let (number, count) = most_frequent(&mut numbers.collect::<Vec<_>>())?;
    let [_, red, green, blue] = number.to_be_bytes();
    Some(([red, green, blue], count))
}

/// The most frequent of some values, and how often it occurs.
pub(crate) fn most_frequent<T: Copy + Ord>(values: &mut [T]) -> Option<(T, usize)> {
    values.sort_unstable();
    let runs = values.chunk_by(|one, other| one == other);
    let longest = runs.max_by_key(|run| run.len())?;
    longest.first().map(|value| (*value, longest.len()))
}

/// A color laid over another one with this opacity.
pub(crate) fn mix([a, b, c]: Rgb, [d, e, f]: Rgb, opacity: f64) -> Rgb {
    [(a, d), (b, e), (c, f)].map(|(behind, color)| {
        let (behind, color) = (f64::from(behind), f64::from(color));
        (behind + opacity * (color - behind)).round() as u8
    })
}

fn lab([red, green, blue]: Rgb) -> Lab<D65, f32> {
    Srgb::new(red, green, blue).into_format::<f32>().into_color()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_those_of_ciede2000() {
        assert_eq!(delta_e([10, 20, 30], [10, 20, 30]), 0.0);
        assert!((delta_e([0, 0, 0], [255, 255, 255]) - 100.0).abs() < 0.1);
        let blues = delta_e([0x25, 0x63, 0xEB], [0x1D, 0x4E, 0xD8]);
        assert!((5.0..8.0).contains(&blues), "{blues}");
    }

    #[test]
    fn computed_colors_are_read_and_shown() {
        assert_eq!(parse("rgb(29, 78, 216)"), Some(([0x1D, 0x4E, 0xD8], 1.0)));
        for text in ["12px", "400", "700", "fade", "123456", "", " 600 "] {
            assert!(!is_color(text), "{text:?}");
            assert_eq!(shown(text), text);
        }
        assert_eq!(shown("rgb(29, 78, 216)"), "#1D4ED8");
        assert_eq!(shown("rgba(0, 0, 0, 0)"), "rgba(0, 0, 0, 0)");
        assert_eq!(parse("oklch(1 0 0)"), Some(([255; 3], 1.0)));
    }

    #[test]
    fn the_most_frequent_color_wins() {
        let colors = [[1, 2, 3], [3, 2, 1], [3, 2, 1], [255; 3]];
        assert_eq!(most_frequent_color(&colors), Some(([3, 2, 1], 2)));
        assert_eq!(most_frequent_color(&[]), None);
    }
}
