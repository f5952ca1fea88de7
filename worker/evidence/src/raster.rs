//! Pixels of a picture.

use crate::bounds::{intersection, pixels_of, size_of};
use std::{cmp::Reverse, fmt, iter::repeat_n};

/// Number of times that colors are smoothed, each time with those of the next pixels.
const COLOR_PASSES: usize = 2;

/// A color's red, green and blue.
pub(crate) type Rgb = [u8; 3];

/// Contrast of neighbors above which one of them is an edge.
const MIN_EDGE_CONTRAST: u8 = 12;

/// The lowest and the highest value of each channel among some colors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColorRange {
    pub low: Rgb,
    pub high: Rgb,
}

impl ColorRange {
    /// The range of some colors; none of no color.
    pub fn of(mut colors: impl Iterator<Item = Rgb>) -> Option<Self> {
        let first = colors.next()?;
        let mut range = Self { low: first, high: first };
        colors.for_each(|color| range.extend(color));
        Some(range)
    }

    /// Difference of the highest and the lowest value of each channel.
    pub fn contrasts(&self) -> Rgb {
        let [red, green, blue] = self.low;
        let [high_red, high_green, high_blue] = self.high;
        [
            high_red.saturating_sub(red),
            high_green.saturating_sub(green),
            high_blue.saturating_sub(blue),
        ]
    }

    fn extend(&mut self, color: Rgb) {
        for ((low, high), value) in self.low.iter_mut().zip(&mut self.high).zip(color) {
            *low = (*low).min(value);
            *high = (*high).max(value);
        }
    }
}

/// An opaque picture of 8 bits a channel.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Raster {
    width: u32,
    height: u32,
    pixels: Vec<Rgb>,
}

impl Raster {
    /// A picture from its pixels, row by row; `None` if there are too few or too many.
    pub fn from_pixels(width: u32, height: u32, pixels: Vec<[u8; 3]>) -> Option<Self> {
        (pixels.len() == width as usize * height as usize).then_some(Self { width, height, pixels })
    }

    /// A picture of one color.
    pub fn filled(width: u32, height: u32, color: [u8; 3]) -> Self {
        Self { width, height, pixels: vec![color; width as usize * height as usize] }
    }

    /// Pixels from left to right.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Pixels from top to bottom.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Width and height.
    pub(crate) fn size(&self) -> [u32; 2] {
        [self.width, self.height]
    }

    /// Paints a rectangle: x, y, width, height.
    pub fn fill(&mut self, area: [u32; 4], color: [u8; 3]) {
        let [x, y, width, height] = area;
        let right = x.saturating_add(width).min(self.width) as usize;
        for row in y..y.saturating_add(height).min(self.height) {
            let start = row as usize * self.width as usize;
            let span = start + (x as usize).min(right)..start + right;
            if let Some(pixels) = self.pixels.get_mut(span) {
                pixels.fill(color);
            }
        }
    }

    /// The pixels, row by row.
    pub fn into_pixels(self) -> Vec<[u8; 3]> {
        self.pixels
    }

    /// Copies another picture to a place: x, y. What lies beyond this picture is left out.
    pub(crate) fn paste(&mut self, other: &Self, [x, y]: [u32; 2]) {
        let length = other.width.min(self.width.saturating_sub(x)) as usize;
        for (row, pixels) in (y..self.height).zip(other.pixels.chunks(other.width.max(1) as usize))
        {
            let start = row as usize * self.width as usize + x as usize;
            let target = self.pixels.get_mut(start..start + length);
            if let (Some(target), Some(pixels)) = (target, pixels.get(..length)) {
                target.copy_from_slice(pixels);
            }
        }
    }

    /// The picture with each pixel as a square of this side.
    pub(crate) fn enlarged(&self, factor: u32) -> Self {
        let factor = factor.max(1) as usize;
        let rows = self.pixels.chunks(self.width.max(1) as usize);
        let rows = rows.flat_map(|row| repeat_n(row, factor));
        let pixels = rows.flatten().flat_map(|pixel| repeat_n(*pixel, factor)).collect();
        let [width, height] = self.size().map(|side| side * factor as u32);
        Self { width, height, pixels }
    }

    /// The color at a place; black outside the picture.
    pub(crate) fn at(&self, x: i32, y: i32) -> Rgb {
        self.get(x, y).unwrap_or_default()
    }

    pub(crate) fn get(&self, x: i32, y: i32) -> Option<Rgb> {
        if x < 0 || y < 0 || x >= self.width as i32 || y >= self.height as i32 {
            return None;
        }
        self.pixels.get(y as usize * self.width as usize + x as usize).copied()
    }

    /// True if a place contrasts with the one to its right or below it.
    pub(crate) fn is_edge(&self, x: i32, y: i32) -> bool {
        let beside = [self.get(x + 1, y), self.get(x, y + 1)];
        beside
            .into_iter()
            .flatten()
            .any(|near| channel_difference(self.at(x, y), near) > MIN_EDGE_CONTRAST)
    }

