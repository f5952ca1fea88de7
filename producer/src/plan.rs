//! Planning of jobs in two passes and constant memory: the first validates every line, the second
//! creates the jobs.

mod duplicate_ids;
mod inline;
mod item_choice;
mod jobs;
mod only_cluster;

pub use item_choice::ItemSample;
pub use jobs::{JobTemplate, Jobs, jobs};

use crate::{
    dataset::{Dataset, DatasetError, DatasetProblem, ItemAtLine, LineError},
    filter::Filter,
};
use duplicate_ids::SeenIds;
use item_choice::ItemChoice;
use juror_types::{id::Digest, item::Item};
use only_cluster::OnlyCluster;
use std::{fmt, num::NonZeroU32, path::PathBuf};

/// Number of broken lines that are reported in full.
const REPORTED_ERRORS: usize = 20;

/// Number of items between two progress reports.
const PROGRESS_STEP: u64 = 1_000;

/// Selection of the items of a dataset that become jobs, and the number of repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanOptions {
    /// Conditions that must all hold.
    pub filters: Vec<Filter>,
    /// Random sample of those items.
    pub sample: Option<ItemSample>,
    /// Maximum number of items of those.
    pub limit: Option<u64>,
    /// Number of judgments of each item.
    pub repeat: NonZeroU32,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self { filters: Vec::new(), sample: None, limit: None, repeat: NonZeroU32::MIN }
    }
}

impl PlanOptions {
    fn limit(&self) -> u64 {
        self.limit.unwrap_or(u64::MAX)
    }
}

/// Result of the first pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanSummary {
    /// Items of the dataset.
    pub dataset_items: u64,
    /// Items remaining after filter, sample and limit.
    pub items: u64,
    /// Number of items from which the sample was drawn; `None` without one.
    pub sampled_from: Option<u64>,
    /// Jobs: items times repeat.
    pub jobs: u64,
    /// Digest of the manifest's bytes, or of a folder's listing.
    pub digest: Digest,
    /// True if any remaining item has expected and extracted tokens.
    pub has_tokens: bool,
    /// True if any has an expected and a retrieved pattern.
    pub has_patterns: bool,
    /// True if any has generated code.
    pub has_code: bool,
    /// Number of items without code.
    pub without_code: u64,
    /// True if any item has an image of its rendered code.
    pub has_rendered: bool,
    /// True if any item has code and no image of it.
    pub has_code_to_render: bool,
    /// True if any has a quality score.
    pub has_quality: bool,
    /// Number of items with a file on a host or in a bucket from which this process may not read.
    pub not_allowed: u64,
    /// Warnings that stop nothing.
    pub warnings: Vec<String>,
}

impl PlanSummary {
    /// True if a run without the judge has anything to evaluate.
    pub fn has_stages(&self) -> bool {
        self.has_tokens || self.has_patterns || self.has_code || self.has_quality
    }

    fn count(&mut self, item: &Item, repeat: NonZeroU32) {
        self.items += 1;
        self.jobs = self.jobs.saturating_add(repeat.get().into());
        self.has_tokens |= item.expected_tokens.is_some() && item.extracted_tokens.is_some();
        self.has_patterns |= item.expected_pattern.is_some() && item.retrieved_pattern.is_some();
        self.has_code |= item.generated_code.is_some();
        self.without_code += u64::from(item.generated_code.is_none());
        self.has_rendered |= item.rendered().is_some();
        self.has_code_to_render |= item.generated_code.is_some() && item.rendered().is_none();
        self.has_quality |= item.quality_score.is_some();
    }
}

/// The error of planning.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The dataset cannot be read.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// Lines must be corrected.
    #[error(transparent)]
    Lines(#[from] BrokenLines),
    /// A dataset without items.
    #[error("{0} has no items; write one JSON object per line (one row per item in CSV)")]
    Empty(PathBuf),
    /// Filter and limit match nothing.
    #[error("no items match: {conditions} selects none of {items}{}", match .unknown_keys.as_slice() {
        [] => String::new(),
        keys => format!("; no item has {}", keys.join(", ")),
    })]
    NothingLeft {
        /// Items of the dataset.
        items: u64,
        /// The given conditions, as text.
        conditions: String,
        /// Keys of filters that no item has.
        unknown_keys: Vec<String>,
    },
}

/// The lines of a dataset to correct, the first of them in full.
#[derive(Clone, Debug, PartialEq)]
pub struct BrokenLines {
    /// At most 20, in order.
    pub first: Vec<LineError>,
    /// Number of broken lines.
    pub count: u64,
}

