//! Estimate of a run without calls to the judge.

mod experience;
mod total;

pub use experience::Experience;
pub use total::{CandidateTotal, EstimateTotal};

use crate::{
    cores::cores,
    error::AppError,
    judge,
    local_ledger::open_local_ledger,
    run::{local_context, run_setup::RunSetup},
    settings::Settings,
    worker_resources::evidence,
};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use juror_analysis::format::{counted, grouped};
use juror_ledger::sqlite::SqliteLedger;
use juror_producer::plan;
use juror_types::{id::RunId, usage::Money};
use juror_worker::estimate::{PricedJudge, estimate};
use std::sync::Arc;

/// Calls in flight where the concurrency adapts: where it starts.
const ADAPTIVE_CONCURRENCY: usize = 16;

/// Time in which a provider works off a batch.
const BATCH_WINDOW_SECONDS: f64 = 24.0 * 3_600.0;

/// Jobs that are examined of a larger dataset, evenly spread: their mean cost is within a few
/// percent of that of all, and they take seconds.
const SAMPLE_JOBS: u64 = 2_000;

/// Jobs that an estimate examines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Examine {
    /// A sample of a large dataset.
    Sample,
    /// Every job.
    All,
}

/// Progress of an estimate, in jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EstimateProgress {
    /// Jobs that are examined.
    pub examined: u64,
    /// Jobs that will be examined in all.
    pub to_examine: u64,
}

/// A finished estimate.
pub struct Estimation<'setup> {
    /// Run whose cost is estimated.
    pub setup: &'setup RunSetup,
    /// The models, the run's own first.
    pub candidates: Vec<PricedJudge>,
    /// Their sums, in the same order.
    pub total: EstimateTotal,
    /// Experience from earlier runs.
    pub experience: Experience,
}

impl<'setup> Estimation<'setup> {
    /// Reads the examined items and the headers of their images. The setup's judge is on.
    pub async fn new(
        setup: &'setup RunSetup,
        all_models: bool,
        examine: Examine,
        on_progress: &mut (dyn FnMut(EstimateProgress) + Send),
    ) -> Result<Self, AppError> {
        let candidates = candidates(setup, all_models);
        let backend = Arc::new(open_local_ledger(&setup.settings)?);
        let totals = estimate_jobs(setup, &backend, &candidates, examine, on_progress).await;
        backend.close().await;
        let (total, experience) = (totals?, Experience::from_runs(setup));
        Ok(Self { setup, candidates, total, experience })
    }

    /// Basis of the expected figures, in words.
    pub fn basis(&self) -> String {
        match self.experience.runs {
            0 => "no earlier run of this judge to learn from: expected figures are a guess"
                .to_owned(),
            runs => format!(
                "corrected by {} of this judge, which cost {:.0} % of the guess",
                counted(runs as u64, "earlier run"),
                self.experience.cost_ratio * 100.0
            ),
        }
    }

    /// The sample that the figures are scaled up from, in words; `None` if every job was examined.
    pub fn sample(&self) -> Option<String> {
        let EstimateTotal { examined, sampling_error, .. } = self.total;
        let jobs = self.setup.plan.jobs;
        let error = sampling_error.map(|error| format!(", ±{:.1} %", error * 100.0));
        (examined < jobs).then(|| {
            format!(
                "scaled up from {} of {}{}; --all-items examines every one",
                grouped(examined),
                counted(jobs, "job"),
                error.unwrap_or_default()
            )
        })
    }

    /// Cost, probably, by what earlier runs have shown.
    pub fn expected_cost(&self, total: &CandidateTotal) -> Money {
        // An estimate, so a float may scale it; nothing is decided by it.
        let scaled = total.expected_cost.pico() as f64 * self.experience.cost_ratio;
        Money::from_pico(scaled as i64).min(total.worst_cost)
    }

