//! The sum of an estimate, and what earlier runs say about such sums.

use crate::run::session::Session;
use juror_analysis::history::read_report;
use juror_types::usage::{Money, Usage};
use juror_worker::{cost_bounds::Bounds, estimate::Estimated};
use serde::Deserialize;
use std::path::Path;

/// Number of runs, the newest first, that an estimate learns from.
const RUNS_TO_LEARN_FROM: usize = 20;
/// Duration of a call until runs have shown better, in seconds: the middle of the 5 to 10 that
/// providers commonly need for one.
const USUAL_SECONDS_A_CALL: f64 = 7.5;

/// Estimate of all jobs.
#[derive(Debug, Default)]
pub struct Total {
    /// Jobs that were examined; the other figures are scaled up from them.
    pub examined: u64,
    /// Half the width of the 95 % interval of the expected cost as a share of it, where only a
    /// sample was examined.
    pub sampling_error: Option<f64>,
    /// Jobs whose answer by the run's own judge is in the cache.
    pub cached: u64,
    /// Jobs that have nothing to ask.
    pub without_call: u64,
    /// Jobs that would fail before any call, and why the first one would.
    pub failing: u64,
    /// Reason why the first of those would fail.
    pub first_failure: Option<String>,
    /// For each candidate in order, the run's own judge first.
    pub candidates: Vec<CandidateTotal>,
    own_costs: CostMoments,
}

/// Estimate of all calls with one model.
#[derive(Clone, Copy, Debug, Default)]
pub struct CandidateTotal {
    /// Jobs that need a call.
    pub calls: u64,
    /// Tokens, probably.
    pub expected: Usage,
    /// Cost, probably.
    pub expected_cost: Money,
    /// Cost at most, with every call that may be repeated.
    pub worst_cost: Money,
    /// Cost at most, each call made once.
    pub worst_one_call: Money,
    /// Tokens at most that count against a limit of tokens a minute.
    pub most_tokens: u64,
}

impl Total {
    /// An empty total for this many candidates.
    pub fn new(candidates: usize) -> Self {
        Self { candidates: vec![CandidateTotal::default(); candidates], ..Self::default() }
    }

    /// Adds a job.
    pub fn add(&mut self, estimated: Estimated) {
        self.examined += 1;
        match estimated {
            Estimated::NoCall => self.without_call += 1,
            Estimated::Failed(error) => {
                self.failing += 1;
                self.first_failure.get_or_insert(error.message);
            }
            Estimated::Question { cached, bounds } => {
                self.cached += u64::from(cached);
                let own = usize::from(cached);
                if let Some(bounds) = bounds.first().filter(|_| !cached) {
                    self.own_costs.add(bounds.expected_cost);
                }
                for (total, bounds) in self.candidates.iter_mut().zip(bounds).skip(own) {
                    total.add(&bounds);
                }
            }
        }
    }

    /// The total of so many jobs, of which the examined ones are a sample.
    pub fn scaled_to(mut self, jobs: u64) -> Self {
        if self.examined == 0 || self.examined >= jobs {
            return self;
        }
        self.sampling_error = self.own_costs.relative_error(self.examined, jobs);
        let scale = SampleScale { jobs, examined: self.examined };
        for count in [&mut self.cached, &mut self.without_call, &mut self.failing] {
            *count = scale.count(*count);
        }
        for candidate in &mut self.candidates {
            candidate.scale(scale);
        }
        self
    }
}

/// The ratio by which the figures of a sample grow.
#[derive(Clone, Copy)]
struct SampleScale {
    jobs: u64,
    examined: u64,
}

impl SampleScale {
    fn count(self, count: u64) -> u64 {
        let (jobs, examined) = (u128::from(self.jobs), u128::from(self.examined));
        let scaled = (u128::from(count) * jobs + examined / 2) / examined;
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }

    fn money(self, amount: Money) -> Money {
        Money::from_pico(
            i64::try_from(self.count(amount.pico().unsigned_abs())).unwrap_or(i64::MAX),
        )
    }
}

/// Sum and sum of squares of the expected costs of single jobs, in dollars; an estimate alone rests
/// on them.
#[derive(Clone, Copy, Debug, Default)]
struct CostMoments {
    sum: f64,
    squares: f64,
}

