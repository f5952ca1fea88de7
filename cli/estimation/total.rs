//! The sum of an estimate, and what earlier runs say about such sums.

use crate::{exit::Failure, session::Session};
use juror_common::usage::{Money, Usage};
use juror_worker::{bounds::Bounds, estimate::Estimated};
use serde::Deserialize;
use std::path::Path;

/// How many runs, the newest first, an estimate learns from.
const RUNS_TO_LEARN_FROM: usize = 20;
/// What a call takes until runs have shown better, in seconds: the middle of the 5 to 10 that
/// providers commonly need for one.
const USUAL_SECONDS_A_CALL: f64 = 7.5;

/// What all jobs would take.
#[derive(Debug, Default)]
pub struct Total {
    /// Jobs whose answer by the run's own judge is in the cache.
    pub cached: u64,
    /// Jobs that have nothing to ask.
    pub without_call: u64,
    /// Jobs that would fail before any call, and why the first one would.
    pub failing: u64,
    /// Why the first of those would fail.
    pub first_failure: Option<String>,
    /// For each candidate in order, the run's own judge first.
    pub candidates: Vec<CandidateTotal>,
}

/// What all calls would take with one model.
#[derive(Clone, Copy, Debug, Default)]
pub struct CandidateTotal {
    /// Jobs that need a call.
    pub calls: u64,
    /// Tokens, probably.
    pub expected: Usage,
    /// Cost, probably.
    pub expected_cost: Money,
    /// Cost at most, each call made once.
    pub worst_cost: Money,
    /// Tokens at most that count against a limit of tokens a minute.
    pub most_tokens: u64,
}

impl Total {
    /// Nothing yet, for so many candidates.
    pub fn new(candidates: usize) -> Self {
        Self { candidates: vec![CandidateTotal::default(); candidates], ..Self::default() }
    }

    /// Adds a job.
    pub fn add(&mut self, estimated: Estimated) {
        match estimated {
            Estimated::NoCall => self.without_call += 1,
            Estimated::Failed(error) => {
                self.failing += 1;
                self.first_failure.get_or_insert(error.message);
            }
            Estimated::Question { cached, bounds } => {
                self.cached += u64::from(cached);
                let own = usize::from(cached);
                for (total, bounds) in self.candidates.iter_mut().zip(bounds).skip(own) {
                    total.add(&bounds);
                }
            }
        }
    }
}

impl CandidateTotal {
    fn add(&mut self, bounds: &Bounds) {
        self.calls += 1;
        self.expected += bounds.expected;
        self.expected_cost += bounds.expected_cost;
        self.worst_cost += bounds.worst_cost;
        self.most_tokens += bounds.input_tokens + bounds.max_output_tokens;
    }
}

/// What earlier runs by the same judge and rubric have shown.
#[derive(Clone, Copy, Debug)]
pub struct Experience {
    /// How many runs.
    pub runs: usize,
    /// What calls cost, as a share of what was expected.
    pub cost_ratio: f64,
    /// How long a screenshot took, in seconds.
    pub seconds_a_call: f64,
}

#[derive(Deserialize)]
struct PastReport {
    run: PastRun,
    overall: PastOverall,
    cost: PastCost,
}

#[derive(Deserialize)]
struct PastRun {
    rubric: PastRubric,
    judge: Option<PastJudge>,
    base_url: Option<String>,
    simulated: bool,
    finished_at: String,
}

impl PastRun {
    /// A fleet's run names no endpoint: that is its workers' own.
    fn was_asked_at(&self, base_url: &str) -> bool {
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
    /// Calls that are booked at their bound teach nothing of what calls cost.
    #[serde(default)]
    unmetered_calls: u64,
}

impl Experience {
    /// What the reports in the runs directory tell about this judge, rubric and endpoint.
    pub fn of_runs(session: &Session) -> Result<Self, Failure> {
        let judge = &session.settings.judge;
        let mut past = reports(&session.settings.run.runs_dir)?;
        past.retain(|report| {
            report.run.rubric.id == session.rubric.id
                && report.run.was_asked_at(&judge.base_url)
                && report.run.judge.as_ref().is_some_and(|past| past.model == judge.model)
                && report.cost.unmetered_calls == 0
                && report.cost.estimated_usd.is_some_and(|estimated| estimated > Money::ZERO)
        });
        past.sort_by(|one, other| other.run.finished_at.cmp(&one.run.finished_at));
        past.truncate(RUNS_TO_LEARN_FROM);
        Ok(Self::of(&past))
    }

    fn of(past: &[PastReport]) -> Self {
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

/// Every report that can be read; one that cannot teaches nothing and is no error.
fn reports(runs_dir: &Path) -> Result<Vec<PastReport>, Failure> {
    let Ok(entries) = std::fs::read_dir(runs_dir) else { return Ok(Vec::new()) };
    let read = |path: std::path::PathBuf| -> Option<PastReport> {
        serde_json::from_slice(&std::fs::read(path).ok()?).ok()
    };
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path().join("report.json"));
    Ok(paths.filter_map(read).collect())
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
    fn experience_weighs_runs_by_what_was_expected_of_them() {
        let experience = Experience::of(&[past("3", "1", 1_000.0), past("1", "3", 3_000.0)]);
        assert_eq!(experience.runs, 2);
        assert!((experience.cost_ratio - 1.0).abs() < 1e-9);
        assert!((experience.seconds_a_call - 2.0).abs() < 1e-9);
    }

    #[test]
    fn a_fleet_teaches_what_no_simulator_answered() {
        let mut run = past("1", "1", 1.0).run;
        assert!(run.was_asked_at("http://x/v1") && !run.was_asked_at("http://y/v1"));
        run.base_url = None;
        assert!(run.was_asked_at("http://y/v1"));
        run.simulated = true;
        assert!(!run.was_asked_at("http://y/v1"));
    }

    #[test]
    fn without_runs_nothing_is_corrected() {
        let experience = Experience::of(&[]);
        assert!((experience.cost_ratio - 1.0).abs() < 1e-9);
        assert!((experience.seconds_a_call - USUAL_SECONDS_A_CALL).abs() < 1e-9);
    }
}
