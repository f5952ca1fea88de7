//! Experience of earlier runs: what their calls cost and took, against their estimates.

use crate::run::run_setup::RunSetup;
use juror_analysis::history::read_report;
use juror_types::usage::Money;
use serde::Deserialize;
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
            report.run.rubric.id == setup.rubric.id
                && report.run.used_base_url(&judge.base_url)
                && report.run.judge.as_ref().is_some_and(|past| past.model == judge.model)
                && report.cost.unmetered_calls == 0
                && report.cost.estimated_usd.is_some_and(|estimated| estimated > Money::ZERO)
        });
        past.sort_by(|one, other| other.run.finished_at.cmp(&one.run.finished_at));
        past.truncate(RUNS_TO_LEARN_FROM);
        Self::from_reports(&past)
    }

    fn from_reports(past: &[PastReport]) -> Self {
        let estimated: Money = past.iter().filter_map(|report| report.cost.estimated_usd).sum();
        let paid: Money = past.iter().map(|report| report.cost.results_usd).sum();
        let latencies: Vec<f64> =
            past.iter().filter_map(|report| report.overall.avg_latency_ms).collect();
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

#[derive(Deserialize)]
struct PastReport {
    run: PastRunFacts,
    overall: PastOverall,
    cost: PastCost,
}

#[derive(Deserialize)]
struct PastRunFacts {
    rubric: PastRubric,
    judge: Option<PastJudge>,
    base_url: Option<String>,
    simulated: bool,
    finished_at: String,
}

impl PastRunFacts {
    /// A fleet's run names no endpoint: that is its workers' own.
    fn used_base_url(&self, base_url: &str) -> bool {
        self.base_url.as_ref().map_or(!self.simulated, |past| past == base_url)
    }
}

#[derive(Deserialize)]
struct PastRubric {
    id: String,
}

#[derive(Deserialize)]
struct PastJudge {
    model: String,
}

#[derive(Deserialize)]
struct PastOverall {
    avg_latency_ms: Option<f64>,
}

#[derive(Deserialize)]
struct PastCost {
    results_usd: Money,
    estimated_usd: Option<Money>,
    /// Calls that are booked at their bound: costs of such runs are not used.
    #[serde(default)]
    unmetered_calls: u64,
}

/// Every readable report; others are skipped.
fn reports(runs_dir: &Path) -> Vec<PastReport> {
    let entries = std::fs::read_dir(runs_dir).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path().join("report.json"));
    paths.filter_map(|path| read_report(&path).ok()?).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn past(paid: &str, estimated: &str, latency: f64) -> PastReport {
        let text = format!(
            r#"{{"run": {{"rubric": {{"id": "semantic"}}, "judge": {{"model": "gpt-4o"}},
                 "base_url": "http://x/v1", "simulated": false,
                 "finished_at": "2026-11-21T00:00:00Z"}},
                 "overall": {{"avg_latency_ms": {latency}}},
                 "cost": {{"results_usd": "{paid}", "estimated_usd": "{estimated}"}}}}"#
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
        assert!(run.used_base_url("http://x/v1") && !run.used_base_url("http://y/v1"));
        run.base_url = None;
        assert!(run.used_base_url("http://y/v1"));
        run.simulated = true;
        assert!(!run.used_base_url("http://y/v1"));
    }

    #[test]
    fn estimate_without_runs_is_uncorrected() {
        let experience = Experience::from_reports(&[]);
        assert!((experience.cost_ratio - 1.0).abs() < 1e-9);
        assert!((experience.seconds_a_call - USUAL_SECONDS_A_CALL).abs() < 1e-9);
    }
}