    /// Part of a box (left, top, right, bottom) that is in the picture. Boxes of elements may exceed
    /// it by millions of pixels.
    pub(crate) fn visible_part(&self, bounds: [i32; 4]) -> [i32; 4] {
        intersection(bounds, self.bounds())
    }

    /// Left, top, right and bottom.
    pub(crate) fn bounds(&self) -> [i32; 4] {
        [0, 0, self.width as i32, self.height as i32]
    }

    /// Indices of the smallest boxes that have at most so many times the area of the picture
    /// together, ascending. Of equal ones the last come first: they are painted over the others.
    pub(crate) fn smallest_within(
        &self,
        indices: impl Iterator<Item = usize>,
        max_area: f64,
        bounds: impl Fn(usize) -> [i32; 4],
    ) -> Vec<usize> {
        let sized = indices.map(|index| {
            let [width, height] = size_of(self.visible_part(bounds(index))).map(|side| side.max(0));
            (width as u64 * height as u64, Reverse(index))
        });
        let mut sized: Vec<_> = sized.collect();
        sized.sort_unstable();
        let mut left = (max_area * self.pixels.len() as f64) as u64;
        let kept = sized.into_iter().map_while(|(area, Reverse(index))| {
            left = left.checked_sub(area)?;
            Some(index)
        });
        let mut kept: Vec<usize> = kept.collect();
        kept.sort_unstable();
        kept
    }

    /// Places of a box's pixels that are in the picture, row by row.
    pub(crate) fn places_in(
        &self,
        bounds: [i32; 4],
    ) -> impl Iterator<Item = [i32; 2]> + Clone + use<> {
        pixels_of(self.visible_part(bounds))
    }

    /// Their colors.
    pub(crate) fn colors_in(&self, bounds: [i32; 4]) -> impl Iterator<Item = Rgb> {
        let [left, top, right, bottom] = self.visible_part(bounds);
        let row = move |y| self.row(y as u32).get(left as usize..right as usize);
        (top..bottom).flat_map(move |y| row(y).unwrap_or_default()).copied()
    }

    /// Number of edge pixels in a box.
    pub(crate) fn edge_pixels_in(&self, bounds: [i32; 4]) -> usize {
        self.places_in(bounds).filter(|&[x, y]| self.is_edge(x, y)).count()
    }

    /// The colors within so many pixels of a place.
    pub(crate) fn range_around(&self, [x, y]: [i32; 2], reach: i32) -> ColorRange {
        let mut range = ColorRange { low: [u8::MAX; 3], high: [0; 3] };
        for dy in -reach..=reach {
            let near = (-reach..=reach).filter_map(|dx| self.get(x + dx, y + dy));
            near.for_each(|near| range.extend(near));
        }
        range
    }

    pub(crate) fn pixels(&self) -> &[Rgb] {
        &self.pixels
    }

    pub(crate) fn row(&self, y: u32) -> &[Rgb] {
        let start = y as usize * self.width as usize;
        self.pixels.get(start..start + self.width as usize).unwrap_or_default()
    }

    /// A window of the same picture after a shift; `outside` fills the area beyond it.
    pub(crate) fn window(&self, shift: [i32; 2], size: [u32; 2], outside: Rgb) -> Self {
        let [width, height] = size;
        let mut pixels = Vec::with_capacity(width as usize * height as usize);
        for y in 0..height as i32 {
            pixels.extend(
                (0..width as i32).map(|x| self.get(x - shift[0], y - shift[1]).unwrap_or(outside)),
            );
        }
        Self { width, height, pixels }
    }

    /// The picture at half its size, each pixel the mean of four.
    pub fn halved(&self) -> Self {
        let (width, height) = (self.width / 2, self.height / 2);
        let mut pixels = Vec::with_capacity(width as usize * height as usize);
        for y in 0..height as i32 {
            for x in 0..width as i32 {
                let [one, two, three, four] = [(0, 0), (1, 0), (0, 1), (1, 1)]
                    .map(|(dx, dy)| self.at(2 * x + dx, 2 * y + dy).map(u16::from));
                let total = sum([sum([one, two, three]), four, [2; 3]]);
                pixels.push(total.map(|total| (total / 4) as u8));
            }
        }
        Self { width, height, pixels }
    }

    /// The picture with each pixel replaced by the mean of itself and its eight neighbors.
    pub(crate) fn smoothed(&self) -> Self {
        let (width, height) = (self.width as i32, self.height as i32);
        let mut columns: Vec<[u16; 3]> = Vec::with_capacity(self.pixels.len());
        for y in 0..height {
            let [above, here, below] =
                [(y - 1).max(0), y, (y + 1).min(height - 1)].map(|row| self.row(row as u32));
            columns.extend(above.iter().zip(here).zip(below).map(|((one, two), three)| {
                sum([*one, *two, *three].map(|pixel| pixel.map(u16::from)))
            }));
        }
        let mut pixels = Vec::with_capacity(self.pixels.len());
        for row in columns.chunks(width.max(1) as usize) {
            let (Some(&first), Some(&last)) = (row.first(), row.last()) else { continue };
            let before = std::iter::once(first).chain(row.iter().copied());
            let after = row.iter().copied().skip(1).chain(std::iter::once(last));
            pixels.extend(
                before.zip(row).zip(after).map(|((one, &two), three)| {
                    sum([one, two, three]).map(|total| (total / 9) as u8)
                }),
            );
        }
        Self { width: self.width, height: self.height, pixels }
    }

