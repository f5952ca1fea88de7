//! Detection of clusters that a dataset has and does not declare: variants of one template, items
//! with the same tags, items with equal or near-equal input or code.
//!
//! Memory is bounded: at most `MAX_GROUPS` groups are distinguished for each basis.

mod design_effect;
mod groups;
mod near_duplicates;
mod stem;

pub use design_effect::ClusterEffect;
pub(crate) use design_effect::cluster_effect;
pub(crate) use groups::GroupNumbers;

use crate::metrics::{MeanEstimate, Sample};
use groups::GroupCounts;
use juror_types::outcome::{InputRecord, ItemRecord, JobResult};
use near_duplicates::NearGroups;
use serde::Serialize;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Maximum number of groups of one basis; items of further ones count as independent.
const MAX_GROUPS: usize = 65_536;
/// Minimum number of items for the detection.
const MIN_ITEMS: u64 = 10;

/// Clusters that a dataset probably has and does not declare.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LikelyClusters {
    /// Feature that the items of a cluster share.
    pub basis: ClusterBasis,
    /// Items in clusters of at least two.
    pub items: u64,
    /// All items.
    pub of_items: u64,
    /// Clusters of at least two items.
    pub clusters: u64,
    /// The largest clusters, as in `card_*`.
    pub examples: Vec<String>,
    /// Effect of the clusters on the interval of the score; `None` without data.
    pub effect: Option<ClusterEffect>,
}

/// Feature that the items of a likely cluster share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClusterBasis {
    /// Near-equal inputs.
    SimilarInputs,
    /// Near-equal code.
    SimilarCode,
    /// Equal digests of the input.
    Inputs,
    /// Equal stems of ids.
    Ids,
    /// Equal sets of tags.
    Tags,
    /// Equal digests of the code.
    Code,
}

/// A detector of likely clusters over a run's results.
#[derive(Debug)]
pub(crate) struct ClusterDetector {
    alone: Sample,
    candidates: [ClusterCandidate; 6],
    /// True if any item declares its cluster, so that none are detected.
    declared: bool,
}

/// The keys of groups by one basis.
#[derive(Clone, Debug)]
pub(crate) struct ClusterKeys {
    basis: ClusterBasis,
    near: NearGroups,
}

impl ClusterBasis {
    /// Every basis. Of two with the same groups, the later one is reported.
    const ALL: [Self; 6] =
        [Self::SimilarInputs, Self::SimilarCode, Self::Inputs, Self::Ids, Self::Tags, Self::Code];

    /// Shared feature of a cluster's items, for messages.
    fn noun(self) -> &'static str {
        match self {
            Self::SimilarInputs => "near-equal inputs",
            Self::SimilarCode => "near-equal code",
            Self::Inputs => "equal inputs",
            Self::Ids => "ids",
            Self::Tags => "tags",
            Self::Code => "equal code",
        }
    }

    /// A name of an item's group.
    fn label(self, id: &str, item: &ItemRecord) -> String {
        match self {
            Self::Ids => format!(
                "{}*",
                stem::stem(id).map_or(id, |stem| {
                    let end = id.get(stem.len()..).and_then(|rest| rest.chars().next());
                    let length =
                        end.filter(|next| !next.is_ascii_digit()).map_or(0, char::len_utf8);
                    id.get(..stem.len() + length).unwrap_or(stem)
                })
            ),
            Self::Tags => item.tags.join(" + "),
            Self::Inputs | Self::Code | Self::SimilarInputs | Self::SimilarCode => id.to_owned(),
        }
    }
}

impl ClusterKeys {
    pub(crate) fn new(basis: ClusterBasis) -> Self {
        Self { basis, near: NearGroups::default() }
    }

