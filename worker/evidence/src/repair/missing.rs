//! Content that a screenshot shows and a drawing lacks: no change of a length can add it, though
//! some make space for it.

use super::{
    changeable_length::LengthProperty as P,
    hypothesis::{Hypothesis, HypothesisKind},
};
use crate::{
    bounds::{area, grown, intersection, union},
    difference::PixelDifference,
    element_tree::PageTree,
    raster::Raster,
    shapes::contours_of,
    template_matching::Patch,
};

/// Maximum distance of a shape's place in the drawing, in pixels across and down.
const REACH: [i32; 2] = [40, 160];
/// Maximum number of edge pixels in a missing shape's place, relative to those of the shape.
const MAX_EDGE_PIXELS: f64 = 0.4;
/// Minimum number of edge pixels of a line.
const MIN_EDGE_PIXELS: usize = 12;
/// Maximum distance of missing shapes that are reported as one, in pixels.
const JOINED: i32 = 12;
/// Maximum number of shapes that are searched for.
const MAX_SHAPES: usize = 60;

/// A shape of the screenshot that a drawing lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MissingShape {
    /// Left, top, right and bottom in pixels of the drawing.
    pub bounds: [i32; 4],
    pub edge_pixels: usize,
}

impl MissingShape {
    /// True if a drawing has content in its place.
    fn is_covered(&self, drawing: &Raster) -> bool {
        drawing.edge_pixels_in(self.bounds) as f64 > MAX_EDGE_PIXELS * self.edge_pixels as f64
    }
}

/// Shapes of a screenshot that are searched for in drawings.
#[derive(Clone, Debug)]
pub(crate) struct ShownShapes {
    shapes: Vec<MissingShape>,
    smoothed: Raster,
}

impl ShownShapes {
    pub fn new(screenshot: &Raster) -> Self {
        let shapes = contours_of(screenshot).into_iter();
        let shapes = shapes
            .map(|shape| MissingShape { bounds: shape.bounds(), edge_pixels: shape.edge_pixels });
        Self { shapes: shapes.collect(), smoothed: screenshot.smoothed() }
    }

    /// The same with each line of a text by itself: lines lie so near to each other that they are
    /// one shape, and one of them may be missing.
    pub fn with_lines(screenshot: &Raster) -> Self {
        let shapes = Self::new(screenshot);
        let lines = shapes.shapes.iter().flat_map(|shape| lines_of(screenshot, shape.bounds));
        Self { shapes: lines.collect(), ..shapes }
    }

    /// Shapes that the drawing of this difference lacks: their place is empty, and they are not found
    /// near it.
    pub fn missing_in(&self, difference: &PixelDifference<'_>) -> Vec<MissingShape> {
        let drawing = difference.drawing;
        let is_bare = |shape: &&MissingShape| {
            difference.count_in(shape.bounds) * 2 > shape.edge_pixels && !shape.is_covered(drawing)
        };
        let mut bare = self.shapes.iter().filter(is_bare).take(MAX_SHAPES).peekable();
        if bare.peek().is_none() {
            return Vec::new();
        }
        let smoothed = drawing.smoothed();
        bare.filter(|shape| self.is_lost(shape, &smoothed)).copied().collect()
    }

    /// True if a drawing has other content in the place of one of these shapes and still lacks the
    /// shape.
    pub fn are_covered(&self, missing: &[MissingShape], drawing: &Raster) -> bool {
        let mut taken = missing.iter().filter(|shape| shape.is_covered(drawing)).peekable();
        taken.peek().is_some() && {
            let smoothed = drawing.smoothed();
            taken.any(|shape| self.is_lost(shape, &smoothed))
        }
    }

    fn is_lost(&self, shape: &MissingShape, smoothed: &Raster) -> bool {
        let patch = Patch::new(&self.smoothed, grown(shape.bounds, 1));
        patch.is_some_and(|patch| patch.find(&self.smoothed, smoothed, REACH, &[]).is_none())
    }
}

/// Boxes of missing shapes; adjacent ones are merged.
pub(crate) fn joined(shapes: &[MissingShape]) -> Vec<[i32; 4]> {
    let mut boxes: Vec<[i32; 4]> = Vec::new();
    for shape in shapes {
        let near = grown(shape.bounds, JOINED);
        let is_beside = |other: &[i32; 4]| area(intersection(near, *other)) > 0.0;
        let (beside, apart): (Vec<_>, Vec<_>) = boxes.into_iter().partition(is_beside);
        boxes = apart;
        boxes.push(beside.into_iter().fold(shape.bounds, union));
    }
    boxes
}

/// True if a change of a page makes space for a shape.
pub(crate) fn adds_space_for(
    page: &PageTree<'_>,
    change: &Hypothesis,
    shape: &MissingShape,
) -> bool {
    let HypothesisKind::Length { property, delta } = change.kind else { return false };
    if !property.is_space() {
        return false;
    }
    change.change.elements.iter().any(|&element| {
        let bounds = page.bounds(element);
        let scaled = |length: f64| (length.abs() * page.snapshot.scale).ceil() as i32;
        let outer = grown(bounds, scaled(delta));
        let is_inside = |inner: [i32; 4]| intersection(inner, shape.bounds) == shape.bounds;
        let is_apart = match property {
            P::Padding | P::PaddingBlock | P::PaddingInline => {
                is_inside(page.content_bounds(element))
            }
            other => other.is_margin() && is_inside(bounds),
        };
        area(intersection(outer, shape.bounds)) > 0.0 && !is_apart
    })
}

