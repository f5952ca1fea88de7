//! Settings in a run's record that later commands on the run take.

use crate::{
    local_ledger::recorded_folder,
    settings::{Layer, integer},
};
use juror_types::{budget_label::BudgetLabel, outcome::CountAs, run::RunRecord};
use toml::Value;

/// Settings that every command on a run shares, as its record has them: its ledger, if that is still
/// in its folder, and what decides its exit code: the gate, the terms of the comparison, and the jobs
/// that averages count.
pub fn shared_layer(record: &RunRecord) -> Layer {
    let layer = Layer::default()
        .with("run.state_dir", recorded_folder(record))
        .with("run.baseline", record.baseline.clone());
    let Some(terms) = &record.decision else { return layer };
    let averaged = |jobs: Option<CountAs>| Value::try_from(jobs?).ok();
    layer
        .with("compare.margin", Some(terms.margin))
        .with("compare.strict", Some(terms.strict))
        .with("compare.max_lost", Some(terms.max_lost))
        .with("run.gate", terms.gate.clone())
        .with("run.failed_jobs", averaged(terms.failed_jobs))
        .with("run.missing_output", averaged(terms.missing_output))
}

/// Settings with which a run is resumed, as its record has them.
pub(crate) fn layer_of_resumed_run(record: &RunRecord) -> Layer {
    let (judge, roots) = (record.judge.as_ref(), &record.data_roots);
    Layer::default()
        .with("run.repeat", Some(record.repeat))
        .with("run.enable_llm_judge", Some(judge.is_some()))
        .with("evidence.mode", Some(record.evidence.name()))
        .with("judge.model", judge.map(|judge| judge.model.clone()))
        .with("judge.detail", judge.map(|judge| judge.detail.name()))
        .with("judge.max_output_tokens", judge.map(|judge| judge.max_output_tokens))
        .with("judge.strip_comments", judge.map(|judge| judge.strip_comments))
        .with("judge.temperature", judge.and_then(|judge| judge.temperature))
        .with("image.max_side", record.max_side)
        .with("files.data_roots", (!roots.is_empty()).then(|| roots.clone()))
        .overlaid_with(layer_of_every_round(record))
}

/// Settings in a record that hold for every round of its run: limits, cache, endpoint, budget tags,
/// ledger, gate and comparison, and whether inputs are kept.
pub(crate) fn layer_of_every_round(record: &RunRecord) -> Layer {
    let tags = record.budget_labels.iter().filter_map(|label| match label {
        BudgetLabel::Tag(name) => Some(name.to_string()),
        BudgetLabel::Dataset(_) => None,
    });
    let calls = record.calls;
    // On one machine, a changed threshold is refused; a fleet's commands may come from another one.
    let thresholds = record.stages.as_ref().filter(|_| record.fleet.is_some());
    Layer::default()
        .with("run.keep_inputs", Some(record.keep_inputs))
        .with("run.lane", Some(record.lane.name()))
        .with("budget.tags", Some(tags.collect::<Vec<_>>()))
        .with("judge.base_url", record.base_url.clone())
        .with("limits.rpm", calls.and_then(|calls| calls.rpm).map(integer))
        .with("limits.tpm", calls.and_then(|calls| calls.tpm).map(integer))
        .with("limits.max_concurrency", calls.and_then(|calls| calls.max_concurrency).map(integer))
        .with("cache.enabled", calls.map(|calls| calls.cache))
        .with("stages.token_accuracy", thresholds.map(|terms| terms.token_accuracy))
        .with("stages.min_correctness", thresholds.and_then(|terms| terms.correctness))
        .overlaid_with(shared_layer(record))
}
