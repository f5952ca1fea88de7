//! Default styles of the browser that took a screenshot, where they differ from the renderer's.

mod font_group;
#[cfg(test)]
mod tests;

use crate::{
    element_tree::PageTree,
    picture_pair::PicturePair,
    raster::channel_difference,
    snapshot::{PageChange, Snapshot},
};
use font_group::{FontGroup, font_groups, with_normal_line_height};
use juror_types::evidence::{BrowserDefault, Evidence};
use std::collections::VecDeque;

/// Maximum number of drawings.
const MAX_DRAWINGS: usize = 16;
/// Minimum share of the differing pixels that one default removes.
const MIN_GAIN: f64 = 0.05;
/// Minimum share of the differing pixels that all defaults remove together.
const MIN_TOTAL_GAIN: f64 = 0.5;
/// Differences of a font's normal line height between browsers, in pixels: they round its parts
/// differently.
const HEIGHT_STEPS: [i32; 2] = [1, -1];
/// Minimum contrast of neighboring pixels at the edge of a letter.
const EDGE: u8 = 48;
/// Maximum number of differing pixels of a fitting text, as a share of its edges.
const MAX_DIFFERING: f64 = 0.03;
/// Tags of form controls, whose font the browser chooses.
const CONTROLS: [&str; 4] = ["button", "input", "select", "textarea"];
/// The renderer's font of form controls.
const CONTROL_FONT: &str = "Arial";
/// Fonts of form controls in other browsers.
const OTHER_CONTROL_FONTS: [&str; 2] = ["system-ui", "sans-serif"];

/// A search for the default styles with which a page fits a screenshot of another browser: the font
/// of form controls, and the heights of `line-height: normal`, both of which CSS leaves to the
/// browser.
///
/// Each default is drawn together with those accepted before. They explain a pair only if they
/// remove its regions or half of its differing pixels, and leave every text in place that fits
/// without them: a changed margin moves what follows it, other line heights move each line.
#[derive(Debug)]
pub struct DefaultsSearch {
    waiting: VecDeque<TriedDefault>,
    accepted: Vec<TriedDefault>,
    current: Option<TriedDefault>,
    drawings: usize,
    /// Texts that fit without defaults.
    fitting: Vec<usize>,
    /// True once line heights are tried: the font of form controls comes before them.
    has_proposed_line_heights: bool,
    /// Form controls for which the page names no font.
    controls: Vec<usize>,
    /// The page with the accepted font of form controls.
    snapshot: Snapshot,
    /// Differing share of all pixels, without defaults and with those accepted.
    first_differing: f64,
    fewest_differing: f64,
    has_differences: bool,
    /// True if the accepted defaults move texts that fitted without them.
    moves_fitting_texts: bool,
}

/// A default style.
#[derive(Clone, Debug, PartialEq)]
enum TriedDefault {
    ControlFont(&'static str),
    /// The height of `line-height: normal` in pixels.
    LineHeight(FontGroup, i32),
}

impl DefaultsSearch {
    /// A search that begins with the drawing of a page; it proposes nothing unless the pair is of
    /// two browsers, and differs.
    pub fn new(pair: &PicturePair<'_>, evidence: &Evidence, snapshot: &Snapshot) -> Self {
        let noise = pair.alignment.noise;
        let is_of_two_browsers = !noise.is_none() && !noise.has_edges_in_place;
        let differing = 1.0 - evidence.pixels_equal;
        let has_differences = is_of_two_browsers && !evidence.regions.is_empty();
        let mut search = Self {
            waiting: VecDeque::new(),
            accepted: Vec::new(),
            current: None,
            drawings: 0,
            fitting: if has_differences { fitting_texts(pair, snapshot) } else { Vec::new() },
            has_proposed_line_heights: false,
            controls: controls_without_font(snapshot),
            snapshot: snapshot.clone(),
            first_differing: differing,
            fewest_differing: differing,
            has_differences,
            moves_fitting_texts: false,
        };
        if search.controls.is_empty() {
            search.propose_line_heights();
        } else {
            search.waiting.extend(OTHER_CONTROL_FONTS.map(TriedDefault::ControlFont));
        }
        search
    }

    /// True if there are defaults to try.
    pub fn proposes_any(&self) -> bool {
        self.has_differences && !self.waiting.is_empty()
    }

    /// The changes of the next drawing; `None` at the end of the search.
    pub fn next_drawing(&mut self) -> Option<Vec<PageChange>> {
        if !self.has_differences || self.drawings >= MAX_DRAWINGS {
            return None;
        }
        let proposed = self.waiting.pop_front()?;
        self.drawings += 1;
        let changes = self.changes_of(self.accepted.iter().chain([&proposed]));
        self.current = Some(proposed);
        Some(changes)
    }

