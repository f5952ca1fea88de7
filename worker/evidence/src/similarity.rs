//! Structural similarity of two pictures of one size.

use crate::raster::{Raster, Rgb};

/// Width and height of the windows, which do not overlap.
const WINDOW: usize = 8;
const C1: f64 = (0.01 * 255.0) * (0.01 * 255.0);
const C2: f64 = (0.03 * 255.0) * (0.03 * 255.0);

/// Mean structural similarity of all windows, and of the lowest tenth of them.
pub(crate) fn mean_and_lowest_tenth(one: &Raster, other: &Raster) -> (f64, f64) {
    let columns = (other.width() as usize).div_ceil(WINDOW);
    let mut values = Vec::new();
    for top in (0..other.height()).step_by(WINDOW) {
        let rows = top..(top + WINDOW as u32).min(other.height());
        let rows: Vec<(&[Rgb], &[Rgb])> = rows.map(|y| (one.row(y), other.row(y))).collect();
        values.extend((0..columns).map(|column| {
            let window = rows.iter().map(|&(one, other)| (part(one, column), part(other, column)));
            similarity(window)
        }));
    }
    if values.is_empty() {
        return (1.0, 1.0);
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let tenth = values.len().div_ceil(10);
    let all = mean(&values);
    values.select_nth_unstable_by(tenth - 1, f64::total_cmp);
    (all, mean(values.get(..tenth).unwrap_or_default()))
}

/// Sums over the pixels of a window.
#[derive(Clone, Copy, Default)]
struct PixelSums {
    count: u32,
    one: u32,
    other: u32,
    one_squared: u32,
    other_squared: u32,
    product: u32,
}

impl PixelSums {
    fn add(&mut self, one: u32, other: u32) {
        self.count += 1;
        self.one += one;
        self.other += other;
        self.one_squared += one * one;
        self.other_squared += other * other;
        self.product += one * other;
    }

    fn similarity(self) -> f64 {
        let n = f64::from(self.count.max(1));
        let (one, other) = (f64::from(self.one) / n, f64::from(self.other) / n);
        let variance_one = f64::from(self.one_squared) / n - one * one;
        let variance_other = f64::from(self.other_squared) / n - other * other;
        let covariance = f64::from(self.product) / n - one * other;
        ((2.0 * one * other + C1) * (2.0 * covariance + C2))
            / ((one * one + other * other + C1) * (variance_one + variance_other + C2))
    }
}

/// A window's part of a row.
fn part(row: &[Rgb], column: usize) -> &[Rgb] {
    let start = column * WINDOW;
    row.get(start..(start + WINDOW).min(row.len())).unwrap_or_default()
}

/// Structural similarity of a window, given by its parts of the rows of both pictures.
fn similarity<'row>(window: impl Iterator<Item = (&'row [Rgb], &'row [Rgb])> + Clone) -> f64 {
    // So the formula has it, and most windows are equal.
    if window.clone().all(|(one, other)| one == other) {
        return 1.0;
    }
    let mut sums = PixelSums::default();
    for (one, other) in window {
        for (one, other) in one.iter().zip(other) {
            sums.add(luma(*one), luma(*other));
        }
    }
    sums.similarity()
}

fn luma([red, green, blue]: Rgb) -> u32 {
    (u32::from(red) * 77 + u32::from(green) * 150 + u32::from(blue) * 29) >> 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_pictures_are_alike_and_one_change_shows_in_the_lowest_tenth() {
        let one = Raster::filled(160, 80, [240; 3]);
        assert_eq!(mean_and_lowest_tenth(&one, &one), (1.0, 1.0));
        let mut other = one.clone();
        other.fill([8, 8, 30, 20], [20; 3]);
        let (mean, lowest) = mean_and_lowest_tenth(&one, &other);
        assert!(lowest < mean && mean < 1.0, "{lowest} {mean}");
    }
}
