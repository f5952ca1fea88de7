//! Settings in a run's record that later commands on the run take.

use crate::{local_ledger::recorded_folder, settings::Layer};
use juror_types::{
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