    /// The picture with its own brightness and the colors of its surroundings: compressed pictures keep
    /// the color of an area, and not that of thin lines.
    pub(crate) fn with_coarse_colors(&self) -> Self {
        let coarse = (0..COLOR_PASSES).fold(self.clone(), |picture, _| picture.smoothed());
        let pixels = self.pixels.iter().zip(&coarse.pixels).map(|(&pixel, &color)| {
            let lighter = brightness(pixel) - brightness(color);
            color.map(|channel| (i32::from(channel) + lighter).clamp(0, 255) as u8)
        });
        Self { width: self.width, height: self.height, pixels: pixels.collect() }
    }
}

impl fmt::Debug for Raster {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Raster({} x {})", self.width, self.height)
    }
}

/// The largest difference of the three channels.
pub(crate) fn channel_difference([a, b, c]: Rgb, [d, e, f]: Rgb) -> u8 {
    a.abs_diff(d).max(b.abs_diff(e)).max(c.abs_diff(f))
}

fn sum([[a, b, c], [d, e, f], [g, h, i]]: [[u16; 3]; 3]) -> [u16; 3] {
    [a + d + g, b + e + h, c + f + i]
}

/// Luma of a color by ITU-R BT.601, as JPEG has it, 0 to 255.
fn brightness([red, green, blue]: Rgb) -> i32 {
    (299 * i32::from(red) + 587 * i32::from(green) + 114 * i32::from(blue) + 500) / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coarse_colors_keep_brightness_and_lose_the_color_of_thin_lines() {
        let mut colored = Raster::filled(60, 40, [250; 3]);
        colored.fill([10, 10, 1, 20], [37, 99, 235]);
        colored.fill([30, 5, 20, 30], [37, 99, 235]);
        let coarse = colored.with_coarse_colors();
        assert_eq!(coarse.at(40, 20), [37, 99, 235]);
        assert_eq!(coarse.at(4, 4), [250; 3]);
        let [red, _, blue] = coarse.at(10, 20);
        assert!(blue - red < 70, "{red} {blue}");
        assert!((brightness(coarse.at(10, 20)) - brightness([37, 99, 235])).abs() <= 2);
    }

    #[test]
    fn the_smallest_and_last_boxes_are_kept_within_an_area() {
        let boxes =
            [[0, 0, 10, 10], [-90, 0, 5, 1_000], [0, 0, 10, 10], [2, 2, 4, 4], [7, 7, 7, 9]];
        let kept = |max_area| {
            Raster::filled(10, 10, [0; 3]).smallest_within(0..5, max_area, |index| boxes[index])
        };
        assert_eq!(kept(9.0), [0, 1, 2, 3, 4]);
        assert_eq!(kept(2.0), [1, 2, 3, 4]);
        assert_eq!(kept(0.1), [3, 4]);
    }

    #[test]
    fn a_picture_has_as_many_pixels_as_its_area() {
        assert_eq!(Raster::from_pixels(2, 2, vec![[0; 3]; 3]), None);
        assert_eq!(Raster::from_pixels(2, 2, vec![[0; 3]; 4]), Some(Raster::filled(2, 2, [0; 3])));
    }

    #[test]
    fn a_flat_picture_stays_flat_when_smoothed_or_halved() {
        let picture = Raster::filled(6, 4, [10, 200, 30]);
        assert_eq!(picture.smoothed(), picture);
        assert_eq!(picture.halved(), Raster::filled(3, 2, [10, 200, 30]));
    }

    #[test]
    fn an_enlarged_picture_has_each_pixel_as_a_square_and_is_pasted_within_bounds() {
        let pair = Raster::from_pixels(2, 1, vec![[9, 8, 7], [1, 2, 3]]).unwrap();
        let large = pair.enlarged(2);
        let row: [Rgb; 4] = [[9, 8, 7], [9, 8, 7], [1, 2, 3], [1, 2, 3]];
        assert_eq!(large.pixels(), [row, row].concat());
        let mut sheet = Raster::filled(3, 3, [0; 3]);
        sheet.paste(&large, [1, 2]);
        assert_eq!(sheet.row(1), [[0; 3]; 3]);
        assert_eq!(sheet.row(2), [[0; 3], [9, 8, 7], [9, 8, 7]]);
        sheet.paste(&large, [5, 5]);
    }

    #[test]
    fn a_window_shows_the_page_shifted() {
        let mut picture = Raster::filled(8, 8, [255; 3]);
        picture.fill([1, 1, 2, 2], [0; 3]);
        let shifted = picture.window([3, 2], [8, 8], [9; 3]);
        assert_eq!(shifted.at(4, 3), [0; 3]);
        assert_eq!(shifted.at(0, 0), [9; 3]);
    }
}
