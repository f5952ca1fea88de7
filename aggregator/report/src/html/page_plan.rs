//! Facts over all results that the page needs before it is written.

use super::MAX_SECTIONS;
use crate::columns::verdict_of;
use indexmap::IndexMap;
use juror_analysis::{item_row::Urgency, run_report::Report};
use juror_journal::journal::JournalError;
use juror_types::{outcome::JobResult, verdict::Verdict};
use std::{collections::HashMap, io};

/// So many tags, and so many common issues, can be filtered by.
pub(super) const MAX_CHOICES: usize = 100;

/// A run with more different tags than this is not asked for its most frequent ones.
const MAX_TAGS: usize = 10_000;

/// Facts over all results.
pub(super) struct PagePlan {
    /// The results' places in the items' order, in the order in which a reader wants them.
    pub order: Vec<u32>,
    /// Number of verdicts by criterion and score.
    pub spreads: IndexMap<String, IndexMap<u32, u64>>,
    /// Number of verdicts by tenth, as a share of what is possible.
    pub tenths: [u64; 10],
    /// The most frequent tags.
    pub tags: IndexMap<String, u64>,
    /// Items, by number, and the common issues that they have, by place; sorted.
    issues: Vec<(u32, u32)>,
}

impl PagePlan {
    /// Of these results, which come in the items' order.
    pub fn for_report(
        report: &Report,
        results: impl Iterator<Item = Result<JobResult, JournalError>>,
    ) -> io::Result<Self> {
        let mut survey = Self {
            order: Vec::new(),
            spreads: IndexMap::new(),
            tenths: [0; 10],
            tags: IndexMap::new(),
            issues: issues_of_items(report),
        };
        let mut tags = HashMap::new();
        let mut urgencies = Vec::new();
        for (place, result) in (0..).zip(results) {
            let result = result.map_err(io::Error::other)?;
            let verdict = verdict_of(&result);
            urgencies.push((Urgency::of_result(&result), place));
            survey.note(verdict);
            for tag in result.item.tags {
                if tags.len() < MAX_TAGS || tags.contains_key(&tag) {
                    *tags.entry(tag).or_insert(0_u64) += 1;
                }
            }
        }
        urgencies.sort_unstable();
        survey.order = urgencies.into_iter().map(|(_, place)| place).collect();
        survey.tags = tags.into_iter().collect();
        survey.tags.sort_unstable_by(|left, left_count, right, right_count| {
            right_count.cmp(left_count).then_with(|| left.cmp(right))
        });
        survey.tags.truncate(MAX_CHOICES);
        Ok(survey)
    }

    /// The places of the results that are shown in full.
    pub fn in_full(&self) -> &[u32] {
        self.order.get(..MAX_SECTIONS).unwrap_or(&self.order)
    }

    /// The common issues of an item, by their place in the report.
    pub fn issues_of(&self, item: u32) -> impl Iterator<Item = u32> {
        let start = self.issues.partition_point(|(other, _)| *other < item);
        let rest = self.issues.get(start..).unwrap_or_default();
        rest.iter().take_while(move |(other, _)| *other == item).map(|(_, group)| *group)
    }

    fn note(&mut self, verdict: Option<&Verdict>) {
        let Some(verdict) = verdict else { return };
        let tenth = (verdict.correctness() * 10.0).clamp(0.0, 9.0) as usize;
        if let Some(count) = self.tenths.get_mut(tenth) {
            *count += 1;
        }
        for (criterion, score) in verdict.criterion_scores() {
            if !self.spreads.contains_key(criterion) {
                self.spreads.insert(criterion.to_owned(), IndexMap::new());
            }
            if let Some(spread) = self.spreads.get_mut(criterion) {
                *spread.entry(score).or_insert(0) += 1;
            }
        }
    }
}

fn issues_of_items(report: &Report) -> Vec<(u32, u32)> {
    let groups = (0..).zip(report.common_issues.iter().take(MAX_CHOICES));
    let mut issues: Vec<(u32, u32)> = groups
        .flat_map(|(place, group)| group.items.iter().map(move |item| (*item, place)))
        .collect();
    issues.sort_unstable();
    issues
}