impl std::error::Error for BrokenLines {}

impl fmt::Display for BrokenLines {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            1 => write!(formatter, "1 line of the dataset is broken")?,
            count => write!(formatter, "{count} lines of the dataset are broken")?,
        }
        for error in &self.first {
            write!(formatter, "\n  {error}")?;
        }
        match self.count.saturating_sub(self.first.len() as u64) {
            0 => Ok(()),
            more => write!(formatter, "\n  and {more} more"),
        }
    }
}

impl BrokenLines {
    fn add(&mut self, error: LineError) {
        self.count += 1;
        if self.first.len() < REPORTED_ERRORS {
            self.first.push(error);
        }
    }
}

/// The first pass: every line is well formed, ids are unique, every file exists. Takes 16 bytes per
/// item. `on_progress` is called periodically with the number of items so far.
pub fn check(
    dataset: &Dataset,
    options: &PlanOptions,
    on_progress: &mut dyn FnMut(u64),
) -> Result<PlanSummary, PlanError> {
    let choice = ItemChoice::new(dataset, options)?;
    let mut items = dataset.items()?;
    let mut broken = BrokenLines { first: Vec::new(), count: 0 };
    let mut summary = PlanSummary {
        sampled_from: choice.sampled_from,
        digest: dataset.digest()?,
        ..PlanSummary::default()
    };
    let mut seen = SeenIds::default();
    let mut only_cluster = OnlyCluster::default();
    let mut known_keys = vec![false; options.filters.len()];
    for placed in &mut items {
        match placed.and_then(|placed| check_one(dataset, &mut seen, placed)) {
            Err(error) => broken.add(error),
            Ok(item) => {
                summary.dataset_items += 1;
                if summary.dataset_items.is_multiple_of(PROGRESS_STEP) {
                    on_progress(summary.dataset_items);
                }
                for (known, filter) in known_keys.iter_mut().zip(&options.filters) {
                    *known |= filter.applies(&item);
                }
                if summary.items < options.limit() && choice.holds(&item) {
                    summary.count(&item, options.repeat);
                    summary.not_allowed += u64::from(dataset.is_not_allowed(&item));
                    only_cluster.add(&item);
                }
            }
        }
    }
    if broken.count > 0 {
        return Err(broken.into());
    }
    if summary.dataset_items == 0 {
        return Err(PlanError::Empty(dataset.source().to_owned()));
    }
    if summary.items == 0 {
        return Err(nothing_left(summary.dataset_items, options, &known_keys));
    }
    summary.warnings = items.warnings().to_vec();
    summary.warnings.extend(only_cluster.warning());
    Ok(summary)
}

/// The selected items, each with its place, in the manifest's order.
pub fn selected_items(
    dataset: &Dataset,
    options: &PlanOptions,
) -> Result<impl Iterator<Item = Result<ItemAtLine, LineError>>, PlanError> {
    let limit = usize::try_from(options.limit()).unwrap_or(usize::MAX);
    let choice = ItemChoice::new(dataset, options)?;
    let is_selected = move |placed: &ItemAtLine| choice.holds(&placed.item);
    let selected =
        dataset.items()?.filter(move |placed| placed.as_ref().map_or(true, &is_selected));
    Ok(selected.take(limit))
}

fn check_one(dataset: &Dataset, seen: &mut SeenIds, placed: ItemAtLine) -> Result<Item, LineError> {
    let ItemAtLine { place, item } = placed;
    if let Err(first) = seen.insert(&item.id, place.line) {
        let problem = DatasetProblem::Duplicate { id: item.id, first };
        return Err(LineError { place, field: Some("id".to_owned()), problem });
    }
    match dataset.find_files(&item) {
        Ok(()) => Ok(item),
        Err(error) => Err(error.at(place)),
    }
}

fn nothing_left(items: u64, options: &PlanOptions, known_keys: &[bool]) -> PlanError {
    let filters = options.filters.iter().map(|filter| format!("--filter {filter}"));
    let sample = options.sample.map(|sample| format!("--sample {}", sample.items));
    let limit = options.limit.map(|limit| format!("--limit {limit}"));
    let unknown = options.filters.iter().zip(known_keys).filter(|(_, known)| !**known);
    PlanError::NothingLeft {
        items,
        conditions: filters.chain(sample).chain(limit).collect::<Vec<_>>().join(" "),
        unknown_keys: unknown.map(|(filter, _)| filter.key().to_owned()).collect(),
    }
}

#[cfg(test)]
mod tests;
