//! Shifts of a page's content from one drawing to another picture.

use crate::{
    bounds::shorter_side, element_tree::PageTree, raster::Raster, template_matching::Patch,
};

/// Maximum number of patches.
const MAX_PATCHES: usize = 240;
/// Width of a text's patches.
const CHUNK: i32 = 18;
/// Maximum length of a corner's patch along a side of its box.
const MAX_CORNER: i32 = 8;
/// Maximum shift of a patch, in pixels across and down.
pub(crate) const REACH: i32 = 34;

/// A patch of an element, and its place in the screenshot.
#[derive(Debug)]
pub(crate) struct FollowedPatch {
    pub element: usize,
    pub is_text: bool,
    /// Its middle, across and down.
    pub center: [i32; 2],
    patch: Patch,
    /// Its shift to the screenshot; `None` if it is not found.
    pub target: Option<[i32; 2]>,
    /// True if the screenshot has the same samples there.
    pub is_exact: bool,
}

/// Followed patches of a drawing.
#[derive(Debug, Default)]
pub(crate) struct ShiftField {
    pub patches: Vec<FollowedPatch>,
    /// The drawing, smoothed, so that glyphs between two pixels match.
    drawing: Raster,
}

/// Comparison of a trial's shifts with those that the screenshot asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShiftMatch {
    /// Cosine of both: 1 if all patches move in the right direction and proportion, 0 if none does.
    pub cosine: f64,
    /// The factor by which the trial's change is to be multiplied.
    pub factor: f64,
}

impl ShiftField {
    pub fn new(page: &PageTree<'_>, drawing: &Raster, screenshot: &Raster) -> Self {
        let (plain, shown) = (drawing, screenshot);
        let (drawing, screenshot) = (drawing.smoothed(), screenshot.smoothed());
        let mut boxes = Vec::new();
        for element in page.visible() {
            boxes.extend(boxes_of(page, element).into_iter().map(|(b, text)| (element, b, text)));
        }
        let step = boxes.len().div_ceil(MAX_PATCHES).max(1);
        let mut last = [0, 0];
        let patches = boxes.into_iter().step_by(step).filter_map(|(element, bounds, is_text)| {
            let patch = Patch::new(&drawing, bounds)?;
            let target = patch.find(&drawing, &screenshot, [REACH; 2], &[last]);
            last = target.unwrap_or(last);
            let is_exact = target.is_some_and(|shift| patch.is_exact(plain, shown, shift));
            let [left, top, right, bottom] = bounds;
            let center = [(left + right) / 2, (top + bottom) / 2];
            Some(FollowedPatch { element, is_text, center, patch, target, is_exact })
        });
        let patches = patches.collect();
        Self { patches, drawing }
    }

    /// Compares the shifts of a trial with the targets, if the screenshot is shifted farther by
    /// `offset` to fit it.
    pub fn compare(&self, trial: &Raster, offset: [i32; 2]) -> Option<ShiftMatch> {
        let trial = trial.smoothed();
        let (mut both, mut trials, mut targets) = (0.0, 0.0, 0.0);
        let mut last = [0, 0];
        for followed in &self.patches {
            let Some(target) = followed.target else { continue };
            // Neighbors mostly move together, and the right change moves all to their targets.
            let found = followed.patch.find(&self.drawing, &trial, [REACH; 2], &[last, target]);
            let Some(shift) = found else { continue };
            last = shift;
            for ((one, other), farther) in shift.into_iter().zip(target).zip(offset) {
                let (one, other) = (f64::from(one + farther), f64::from(other));
                both += one * other;
                trials += one * one;
                targets += other * other;
            }
        }
        (trials > 0.0 && targets > 0.0)
            .then(|| ShiftMatch { cosine: both / (trials * targets).sqrt(), factor: both / trials })
    }

