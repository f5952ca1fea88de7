//! Stops of linear gradients, estimated from the pixels of an element by least squares.

use crate::{
    color,
    raster::{Rgb, channel_difference},
};

/// Maximum difference of a drawn pixel from its gradient's color, in levels.
const MAX_ROUNDING: u8 = 3;
/// Minimum number of pixels that an estimate is made from.
const MIN_PIXELS: usize = 32;
/// Smallest pivot of a system of equations that has a solution.
const MIN_PIVOT: f64 = 1e-3;

/// A computed `linear-gradient` between opaque colors.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LinearGradient {
    /// Direction and stops as they are computed, each color replaced by `{}`.
    template: Vec<String>,
    direction: GradientDirection,
    /// Position along the gradient's line, 0 to 1, and color.
    stops: Vec<(f64, Rgb)>,
}

/// A pixel of the drawing and of the screenshot, with the middle of the pixel relative to the box.
pub(super) struct GradientPixel {
    pub place: [f64; 2],
    pub drawn: Rgb,
    pub shown: Rgb,
}

impl LinearGradient {
    /// A computed `background-image`; `None` unless it is a single gradient that the browser mixes
    /// in sRGB between opaque colors.
    pub fn parse(text: &str) -> Option<Self> {
        let inner = text.strip_prefix("linear-gradient(")?.strip_suffix(')')?;
        let mut parts = split(inner)?.into_iter().peekable();
        let mut template = Vec::new();
        let direction = parts.peek().and_then(|first| direction(first));
        if let Some(direction) = parts.next_if(|_| direction.is_some()) {
            template.push(direction.to_owned());
        }
        let (mut positions, mut colors) = (Vec::new(), Vec::new());
        for part in parts {
            let end = part.rfind(')').map(|end| end + 1).or_else(|| part.find(' '));
            let end = end.unwrap_or(part.len());
            let (text, position) = part.split_at_checked(end)?;
            let (color, alpha) = color::parse(text)?;
            let position = position.trim();
            positions.push(match position {
                "" => None,
                percent => Some(percent.strip_suffix('%')?.parse::<f64>().ok()? / 100.0),
            });
            template.push(format!("{{}} {position}").trim_end().to_owned());
            (alpha > 0.99).then(|| colors.push(color))?;
        }
        let positions = spread(positions);
        let is_rising = positions.windows(2).all(|pair| pair.first() < pair.last());
        let direction = direction.unwrap_or(GradientDirection::Angle(180.0));
        let stops: Vec<(f64, Rgb)> = positions.into_iter().zip(colors).collect();
        (is_rising && stops.len() > 1).then_some(Self { template, direction, stops })
    }

    /// The gradient whose colors come nearest to the shown ones; `None` unless enough pixels are
    /// drawn in the present one. `size` is that of the box.
    pub fn fitted(&self, size: [f64; 2], pixels: &[GradientPixel]) -> Option<Self> {
        let own: Vec<(&GradientPixel, usize, f64)> = pixels
            .iter()
            .filter_map(|pixel| {
                let (stop, share) = self.place(size, pixel.place)?;
                let color = self.mixed(stop, share)?;
                let is_own = channel_difference(color, pixel.drawn) <= MAX_ROUNDING;
                is_own.then_some((pixel, stop, share))
            })
            .collect();
        if own.len() < MIN_PIXELS {
            return None;
        }
        let count = self.stops.len();
        // Each row: the sums of the shares of its stop and each other, then of the shown channels.
        let mut rows = vec![vec![0.0; count + 3]; count];
        for (pixel, stop, share) in own {
            for (row, weight) in [(stop, 1.0 - share), (stop + 1, share)] {
                let Some(row) = rows.get_mut(row) else { continue };
                for (column, other) in [(stop, 1.0 - share), (stop + 1, share)] {
                    if let Some(sum) = row.get_mut(column) {
                        *sum += weight * other;
                    }
                }
                for (sum, channel) in row.iter_mut().skip(count).zip(pixel.shown) {
                    *sum += weight * f64::from(channel);
                }
            }
        }
        let colors = solved(rows)?;
        let stops = self.stops.iter().zip(colors).map(|(&(position, _), color)| (position, color));
        Some(Self { stops: stops.collect(), ..self.clone() })
    }

    /// The color at a place of the box.
    pub fn color_at(&self, size: [f64; 2], place: [f64; 2]) -> Option<Rgb> {
        let (stop, share) = self.place(size, place)?;
        self.mixed(stop, share)
    }

