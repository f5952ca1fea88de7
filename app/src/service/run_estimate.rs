//! Estimate of a requested run.

use crate::{
    error::AppError,
    estimate::{Estimation, Examine},
    run::run_setup::RunSetup,
    run_request::RunEstimate,
};
use juror_analysis::format::dollars;

/// The figures of `juror estimate` for a setup. With its judge off, only items and jobs are
/// counted.
pub async fn run_estimate(setup: &RunSetup) -> Result<RunEstimate, AppError> {
    let plan = &setup.plan;
    let mut estimate = RunEstimate {
        items: plan.items,
        jobs: plan.jobs,
        warnings: plan.warnings.clone(),
        ..RunEstimate::default()
    };
    let stages = &setup.settings.stages;
    if stages.has_pipeline() || !stages.compile_command.is_empty() {
        estimate.warnings.push(
            "the time of your own program, which runs for each item, is not included".to_owned(),
        );
    }
    if setup.priced_judge.is_some() {
        add_judge(setup, &mut estimate).await?;
    }
    Ok(estimate)
}

async fn add_judge(setup: &RunSetup, estimate: &mut RunEstimate) -> Result<(), AppError> {
    let estimation = Estimation::new(setup, false, Examine::Sample, &mut |_| ()).await?;
    let total = &estimation.total;
    estimate.cached = total.cached;
    if let Some(own) = total.candidates.first() {
        estimate.calls = own.calls;
        estimate.expected_usd = estimation.expected_cost(own);
        estimate.worst_case_usd = own.worst_cost;
        estimate.expected_seconds = estimation.seconds(own);
    }
    if let (failing @ 1.., Some(first)) = (total.failing, &total.first_failure) {
        estimate.warnings.push(format!("{failing} jobs would fail before any call: {first}"));
    }
    if estimate.calls > 0 {
        estimate.warnings.push(estimation.basis());
        estimate.warnings.extend(estimation.sample());
    }
    match setup.settings.budget.run_usd {
        Some(budget) if budget < estimate.expected_usd => estimate.warnings.push(format!(
            "the budget of {} is less than the expected cost: jobs beyond it are skipped",
            dollars(budget)
        )),
        _ => {}
    }
    Ok(())
}