/// The parts of a shape between rows without edges.
fn lines_of(screenshot: &Raster, [left, top, right, bottom]: [i32; 4]) -> Vec<MissingShape> {
    let rows = top..bottom;
    let counts: Vec<usize> =
        rows.map(|y| screenshot.edge_pixels_in([left, y, right, y + 1])).collect();
    let mut lines = Vec::new();
    let mut place = top;
    for line in counts.chunk_by(|above, below| (*above > 0) == (*below > 0)) {
        let end = place + line.len() as i32;
        let edge_pixels = line.iter().sum();
        if edge_pixels >= MIN_EDGE_PIXELS {
            lines.push(MissingShape { bounds: [left, place, right, end], edge_pixels });
        }
        place = end;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        pair_noise::PairNoise,
        snapshot::{Snapshot, SnapshotElement},
    };

    /// A label and, if its place is given, an icon.
    fn button(label: [u32; 2], icon: Option<[u32; 2]>) -> Raster {
        let mut picture = Raster::filled(240, 80, [255; 3]);
        let [x, y] = label;
        for letter in 0..6 {
            picture.fill([x + letter * 8, y, 5, 3 + letter], [20; 3]);
        }
        if let Some([x, y]) = icon {
            picture.fill([x, y, 14, 3], [200, 0, 0]);
            picture.fill([x + 5, y, 4, 14], [200, 0, 0]);
        }
        picture
    }

    fn missing(screenshot: &Raster, drawing: &Raster) -> Vec<[i32; 4]> {
        let difference = PixelDifference::new(screenshot, drawing, &PairNoise::NONE);
        joined(&ShownShapes::new(screenshot).missing_in(&difference))
    }

    #[test]
    fn what_is_elsewhere_or_in_another_color_is_not_missing() {
        let screenshot = button([60, 30], Some([30, 28]));
        assert_eq!(missing(&screenshot, &button([60, 30], None)), [[28, 24, 44, 44]]);
        assert_eq!(missing(&screenshot, &button([40, 30], None)), [[28, 24, 44, 44]]);
        assert_eq!(missing(&screenshot, &button([64, 30], Some([40, 28]))).len(), 0);
        assert_eq!(missing(&button([60, 30], None), &screenshot).len(), 0);
        let mut recolored = screenshot.clone();
        recolored.fill([30, 28, 14, 3], [0, 90, 0]);
        assert_eq!(missing(&screenshot, &recolored).len(), 0);
    }

    #[test]
    fn one_of_two_lines_is_missing() {
        let page = |tops: &[u32]| {
            let mut picture = Raster::filled(240, 80, [255; 3]);
            for &top in tops {
                for letter in 0..12 {
                    picture.fill([40 + letter * 8, top, 5, 3 + (letter + top) % 9], [20; 3]);
                }
            }
            picture
        };
        let (screenshot, drawing) = (page(&[20, 34]), page(&[34]));
        let difference = PixelDifference::new(&screenshot, &drawing, &PairNoise::NONE);
        let found = |shown: ShownShapes| joined(&shown.missing_in(&difference));
        assert_eq!(found(ShownShapes::with_lines(&screenshot)), [[36, 19, 136, 31]]);
        assert_eq!(found(ShownShapes::new(&screenshot)).len(), 0, "both lines are one shape");
    }

    #[test]
    fn a_larger_label_in_the_place_of_an_icon_covers_it() {
        let shown = ShownShapes::new(&button([60, 30], Some([30, 28])));
        let [icon] = [MissingShape { bounds: [28, 24, 44, 44], edge_pixels: 60 }];
        assert!(shown.are_covered(&[icon], &button([26, 30], None)));
        assert!(!shown.are_covered(&[icon], &button([60, 30], None)), "its place is bare");
        assert!(!shown.are_covered(&[icon], &button([60, 30], Some([32, 28]))), "it is there");
    }

    #[test]
    fn a_padding_adds_space_for_an_icon_and_a_margin_elsewhere_does_not() {
        let element = |index: usize, rect: [f64; 4], padding: &str| {
            let parent = index.checked_sub(1).map(|_| 0);
            SnapshotElement::of_box(index, parent, rect, &[("padding-left", padding)])
        };
        let elements = vec![
            element(0, [0.0, 0.0, 240.0, 80.0], "0px"),
            element(1, [20.0, 20.0, 120.0, 40.0], "33px"),
            element(2, [160.0, 20.0, 60.0, 40.0], "0px"),
        ];
        let snapshot = Snapshot::of_page([240, 80], elements);
        let page = PageTree::new(&snapshot);
        let icon = MissingShape { bounds: [40, 32, 56, 48], edge_pixels: 40 };
        let adds_space_for = |property: P, element: usize| {
            let change = Hypothesis::length(&page, element, &[element], (property, 13.0), 0.0);
            adds_space_for(&page, &change.unwrap(), &icon)
        };
        assert!(adds_space_for(P::PaddingInline, 1));
        assert!(!adds_space_for(P::MarginBottom, 1), "the icon is in the box, not beside it");
        assert!(!adds_space_for(P::MarginLeft, 2));
        assert!(!adds_space_for(P::FontSize, 1));
    }
}