    /// The value as a style sheet writes it.
    pub fn written(&self) -> String {
        let mut colors = self.stops.iter();
        let parts = self.template.iter().map(|part| match part.strip_prefix("{}") {
            Some(position) => {
                let color = colors.next().map(|(_, color)| color::hex(*color));
                color.unwrap_or_default() + position
            }
            None => part.clone(),
        });
        format!("linear-gradient({})", parts.collect::<Vec<_>>().join(", "))
    }

    /// True if no color differs by more than `levels`.
    pub fn is_like(&self, other: &Self, levels: u8) -> bool {
        let pairs = self.stops.iter().zip(&other.stops);
        pairs.into_iter().all(|((_, one), (_, other))| channel_difference(*one, *other) <= levels)
    }

    /// The stop before a place, and the share of the next one's color there.
    fn place(&self, [width, height]: [f64; 2], [x, y]: [f64; 2]) -> Option<(usize, f64)> {
        let (across, down) = match self.direction {
            GradientDirection::Angle(degrees) => {
                let (sine, cosine) = degrees.to_radians().sin_cos();
                (sine, -cosine)
            }
            // The line through the middle and the two other corners has one color.
            GradientDirection::Corner(across, down) => (across * height, down * width),
        };
        let length = (width * across).abs() + (height * down).abs();
        let way = ((x - width / 2.0) * across + (y - height / 2.0) * down) / length + 0.5;
        let after = self.stops.iter().position(|(position, _)| *position > way);
        let next = after.unwrap_or(self.stops.len()).clamp(1, self.stops.len() - 1);
        let (begin, _) = self.stops.get(next - 1)?;
        let (end, _) = self.stops.get(next)?;
        Some((next - 1, ((way - begin) / (end - begin)).clamp(0.0, 1.0)))
    }

    fn mixed(&self, stop: usize, share: f64) -> Option<Rgb> {
        let ((_, one), (_, other)) = (self.stops.get(stop)?, self.stops.get(stop + 1)?);
        Some(color::mix(*one, *other, share))
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum GradientDirection {
    /// Degrees, clockwise from the top.
    Angle(f64),
    /// Signs across and down of the corner that it goes to.
    Corner(f64, f64),
}

/// Parts between the commas that stand in no parentheses; `None` if these are not balanced, as
/// between two gradients.
fn split(text: &str) -> Option<Vec<&str>> {
    let (mut parts, mut begin, mut depth) = (Vec::new(), 0, 0usize);
    for (place, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                parts.push(text.get(begin..place)?.trim());
                begin = place + 1;
            }
            _ => {}
        }
    }
    parts.push(text.get(begin..)?.trim());
    Some(parts)
}

fn direction(text: &str) -> Option<GradientDirection> {
    if let Some(degrees) = text.strip_suffix("deg") {
        return degrees.parse().ok().map(GradientDirection::Angle);
    }
    Some(match text.strip_prefix("to ")? {
        "top" => GradientDirection::Angle(0.0),
        "right" => GradientDirection::Angle(90.0),
        "bottom" => GradientDirection::Angle(180.0),
        "left" => GradientDirection::Angle(270.0),
        "right top" | "top right" => GradientDirection::Corner(1.0, -1.0),
        "right bottom" | "bottom right" => GradientDirection::Corner(1.0, 1.0),
        "left bottom" | "bottom left" => GradientDirection::Corner(-1.0, 1.0),
        "left top" | "top left" => GradientDirection::Corner(-1.0, -1.0),
        _ => return None,
    })
}

/// Positions of stops; those without one lie evenly between their neighbors.
fn spread(positions: Vec<Option<f64>>) -> Vec<f64> {
    let last = positions.len().saturating_sub(1);
    let mut known: Vec<(usize, f64)> = Vec::new();
    for (at, position) in positions.iter().enumerate() {
        match position {
            Some(position) => known.push((at, *position)),
            None if at == 0 => known.push((0, 0.0)),
            None if at == last => known.push((last, 1.0)),
            None => {}
        }
    }
    let between = |at: usize| {
        let after = known.iter().find(|(place, _)| *place >= at);
        let before = known.iter().rev().find(|(place, _)| *place <= at);
        match (before, after) {
            (Some((from, begin)), Some((to, end))) if to > from => {
                begin + (end - begin) * (at - from) as f64 / (to - from) as f64
            }
            (Some((_, position)), _) | (_, Some((_, position))) => *position,
            _ => 0.0,
        }
    };
    (0..positions.len()).map(between).collect()
}