    /// Probable duration of the calls: the slowest of calls in flight, requests a minute, tokens a
    /// minute. In batches, the longest that the provider may take.
    pub fn seconds(&self, total: &CandidateTotal) -> f64 {
        let Settings { run, limits, .. } = &self.setup.settings;
        if run.lane.is_batched() && total.calls > 0 {
            return BATCH_WINDOW_SECONDS;
        }
        let calls = total.calls as f64;
        let concurrency = limits.max_concurrency.unwrap_or(ADAPTIVE_CONCURRENCY) as f64;
        let by_latency = (calls / concurrency).ceil() * self.experience.seconds_a_call;
        let by_requests = limits.rpm.map_or(0.0, |rpm| calls / rpm as f64 * 60.0);
        let by_tokens =
            limits.tpm.map_or(0.0, |tpm| total.max_tokens_total as f64 / tpm as f64 * 60.0);
        by_latency.max(by_requests).max(by_tokens)
    }
}

/// Formats a duration in seconds, as in `2 min 05`.
pub fn duration(seconds: f64) -> String {
    let seconds = seconds.ceil() as u64;
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds:02}"),
        (hours, minutes, _) => format!("{hours} h {minutes:02}"),
    }
}

/// The configured judge first, then, if requested, every other.
fn candidates(setup: &RunSetup, all_models: bool) -> Vec<PricedJudge> {
    let own: Vec<_> = setup.priced_judge.iter().cloned().collect();
    let others = match all_models {
        true => judge::all_candidates(&setup.settings, &setup.rubric),
        false => Vec::new(),
    };
    let is_own = |other: &PricedJudge| own.iter().any(|own| own.judge.model == other.judge.model);
    let others: Vec<_> = others.into_iter().filter(|other| !is_own(other)).collect();
    own.into_iter().chain(others).collect()
}

async fn estimate_jobs(
    setup: &RunSetup,
    backend: &Arc<SqliteLedger>,
    candidates: &[PricedJudge],
    examine: Examine,
    on_progress: &mut (dyn FnMut(EstimateProgress) + Send),
) -> Result<EstimateTotal, AppError> {
    let Some(own) = &setup.priced_judge else { return Ok(EstimateTotal::new(0)) };
    // There are no calls, so no key is needed.
    let judge = judge::setup(&setup.settings, &setup.environment, &setup.rubric, own, None)?;
    let context = Arc::new(local_context::for_run(
        setup,
        backend,
        Some(Arc::new(judge)),
        evidence(&setup.settings),
    )?);
    let template = setup.template(&RunId::new("estimate"));
    let jobs = plan::jobs(&setup.dataset, &setup.options, &template).map_err(AppError::invalid)?;
    let planned = setup.plan.jobs;
    let stride = match examine {
        Examine::Sample => planned.div_ceil(SAMPLE_JOBS).max(1) as usize,
        Examine::All => 1,
    };
    let to_examine = planned.div_ceil(stride as u64);
    on_progress(EstimateProgress { examined: 0, to_examine });
    let width = cores();
    let candidates: Arc<[PricedJudge]> = candidates.into();
    let mut estimated = stream::iter(jobs.skip(stride / 2).step_by(stride))
        .map(|job| {
            let (context, candidates) = (Arc::clone(&context), Arc::clone(&candidates));
            async move {
                let job = job.map_err(AppError::invalid)?;
                estimate(&job, &context, &candidates).await.map_err(AppError::internal)
            }
        })
        .buffer_unordered(width);
    let mut total = EstimateTotal::new(candidates.len());
    while let Some(estimated) = estimated.try_next().await? {
        total.add(estimated);
        on_progress(EstimateProgress { examined: total.examined, to_examine });
    }
    Ok(total.scaled_to(planned))
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn durations_use_conventional_notation() {
        for (seconds, text) in
            [(0.0, "0 s"), (59.2, "1 min 00"), (61.0, "1 min 01"), (7_260.0, "2 h 01")]
        {
            assert_eq!(duration(seconds), text);
        }
    }
}
