//! The viewport in which a page was drawn for a screenshot that shows a further margin beside it.

use crate::{
    content_box::{content_box, in_scale_of},
    raster::Raster,
    screenshot_shift::{MAX_SHIFT, is_along_one_axis, shifts_of_edges},
    shapes::{DrawnShape, shapes_of},
};
use juror_types::evidence::Evidence;
use std::collections::VecDeque;

/// Maximum number of drawings in other viewports.
const MAX_DRAWINGS: usize = 12;
/// Minimum side of a viewport, as a part of the first one's: a margin is no larger.
const MIN_PART: u32 = 4;

/// A search for the viewport in which a page fits its screenshot best, in CSS pixels: a page that
/// fills its viewport was narrower when a screenshot was taken that shows a margin beside it.
///
/// The first viewports are without a measured margin: the shift of the pair, the distance of both
/// contents, where content begins at the left and the top, the shift with which most edges are in
/// their places, and twice that, where it lies in the middle of the page. From the best of them, the
/// search goes on by single pixels while that fits better.
#[derive(Clone, Debug)]
pub struct ViewportSearch {
    waiting: VecDeque<[u32; 2]>,
    tried: Vec<[u32; 2]>,
    best: [u32; 2],
    /// Size of the screenshot, in CSS pixels.
    screenshot: [u32; 2],
    /// Number of pixels that differ in the best viewport.
    fewest_differing: f64,
    /// Width of the content beyond the right edge of the first viewport: what a narrower one cuts
    /// off is not compared.
    cut_off: u32,
    /// The viewport whose neighbors wait or were tried.
    center: [u32; 2],
    has_differences: bool,
}

impl ViewportSearch {
    /// A search that begins with the drawing of a page in a viewport, which has content of this
    /// size; it proposes no other unless the pair is of different origin, differs, and has another
    /// margin.
    pub fn new(
        screenshot: &Raster,
        drawing: &Raster,
        evidence: &Evidence,
        viewport: [u32; 2],
        content: [u32; 2],
    ) -> Self {
        let screenshot = &in_scale_of(drawing, screenshot);
        let margins =
            match evidence.regions.is_empty() || is_of_one_browser(screenshot, drawing, evidence) {
                true => Vec::new(),
                false => margins(screenshot, drawing, evidence),
            };
        let size = screenshot.size();
        let mut search = Self {
            waiting: VecDeque::new(),
            tried: vec![viewport],
            best: viewport,
            screenshot: size,
            fewest_differing: differing(evidence, viewport, size),
            cut_off: cut_off(viewport, content),
            center: viewport,
            has_differences: !evidence.regions.is_empty(),
        };
        for margin in margins.into_iter().filter(|margin| !is_along_one_axis(*margin)) {
            search.propose(margin.map(|part| -part.max(0)));
        }
        search
    }

    /// The next viewport to draw the page in; `None` at the end of the search.
    pub fn next_viewport(&mut self) -> Option<[u32; 2]> {
        if !self.has_differences || self.tried.len() > MAX_DRAWINGS {
            return None;
        }
        if self.waiting.is_empty() && self.center != self.best {
            self.center = self.best;
            for step in [[-1, 0], [1, 0], [0, -1], [0, 1]] {
                self.propose(step);
            }
        }
        let viewport = self.waiting.pop_front()?;
        self.tried.push(viewport);
        Some(viewport)
    }

    /// True if the page fits better in the last proposed viewport, by its evidence, than in any
    /// before. `content` is the size of its content there.
    pub fn add_fit(&mut self, evidence: &Evidence, content: [u32; 2]) -> bool {
        let Some(&viewport) = self.tried.last() else { return false };
        let differing = differing(evidence, viewport, self.screenshot);
        let is_better =
            differing < self.fewest_differing && cut_off(viewport, content) <= self.cut_off;
        if is_better {
            (self.best, self.fewest_differing) = (viewport, differing);
            self.has_differences = !evidence.regions.is_empty();
            let is_neighbor = self.tried.first() != Some(&self.center);
            if is_neighbor {
                self.waiting.clear();
            }
        }
        is_better
    }

    /// Lets a viewport wait that is this much larger than the center.
    fn propose(&mut self, [across, down]: [i32; 2]) {
        let [width, height] = self.center;
        let viewport = [width.saturating_add_signed(across), height.saturating_add_signed(down)];
        let first = self.tried.first().copied().unwrap_or(viewport);
        let is_large = viewport.iter().zip(first).all(|(side, first)| side * MIN_PART >= first);
        if is_large && !self.tried.contains(&viewport) && !self.waiting.contains(&viewport) {
            self.waiting.push_back(viewport);
        }
    }
}

/// Number of pixels that differ, over both pictures: their share is smaller in a larger viewport,
/// and a smaller one shows fewer of the screenshot's.
fn differing(evidence: &Evidence, viewport: [u32; 2], screenshot: [u32; 2]) -> f64 {
    let sides = viewport.iter().zip(screenshot).map(|(side, own)| f64::from((*side).max(own)));
    (1.0 - evidence.pixels_equal) * sides.product::<f64>()
}

fn cut_off([width, _]: [u32; 2], [content, _]: [u32; 2]) -> u32 {
    content.saturating_sub(width)
}