/// Solves the equations of a symmetric matrix, each row with its three right sides; `None` if a
/// stop has too few pixels.
fn solved(mut rows: Vec<Vec<f64>>) -> Option<Vec<Rgb>> {
    let count = rows.len();
    for at in 0..count {
        let pivot_row = rows.get(at)?.clone();
        let pivot = *pivot_row.get(at)?;
        if pivot.abs() < MIN_PIVOT {
            return None;
        }
        for (_, row) in rows.iter_mut().enumerate().filter(|(other, _)| *other != at) {
            let factor = row.get(at)? / pivot;
            for (value, own) in row.iter_mut().zip(&pivot_row) {
                *value -= factor * own;
            }
        }
    }
    let color = |(at, row): (usize, &Vec<f64>)| {
        let pivot = row.get(at)?;
        let channel = |place: usize| {
            let value = row.get(count + place)? / pivot;
            Some(value.round().clamp(0.0, 255.0) as u8)
        };
        Some([channel(0)?, channel(1)?, channel(2)?])
    };
    rows.iter().enumerate().map(color).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: [f64; 2] = [60.0, 30.0];

    fn pixels(drawn: &LinearGradient, shown: &LinearGradient) -> Vec<GradientPixel> {
        let places =
            (0..30).flat_map(|y| (0..60).map(move |x| [x, y].map(|at| f64::from(at) + 0.5)));
        let color = |gradient: &LinearGradient, place| gradient.color_at(SIZE, place).unwrap();
        places
            .map(|place| GradientPixel {
                place,
                drawn: color(drawn, place),
                shown: color(shown, place),
            })
            .collect()
    }

    #[test]
    fn stops_are_fitted_to_the_shown_colors() {
        for (is, should_be) in [
            (
                "linear-gradient(135deg, rgb(37, 99, 235), rgb(124, 58, 237))",
                "linear-gradient(135deg, #1D4ED8, #DB2777)",
            ),
            (
                "linear-gradient(to right bottom, rgb(0, 0, 0) 10%, rgb(90, 0, 0), rgb(255, 0, 0) 100%)",
                "linear-gradient(to right bottom, #102030 10%, #405060, #F0E0D0 100%)",
            ),
            ("linear-gradient(rgb(9, 9, 9), rgb(200, 9, 9))", "linear-gradient(#FFFFFF, #000000)"),
        ] {
            let (is, shown) =
                (LinearGradient::parse(is).unwrap(), LinearGradient::parse(should_be));
            let fitted = is.fitted(SIZE, &pixels(&is, &shown.unwrap())).unwrap();
            assert_eq!(fitted.written(), should_be);
        }
    }

    #[test]
    fn the_line_of_a_gradient_is_that_of_css() {
        let gradient = LinearGradient::parse("linear-gradient(90deg, #000000, #FFFFFF)").unwrap();
        assert_eq!(gradient.color_at(SIZE, [0.0, 9.0]), Some([0; 3]));
        assert_eq!(gradient.color_at(SIZE, [60.0, 9.0]), Some([255; 3]));
        let corner = LinearGradient::parse("linear-gradient(to top right, #000000, #FFFFFF)");
        let corner = corner.unwrap();
        assert_eq!(corner.color_at(SIZE, [60.0, 0.0]), Some([255; 3]));
        let sides = [[0.0, 0.0], [60.0, 30.0]].map(|place| corner.color_at(SIZE, place));
        assert_eq!(sides, [Some([128; 3]); 2], "other corners are halfway");
    }

    #[test]
    fn other_images_are_no_linear_gradients() {
        for image in [
            "none",
            "url(\"data:1\")",
            "radial-gradient(rgb(0, 0, 0), rgb(9, 9, 9))",
            "linear-gradient(to right in oklab, rgb(0, 0, 0), rgb(9, 9, 9))",
            "linear-gradient(rgba(0, 0, 0, 0.5), rgb(9, 9, 9))",
            "linear-gradient(rgb(0, 0, 0), rgb(9, 9, 9)), linear-gradient(rgb(0, 0, 0), rgb(9, 9, 9))",
        ] {
            assert_eq!(LinearGradient::parse(image), None, "{image}");
        }
    }
}
