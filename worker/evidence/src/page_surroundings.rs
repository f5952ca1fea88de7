//! The page around a component, which its code does not contain: padding and color, as a screenshot
//! shows them.

use crate::{
    color::hex,
    content_box::{border_color, content_box, in_scale_of},
    element_tree::PageTree,
    raster::{Raster, Rgb, channel_difference},
    snapshot::Snapshot,
};
use juror_types::evidence::PageFrame;

/// Maximum padding, in CSS pixels.
const MAX_PADDING: i32 = 128;
/// Step of usual paddings, in CSS pixels; a measured padding is rounded to it if it is this close.
const STEP: i32 = 4;
const MAX_STEP_ERROR: i32 = 3;
/// Maximum difference of one color between two pictures, in levels.
const SAME_COLOR: u8 = 6;
/// Maximum difference of what is free on two sides of a component in the middle, as a share of both:
/// it may have a shadow, or content that does not fill it.
const MAX_OFF_CENTER: f64 = 0.25;
/// Maximum number of proposed paddings.
const MAX_PADDINGS: usize = 4;

/// Frames that may surround a component in the screenshot, from its drawing without one: the page's
/// color alone, then those that surround it, the likeliest first; none if no page is visible around
/// it.
///
/// A component with a padding and without paint of its own gets no other padding: both would look
/// the same, and a wrong padding of the code would pass for the page's.
pub fn possible_frames(
    screenshot: &Raster,
    drawing: &Raster,
    snapshot: &Snapshot,
) -> Vec<PageFrame> {
    let screenshot = &in_scale_of(drawing, screenshot);
    let page = PageTree::new(snapshot);
    let color = border_color(screenshot);
    let frame = |padding: i32, centered: bool| PageFrame {
        padding: padding.unsigned_abs(),
        centered,
        color: hex(color),
    };
    let color_alone = (color != border_color(drawing)).then(|| frame(0, false));
    let Some(root) = root_of(&page) else { return color_alone.into_iter().collect() };
    let paddings = paddings(screenshot, drawing, &page, root, color).into_iter();
    let padded = paddings.map(|padding| frame(padding, false));
    let (first, last) = match centered_margins(screenshot) {
        // The same padding on all sides of a component looks like that.
        Some([across, down]) if across.abs_diff(down) <= 1 => (None, Some(frame(0, true))),
        Some(_) => (Some(frame(0, true)), None),
        None => (None, None),
    };
    let frames = color_alone.into_iter().chain(first).chain(padded.take(MAX_PADDINGS)).chain(last);
    frames.collect()
}

/// Margins beside and above content that stands in the middle of the screenshot; `None` if it does
/// not.
fn centered_margins(screenshot: &Raster) -> Option<[i32; 2]> {
    let [left, top, right, bottom] = content_box(screenshot)?;
    let before = [left, top];
    let after = [screenshot.width() as i32 - right, screenshot.height() as i32 - bottom];
    let is_even = |(before, after): (i32, i32)| {
        let most = MAX_OFF_CENTER * f64::from(before + after);
        before > 0 && after > 0 && f64::from((before - after).abs()) <= most
    };
    before.into_iter().zip(after).all(is_even).then_some(before)
}

/// The single element that contains the whole component.
fn root_of(page: &PageTree<'_>) -> Option<usize> {
    let container = page.visible().find(|&at| {
        page.element(at).is_some_and(|element| element.id.as_deref() == Some("root"))
    })?;
    let is_visible = |at: &usize| page.element(*at).is_some_and(|element| element.visible);
    let mut children = page.children(container).iter().copied().filter(is_visible);
    children.next().filter(|_| children.next().is_none())
}

fn paddings(
    screenshot: &Raster,
    drawing: &Raster,
    page: &PageTree<'_>,
    root: usize,
    color: Rgb,
) -> Vec<i32> {
    let paint = paint_of(page, root, color);
    let own = ["padding-left", "padding-top"].map(|side| page.length(root, side));
    if paint.is_none() && own.iter().flatten().any(|&own| own > 0.0) {
        return Vec::new();
    }
    let [left, top, right, bottom] = page.bounds(root);
    let mut measured = Vec::new();
    if let Some(paint) = paint {
        // Halfway along a side, where corners are not rounded.
        let is_paint = |x: i32, y: i32| {
            let pixel = screenshot.get(x, y);
            pixel.is_some_and(|pixel| channel_difference(pixel, paint) <= SAME_COLOR)
        };
        let (middle_x, middle_y) = ((left + right) / 2, (top + bottom) / 2);
        let first_x = (0..MAX_PADDING + left).find(|&x| is_paint(x, middle_y));
        let first_y = (0..MAX_PADDING + top).find(|&y| is_paint(middle_x, y));
        measured.extend(first_x.map(|x| x - left));
        measured.extend(first_y.map(|y| y - top));
    }
    if let (Some(shown), Some(drawn)) = (content_box(screenshot), content_box(drawing)) {
        measured.extend([shown[0] - drawn[0], shown[1] - drawn[1]]);
    }
    let mut paddings = Vec::new();
    for padding in measured {
        let stepped = (padding + STEP / 2).div_euclid(STEP) * STEP;
        let is_near = (stepped - padding).abs() <= MAX_STEP_ERROR;
        for padding in [Some(padding), is_near.then_some(stepped)].into_iter().flatten() {
            if (1..=MAX_PADDING).contains(&padding) && !paddings.contains(&padding) {
                paddings.push(padding);
            }
        }
    }
    paddings
}

