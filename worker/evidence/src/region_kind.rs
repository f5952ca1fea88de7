//! The kind of difference that a region shows.

use crate::{difference::PixelDifference, patches::Patch, raster::Raster};
use juror_types::evidence::RegionKind;

/// Maximum shift of a region's content, in pixels across and down.
const REACH: [i32; 2] = [24, 24];

/// The shift of a region's content from the drawing to the screenshot; none unless all of it is
/// found.
pub(crate) fn shift_of(
    screenshot: &Raster,
    drawing: &Raster,
    bounds: [i32; 4],
) -> Option<[i32; 2]> {
    let [left, top, right, bottom] = bounds;
    let patch = Patch::new(drawing, [left - 1, top - 1, right + 1, bottom + 1])?;
    let back = Patch::new(screenshot, [left - 1, top - 1, right + 1, bottom + 1])?;
    let shift = patch.find(drawing, screenshot, REACH)?;
    let reverse = back.find(screenshot, drawing, REACH)?;
    (shift != [0, 0] && reverse == shift.map(|part| -part)).then_some(shift)
}

/// The kind of a region whose content did not only move.
pub(crate) fn classify(
    screenshot: &Raster,
    drawing: &Raster,
    difference: &PixelDifference,
    bounds: [i32; 4],
    has_text: bool,
) -> RegionKind {
    let rims = RimCounts::new(screenshot, drawing, difference, bounds);
    let all = rims.screenshot.max(rims.drawing);
    if all == 0 || f64::from(rims.both) >= 0.75 * f64::from(all) {
        return RegionKind::Color;
    }
    let few = |count: u32| f64::from(count) <= 0.04 * f64::from(all);
    match has_text {
        _ if few(rims.drawing) => RegionKind::Missing,
        _ if few(rims.screenshot) => RegionKind::Added,
        true => RegionKind::Text,
        false => RegionKind::Shape,
    }
}

/// Numbers of a region's edge pixels in each picture, and in both.
struct RimCounts {
    screenshot: u32,
    drawing: u32,
    both: u32,
}

impl RimCounts {
    fn new(
        screenshot: &Raster,
        drawing: &Raster,
        difference: &PixelDifference,
        [left, top, right, bottom]: [i32; 4],
    ) -> Self {
        let mut counts = Self { screenshot: 0, drawing: 0, both: 0 };
        for y in top..bottom {
            for x in (left..right).filter(|&x| difference.at(x, y) > 0) {
                let (one, other) = (screenshot.is_rim(x, y), drawing.is_rim(x, y));
                counts.screenshot += u32::from(one);
                counts.drawing += u32::from(other);
                counts.both += u32::from(one && other);
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::PairNoise;

    fn kind(screenshot: &Raster, drawing: &Raster) -> RegionKind {
        let difference = PixelDifference::new(screenshot, drawing, &PairNoise::NONE);
        classify(screenshot, drawing, &difference, [0, 0, 60, 40], false)
    }

    fn bars(count: u32, color: [u8; 3]) -> Raster {
        let mut picture = Raster::filled(60, 40, [255; 3]);
        for bar in 0..count {
            picture.fill([10 + bar * 8, 10, 4, 12], color);
        }
        picture
    }

    #[test]
    fn kinds_follow_from_rims() {
        let plain = bars(0, [0; 3]);
        assert_eq!(kind(&bars(4, [200, 0, 0]), &bars(4, [0, 0, 200])), RegionKind::Color);
        assert_eq!(kind(&bars(4, [0; 3]), &plain), RegionKind::Missing);
        assert_eq!(kind(&plain, &bars(4, [0; 3])), RegionKind::Added);
    }

    #[test]
    fn content_elsewhere_has_moved() {
        let drawing = bars(4, [0; 3]);
        let screenshot = drawing.window([3, 5], [60, 40], [255; 3]);
        assert_eq!(shift_of(&screenshot, &drawing, [8, 8, 45, 30]), Some([3, 5]));
        assert_eq!(shift_of(&drawing, &drawing, [8, 8, 45, 30]), None);
    }
}
