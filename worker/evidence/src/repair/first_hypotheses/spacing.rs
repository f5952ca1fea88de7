//! First hypotheses for content that moved: the lengths around it.

use super::FirstHypotheses;
use crate::{
    bounds::area,
    repair::{
        changeable_length::LengthProperty as P, hypothesis::Hypothesis, shift_field::ShiftField,
    },
};
use std::collections::BTreeSet;

/// Moves of a page's content to its places in the screenshot, in CSS pixels; 0 for none.
struct ContentMoves {
    /// The smallest ones.
    across: f64,
    down: f64,
    /// The largest ones.
    far_across: f64,
    far_down: f64,
    /// Growth of the content's height.
    growth: f64,
}

impl ContentMoves {
    fn new(field: &ShiftField, scale: f64) -> Self {
        let shifts = field.distinct_shifts();
        let parts = |axis: usize| {
            let parts = shifts.iter().filter_map(move |shift| shift.get(axis));
            parts.map(|part| f64::from(*part) / scale)
        };
        let largest = |axis: usize| {
            parts(axis)
                .fold(0.0, |one: f64, other| if other.abs() > one.abs() { other } else { one })
        };
        let smallest = |axis: usize| {
            let nearer = |one: f64, other: f64| one == 0.0 || other.abs() < one.abs();
            parts(axis)
                .filter(|part| *part != 0.0)
                .fold(0.0, |one, other| if nearer(one, other) { other } else { one })
        };
        let growth = field.growth() / scale;
        let nearest = smallest(1);
        // A centered page that grows moves content both up and down.
        let moves = |way: i32| shifts.iter().any(|[_, down]| down.signum() == way);
        let down = if moves(1) && moves(-1) { nearest.abs().copysign(growth) } else { nearest };
        let (far_across, far_down) = (largest(0), largest(1));
        Self { across: smallest(0), down, far_across, far_down, growth }
    }
}

