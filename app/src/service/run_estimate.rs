//! Estimate of a requested run.

use crate::{
    error::AppError,
    estimate::{Estimation, Examine},
    request::RunEstimate,
    run::session::Session,
};
use juror_analysis::format::dollars;
use juror_types::usage::Money;

/// The figures of `juror estimate` for a session. With its judge off, only items and jobs are
/// counted.
pub async fn quote(session: &Session) -> Result<RunEstimate, AppError> {
    let plan = &session.plan;
    let mut quoted = RunEstimate {
        items: plan.items,
        jobs: plan.jobs,
        calls: 0,
        cached: 0,
        expected_usd: Money::ZERO,
        worst_case_usd: Money::ZERO,
        expected_seconds: 0.0,
        warnings: plan.warnings.clone(),
    };
    let stages = &session.settings.stages;
    if !stages.pipeline_command.is_empty() || !stages.compile_command.is_empty() {
        quoted.warnings.push(
            "the time of your own program, which runs for each item, is not included".to_owned(),
        );
    }
    if session.candidate.is_some() {
        add_judge(session, &mut quoted).await?;
    }
    Ok(quoted)
}

async fn add_judge(session: &Session, quoted: &mut RunEstimate) -> Result<(), AppError> {
    let estimation = Estimation::new(session, false, Examine::Sample, &mut |_| ()).await?;
    let total = &estimation.total;
    quoted.cached = total.cached;
    if let Some(own) = total.candidates.first() {
        quoted.calls = own.calls;
        quoted.expected_usd = estimation.expected_cost(own);
        quoted.worst_case_usd = own.worst_cost;
        quoted.expected_seconds = estimation.seconds(own);
    }
    if let (failing @ 1.., Some(first)) = (total.failing, &total.first_failure) {
        quoted.warnings.push(format!("{failing} jobs would fail before any call: {first}"));
    }
    if quoted.calls > 0 {
        quoted.warnings.push(estimation.basis());
        quoted.warnings.extend(estimation.sample());
    }
    match session.settings.budget.run_usd {
        Some(budget) if budget < quoted.expected_usd => quoted.warnings.push(format!(
            "the budget of {} is less than the expected cost: jobs beyond it are skipped",
            dollars(budget)
        )),
        _ => {}
    }
    Ok(())
}