    /// True if the page fits better in the last drawing, by its pair and evidence, than in any before.
    pub fn add_fit(
        &mut self,
        pair: &PicturePair<'_>,
        evidence: &Evidence,
        snapshot: &Snapshot,
    ) -> bool {
        let Some(drawn) = self.current.take() else { return false };
        let differing = 1.0 - evidence.pixels_equal;
        let is_better = differing <= (1.0 - MIN_GAIN) * self.fewest_differing;
        if is_better {
            self.fewest_differing = differing;
            let still_fitting = fitting_texts(pair, snapshot);
            self.moves_fitting_texts =
                self.fitting.iter().any(|text| !still_fitting.contains(text));
            self.has_differences = !evidence.regions.is_empty();
            self.waiting.retain(|waiting| waiting.font_group() != drawn.font_group());
            if drawn.font_group().is_none() {
                self.snapshot = snapshot.clone();
            }
            self.accepted.push(drawn);
        }
        if self.waiting.is_empty() && !self.has_proposed_line_heights {
            self.propose_line_heights();
        }
        is_better
    }

    /// True if the accepted defaults explain the pair's difference, or most of it.
    pub fn explains_most(&self) -> bool {
        let share = self.fewest_differing / self.first_differing;
        let explains = !self.has_differences || share < 1.0 - MIN_TOTAL_GAIN;
        !self.accepted.is_empty() && explains && !self.moves_fitting_texts
    }

    /// The accepted defaults.
    pub fn defaults(&self) -> Vec<BrowserDefault> {
        self.accepted.iter().map(TriedDefault::record).collect()
    }

    fn propose_line_heights(&mut self) {
        self.has_proposed_line_heights = true;
        for group in font_groups(&self.snapshot) {
            let height = group.height;
            let tried = |step| TriedDefault::LineHeight(group.clone(), height + step);
            self.waiting.extend(HEIGHT_STEPS.map(tried));
        }
    }

    /// Changes for these defaults. A line height is inherited: elements of other fonts keep theirs.
    fn changes_of<'own>(
        &self,
        defaults: impl Iterator<Item = &'own TriedDefault>,
    ) -> Vec<PageChange> {
        let mut others = with_normal_line_height(&self.snapshot);
        let mut changes = Vec::new();
        for default in defaults {
            match default {
                TriedDefault::ControlFont(font) => {
                    changes.push(PageChange::declare(&self.controls, "font-family", *font));
                }
                TriedDefault::LineHeight(group, height) => {
                    others.retain(|element| !group.elements.contains(element));
                    let height = format!("{height}px");
                    changes.push(PageChange::declare(&group.elements, "line-height", height));
                }
            }
        }
        changes.push(PageChange::declare(&others, "line-height", "normal"));
        changes
    }
}

impl TriedDefault {
    /// The texts whose line height it sets; `None` for a font of form controls.
    fn font_group(&self) -> Option<&FontGroup> {
        match self {
            Self::ControlFont(_) => None,
            Self::LineHeight(group, _) => Some(group),
        }
    }

    fn record(&self) -> BrowserDefault {
        let (property, value, elements) = match self {
            Self::ControlFont(font) => {
                ("font-family", (*font).to_owned(), "form controls without a font".to_owned())
            }
            Self::LineHeight(group, height) => {
                let (family, size) = (group.first_family(), &group.size);
                let texts = format!("texts of {size} {family} without a line height");
                ("line-height", format!("{height}px"), texts)
            }
        };
        BrowserDefault { property: property.to_owned(), value, elements }
    }
}

fn controls_without_font(snapshot: &Snapshot) -> Vec<usize> {
    let elements = snapshot.elements.iter().enumerate();
    let controls = elements.filter(|(_, element)| {
        let font = element.styles.get("font-family").map(String::as_str);
        CONTROLS.contains(&element.tag.as_str()) && font == Some(CONTROL_FONT)
    });
    controls.map(|(index, _)| index).collect()
}

/// Indexes of the visible elements whose text differs from the screenshot by noise alone.
fn fitting_texts(pair: &PicturePair<'_>, snapshot: &Snapshot) -> Vec<usize> {
    let (page, drawing) = (PageTree::new(snapshot), pair.drawing);
    let difference = pair.difference(None);
    let is_edge = |&[x, y]: &[i32; 2]| {
        let mut beside = [drawing.at(x + 1, y), drawing.at(x, y + 1)].into_iter();
        beside.any(|beside| channel_difference(drawing.at(x, y), beside) > EDGE)
    };
    let fits = |&index: &usize| {
        let edges = drawing.places_in(page.bounds(index)).filter(is_edge).count();
        let differing = difference.count_in(page.bounds(index));
        edges > 0 && differing as f64 <= MAX_DIFFERING * edges as f64
    };
    page.visible().filter(|&index| page.has_text(index)).filter(fits).collect()
}
