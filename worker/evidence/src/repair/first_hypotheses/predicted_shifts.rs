//! Hypotheses for lengths whose change would move the content of a page down as the screenshot
//! shows it: what lies in a box, and what lies below it.

use super::FirstHypotheses;
use crate::repair::{
    changeable_length::LengthProperty as P,
    hypothesis::{Hypothesis, HypothesisKind},
    shift_field::FollowedPatch,
};
use std::{cmp::Ordering, collections::BTreeSet};

/// Maximum distance of a predicted shift from the one that is seen, in pixels.
const MAX_DISTANCE: f64 = 0.6;
/// Minimum share of the moved content that moves as predicted.
const MIN_AGREEMENT: f64 = 0.6;
/// Maximum number of hypotheses.
const MAX_HYPOTHESES: usize = 18;
/// Likelihood of a change that predicts every shift, without that of the property.
const LIKELY: f64 = 0.8;
/// Likelihood of a padding on all sides above that of one above and below.
const ALL_SIDES: f64 = 0.03;
/// Part of the likelihood that depends on the share of the content that moves as predicted.
const BY_AGREEMENT: f64 = 0.5;

/// Lengths that move content down, with their likelihoods.
const PROPERTIES: [(P, f64); 7] = [
    (P::MarginBottom, 0.03),
    (P::LineHeight, 0.03),
    (P::Gap, 0.03),
    (P::PaddingBlock, 0.01),
    (P::MarginTop, -0.02),
    (P::PaddingBottom, -0.03),
    (P::PaddingTop, -0.03),
];

