//! Evidence of a pair of pictures.

use crate::{
    align::Alignment,
    blocks::compare_blocks,
    bounds::{area, boxed, shifted, shorter_side},
    difference::PixelDifference,
    element_tree::PageTree,
    measure_noise::noise_compressed_alike,
    pair_noise::MAX_NOISY_SHIFT,
    pasted_screenshot::pastes_screenshot,
    raster::Raster,
    regions::{DifferenceRegion, MAX_REGIONS, find_regions, mean_delta_e},
    similarity,
    snapshot::Snapshot,
};
use juror_types::evidence::{Evidence, EvidenceRegion, EvidenceSource, PixelBox, RegionKind};

/// A screenshot and the drawing that was fitted to it.
#[derive(Debug)]
pub struct PicturePair<'pictures> {
    pub(crate) alignment: Alignment,
    pub(crate) drawing: &'pictures Raster,
    /// Width and height of the screenshot in its own pixels.
    size: [f64; 2],
    size_ratio: Option<[f64; 2]>,
}

impl<'pictures> PicturePair<'pictures> {
    /// Fits a drawing to a screenshot and measures the noise of the pair.
    pub fn new(screenshot: &Raster, drawing: &'pictures Raster) -> Self {
        let alignment = Alignment::new(screenshot, drawing);
        let size = screenshot.size().map(f64::from);
        let [width, height] =
            drawing.size().map(|side| f64::from(side) * f64::from(alignment.scale));
        let [own_width, own_height] = size.map(|side| side.max(1.0));
        let ratio = [width / own_width, height / own_height];
        let is_equal = ratio.iter().all(|ratio| (ratio - 1.0).abs() < 1e-9);
        let size_ratio = (!is_equal).then(|| ratio.map(rounded));
        Self { alignment, drawing, size, size_ratio }
    }

    /// Fits a drawing of the screenshot's size that was compressed as the screenshot.
    pub fn compressed_alike(screenshot: &Raster, drawing: &'pictures Raster) -> Self {
        let mut pair = Self::new(screenshot, drawing);
        let Alignment { noise, screenshot, .. } = &mut pair.alignment;
        *noise = noise_compressed_alike(*noise, screenshot, drawing);
        pair
    }

