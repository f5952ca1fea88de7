//! Facts over all results that the page needs before it is written.

use super::MAX_SECTIONS;
use crate::topics::distribution::ScoreDistribution;
use indexmap::IndexMap;
use juror_analysis::{
    item_index::ItemGroups, item_row::Urgency, metrics::score_of, run_report::Report,
};
use juror_journal::journal::RunFiles;
use std::io;

/// Maximum number of tags, and of common issues, to filter by.
pub(super) const MAX_CHOICES: usize = 100;

/// Maximum number of distinct tags for which the most frequent ones are determined.
const MAX_TAGS: usize = 10_000;

/// Facts over all results.
pub(super) struct PagePlan {
    /// Positions of the results in the items' order, most urgent first.
    pub order: Vec<u32>,
    /// Distribution of the scores.
    pub distribution: ScoreDistribution,
    /// The most frequent tags.
    pub tags: IndexMap<String, u64>,
    /// The common issues of each item, by their place in the report.
    pub issues: ItemGroups,
}

impl PagePlan {
    /// Plans the page of a report's results.
    pub fn for_report(report: &Report, files: &RunFiles) -> io::Result<Self> {
        let criteria = &report.rubric.criteria;
        let mut plan = Self {
            order: Vec::new(),
            distribution: ScoreDistribution::new(
                report.rubric.scale,
                criteria.iter().map(|criterion| criterion.title.clone()),
            ),
            tags: IndexMap::new(),
            issues: ItemGroups::new(
                report.common_issues.iter().take(MAX_CHOICES).map(|group| &*group.items),
            ),
        };
        let mut urgencies = Vec::new();
        for (place, result) in (0..).zip(report.items.read(files)?) {
            let result = result?;
            urgencies.push((Urgency::from_result(&result), place));
            if let Some(verdict) = result.verdict() {
                let scores = criteria
                    .iter()
                    .map(|criterion| score_of(verdict, &criterion.key).map(f64::from));
                plan.distribution.add(verdict.correctness(), scores);
            }
            for tag in result.item.tags {
                if plan.tags.len() < MAX_TAGS || plan.tags.contains_key(&tag) {
                    *plan.tags.entry(tag).or_insert(0) += 1;
                }
            }
        }
        urgencies.sort_unstable();
        plan.order = urgencies.into_iter().map(|(_, place)| place).collect();
        plan.tags.sort_unstable_by(|left, left_count, right, right_count| {
            right_count.cmp(left_count).then_with(|| left.cmp(right))
        });
        plan.tags.truncate(MAX_CHOICES);
        Ok(plan)
    }

    /// The places of the results that are shown in full.
    pub fn in_full(&self) -> &[u32] {
        self.order.get(..MAX_SECTIONS).unwrap_or(&self.order)
    }
}