impl FirstHypotheses<'_> {
    /// The lengths whose change agrees best with the shifts that are seen.
    pub(super) fn predicted_spaces(&self) -> Vec<Hypothesis> {
        let patches = self.field.patches.iter();
        let seen: Vec<(&FollowedPatch, i32)> = patches
            .filter_map(|patch| Some((patch, patch.target.map(|[_, down]| down)?)))
            .collect();
        let shifts: BTreeSet<i32> =
            seen.iter().map(|(_, down)| *down).filter(|down| *down != 0).collect();
        if shifts.is_empty() {
            return Vec::new();
        }
        let mut found = Vec::new();
        for index in self.page.visible().filter(|&index| self.page.tag(index) != "body") {
            let mut groups = vec![vec![index]];
            let alike = self.page.alike(index);
            if alike.len() > 1 && alike.first() == Some(&index) {
                groups.push(alike);
            }
            for elements in groups {
                let fit = PROPERTIES.iter().filter(|(property, _)| self.is_fit(index, *property));
                for (property, likely) in fit {
                    let moved = self.moved(&elements, *property, &seen);
                    let best = self.best_length(&elements, *property, *likely, &shifts, &moved);
                    found.extend(best.as_ref().and_then(|best| self.on_all_sides(best)));
                    found.extend(best);
                }
            }
        }
        found.sort_by(|one, other| other.priority.total_cmp(&one.priority));
        found.truncate(MAX_HYPOTHESES);
        found
    }

    /// True if an element may have a property that moves its content.
    fn is_fit(&self, index: usize, property: P) -> bool {
        let page = self.page;
        let is_inline = page.style(index, "display") == "inline";
        match property {
            P::Gap => {
                let is_flow = page.is_grid(index) || page.is_column(index);
                is_flow && page.children(index).len() > 1
            }
            P::LineHeight => self.has_lines_of(index),
            P::PaddingBlock | P::PaddingBottom | P::PaddingTop => {
                !is_inline && (property.length(page, index) > 0.0 || page.is_painted(index))
            }
            _ => !is_inline,
        }
    }

    /// The change of a property that agrees best with what is seen.
    fn best_length(
        &self,
        elements: &[usize],
        property: P,
        likely: f64,
        shifts: &BTreeSet<i32>,
        moved: &[MovedPatches],
    ) -> Option<Hypothesis> {
        let first = *elements.first()?;
        let flow = self.flow_of(first, property);
        // What is seen is a whole of a change, a half, or a sum of several.
        let factors: Vec<f64> = match property {
            P::LineHeight => vec![1.0, 2.0, 1.0 / flow.lines],
            P::PaddingBlock => vec![1.0, 0.5],
            P::Gap => vec![1.0, 1.0 / (flow.rows.len().max(2) - 1) as f64],
            _ => vec![1.0, 1.0 / elements.len() as f64],
        };
        let scale = self.page.snapshot.scale.max(0.1);
        let deltas = shifts
            .iter()
            .flat_map(|shift| factors.iter().map(move |factor| f64::from(*shift) * factor));
        // In the middle of a page, content goes up by half of what is added below it.
        let deltas = deltas.flat_map(|delta| [delta, -2.0 * delta]);
        let rated = deltas.map(|delta| (agreement(moved, delta), delta));
        let (agreement, delta) = rated.max_by(|(one, by), (other, other_by)| {
            one.total_cmp(other).then(other_by.abs().total_cmp(&by.abs()))
        })?;
        if agreement < MIN_AGREEMENT {
            return None;
        }
        let group = if elements.len() > 1 { 0.01 } else { 0.0 };
        let stated = if property.length(self.page, first) > 0.0 { 0.02 } else { 0.0 };
        let likely = LIKELY - BY_AGREEMENT * (1.0 - agreement) + likely + group + stated;
        self.length(elements, property, delta / scale, likely)
    }

    /// The same padding on all sides, if content moves across as it moves down.
    fn on_all_sides(&self, found: &Hypothesis) -> Option<Hypothesis> {
        let HypothesisKind::Length { property: P::PaddingBlock, delta } = found.kind else {
            return None;
        };
        let across = (delta * self.page.snapshot.scale).round() as i32;
        let mut inside = self.field.of(self.page, found.element);
        let moves_across = inside.any(|patch| patch.target.is_some_and(|[by, _]| by == across));
        let likely = found.priority / 100.0 + ALL_SIDES;
        moves_across.then(|| self.length(&found.change.elements, P::Padding, delta, likely))?
    }

    /// The patches by their predicted and their observed shift.
    fn moved(
        &self,
        elements: &[usize],
        property: P,
        seen: &[(&FollowedPatch, i32)],
    ) -> Vec<MovedPatches> {
        let flows = self.flows(elements, property);
        let by_one = seen.iter().map(|(patch, _)| {
            let holds = |flow: &&Flow| self.page.contains(flow.element, patch.element);
            let own_top = flows.iter().find(holds).map_or(i32::MAX, |flow| flow.bounds[1]);
            let moving = flows.iter().filter(|flow| {
                let is_before = flow.is_first_of_row && flow.bounds[3] <= own_top.saturating_add(1);
                is_before || holds(flow)
            });
            moving.map(|flow| self.moved_by_one(flow, patch)).sum()
        });
        let patches = by_one.zip(seen);
        let mut moved: Vec<MovedPatches> = patches
            .map(|(by_one, (_, down))| MovedPatches { by_one, down: f64::from(*down), count: 1.0 })
            .collect();
        moved.sort_unstable_by(MovedPatches::order);
        moved.dedup_by(|next, kept| {
            let is_same = next.order(kept) == Ordering::Equal;
            kept.count += if is_same { next.count } else { 0.0 };
            is_same
        });
        moved
    }

    fn flows(&self, elements: &[usize], property: P) -> Vec<Flow> {
        let mut flows: Vec<Flow> =
            elements.iter().map(|&element| self.flow_of(element, property)).collect();
        flows.sort_by_key(|flow| flow.bounds[3]);
        let mut last_bottom = i32::MIN;
        for flow in &mut flows {
            flow.is_first_of_row = flow.bounds[1] >= last_bottom.saturating_sub(1);
            if flow.is_first_of_row {
                last_bottom = flow.bounds[3];
            }
        }
        flows
    }

    fn flow_of(&self, element: usize, property: P) -> Flow {
        let rows = match property {
            P::Gap => self.rows_of(element),
            _ => BTreeSet::new(),
        };
        Flow {
            element,
            property,
            bounds: self.page.bounds(element),
            lines: self.lines_of(element),
            rows,
            is_first_of_row: true,
        }
    }

    /// Shift down of a patch for each pixel by which a property of an element is changed.
    fn moved_by_one(&self, flow: &Flow, patch: &FollowedPatch) -> f64 {
        let Flow { element, property, bounds: [_, top, _, bottom], lines, ref rows, .. } = *flow;
        let [_, y] = patch.center;
        let is_corner = patch.element == element && !patch.is_text;
        let is_inside = self.page.contains(element, patch.element) && !is_corner;
        let is_below = !is_inside && y >= bottom - if is_corner { 8 } else { 1 };
        let [inside, below] = match property {
            P::MarginBottom if is_corner => return 0.0,
            P::MarginBottom | P::PaddingBottom => [0.0, 1.0],
            P::PaddingBlock => [1.0, 2.0],
            P::LineHeight => {
                let line = f64::from(bottom - top) / lines;
                let before = (f64::from(y - top) / line.max(1.0)).floor().clamp(0.0, lines - 1.0);
                [before + 0.5, lines]
            }
            P::Gap => {
                let before = rows.iter().filter(|row| **row <= y).count().saturating_sub(1);
                [before as f64, rows.len().saturating_sub(1) as f64]
            }
            P::MarginTop if is_corner => return 1.0,
            _ => [1.0, 1.0],
        };
        match (is_inside, is_below) {
            (true, _) => inside,
            (_, true) => below,
            _ => 0.0,
        }
    }

    /// Number of lines of an element's text.
    fn lines_of(&self, index: usize) -> f64 {
        let scale = self.page.snapshot.scale;
        let line = P::LineHeight.length(self.page, index) * scale;
        let [_, top, _, bottom] = self.page.bounds(index);
        let paddings = [P::PaddingTop, P::PaddingBottom].map(|side| side.length(self.page, index));
        let text = f64::from(bottom - top) - paddings.iter().sum::<f64>() * scale;
        (text / line.max(1.0)).round().max(1.0)
    }

    /// True if an element's line height is that of text in it.
    pub(super) fn has_lines_of(&self, index: usize) -> bool {
        let page = self.page;
        let own = page.style(index, "line-height");
        let is_own = |patch: &FollowedPatch| {
            patch.is_text
                && (patch.element == index || page.style(patch.element, "line-height") == own)
        };
        self.field.of(page, index).any(is_own)
    }

    /// Tops of the rows of an element's children, in pixels of the drawing.
    fn rows_of(&self, index: usize) -> BTreeSet<i32> {
        self.page.children(index).iter().map(|&child| self.page.bounds(child)[1]).collect()
    }
}

