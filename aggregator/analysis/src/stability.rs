//! Stability of items over the last comparable runs: items that pass in one run and fail in the
//! next, and the noise of a score between runs.

mod item_track;
#[cfg(test)]
mod tests;

use crate::{
    fold::Fold,
    history::runs_of_equal_stages,
    metrics::{AveragingPolicy, MetricDefinition},
};
use item_track::{ItemTrack, SuccessiveDifferences, TrackedResult};
use juror_journal::journal::{JournalError, RunFiles};
use juror_types::{
    id::RunId,
    outcome::{InputRecord, JobResult},
    rubric::Rubric,
};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, HashMap},
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

/// Outcome of an item on one night.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NightOutcome {
    /// Most of its judgments pass.
    Passed,
    /// Most of its judgments do not pass.
    Failed,
    /// It has no scored judgment.
    NotScored,
}

/// An item that passed, failed, and passed again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlakyItem {
    /// Id of the item.
    pub id: String,
    /// Its outcome in each run that has it, oldest first.
    pub outcomes: Vec<NightOutcome>,
    /// Number of changes between passed and failed; runs that do not score it are left out.
    pub changes: u32,
}

/// Stability of a run's items over the last comparable runs; empty if there was no earlier run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ItemStability {
    /// Runs, oldest first, the evaluated one last.
    pub runs: Vec<RunId>,
    /// Flaky items by their ids.
    pub flaky: BTreeMap<String, FlakyItem>,
    /// Variance of an item's score, as a share, between consecutive runs that judged it anew, over
    /// the runs before the evaluated one; `None` with too few items.
    pub noise_variance: Option<f64>,
}

impl ItemStability {
    /// Reads a run and the `runs` − 1 comparable ones before it in sequence. Results from before a
    /// change of an item's input are ignored.
    pub fn from_run(
        files: &RunFiles,
        runs: usize,
        rubric: &Rubric,
        policy: AveragingPolicy,
    ) -> Result<Self, JournalError> {
        let mut runs = runs_of_equal_stages(files, runs.saturating_sub(1));
        if runs.is_empty() {
            return Ok(Self::default());
        }
        runs.reverse();
        let mut scan = StabilityScan::new(rubric, policy);
        for run in &runs {
            scan.read(run)?;
        }
        let noise_variance = scan.differences().variance();
        scan.read(files)?;
        let of_same_inputs = scan.repeats_inputs();
        let flaky = scan.items.into_iter().filter(|(_, track)| track.is_flaky(of_same_inputs));
        let flaky = flaky.map(|(id, track)| {
            let (outcomes, changes) = track.into_outcomes(of_same_inputs);
            (id.clone(), FlakyItem { id, outcomes, changes })
        });
        let ids = runs.iter().chain([files]).map(|run| run.record().run_id.clone());
        Ok(Self { runs: ids.collect(), flaky: flaky.collect(), noise_variance })
    }

    /// True if an item is flaky.
    pub fn is_flaky(&self, item: &str) -> bool {
        self.flaky.contains_key(item)
    }
}

/// Items of the runs that are read so far.
struct StabilityScan<'a> {
    success: Option<MetricDefinition>,
    decisive: MetricDefinition,
    first_image: &'a str,
    policy: AveragingPolicy,
    items: HashMap<String, ItemTrack>,
}

impl<'a> StabilityScan<'a> {
    fn new(rubric: &'a Rubric, policy: AveragingPolicy) -> Self {
        let mut all = MetricDefinition::all(rubric).into_iter();
        Self {
            success: all.find(|metric| metric.path == "pipeline_success_rate"),
            decisive: MetricDefinition::decisive(rubric),
            first_image: rubric.images.first().map_or("", |image| image.name.as_str()),
            policy,
            items: HashMap::new(),
        }
    }

    fn read(&mut self, files: &RunFiles) -> Result<(), JournalError> {
        let judged = files.record().judge.is_some();
        let add = |all: &mut Vec<_>, result: JobResult, _| {
            let tracked = self.tracked(&result, judged);
            all.push((result.screenshot_id, tracked));
        };
        let (results, _) = Fold::read_current(files, Vec::new, add)?;
        for (item, result) in results {
            self.items.entry(item).or_default().add(result);
        }
        self.items.values_mut().for_each(ItemTrack::end_run);
        Ok(())
    }

    fn tracked(&self, result: &JobResult, judged: bool) -> TrackedResult {
        let image = result.item.input(self.first_image);
        let value = |metric: &MetricDefinition| metric.counted_value(result, judged, self.policy);
        let passed = self.success.as_ref().and_then(value);
        let score = value(&self.decisive);
        TrackedResult {
            image: image.and_then(|image| image.digest),
            inputs: hash_of(&result.item.inputs),
            passed,
            score,
            is_judged_anew: !result.cached && (!judged || result.semantic.is_some()),
        }
    }

    /// True if most items had the same inputs in successive runs. Other code is no noise then; where
    /// a pipeline makes other code in each run, all runs are compared.
    fn repeats_inputs(&self) -> bool {
        let repeating = self.items.values().filter(|track| track.repeats_inputs).count();
        repeating > 0 && repeating * 2 >= self.items.len()
    }

    fn differences(&self) -> SuccessiveDifferences {
        let of_same_inputs = self.repeats_inputs();
        let mut all = SuccessiveDifferences::default();
        self.items.values().for_each(|track| all.add(track.differences(of_same_inputs)));
        all
    }
}

/// Hash of the digests of inputs, which only this process compares.
fn hash_of(inputs: &[InputRecord]) -> u64 {
    let mut hasher = DefaultHasher::new();
    inputs.iter().for_each(|input| (&input.name, input.digest).hash(&mut hasher));
    hasher.finish()
}