/// The color of the root's edge; `None` if it does not differ from the page.
fn paint_of(page: &PageTree<'_>, root: usize, color: Rgb) -> Option<Rgb> {
    let has_border = page.length(root, "border-left-width").is_some_and(|width| width >= 1.0);
    let border = page.opaque_color(root, "border-left-color").filter(|_| has_border);
    let paint = border.or_else(|| page.opaque_color(root, "background-color"))?;
    (channel_difference(paint, color) > SAME_COLOR).then_some(paint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::SnapshotElement;

    const PAGE: Rgb = [248, 250, 252];

    /// A page with a root element of this box and these styles.
    fn page(rect: [f64; 4], styles: &[(&str, &str)]) -> Snapshot {
        let element =
            |index, parent, tag: &str, id: Option<&str>, styles: &[(&str, &str)]| SnapshotElement {
                tag: tag.to_owned(),
                id: id.map(str::to_owned),
                ..SnapshotElement::of_box(index, parent, rect, styles)
            };
        let elements = vec![
            element(0, None, "html", None, &[]),
            element(1, Some(0), "body", None, &[]),
            element(2, Some(1), "div", Some("root"), &[]),
            element(3, Some(2), "section", None, styles),
        ];
        Snapshot::of_page([200, 120], elements)
    }

    fn card(at: u32, width: u32, around: Rgb) -> Raster {
        let mut picture = Raster::filled(200, 120, around);
        picture.fill([at, at, width, 40], [30, 80, 200]);
        picture
    }

    const BLUE: [(&str, &str); 2] =
        [("background-color", "rgb(30, 80, 200)"), ("padding-left", "12px")];

    fn paddings_of(frames: &[PageFrame]) -> Vec<u32> {
        frames.iter().map(|frame| frame.padding).collect()
    }

    #[test]
    fn a_padded_page_is_measured_by_the_edge_of_the_component() {
        let snapshot = page([0.0, 0.0, 200.0, 40.0], &BLUE);
        let frames = possible_frames(&card(24, 152, PAGE), &card(0, 200, [255; 3]), &snapshot);
        let frame = |padding| PageFrame { padding, centered: false, color: "#F8FAFC".to_owned() };
        assert_eq!(frames, [frame(0), frame(24)]);
        // A shadow around it shows before its edge.
        let mut shaded = card(24, 152, PAGE);
        shaded.fill([21, 22, 158, 47], [225, 227, 230]);
        shaded.fill([24, 24, 152, 40], [30, 80, 200]);
        let frames = possible_frames(&shaded, &card(0, 200, [255; 3]), &snapshot);
        assert_eq!(paddings_of(&frames), [0, 24, 21, 20, 22]);
    }

    #[test]
    fn a_page_of_another_color_alone_has_no_padding() {
        let snapshot = page([0.0, 0.0, 80.0, 40.0], &BLUE);
        let frames = possible_frames(&card(0, 80, PAGE), &card(0, 80, [255; 3]), &snapshot);
        assert_eq!(paddings_of(&frames), [0]);
        assert_eq!(possible_frames(&card(0, 80, PAGE), &card(0, 80, PAGE), &snapshot), []);
    }

    #[test]
    fn a_component_may_stand_in_the_middle_of_its_page() {
        let snapshot = page([0.0, 0.0, 200.0, 40.0], &BLUE);
        let drawing = card(0, 200, [255; 3]);
        let centered_at = |place: [u32; 4]| {
            let mut picture = Raster::filled(200, 120, PAGE);
            picture.fill(place, [30, 80, 200]);
            let frames = possible_frames(&picture, &drawing, &snapshot);
            frames.iter().position(|frame| frame.centered)
        };
        assert_eq!(centered_at([60, 40, 80, 40]), Some(1));
        // An even padding is tried before.
        assert_eq!(centered_at([24, 24, 152, 72]), Some(2));
        assert_eq!(centered_at([24, 24, 152, 30]), None);
        assert_eq!(centered_at([24, 40, 80, 40]), None);
        assert_eq!(centered_at([0, 40, 200, 40]), None);
    }

    #[test]
    fn a_padding_that_the_code_has_is_not_taken_for_the_pages() {
        let padded = page([0.0, 0.0, 200.0, 56.0], &[("padding-left", "8px")]);
        assert_eq!(possible_frames(&card(16, 80, [255; 3]), &card(8, 80, [255; 3]), &padded), []);
        let bare = page([0.0, 0.0, 200.0, 40.0], &[("padding-left", "0px")]);
        let frames = possible_frames(&card(16, 80, [255; 3]), &card(0, 80, [255; 3]), &bare);
        assert_eq!(paddings_of(&frames), [16]);
    }

    #[test]
    fn a_screenshot_of_twice_the_size_is_measured_in_css_pixels() {
        let snapshot = page([0.0, 0.0, 200.0, 40.0], &BLUE);
        let mut double = Raster::filled(400, 240, PAGE);
        double.fill([48, 48, 304, 80], [30, 80, 200]);
        let frames = possible_frames(&double, &card(0, 200, [255; 3]), &snapshot);
        assert_eq!(paddings_of(&frames), [0, 24]);
    }
}
