//! The second pass of planning: jobs of the items.

use super::{PlanError, PlanOptions, inline::inline, item_choice::ItemChoice};
use crate::dataset::{Dataset, DatasetItems, ItemAtLine, LineError};
use juror_types::{
    evidence::EvidenceMode,
    id::RunId,
    item::Item,
    job::{Job, Judge, RubricReference},
};
use std::num::NonZeroU32;

/// The common part of all jobs of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct JobTemplate {
    /// Id of the run.
    pub run_id: RunId,
    /// Id, version and digest of the rubric.
    pub rubric: RubricReference,
    /// The judge; `None` if only the deterministic stages run.
    pub judge: Option<Judge>,
    /// Mode of measured evidence.
    pub evidence: EvidenceMode,
}

/// The jobs of a plan, created lazily.
pub struct Jobs {
    choice: ItemChoice,
    items: DatasetItems,
    repeat: NonZeroU32,
    template: JobTemplate,
    /// The dataset, if its small files are inlined.
    inlining: Option<Dataset>,
    /// Number of items that the limit still allows.
    left: u64,
    /// The current item and its next repeat.
    current: Option<(Item, u32)>,
}

impl Jobs {
    /// Inlines small files of code and tokens into the jobs, for workers on other machines.
    pub fn inlining(self, dataset: &Dataset) -> Self {
        Self { inlining: Some(dataset.clone()), ..self }
    }

    fn next_item(&mut self) -> Option<Result<Item, LineError>> {
        if self.left == 0 {
            return None;
        }
        let choice = &self.choice;
        let mut found = self.items.find_map(|placed| match placed {
            Ok(ItemAtLine { item, .. }) if choice.holds(&item) => Some(Ok(item)),
            Ok(_) => None,
            Err(error) => Some(Err(error)),
        })?;
        if let (Ok(item), Some(dataset)) = (&mut found, &self.inlining) {
            inline(item, dataset);
        }
        self.left -= u64::from(found.is_ok());
        Some(found)
    }
}

impl Iterator for Jobs {
    /// An error means that the dataset has changed since the first pass.
    type Item = Result<Job, LineError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (item, repeat) = match self.current.take() {
            Some(current) => current,
            None => match self.next_item()? {
                Ok(item) => (item, 0),
                Err(error) => return Some(Err(error)),
            },
        };
        let following = repeat + 1;
        if following < self.repeat.get() {
            self.current = Some((item.clone(), following));
        }
        let JobTemplate { run_id, rubric, judge, evidence } = &self.template;
        let job = Job::new(run_id, item, repeat, rubric.clone(), judge.clone());
        Some(Ok(Job { evidence: *evidence, ..job }))
    }
}

/// The second pass: the jobs of a dataset that passed the first pass, in the manifest's order, with
/// an item's repeats in sequence, all in round 0.
pub fn jobs(
    dataset: &Dataset,
    options: &PlanOptions,
    template: &JobTemplate,
) -> Result<Jobs, PlanError> {
    Ok(Jobs {
        choice: ItemChoice::new(dataset, options)?,
        items: dataset.items()?,
        left: options.limit(),
        repeat: options.repeat,
        template: template.clone(),
        inlining: None,
        current: None,
    })
}
