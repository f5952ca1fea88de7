//! The record of a setup's run.

use super::RunSetup;
use crate::{
    error::AppError,
    reporting::recorded_gate::file_digest,
    settings::{CompareSettings, Settings},
};
use juror_analysis::{gate::Gate, metrics::AveragingPolicy};
use juror_image::PREPARATION_VERSION;
use juror_types::{
    budget_label::BudgetLabel,
    id::RunId,
    run::{
        CallTerms, DatasetRecord, DecisionTerms, Preparation, RunRecord, SampleRecord,
        StageCommands, StageTerms,
    },
};
use std::path::Path;

impl RunSetup {
    /// The record of a new run of this setup.
    pub fn record(&self, run_id: RunId) -> RunRecord {
        RunRecord {
            schema: juror_types::SCHEMA,
            run_id,
            created_at: jiff::Timestamp::now().to_string(),
            program_version: env!("CARGO_PKG_VERSION").to_owned(),
            dataset: DatasetRecord {
                path: absolute(&self.dataset_path),
                digest: self.plan.digest,
                limit: self.selection.limit,
                filters: self.selection.filters.clone(),
                sample: self.sample_record(),
            },
            data_roots: self.settings.files.data_roots.iter().map(|root| absolute(root)).collect(),
            rubric: self.rubric.reference(),
            rubric_text: self.rubric_text.clone(),
            judge: self.judge().cloned(),
            evidence: self.settings.evidence.mode,
            max_side: self.judge().and(self.settings.image.max_side),
            preparation: self.priced_judge.as_ref().map(|priced_judge| Preparation {
                version: PREPARATION_VERSION,
                max_bytes: priced_judge.rules.max_bytes,
                max_side: priced_judge.rules.max_side,
            }),
            stages: Some(self.stage_terms()),
            base_url: self.judge().map(|_| self.settings.judge.base_url.clone()),
            calls: Some(self.call_terms()),
            judging: None,
            lane: self.settings.run.lane,
            budget_usd: self.settings.budget.run_usd,
            budget_labels: self.budget_labels(),
            baseline: self.settings.run.baseline().map(named_or_absolute),
            decision: Some(decision_terms(&self.settings)),
            simulated: false,
            state_dir: self.settings.run.state_dir.as_deref().map(absolute),
            repeat: self.options.repeat.get(),
            planned: self.plan.jobs,
            fleet: None,
            upload: None,
            keep_inputs: self.settings.run.keep_inputs,
            deadline: self.settings.deadline(),
            published: None,
        }
    }

    /// The record of this setup for comparison with that of a known run.
    pub(in crate::run) fn record_like(&self, known: &RunRecord) -> RunRecord {
        let record = self.record(known.run_id.clone());
        match &known.fleet {
            Some(namespace) => record.for_fleet(namespace.clone()),
            None => record,
        }
    }

    /// Labels under which its calls count.
    fn budget_labels(&self) -> Vec<BudgetLabel> {
        let dataset = absolute(&self.dataset_path);
        self.settings.budget.labels(Some(Path::new(&dataset)))
    }

    fn call_terms(&self) -> CallTerms {
        let limits = &self.settings.limits;
        CallTerms {
            rpm: limits.rpm,
            tpm: limits.tpm,
            max_concurrency: limits.max_concurrency.map(|count| count as u64),
            cache: self.settings.cache.enabled,
        }
    }

    /// Random part of the items that it judges.
    pub(in crate::run) fn sample_record(&self) -> Option<SampleRecord> {
        let (sample, of) = self.selection.sample.zip(self.plan.sampled_from)?;
        let until_width = self.selection.until_width;
        Some(SampleRecord { items: sample.items, seed: sample.seed, of, until_width })
    }

    fn stage_terms(&self) -> StageTerms {
        let stages = &self.settings.stages;
        let commands = stages.commands();
        let render_command = commands.render_command.filter(|_| self.measures());
        StageTerms {
            token_accuracy: stages.token_accuracy,
            correctness: self.judge().and(stages.min_correctness),
            commands: StageCommands { render_command, ..commands },
        }
    }
}

/// Terms of the decision on a run with these settings.
pub fn decision_terms(settings: &Settings) -> DecisionTerms {
    let CompareSettings { margin, strict, max_lost, .. } = settings.compare;
    let gate = settings.run.gate().map(|gate| match Gate::is_built_in(gate) {
        true => gate.to_owned(),
        false => absolute(Path::new(gate)),
    });
    let gate_digest = gate.as_deref().and_then(file_digest);
    let AveragingPolicy { failed, no_output } = settings.run.averaging_policy();
    let (failed_jobs, missing_output) = (Some(failed), Some(no_output));
    DecisionTerms { gate, gate_digest, margin, strict, max_lost, failed_jobs, missing_output }
}

/// A path as a record has it: resuming must find the dataset and its files from any folder.
pub fn absolute(path: &Path) -> String {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    absolute.to_string_lossy().into_owned()
}

/// Checks that [`absolute`] changes nothing in the path of a dataset.
pub(super) fn check_path(dataset: &Path) -> Result<(), AppError> {
    let absolute = std::path::absolute(dataset).unwrap_or_else(|_| dataset.to_owned());
    match absolute.ancestors().filter(|path| path.to_str().is_none()).last() {
        None => Ok(()),
        Some(unnamed) => Err(AppError::invalid(format!(
            "the name of {unnamed:?} is not valid UTF-8, and a run is continued by the path of its \
             dataset: rename it, or copy the dataset to another folder"
        ))),
    }
}

/// A run as a record names it: a path is made absolute, also one that could be a name.
pub fn named_or_absolute(run: &str) -> String {
    let path = Path::new(run);
    match RunId::parse(run) {
        Ok(_) if !path.join("run.json").exists() => run.to_owned(),
        _ => absolute(path),
    }
}