impl CostMoments {
    fn add(&mut self, cost: Money) {
        let dollars = cost.approximate_dollars();
        self.sum += dollars;
        self.squares += dollars * dollars;
    }

    /// 1.96 standard errors of the mean over the mean, with the correction for finite populations.
    fn relative_error(self, examined: u64, jobs: u64) -> Option<f64> {
        let (examined, jobs) = (examined as f64, jobs as f64);
        let mean = self.sum / examined;
        let variance = (self.squares / examined - mean * mean).max(0.0);
        let unseen = 1.0 - examined / jobs;
        (mean > 0.0).then(|| 1.96 * (variance * unseen / examined).sqrt() / mean)
    }
}

impl CandidateTotal {
    fn add(&mut self, bounds: &Bounds) {
        self.calls += 1;
        self.expected += bounds.expected;
        self.expected_cost += bounds.expected_cost;
        self.worst_cost += bounds.worst_job_cost;
        self.worst_one_call += bounds.worst_cost;
        self.most_tokens += bounds.input_tokens + bounds.max_output_tokens;
    }

    fn scale(&mut self, scale: SampleScale) {
        let Usage { input_tokens, cached_input_tokens, output_tokens } = &mut self.expected;
        for count in [
            &mut self.calls,
            &mut self.most_tokens,
            input_tokens,
            cached_input_tokens,
            output_tokens,
        ] {
            *count = scale.count(*count);
        }
        self.expected_cost = scale.money(self.expected_cost);
        self.worst_cost = scale.money(self.worst_cost);
        self.worst_one_call = scale.money(self.worst_one_call);
    }
}

/// Experience from earlier runs by the same judge and rubric.
#[derive(Clone, Copy, Debug)]
pub struct Experience {
    /// Number of runs.
    pub runs: usize,
    /// Cost of calls, as a share of what was expected.
    pub cost_ratio: f64,
    /// Duration of a screenshot, in seconds.
    pub seconds_a_call: f64,
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
    /// Experience from the reports in the runs directory about this judge, rubric and endpoint.
    pub fn of_runs(session: &Session) -> Self {
        let judge = &session.settings.judge;
        let mut past = reports(&session.settings.run.runs_dir);
        past.retain(|report| {
            report.run.rubric.id == session.rubric.id
                && report.run.was_asked_at(&judge.base_url)
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

/// Every report that can be read; one that cannot teaches nothing and is no error.
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
    fn experience_weighs_runs_by_what_was_expected_of_them() {
        let experience =
            Experience::from_reports(&[past("3", "1", 1_000.0), past("1", "3", 3_000.0)]);
        assert_eq!(experience.runs, 2);
        assert!((experience.cost_ratio - 1.0).abs() < 1e-9);
        assert!((experience.seconds_a_call - 2.0).abs() < 1e-9);
    }

    #[test]
    fn a_sample_is_scaled_to_all_jobs_with_its_error() {
        let mut total = Total { examined: 10, cached: 1, ..Total::new(1) };
        for cost in ["0.01", "0.03"] {
            total.own_costs.add(cost.parse().unwrap());
        }
        total.candidates = vec![CandidateTotal {
            calls: 2,
            expected_cost: "0.04".parse().unwrap(),
            worst_cost: "0.08".parse().unwrap(),
            ..CandidateTotal::default()
        }];
        let total = total.scaled_to(1_005);
        let [own] = total.candidates[..] else { panic!("one candidate") };
        assert_eq!((total.cached, own.calls), (101, 201));
        assert_eq!(own.expected_cost, "4.02".parse().unwrap());
        assert_eq!(own.worst_cost, "8.04".parse().unwrap());
        // Ten costs: 0.01, 0.03 and eight of nothing: mean 0.004, deviation 0.0092 (population).
        let error = total.sampling_error.unwrap();
        assert!((error - 1.96 * 0.009_165 * 0.995_f64.sqrt() / 10_f64.sqrt() / 0.004).abs() < 1e-2);
        assert_eq!(Total { examined: 5, ..Total::new(0) }.scaled_to(5).sampling_error, None);
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
        let experience = Experience::from_reports(&[]);
        assert!((experience.cost_ratio - 1.0).abs() < 1e-9);
        assert!((experience.seconds_a_call - USUAL_SECONDS_A_CALL).abs() < 1e-9);
    }
}