impl FirstHypotheses<'_> {
    /// Paddings, margins, gaps, line heights and sizes of moved elements and their surroundings.
    pub(super) fn spaces(&self) -> Vec<Hypothesis> {
        let mut patches = self.field.patches.iter();
        let Some(first) = patches.find(|p| p.target.is_some_and(|t| t != [0, 0])) else {
            return Vec::new();
        };
        let moves = ContentMoves::new(self.field, self.page.snapshot.scale.max(0.1));
        let mut found = Vec::new();
        for (index, near) in self.suspects(first.element) {
            let changes = self.space_changes(index, &moves);
            let members = self.members(index);
            let alone = (members.len() > 1).then(|| (vec![index], near - 0.06));
            for (elements, likely) in [(members, near)].into_iter().chain(alone) {
                let likelier = |&(property, delta, more)| (property, delta, likely + more);
                found.extend(self.lengths(&elements, changes.iter().map(likelier)));
            }
        }
        found
    }

    /// Changes of an element's lengths, each with what it adds to the likelihood of the element.
    fn space_changes(&self, index: usize, moves: &ContentMoves) -> Vec<(P, f64, f64)> {
        let page = self.page;
        let &ContentMoves { across, down, far_across, far_down, growth } = moves;
        let longer = if growth != 0.0 { growth } else { far_down };
        let (is_painted, children) = (page.is_painted(index), page.children(index).len());
        let mut changes = Vec::new();
        // A text beside an icon is an item too.
        let items = children + usize::from(page.has_text(index));
        let (is_row, is_column) = (page.is_row(index), page.is_column(index));
        if items > 1 && (is_row || is_column || page.is_grid(index)) {
            changes.push((P::Gap, if down != 0.0 && !is_row { down } else { across }, 0.12));
        }
        let is_box = is_painted || children > 1;
        let holds_moved = is_box && self.field.of(page, index).any(|p| p.target != Some([0, 0]));
        if holds_moved && page.style(index, "display") != "inline" {
            let has_both = across != 0.0 && down != 0.0;
            let usual = if far_down != 0.0 { far_down } else { far_across };
            let (all_sides, two_sides) = if has_both { (0.1, 0.0) } else { (0.0, 0.05) };
            changes.extend([
                (P::Padding, if has_both { down } else { usual }, all_sides),
                (P::PaddingBlock, down, two_sides),
                (P::PaddingInline, across, two_sides),
            ]);
        }
        if self.has_lines_of(index) {
            changes.push((P::LineHeight, longer, 0.04));
        }
        changes.extend([
            (P::MarginBottom, self.bottom_margin_change(index, moves), 0.03),
            (P::MarginTop, longer, -0.12),
            (P::MarginLeft, far_across, -0.12),
            (P::MarginRight, far_across, -0.06),
            (P::Margin, far_down, -0.2),
        ]);
        if is_painted {
            changes.extend([(P::Height, longer, -0.16), (P::Width, far_across, -0.16)]);
        }
        changes.extend([
            (P::PaddingBottom, longer, -0.18),
            (P::PaddingTop, longer, -0.18),
            (P::PaddingLeft, across, -0.2),
            (P::PaddingRight, across, -0.2),
        ]);
        changes.retain(|(_, delta, _)| *delta != 0.0);
        changes
    }

    fn bottom_margin_change(&self, index: usize, moves: &ContentMoves) -> f64 {
        // Content in the middle of a row or a page goes up by half of what is set below it.
        let has_room = P::MarginBottom.length(self.page, index) + moves.far_down >= 0.0;
        let below = match moves.growth {
            0.0 if has_room => moves.far_down,
            0.0 => -2.0 * moves.far_down,
            growth => growth,
        };
        below + self.hidden_margin(index, below)
    }

    /// The part of a larger bottom margin that has no effect: the next element's top margin is
    /// larger than the present one and collapses with it.
    fn hidden_margin(&self, index: usize, delta: f64) -> f64 {
        let page = self.page;
        let Some(parent) = page.parent(index).filter(|_| delta > 0.0) else { return 0.0 };
        let is_block = |at: usize| page.style(at, "display") == "block";
        match page.next_sibling(index) {
            Some(next) if is_block(parent) && is_block(index) && is_block(next) => {
                let own = P::MarginBottom.length(page, index);
                (P::MarginTop.length(page, next) - own).max(0.0)
            }
            _ => 0.0,
        }
    }

    /// Elements that may have moved the first one: itself, its ancestors, and their preceding
    /// siblings.
    fn suspects(&self, first: usize) -> Vec<(usize, f64)> {
        let mut found: Vec<(usize, f64)> = Vec::new();
        let mut seen = BTreeSet::new();
        let mut add = |index: usize, likely: f64| {
            if !["", "html"].contains(&self.page.tag(index)) && seen.insert(index) {
                found.push((index, likely));
            }
        };
        for index in self.resized() {
            add(index, 0.62);
            self.page.children(index).iter().take(3).for_each(|&inner| add(inner, 0.5));
        }
        for (before, after) in self.boundaries() {
            add(before, 0.57);
            self.common_ancestor(before, after).into_iter().for_each(|index| add(index, 0.56));
            add(after, 0.52);
        }
        let mut at = first;
        for step in 0..5 {
            let likely = 0.5 - 0.03 * f64::from(step);
            add(at, likely);
            let Some(parent) = self.page.parent(at) else { break };
            if let Some(previous) = self.page.previous_sibling(at) {
                add(previous, likely - 0.02);
                for &inner in self.page.children(previous).iter().rev().take(3) {
                    add(inner, likely - 0.1);
                }
            }
            for &inner in self.page.children(at).iter().take(4) {
                add(inner, likely - 0.12);
            }
            at = parent;
        }
        found
    }

    /// Painted boxes whose corners moved differently, the smallest first.
    fn resized(&self) -> Vec<usize> {
        let is_resized = |&index: &usize| {
            let shifts = || self.field.corners_of(index).filter_map(|corner| corner.target);
            shifts().min() != shifts().max()
        };
        let mut found: Vec<usize> = self.page.visible().filter(is_resized).collect();
        found.sort_by(|one, other| {
            area(self.page.bounds(*one)).total_cmp(&area(self.page.bounds(*other)))
        });
        found.truncate(4);
        found
    }

    /// Neighbors in document order whose content moved differently.
    fn boundaries(&self) -> Vec<(usize, usize)> {
        let known: Vec<_> =
            self.field.patches.iter().filter_map(|p| Some((p.element, p.target?))).collect();
        let pairs = known.iter().zip(known.iter().skip(1));
        let differ = pairs.filter(|((one, a), (other, b))| one != other && a != b);
        let mut found: Vec<_> = differ.map(|((one, _), (other, _))| (*one, *other)).collect();
        found.truncate(4);
        found
    }

    fn common_ancestor(&self, one: usize, other: usize) -> Option<usize> {
        self.page.lineage(one).find(|&ancestor| self.page.contains(ancestor, other))
    }
}
