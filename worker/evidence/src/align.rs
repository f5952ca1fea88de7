//! Fits a drawing to its screenshot: scale, shift, size.

use crate::{
    content_box::{OutsideContent, border_color, content_outside, in_scale_of},
    measure_noise::{MeasuredNoise, measure_noise},
    pair_noise::PairNoise,
    raster::Raster,
    screenshot_shift::{ShiftedScreenshot, is_along_one_axis, measure_shift},
};
use std::borrow::Cow;

/// Alignment of a drawing on its screenshot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Alignment {
    /// Pixels of the screenshot for each of the drawing, 1 or 2.
    pub scale: u32,
    /// The drawing's shift to the right and down, in its pixels.
    pub shift: [i32; 2],
    /// The screenshot as a picture of the drawing's size.
    pub screenshot: Raster,
    /// The screenshot before it was shifted; `None` if it was not.
    pub unshifted: Option<ShiftedScreenshot>,
    pub noise: PairNoise,
    /// Content of the screenshot that lies outside the drawing.
    pub outside: Option<OutsideContent>,
}

impl Alignment {
    /// The fit of a drawing to its screenshot.
    ///
    /// In pictures of one size and one browser, a shift is a difference and is not compensated. In
    /// those of one size and two browsers, a shift along one axis alone is not compensated either:
    /// another margin shifts along both. Once shifted, pictures of two browsers show their noise.
    pub fn new(screenshot: &Raster, drawing: &Raster) -> Self {
        let screenshot = in_scale_of(drawing, screenshot);
        let scale = if let Cow::Owned(_) = screenshot { 2 } else { 1 };
        let size = drawing.size();
        let has_same_size = size == screenshot.size();
        let in_place = has_same_size.then(|| measure_noise(&screenshot, drawing));
        let unshifted = |screenshot, noise, outside| Self {
            scale,
            shift: [0, 0],
            screenshot,
            unshifted: None,
            noise,
            outside,
        };
        let is_one_browser =
            |measured: &MeasuredNoise| measured.noise.is_none() && measured.has_equal_shapes;
        let shift = match in_place.as_ref().is_some_and(is_one_browser) {
            true => [0, 0],
            false => measure_shift(&screenshot, drawing),
        };
        if shift != [0, 0] {
            let shifted = screenshot.window(shift.map(|part| -part), size, border_color(drawing));
            let measured = measure_noise(&shifted, drawing);
            let was_exact = in_place.is_some_and(|in_place| in_place.noise.is_none());
            if has_same_size && is_along_one_axis(shift) {
                return unshifted(screenshot.into_owned(), measured.noise, None);
            }
            if !(was_exact && is_one_browser(&measured)) {
                let noise = measured.noise;
                let outside = content_outside(&screenshot, drawing, shift);
                let unshifted = Some(ShiftedScreenshot { whole: screenshot.into_owned(), shift });
                return Self { scale, shift, screenshot: shifted, unshifted, noise, outside };
            }
        }
        let outside = content_outside(&screenshot, drawing, [0, 0]);
        let screenshot = match in_place {
            Some(_) => screenshot.into_owned(),
            None => screenshot.window([0, 0], size, border_color(drawing)),
        };
        let measured = in_place.unwrap_or_else(|| measure_noise(&screenshot, drawing));
        unshifted(screenshot, measured.noise, outside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(left: u32, top: u32) -> Raster {
        let mut picture = Raster::filled(200, 120, [250; 3]);
        picture.fill([left, top, 90, 60], [255; 3]);
        picture.fill([left + 10, top + 10, 50, 8], [20; 3]);
        picture.fill([left + 10, top + 30, 30, 14], [30, 80, 200]);
        picture
    }

    #[test]
    fn another_margin_is_a_shift() {
        let larger = card(38, 29).window([0, 0], [216, 130], [250; 3]);
        let alignment = Alignment::new(&larger, &card(30, 24));
        assert_eq!((alignment.scale, alignment.shift), (1, [8, 5]));
        assert_eq!(Alignment::new(&card(38, 29), &card(30, 24)).shift, [0, 0]);
        assert_eq!(alignment.screenshot.at(40, 34), [20; 3]);
    }

    #[test]
    fn what_grew_in_the_middle_of_another_margin_is_not_taken_for_it() {
        let mut grown = Raster::filled(200, 120, [250; 3]);
        grown.fill([26, 20, 98, 68], [255; 3]);
        grown.fill([40, 34, 50, 8], [20; 3]);
        grown.fill([40, 54, 30, 14], [30, 80, 200]);
        let larger = grown.window([7, 5], [207, 125], [250; 3]);
        assert_eq!(Alignment::new(&larger, &card(30, 24)).shift, [7, 5]);
    }

    /// Letters of several levels, which a smoothed copy shows otherwise throughout.
    fn letters(left: u32, top: u32) -> Raster {
        let mut picture = Raster::filled(240, 200, [255; 3]);
        for (line, word) in (0..6).flat_map(|line| (0..6).map(move |word| (line, word))) {
            for step in 0..6 {
                let place = [left + word * 20 + step, top + line * 20, 1, 4 + step];
                picture.fill(place, [30 + 20 * step as u8; 3]);
            }
        }
        picture
    }

    #[test]
    fn in_two_browsers_content_moved_along_one_axis_was_moved_by_its_page() {
        let drawing = letters(30, 40);
        let aligned = |left, top| Alignment::new(&letters(left, top).smoothed(), &drawing);
        let moved = aligned(30, 52);
        assert_eq!((moved.shift, moved.unshifted), ([0, 0], None));
        assert!(!moved.noise.is_none());
        // A smoothed copy lies up to a pixel off.
        let is_shifted = |left, top, shift: [i32; 2]| {
            aligned(left, top).shift.iter().zip(shift).all(|(own, part)| (own - part).abs() <= 1)
        };
        assert!(is_shifted(38, 52, [8, 12]));
        assert!(is_shifted(30, 42, [0, 2]));
    }

    #[test]
    fn what_moved_alone_is_no_shift() {
        let mut moved = card(30, 24);
        moved.fill([40, 34, 50, 8], [255; 3]);
        moved.fill([43, 34, 50, 8], [20; 3]);
        assert_eq!(Alignment::new(&moved, &card(30, 24)).shift, [0, 0]);
    }

    #[test]
    fn a_screenshot_of_twice_the_size_is_halved() {
        let mut double = Raster::filled(400, 240, [250; 3]);
        double.fill([60, 48, 180, 120], [255; 3]);
        double.fill([80, 68, 100, 16], [20; 3]);
        double.fill([80, 108, 60, 28], [30, 80, 200]);
        let alignment = Alignment::new(&double, &card(30, 24));
        assert_eq!((alignment.scale, alignment.shift), (2, [0, 0]));
        assert_eq!(alignment.screenshot, card(30, 24));
    }
}