    /// Patches of an element and its descendants.
    pub fn of<'field>(
        &'field self,
        page: &'field PageTree<'_>,
        ancestor: usize,
    ) -> impl Iterator<Item = &'field FollowedPatch> {
        self.patches.iter().filter(move |patch| page.contains(ancestor, patch.element))
    }

    /// Patches of an element's own text.
    pub fn texts_of(&self, element: usize) -> impl Iterator<Item = &FollowedPatch> {
        self.patches.iter().filter(move |patch| patch.is_text && patch.element == element)
    }

    /// Patches of an element's corners and images.
    pub fn corners_of(&self, element: usize) -> impl Iterator<Item = &FollowedPatch> {
        self.patches.iter().filter(move |patch| !patch.is_text && patch.element == element)
    }

    /// Shifts of the patches of an element, or else of those before and after it in the document.
    pub fn shifts_near(&self, element: usize) -> Vec<[i32; 2]> {
        let first = self.patches.partition_point(|patch| patch.element < element);
        let end = self.patches.partition_point(|patch| patch.element <= element);
        let around = if first < end { first..end } else { first.saturating_sub(1)..end + 1 };
        let near = self.patches.iter().skip(around.start).take(around.len());
        near.filter_map(|patch| patch.target).collect()
    }

    /// Growth of the content's height in pixels: the range of its shifts down, negative if the first
    /// patches move farther. Content that grows in the middle of a page moves both ways.
    pub fn growth(&self) -> f64 {
        let moved =
            self.patches.iter().filter_map(|FollowedPatch { center: [_, y], target, .. }| {
                target.map(|[_, down]| (f64::from(*y), down))
            });
        let moved: Vec<(f64, i32)> = moved.collect();
        // A mismatched patch has a shift that no other shares.
        let is_shared = |shift: i32| moved.iter().filter(|(_, other)| *other == shift).count() > 1;
        let shared: Vec<&(f64, i32)> =
            moved.iter().filter(|(_, shift)| is_shared(*shift)).collect();
        let shifts = || shared.iter().map(|(_, shift)| *shift);
        let range = f64::from(shifts().max().unwrap_or(0) - shifts().min().unwrap_or(0));
        let count = shared.len().max(1) as f64;
        let middle = shared.iter().map(|(place, _)| place).sum::<f64>() / count;
        let trend: f64 =
            shared.iter().map(|(place, shift)| (place - middle) * f64::from(*shift)).sum();
        if trend < 0.0 { -range } else { range }
    }

    /// The distinct shifts, the most frequent first.
    pub fn distinct_shifts(&self) -> Vec<[i32; 2]> {
        let mut shifts: Vec<[i32; 2]> =
            self.patches.iter().filter_map(|patch| patch.target).filter(|s| *s != [0, 0]).collect();
        shifts.sort_unstable();
        let mut runs: Vec<&[[i32; 2]]> = shifts.chunk_by(|one, other| one == other).collect();
        runs.sort_by_key(|run| std::cmp::Reverse(run.len()));
        runs.into_iter().filter_map(|run| run.first().copied()).collect()
    }
}

/// Boxes of an element's own text and of the corners of its painted box.
fn boxes_of(page: &PageTree<'_>, element: usize) -> Vec<([i32; 4], bool)> {
    let [left, top, right, bottom] = page.bounds(element);
    let mut boxes = Vec::new();
    let has_text = page.has_text(element);
    if has_text || page.element(element).is_some_and(|element| element.image.is_some()) {
        let line = page.length(element, "line-height").map_or(20, |height| height as i32);
        let line = ((f64::from(line) * page.snapshot.scale) as i32).clamp(12, 60);
        for y in (top..bottom).step_by(line as usize).take(6) {
            for x in (left..right).step_by(CHUNK as usize).take(24) {
                boxes.push(([x, y, (x + CHUNK).min(right), (y + line).min(bottom)], has_text));
            }
        }
    }
    if page.is_painted(element) {
        let corner = MAX_CORNER.min(shorter_side([left, top, right, bottom]) / 2);
        let (near_x, far_x) = ((left - 3, left + corner), (right - corner, right + 3));
        let (near_y, far_y) = ((top - 3, top + corner), (bottom - corner, bottom + 3));
        for (x0, x1) in [near_x, far_x] {
            boxes.extend([near_y, far_y].map(|(y0, y1)| ([x0, y0, x1, y1], false)));
        }
    }
    boxes
}
