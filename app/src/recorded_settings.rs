//! Settings in a run's record that later commands on the run take.

use crate::{
    local_ledger::recorded_folder,
    settings::{Layer, integer},
};
use juror_types::{
    budget_label::BudgetLabel,
    outcome::CountAs,
    run::{DecisionTerms, RunRecord},
};
use toml::Value;

/// Settings that every command on a run shares, as its record has them: its ledger, if that is still
/// in its folder, and what decides its exit code: the gate, the terms of the comparison, and the jobs
/// that averages count.
pub fn shared_layers(record: &RunRecord) -> Vec<Layer> {
    let mut layers = Layer::from_values([
        ("run", "state_dir", recorded_folder(record).map(Value::from)),
        ("run", "baseline", record.baseline.clone().map(Value::from)),
    ]);
    if let Some(terms) = &record.decision {
        let DecisionTerms { gate, margin, strict, max_lost, failed_jobs, missing_output, .. } =
            terms;
        let averaged = |jobs: &Option<CountAs>| Value::try_from((*jobs)?).ok();
        layers.extend(Layer::from_values([
            ("compare", "margin", Some((*margin).into())),
            ("compare", "strict", Some((*strict).into())),
            ("compare", "max_lost", Some((*max_lost).into())),
            ("run", "gate", gate.clone().map(Value::from)),
            ("run", "failed_jobs", averaged(failed_jobs)),
            ("run", "missing_output", averaged(missing_output)),
        ]));
    }
    layers
}

/// Settings with which a run is resumed, as its record has them.
pub(crate) fn layers_of_resumed(record: &RunRecord) -> Vec<Layer> {
    let (judge, roots) = (record.judge.as_ref(), &record.data_roots);
    let mut layers = Layer::from_values([
        ("run", "repeat", Some(record.repeat.into())),
        ("run", "enable_llm_judge", Some(judge.is_some().into())),
        ("evidence", "mode", Some(record.evidence.name().into())),
        ("judge", "model", judge.map(|judge| judge.model.clone().into())),
        ("judge", "detail", judge.map(|judge| judge.detail.name().into())),
        ("judge", "max_output_tokens", judge.map(|judge| judge.max_output_tokens.into())),
        ("judge", "strip_comments", judge.map(|judge| judge.strip_comments.into())),
        ("judge", "temperature", judge.and_then(|judge| judge.temperature).map(Value::from)),
        ("image", "max_side", record.max_side.map(Value::from)),
        ("files", "data_roots", (!roots.is_empty()).then(|| roots.clone().into())),
    ]);
    layers.extend(layers_of_every_round(record));
    layers
}

/// Settings in a record that hold for every round of its run: limits, cache, endpoint, budget tags,
/// ledger, gate and comparison, and whether inputs are kept.
pub(crate) fn layers_of_every_round(record: &RunRecord) -> Vec<Layer> {
    let tags = record.budget_labels.iter().filter_map(|label| match label {
        BudgetLabel::Tag(name) => Some(String::from(name.clone())),
        BudgetLabel::Dataset(_) => None,
    });
    let calls = record.calls;
    let mut layers = Layer::from_values([
        ("run", "keep_inputs", Some(record.keep_inputs.into())),
        ("run", "lane", Some(record.lane.name().into())),
        ("budget", "tags", Some(tags.collect::<Vec<_>>().into())),
        ("judge", "base_url", record.base_url.clone().map(Value::from)),
        ("limits", "rpm", calls.and_then(|calls| calls.rpm).map(integer)),
        ("limits", "tpm", calls.and_then(|calls| calls.tpm).map(integer)),
        ("limits", "max_concurrency", calls.and_then(|calls| calls.max_concurrency).map(integer)),
        ("cache", "enabled", calls.map(|calls| calls.cache.into())),
    ]);
    // On one machine, a changed threshold is refused; a fleet's commands may come from another one.
    let thresholds = record.stages.as_ref().filter(|_| record.fleet.is_some());
    layers.extend(Layer::from_values([
        ("stages", "token_accuracy", thresholds.map(|terms| terms.token_accuracy.into())),
        (
            "stages",
            "min_correctness",
            thresholds.and_then(|terms| terms.correctness).map(Value::from),
        ),
    ]));
    layers.extend(shared_layers(record));
    layers
}
