//! The sum of an estimate.

use juror_types::usage::{Money, Usage};
use juror_worker::{cost_bounds::Bounds, estimate::JobEstimate};

/// Estimate of all jobs.
#[derive(Debug, Default)]
pub struct EstimateTotal {
    /// Jobs that were examined; the other figures are scaled up from them.
    pub examined: u64,
    /// Half the width of the 95 % interval of the expected cost as a share of it, where only a
    /// sample was examined.
    pub sampling_error: Option<f64>,
    /// Jobs with a cached reply of the run's judge.
    pub cached: u64,
    /// Jobs without a call.
    pub without_call: u64,
    /// Jobs that would fail before any call, and why the first one would.
    pub failing: u64,
    /// Reason why the first of those would fail.
    pub first_failure: Option<String>,
    /// Totals of each candidate in order, the run's judge first.
    pub candidates: Vec<CandidateTotal>,
    own_costs: CostMoments,
}

/// Estimate of all calls with one model.
#[derive(Clone, Copy, Debug, Default)]
pub struct CandidateTotal {
    /// Jobs that need a call.
    pub calls: u64,
    /// Expected tokens.
    pub expected: Usage,
    /// Expected cost.
    pub expected_cost: Money,
    /// Maximum cost, with every call that may be repeated.
    pub worst_cost: Money,
    /// Maximum cost with one call per job.
    pub worst_one_call: Money,
    /// Maximum number of tokens that count against a limit of tokens a minute.
    pub max_tokens_total: u64,
}

impl EstimateTotal {
    /// An empty total for this many candidates.
    pub fn new(candidates: usize) -> Self {
        Self { candidates: vec![CandidateTotal::default(); candidates], ..Self::default() }
    }

    /// Adds a job.
    pub fn add(&mut self, estimated: JobEstimate) {
        self.examined += 1;
        match estimated {
            JobEstimate::NoCall => self.without_call += 1,
            JobEstimate::Failed(error) => {
                self.failing += 1;
                self.first_failure.get_or_insert(error.message);
            }
            JobEstimate::Request { cached, bounds } => {
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

    /// The total for `jobs` jobs, extrapolated from the examined ones.
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

impl CandidateTotal {
    fn add(&mut self, bounds: &Bounds) {
        self.calls += 1;
        self.expected += bounds.expected;
        self.expected_cost += bounds.expected_cost;
        self.worst_cost += bounds.worst_job_cost;
        self.worst_one_call += bounds.worst_cost;
        self.max_tokens_total += bounds.input_tokens + bounds.max_output_tokens;
    }

    fn scale(&mut self, scale: SampleScale) {
        let Usage { input_tokens, cached_input_tokens, output_tokens } = &mut self.expected;
        for count in [
            &mut self.calls,
            &mut self.max_tokens_total,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_scaled_to_all_jobs_with_its_error() {
        let mut total = EstimateTotal { examined: 10, cached: 1, ..EstimateTotal::new(1) };
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
        assert_eq!(
            EstimateTotal { examined: 5, ..EstimateTotal::new(0) }.scaled_to(5).sampling_error,
            None
        );
    }
}
