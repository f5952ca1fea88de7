//! First hypotheses for content that moved: the lengths around it.

use super::{
    changeable_length::LengthProperty as P, first_hypotheses::FirstHypotheses,
    hypothesis::Hypothesis, shift_field::is_painted,
};
use crate::element_tree::area;
use std::collections::BTreeSet;

impl FirstHypotheses<'_> {
    /// Paddings, margins, gaps, line heights and sizes of moved elements and their surroundings.
    pub(super) fn spaces(&self) -> Vec<Hypothesis> {
        let shifts = self.field.distinct_shifts();
        let Some(first) = self.field.patches.iter().find(|p| p.target.is_some_and(|t| t != [0, 0]))
        else {
            return Vec::new();
        };
        let scale = self.page.snapshot.scale.max(0.1);
        let largest = |axis: usize| {
            let parts = shifts
                .iter()
                .filter_map(|shift| shift.get(axis))
                .map(|part| f64::from(*part) / scale);
            parts.fold(0.0, |one: f64, other| if other.abs() > one.abs() { other } else { one })
        };
        let smallest = |axis: usize| {
            let parts = shifts
                .iter()
                .filter_map(|shift| shift.get(axis))
                .map(|part| f64::from(*part) / scale);
            let parts = parts.filter(|part| *part != 0.0);
            parts.fold(
                0.0,
                |one: f64, other| if one == 0.0 || other.abs() < one.abs() { other } else { one },
            )
        };
        let growth = self.field.growth(1) / scale;
        // A centered page that grows moves content both up and down.
        let moves = |way: i32| shifts.iter().any(|[_, down]| down.signum() == way);
        let nearest = smallest(1);
        let down = if moves(1) && moves(-1) { nearest.abs().copysign(growth) } else { nearest };
        let across = smallest(0);
        let (far_across, far_down) = (largest(0), largest(1));
        let has_both = across != 0.0 && down != 0.0;
        let longer = if growth != 0.0 { growth } else { far_down };
        let usual = if far_down != 0.0 { far_down } else { far_across };
        let mut found = Vec::new();
        for (index, near) in self.suspects(first.element) {
            let page = self.page;
            let children = page.children(index);
            let members = self.members(index);
            let mut groups = vec![(members.clone(), near)];
            if members.len() > 1 {
                groups.push((vec![index], near - 0.06));
            }
            let display = page.style(index, "display");
            let is_flow = display.contains("flex") || display.contains("grid");
            for (elements, likely) in groups {
                let mut add = |property: P, delta: f64, more: f64| {
                    if delta != 0.0 {
                        found.extend(self.length(&elements, property, delta, likely + more));
                    }
                };
                // A text beside an icon is an item too.
                let has_own_text =
                    page.element(index).is_some_and(|element| !element.text.is_empty());
                if is_flow && children.len() + usize::from(has_own_text) > 1 {
                    let is_row = display.contains("flex")
                        && !page.style(index, "flex-direction").starts_with("column");
                    add(P::Gap, if down != 0.0 && !is_row { down } else { across }, 0.12);
                }
                let is_box = is_painted(page, index) || children.len() > 1;
                let holds_moved =
                    is_box && self.field.of(page, index).any(|p| p.target != Some([0, 0]));
                if holds_moved && display != "inline" {
                    add(
                        P::Padding,
                        if has_both { down } else { usual },
                        if has_both { 0.1 } else { 0.0 },
                    );
                    add(P::PaddingBlock, down, if has_both { 0.0 } else { 0.05 });
                    add(P::PaddingInline, across, if has_both { 0.0 } else { 0.05 });
                }
                if self.has_lines_of(index) {
                    add(P::LineHeight, longer, 0.04);
                }
                // Content in the middle of a row or a page goes up by half of what is set below it.
                let has_room = P::MarginBottom.length(page, index) + far_down >= 0.0;
                let below = match growth {
                    0.0 if has_room => far_down,
                    0.0 => -2.0 * far_down,
                    growth => growth,
                };
                add(P::MarginBottom, below + self.hidden_margin(index, below), 0.03);
                add(P::MarginTop, longer, -0.12);
                add(P::MarginLeft, far_across, -0.12);
                add(P::MarginRight, far_across, -0.06);
                add(P::Margin, far_down, -0.2);
                if is_painted(page, index) {
                    add(P::Height, longer, -0.16);
                    add(P::Width, far_across, -0.16);
                }
                add(P::PaddingBottom, longer, -0.18);
                add(P::PaddingTop, longer, -0.18);
                add(P::PaddingLeft, across, -0.2);
                add(P::PaddingRight, across, -0.2);
            }
        }
        found
    }

    /// The part of a larger bottom margin that has no effect: the next element's top margin is
    /// larger than the present one and collapses with it.
    fn hidden_margin(&self, index: usize, delta: f64) -> f64 {
        let page = self.page;
        let Some(parent) = page.parent(index).filter(|_| delta > 0.0) else { return 0.0 };
        let next = page.children(parent).iter().find(|sibling| **sibling > index);
        let is_block = |at: usize| page.style(at, "display") == "block";
        match next {
            Some(&next) if is_block(parent) && is_block(index) && is_block(next) => {
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
            let tag = self.page.element(index).map_or("html", |element| element.tag.as_str());
            if tag != "html" && seen.insert(index) {
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
            let siblings = self.page.children(parent);
            let before = siblings.iter().rev().skip_while(|sibling| **sibling >= at);
            if let Some(&previous) = before.into_iter().next() {
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
            let corners = self.field.patches.iter().filter(|p| !p.is_text && p.element == index);
            let mut shifts: Vec<_> = corners.filter_map(|corner| corner.target).collect();
            shifts.sort_unstable();
            shifts.first() != shifts.last()
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
        let mut ancestors = std::iter::successors(Some(one), |&at| self.page.parent(at));
        ancestors.find(|&ancestor| self.page.contains(ancestor, other))
    }
}
