//! Hypotheses of a round that wait for their drawing, the most promising first.

use super::hypothesis::Hypothesis;
use crate::element_tree::PageTree;
use std::collections::BTreeSet;

/// Decrease of the priority of a change of one element's property for each similar element whose
/// change removed little.
const REPEATED: f64 = 10.0;

/// Hypotheses by priority. No change is returned twice.
#[derive(Debug, Default)]
pub(super) struct HypothesisQueue {
    pub waiting: Vec<Hypothesis>,
    tried: BTreeSet<String>,
}

impl HypothesisQueue {
    /// Removes the hypothesis of the highest priority, the earliest of equal ones.
    pub fn pop(&mut self) -> Option<Hypothesis> {
        loop {
            let waiting = self.waiting.iter().enumerate();
            let (place, _) = waiting.max_by(|(at, one), (other_at, other)| {
                one.priority.total_cmp(&other.priority).then(other_at.cmp(at))
            })?;
            let hypothesis = self.waiting.remove(place);
            if self.tried.insert(format!("{:?}", hypothesis.change)) {
                return Some(hypothesis);
            }
        }
    }

    /// Lets others come before changes of single elements that repeat one in vain: a page of
    /// hundreds of rows has more of them than there are drawings.
    pub fn defer_similar(&mut self, page: &PageTree<'_>, failed: &Hypothesis) {
        let is_single = |hypothesis: &Hypothesis| hypothesis.change.elements.len() == 1;
        if !is_single(failed) {
            return;
        }
        let is_similar = |other: &&mut Hypothesis| {
            is_single(other)
                && other.element != failed.element
                && other.property() == failed.property()
                && page.is_alike(other.element, failed.element)
        };
        for other in self.waiting.iter_mut().filter(is_similar) {
            other.priority -= REPEATED;
        }
    }
}
