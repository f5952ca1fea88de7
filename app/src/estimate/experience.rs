//! Experience of earlier runs: what their calls cost and took, against their estimates.

use crate::run::run_setup::RunSetup;
use juror_analysis::history::{SavedReport, SavedRun, read_report};
use juror_types::usage::Money;
use std::path::Path;

/// Number of runs, the newest first, that an estimate learns from.
const RUNS_TO_LEARN_FROM: usize = 20;
/// Duration of a call until runs have shown better, in seconds: the middle of the 5 to 10 that
/// providers commonly need for one.
const USUAL_SECONDS_A_CALL: f64 = 7.5;

/// Experience from earlier runs by the same judge and rubric.
#[derive(Clone, Copy, Debug)]
pub struct Experience {
    /// Number of runs.
    pub runs: usize,
    /// Ratio of actual to expected cost of calls.
    pub cost_ratio: f64,
    /// Mean duration of a call, in seconds.
    pub seconds_a_call: f64,
}

impl Experience {
    /// Experience from the reports in the runs directory about this judge, rubric and endpoint.
    pub fn from_runs(setup: &RunSetup) -> Self {
        let judge = &setup.settings.judge;
        let mut past = reports(&setup.settings.run.runs_dir);
        past.retain(|report| {
            report.run.rubric.as_ref().is_some_and(|past| past.id == setup.rubric.id)
                && report.cost.results_usd.is_some()
                && used_base_url(&report.run, &judge.base_url)
                && report.run.judge.as_ref().is_some_and(|past| past.model == judge.model)
                && report.cost.unmetered_calls == 0
                && report.cost.estimated_usd.is_some_and(|estimated| estimated > Money::ZERO)
        });
        past.sort_by(|one, other| other.run.finished_at.cmp(&one.run.finished_at));
        past.truncate(RUNS_TO_LEARN_FROM);
        Self::from_reports(&past)
    }

    fn from_reports(past: &[SavedReport]) -> Self {
        let estimated: Money = past.iter().filter_map(|report| report.cost.estimated_usd).sum();
        let paid: Money = past.iter().filter_map(|report| report.cost.results_usd).sum();
        let latencies: Vec<f64> =
            past.iter().filter_map(|report| report.figure("avg_latency_ms")).collect();
        let mean = latencies.iter().sum::<f64>() / latencies.len().max(1) as f64 / 1_000.0;
        Self {
            runs: past.len(),
            cost_ratio: match estimated > Money::ZERO {
                true => paid.approximate_dollars() / estimated.approximate_dollars(),
                false => 1.0,
            },
            seconds_a_call: if latencies.is_empty() { USUAL_SECONDS_A_CALL } else { mean },
        }
    }
}

/// True if a run used this endpoint. A fleet's run names none: that is its workers' own.
fn used_base_url(run: &SavedRun, base_url: &str) -> bool {
    run.base_url.as_ref().map_or(!run.simulated, |past| past == base_url)
}

/// Every readable report; others are skipped.
fn reports(runs_dir: &Path) -> Vec<SavedReport> {
    let entries = std::fs::read_dir(runs_dir).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path().join("report.json"));
    paths.filter_map(|path| read_report(&path).ok()?).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn past(paid: &str, estimated: &str, latency: f64) -> SavedReport {
        let text = format!(
            r#"{{"schema": 1, "intervals": {{}}, "coverage": {{"planned": 1, "scored": 1}}, "run": {{"rubric": {{"id": "semantic"}}, "judge": {{"model": "gpt-4o"}},
                 "base_url": "http://x/v1", "simulated": false,
                 "finished_at": "2026-11-21T00:00:00Z"}},
                 "overall": {{"avg_latency_ms": {latency}}},
                 "cost": {{"total_usd": "{paid}", "cached_verdicts": 0, "results_usd": "{paid}", "estimated_usd": "{estimated}"}}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn correction_weighs_runs_by_their_expected_cost() {
        let experience =
            Experience::from_reports(&[past("3", "1", 1_000.0), past("1", "3", 3_000.0)]);
        assert_eq!(experience.runs, 2);
        assert!((experience.cost_ratio - 1.0).abs() < 1e-9);
        assert!((experience.seconds_a_call - 2.0).abs() < 1e-9);
    }

    #[test]
    fn fleet_runs_correct_estimates_unless_simulated() {
        let mut run = past("1", "1", 1.0).run;
        assert!(used_base_url(&run, "http://x/v1") && !used_base_url(&run, "http://y/v1"));
        run.base_url = None;
        assert!(used_base_url(&run, "http://y/v1"));
        run.simulated = true;
        assert!(!used_base_url(&run, "http://y/v1"));
    }

    #[test]
    fn estimate_without_runs_is_uncorrected() {
        let experience = Experience::from_reports(&[]);
        assert!((experience.cost_ratio - 1.0).abs() < 1e-9);
        assert!((experience.seconds_a_call - USUAL_SECONDS_A_CALL).abs() < 1e-9);
    }
}