    /// The difference of the pair beyond its noise.
    pub(crate) fn difference(&self, page: Option<&PageTree<'_>>) -> PixelDifference<'_> {
        let Alignment { screenshot, noise, .. } = &self.alignment;
        PixelDifference::for_page(screenshot, self.drawing, noise, page)
    }

    /// Numbers and regions of the pair. With a snapshot, regions name elements.
    pub fn measure(&self, source: EvidenceSource, snapshot: Option<&Snapshot>) -> Evidence {
        let (Alignment { screenshot, noise, scale, .. }, drawing) = (&self.alignment, self.drawing);
        let page = snapshot.map(PageTree::new);
        let difference = self.difference(page.as_ref());
        let regions = find_regions(&difference, noise, page.as_ref());
        let differing = difference.count() as f64 + self.pixels_outside();
        let (ssim, ssim_low) = similarity::mean_and_lowest_tenth(screenshot, drawing);
        let blocks = compare_blocks(screenshot, drawing);
        let missing = self.missing_outside();
        let places = MAX_REGIONS - usize::from(missing.is_some());
        let records = regions.iter().take(places).chain(&missing);
        let records = records.map(|region| self.record(region, page.as_ref()));
        Evidence {
            scale: *scale,
            shift: self.alignment.shift.map(|part| part * *scale as i32),
            size_ratio: self.size_ratio,
            overflow: snapshot.and_then(|snapshot| self.overflow(snapshot)),
            noise: noise.share,
            noise_levels: (!noise.is_none()).then_some(noise.flat_levels),
            pixels_equal: rounded(1.0 - differing / self.compared_pixels()),
            ssim: rounded(ssim),
            ssim_low: rounded(ssim_low),
            block_match: blocks.matched.map(rounded),
            block_position: blocks.position.map(rounded),
            delta_e: rounded(mean_delta_e(&difference, drawing.bounds())),
            pastes_screenshot: page
                .as_ref()
                .is_some_and(|page| pastes_screenshot(screenshot, drawing, page)),
            regions: records.collect(),
            ..Evidence::for_equal_pictures(source)
        }
    }

    pub(crate) fn record(
        &self,
        region: &DifferenceRegion,
        page: Option<&PageTree<'_>>,
    ) -> EvidenceRegion {
        let scale = self.alignment.scale;
        let element = page.zip(region.element);
        EvidenceRegion {
            place: self.screenshot_box(region.bounds),
            render_box: boxed(region.bounds, 1),
            share: rounded(f64::from(region.count) / self.compared_pixels()),
            delta_e: rounded(region.delta_e),
            kind: region.kind,
            moved_by: region.moved_by.map(|way| way.map(|part| part * scale as i32)),
            element: element.and_then(|(page, element)| page.record(element, 1, scale)),
            property: None,
            is: None,
            should_be: None,
            explains: None,
            alternatives: Vec::new(),
        }
    }

    /// Number of the drawing's pixels and of those of the screenshot's content outside it.
    pub(crate) fn compared_pixels(&self) -> f64 {
        (area(self.drawing.bounds()) + self.pixels_outside()).max(1.0)
    }

    fn pixels_outside(&self) -> f64 {
        self.alignment.outside.map_or(0.0, |content| content.count as f64)
    }

    /// The screenshot's content that lies outside the drawing, unless noise may have put it there.
    fn missing_outside(&self) -> Option<DifferenceRegion> {
        let content = self.alignment.outside?;
        let is_thin = shorter_side(content.bounds) <= MAX_NOISY_SHIFT;
        let is_noise = !self.alignment.noise.is_none() && is_thin;
        (!is_noise).then_some(DifferenceRegion {
            bounds: content.bounds,
            count: content.count as u32,
            delta_e: content.mean_delta_e(),
            kind: RegionKind::Missing,
            moved_by: None,
            element: None,
        })
    }

    /// Bounds in the drawing, converted to a box of the screenshot.
    pub(crate) fn screenshot_box(&self, bounds: [i32; 4]) -> PixelBox {
        boxed(shifted(bounds, self.alignment.shift), self.alignment.scale)
    }

    /// Pixels by which a page that is larger than its viewport goes on beyond the screenshot.
    fn overflow(&self, snapshot: &Snapshot) -> Option<[u32; 2]> {
        let scale = f64::from(self.alignment.scale);
        let beyond = |content: u32, viewport: u32, shift: i32, size: f64| {
            let end = (f64::from(content) * snapshot.scale + f64::from(shift)) * scale;
            if content > viewport { (end - size).max(0.0) as u32 } else { 0 }
        };
        let ([width, height], [right, down]) = (snapshot.content, self.alignment.shift);
        let [own_width, own_height] = self.size;
        let overflow = [
            beyond(width, snapshot.width, right, own_width),
            beyond(height, snapshot.height, down, own_height),
        ];
        (overflow != [0, 0]).then_some(overflow)
    }
}

/// A value rounded to six decimals, which keeps records small.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(button: [u8; 3]) -> Raster {
        let mut picture = Raster::filled(320, 200, [248; 3]);
        picture.fill([20, 20, 120, 14], [20; 3]);
        picture.fill([20, 60, 80, 30], button);
        picture
    }

    #[test]
    fn equal_pictures_have_no_region() {
        let picture = page([37, 99, 235]);
        let evidence = PicturePair::new(&picture, &picture).measure(EvidenceSource::Rendered, None);
        let expected = Evidence {
            block_match: Some(1.0),
            block_position: Some(1.0),
            ..Evidence::for_equal_pictures(EvidenceSource::Rendered)
        };
        assert_eq!(evidence, expected);
    }

    #[test]
    fn a_block_that_was_rounded_otherwise_is_no_difference_of_pictures_compressed_alike() {
        let drawing = page([37, 99, 235]);
        let mut screenshot = drawing.clone();
        screenshot.fill([24, 64, 8, 8], [42, 95, 231]);
        screenshot.fill([160, 20, 1, 1], [239; 3]);
        let regions =
            |pair: PicturePair<'_>| pair.measure(EvidenceSource::Browser, None).regions.len();
        let alike = |screenshot| regions(PicturePair::compressed_alike(screenshot, &drawing));
        assert!(regions(PicturePair::new(&screenshot, &drawing)) > 0);
        assert_eq!(alike(&screenshot), 0);
        assert_eq!(alike(&page([47, 109, 235])), 1);
    }

    #[test]
    fn another_color_is_one_region_on_its_box() {
        let (screenshot, drawing) = (page([29, 78, 216]), page([37, 99, 235]));
        let evidence =
            PicturePair::new(&screenshot, &drawing).measure(EvidenceSource::Browser, None);
        let [region] = evidence.regions.as_slice() else { panic!("{:?}", evidence.regions) };
        assert_eq!((region.place, region.kind), ([20, 60, 80, 30], RegionKind::Color));
        assert_eq!(evidence.pixels_equal, 1.0 - 2400.0 / 64000.0);
        assert!((5.0..8.0).contains(&region.delta_e));
        assert_eq!(rounded(region.share), 0.0375);
    }

    #[test]
    fn content_that_the_drawing_lacks_is_not_shifted_out_of_it() {
        let mut screenshot = Raster::filled(320, 100, [248; 3]);
        screenshot.fill([0, 0, 320, 60], [20, 30, 60]);
        screenshot.fill([0, 0, 1, 1], [248; 3]);
        let mut drawing = Raster::filled(320, 100, [248; 3]);
        drawing.fill([8, 8, 40, 12], [20; 3]);
        let evidence =
            PicturePair::new(&screenshot, &drawing).measure(EvidenceSource::Browser, None);
        assert_eq!(evidence.shift, [0, 0]);
        assert!(evidence.pixels_equal < 0.45, "{}", evidence.pixels_equal);
        let smaller = drawing.window([0, 0], [160, 50], [248; 3]);
        let evidence =
            PicturePair::new(&screenshot, &smaller).measure(EvidenceSource::Rendered, None);
        assert!(evidence.pixels_equal < 0.45, "{}", evidence.pixels_equal);
    }

    #[test]
    fn content_beyond_a_small_drawing_is_missing() {
        let screenshot = page([37, 99, 235]);
        let strip = screenshot.window([0, 0], [320, 40], [248; 3]);
        let evidence = PicturePair::new(&screenshot, &strip).measure(EvidenceSource::Browser, None);
        let [region] = evidence.regions.as_slice() else { panic!("{:?}", evidence.regions) };
        assert_eq!((region.place, region.kind), ([20, 60, 80, 30], RegionKind::Missing));
        assert!((region.share - (1.0 - evidence.pixels_equal)).abs() < 1e-5, "{}", region.share);
    }

    #[test]
    fn overflow_is_counted_from_the_edges_of_the_screenshot() {
        let drawing = page([37, 99, 235]);
        let larger = drawing.window([8, 5], [336, 210], [248; 3]);
        let snapshot = Snapshot::of_texts(&[[20, 20, 120, 14]]);
        let overflow = |screenshot: &Raster, content: [u32; 2]| {
            let snapshot = Snapshot { width: 320, height: 200, content, ..snapshot.clone() };
            let pair = PicturePair::new(screenshot, &drawing);
            pair.measure(EvidenceSource::Browser, Some(&snapshot)).overflow
        };
        assert_eq!(overflow(&drawing, [320, 200]), None);
        assert_eq!(overflow(&drawing, [330, 1_700]), Some([10, 1_500]));
        assert_eq!(overflow(&larger, [320, 205]), None);
        assert_eq!(overflow(&larger, [320, 215]), Some([0, 10]));
    }

    #[test]
    fn levels_of_rounding_are_no_region() {
        let drawing = page([37, 99, 235]);
        let mut screenshot = drawing.clone();
        screenshot.fill([0, 0, 100, 100], [250, 246, 248]);
        screenshot.fill([20, 20, 120, 14], [22, 18, 20]);
        screenshot.fill([20, 60, 80, 30], [37, 101, 233]);
        let evidence =
            PicturePair::new(&screenshot, &drawing).measure(EvidenceSource::Browser, None);
        assert_eq!(evidence.regions, []);
    }
}