    /// The key of an item's group; `None` for an independent item.
    pub(crate) fn key(&mut self, id: &str, item: &ItemRecord) -> Option<u64> {
        let mut hasher = DefaultHasher::new();
        let input = |is_code: bool| {
            let mut inputs = item.inputs.iter();
            inputs.find(|input| is_code == (input.name == InputRecord::CODE))
        };
        match self.basis {
            ClusterBasis::SimilarInputs => {
                self.near.number(input(false)?.signature?)?.hash(&mut hasher)
            }
            ClusterBasis::SimilarCode => {
                self.near.number(input(true)?.signature?)?.hash(&mut hasher)
            }
            ClusterBasis::Inputs => input(false)?.digest?.hash(&mut hasher),
            ClusterBasis::Code => input(true)?.digest?.hash(&mut hasher),
            ClusterBasis::Ids => stem::stem(id)?.hash(&mut hasher),
            ClusterBasis::Tags => {
                let mut tags: Vec<&str> = item.tags.iter().map(String::as_str).collect();
                tags.sort_unstable();
                tags.dedup();
                (!tags.is_empty()).then_some(())?;
                tags.hash(&mut hasher);
            }
        }
        Some(hasher.finish())
    }
}

impl Default for ClusterDetector {
    fn default() -> Self {
        let candidates = ClusterBasis::ALL.map(|basis| ClusterCandidate {
            keys: ClusterKeys::new(basis),
            counts: GroupCounts::default(),
            sample: Sample::default(),
        });
        Self { alone: Sample::default(), candidates, declared: false }
    }
}

impl ClusterDetector {
    /// Adds a current result, with its score if it has one.
    pub(crate) fn add(&mut self, result: &JobResult, score: Option<f64>) {
        self.declared |= result.item.cluster.is_some();
        if self.declared {
            return;
        }
        let (id, item) = (result.screenshot_id.as_str(), &result.item);
        for candidate in &mut self.candidates {
            let basis = candidate.keys.basis;
            let key = candidate.keys.key(id, item);
            let is_new = result.repeat == 0;
            let group = candidate.counts.add(key, is_new, || basis.label(id, item));
            if let Some(score) = score {
                candidate.sample.add(score, group);
            }
        }
        if let Some(score) = score {
            self.alone.add(score, None);
        }
    }

    /// The likely clusters: of the bases with sensible groups, the one whose clusters widen the
    /// score's interval most.
    pub(crate) fn finish(self) -> Option<LikelyClusters> {
        if self.declared {
            return None;
        }
        let alone = self.alone.estimate();
        let found = self.candidates.iter().filter(|candidate| candidate.counts.are_likely());
        let found = found.map(|candidate| candidate.record(alone.as_ref()));
        let size =
            |each: &LikelyClusters| each.effect.as_ref().map_or(0.0, |effect| effect.design_effect);
        found.max_by(|left, right| size(left).total_cmp(&size(right)))
    }
}

impl LikelyClusters {
    /// `70 of 120 items look like 8 clusters (ids card_*, button_*)`.
    pub(crate) fn description(&self) -> String {
        format!(
            "{} of {} items look like {} cluster{} ({} {})",
            self.items,
            self.of_items,
            self.clusters,
            if self.clusters == 1 { "" } else { "s" },
            self.basis.noun(),
            self.examples.join(", ")
        )
    }

    /// The warning of a run's report; `None` if the scores do not differ between the clusters.
    pub(crate) fn warning(&self) -> Option<String> {
        let effect = self.effect.as_ref().filter(|effect| effect.is_seen())?;
        Some(format!(
            "{}: declare `cluster`, or the intervals are too narrow (that of the score would \
             be {:.1} times as wide)",
            self.description(),
            effect.widening
        ))
    }
}

#[derive(Debug)]
struct ClusterCandidate {
    keys: ClusterKeys,
    counts: GroupCounts,
    sample: Sample,
}

impl ClusterCandidate {
    fn record(&self, alone: Option<&MeanEstimate>) -> LikelyClusters {
        let grouped = self.sample.estimate();
        let effect = alone.zip(grouped.as_ref());
        LikelyClusters {
            basis: self.keys.basis,
            items: self.counts.grouped_items(),
            of_items: self.counts.items,
            clusters: self.counts.clusters(),
            examples: self.counts.largest(),
            effect: effect.and_then(|(alone, grouped)| cluster_effect(alone, grouped)),
        }
    }
}

#[cfg(test)]
mod tests;