/// True if pictures without a shift are of one browser: a shape of the drawing is in the screenshot
/// exactly.
fn is_of_one_browser(screenshot: &Raster, drawing: &Raster, evidence: &Evidence) -> bool {
    if evidence.noise > 0.0 || evidence.shift != [0, 0] {
        return false;
    }
    let shapes = shapes_of(drawing);
    // A change of a page's padding moves all of it.
    let has_moved = |shape: &DrawnShape| shape.is_changed_exactly(MAX_SHIFT, drawing, screenshot);
    shapes.is_empty()
        || shapes.iter().any(|shape| shape.is_in_place(drawing, screenshot))
        || shapes.iter().any(has_moved)
}

/// Possible margins to the left of the content and above it, in CSS pixels, the likeliest first.
fn margins(screenshot: &Raster, drawing: &Raster, evidence: &Evidence) -> Vec<[i32; 2]> {
    let begins = match (content_box(screenshot), content_box(drawing)) {
        (Some([x, y, ..]), Some([own_x, own_y, ..])) => [x - own_x, y - own_y],
        _ => [0, 0],
    };
    let shift = evidence.shift.map(|part| part / evidence.scale.max(1) as i32);
    let [across, down] = shifts_of_edges(screenshot, drawing);
    let edges = [across, down].map(|shifts| shifts.first().copied().unwrap_or_default());
    let middle = |margin: [i32; 2]| margin.map(|part| 2 * part);
    vec![shift, begins, middle(begins), edges, middle(edges)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture_pair::PicturePair;
    use juror_types::evidence::EvidenceSource;

    /// A page that fills its viewport: a bar across it and letters at its right.
    fn page([width, height]: [u32; 2]) -> Raster {
        let mut picture = Raster::filled(width, height, [250; 3]);
        picture.fill([10, 10, width - 20, 20], [20, 60, 160]);
        for letter in 0..12 {
            for step in 0..6 {
                let ink = [40 + 20 * step as u8; 3];
                picture.fill([width - 140 + letter * 10 + step, 50, 1, 6 + step], ink);
                picture.fill([width - 140 + letter * 10 + step, 80, 1, 6 + step], ink);
            }
        }
        picture
    }

    fn evidence(screenshot: &Raster, drawing: &Raster) -> Evidence {
        PicturePair::new(screenshot, drawing).measure(EvidenceSource::Browser, None)
    }

    /// The best viewport, and the number of those that were tried.
    fn searched(screenshot: &Raster, viewport: [u32; 2]) -> ([u32; 2], usize) {
        let drawing = page(viewport);
        let first = evidence(screenshot, &drawing);
        let mut search = ViewportSearch::new(screenshot, &drawing, &first, viewport, viewport);
        let mut best = viewport;
        while let Some(viewport) = search.next_viewport() {
            if search.add_fit(&evidence(screenshot, &page(viewport)), viewport) {
                best = viewport;
            }
        }
        (best, search.tried.len() - 1)
    }

    #[test]
    fn a_page_beside_a_margin_is_drawn_without_it() {
        let screenshot = page([300, 120]).smoothed().window([9, 6], [309, 126], [250; 3]);
        let ([width, _], tried) = searched(&screenshot, [309, 126]);
        assert_eq!(width, 300, "after {tried} viewports");
    }

    #[test]
    fn pictures_of_one_browser_and_equal_ones_are_not_drawn_again() {
        let mut changed = page([300, 120]);
        changed.fill([10, 10, 100, 20], [160, 60, 20]);
        assert_eq!(searched(&changed, [300, 120]), ([300, 120], 0));
        assert_eq!(searched(&page([300, 120]).smoothed(), [300, 120]), ([300, 120], 0));
    }

    #[test]
    fn a_narrower_viewport_cuts_nothing_off() {
        let (screenshot, drawing) = (page([300, 120]).smoothed(), page([309, 126]));
        let mut first = evidence(&screenshot, &drawing);
        first.shift = [9, 6];
        let mut search = ViewportSearch::new(&screenshot, &drawing, &first, [309, 126], [309, 126]);
        let viewport = search.next_viewport().unwrap();
        let mut fitting = evidence(&screenshot, &page(viewport));
        fitting.pixels_equal = 1.0;
        assert!(!search.add_fit(&fitting, [309, 126]));
        assert!(search.add_fit(&fitting, viewport));
    }

    #[test]
    fn a_viewport_that_leaves_most_of_the_screenshot_out_does_not_fit() {
        let (screenshot, drawing) = (page([300, 120]).smoothed(), page([309, 126]));
        let first = evidence(&screenshot, &drawing);
        let mut search = ViewportSearch::new(&screenshot, &drawing, &first, [309, 126], [309, 126]);
        search.propose([0, -125]);
        search.propose([-280, 0]);
        assert!(search.waiting.iter().all(|[width, height]| *width > 77 && *height > 31));
        search.tried.push([309, 40]);
        let mut strip = first.clone();
        strip.pixels_equal = 0.5;
        assert!(!search.add_fit(&strip, [309, 40]));
    }

    #[test]
    fn a_search_ends_where_nothing_fits() {
        let mut screenshot = page([300, 120]).smoothed().window([9, 6], [309, 126], [250; 3]);
        screenshot.fill([0, 45, 309, 60], [90, 200, 90]);
        assert!(searched(&screenshot, [309, 126]).1 <= MAX_DRAWINGS);
    }
}