/// Extent of an element, its lines and its rows.
struct Flow {
    element: usize,
    property: P,
    bounds: [i32; 4],
    /// Number of lines of its text.
    lines: f64,
    /// Tops of the rows of its children; empty unless the property is a gap.
    rows: BTreeSet<i32>,
    /// False for a similar element beside an earlier one: both together move what is below them.
    is_first_of_row: bool,
}

/// Patches with the same predicted and the same observed shift.
#[derive(Clone, Copy)]
struct MovedPatches {
    /// Predicted shift for each pixel of the change.
    by_one: f64,
    /// The shift that is seen, in pixels of the drawing.
    down: f64,
    count: f64,
}

impl MovedPatches {
    fn order(&self, other: &Self) -> Ordering {
        self.by_one.total_cmp(&other.by_one).then(self.down.total_cmp(&other.down))
    }
}

/// Share of the moved content that moves as a change predicts.
fn agreement(moved: &[MovedPatches], delta: f64) -> f64 {
    let farthest = moved.last().map_or(0.0, |last| last.by_one * delta);
    let share = |offset: f64| {
        let (mut all, mut hits) = (0.0, 0.0);
        for MovedPatches { by_one, down, count } in moved {
            let predicted = by_one * delta + offset;
            if *down != 0.0 || predicted.abs() > MAX_DISTANCE {
                let distance = (down - predicted).abs();
                all += count;
                hits += if distance <= MAX_DISTANCE { count * (1.0 - distance / 2.0) } else { 0.0 };
            }
        }
        hits / f64::max(all, 1.0)
    };
    share(0.0).max(share(-farthest / 2.0))
}
