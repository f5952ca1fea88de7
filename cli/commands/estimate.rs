//! `juror estimate`: what a run would take, without asking the judge.

mod table;
mod total;

use crate::{
    args::{EstimateArguments, GlobalFlags},
    commands::rubric,
    execute,
    exit::{Exit, Failure},
    judge, layers, screen,
    session::{Selection, Session},
    workplace,
};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use juror_common::{id::RunId, job::Job, settings::Layer, sqlite::LocalHome};
use juror_producer::plan;
use juror_worker::{
    context::Context,
    estimate::{Candidate, Estimated, estimate},
};
use std::{sync::Arc, thread::available_parallelism};
use total::{Experience, Total};

/// Runs `juror estimate`.
pub async fn run(arguments: &EstimateArguments, global: &GlobalFlags) -> Result<Exit, Failure> {
    let mut flags = [arguments.judging.layers(), arguments.calling.layers()].concat();
    // An estimate is of the judge; asking nobody, it needs no leave.
    flags.push(Layer::of("run", "enable_llm_judge", true));
    let settings = layers::settle(global, flags)?;
    let selection = Selection {
        dataset: arguments.dataset.clone(),
        limit: arguments.judging.limit,
        filters: arguments.judging.filter.clone(),
    };
    let rubric = rubric::load(&settings.run.rubric)?;
    let session = Session::open(settings, rubric, selection)?;
    let candidates = candidates(&session, arguments.all_models);
    let home = Arc::new(execute::open_home(&session.settings)?);
    let totals = estimate_all(&session, &home, &candidates).await;
    home.close().await;
    let total = totals?;
    let experience = Experience::of_runs(&session)?;
    let answer = table::Answer { session: &session, candidates: &candidates, total, experience };
    if global.json {
        screen::print_json(&answer.json())?;
    } else {
        screen::print(&answer.text())?;
    }
    Ok(Exit::Done)
}

/// The settings' own judge first, then, if asked for, every other.
fn candidates(session: &Session, all_models: bool) -> Vec<Candidate> {
    let own: Vec<_> = session.candidate.iter().cloned().collect();
    let others = match all_models {
        true => judge::all_candidates(&session.settings, &session.rubric),
        false => Vec::new(),
    };
    let is_own = |other: &Candidate| own.iter().any(|own| own.judge.model == other.judge.model);
    let others: Vec<_> = others.into_iter().filter(|other| !is_own(other)).collect();
    own.into_iter().chain(others).collect()
}

async fn estimate_all(
    session: &Session,
    home: &Arc<LocalHome>,
    candidates: &[Candidate],
) -> Result<Total, Failure> {
    let Some(own) = &session.candidate else { return Ok(Total::new(0)) };
    // No call goes out, so no key is needed.
    let setup = judge::setup(&session.settings, &session.rubric, own, None)?;
    let context = Arc::new(workplace::of_one_run(session, home, Some(Arc::new(setup)))?);
    let template = session.template(&RunId::new("estimate"));
    let jobs = plan::jobs(&session.dataset, &session.options, &template).map_err(Failure::usage)?;
    let width = available_parallelism().map_or(1, usize::from);
    let candidates: Arc<[Candidate]> = candidates.into();
    let estimated = stream::iter(jobs)
        .map(|job| {
            let (context, candidates) = (Arc::clone(&context), Arc::clone(&candidates));
            async move { estimate_one(job.map_err(Failure::usage)?, &context, &candidates).await }
        })
        .buffer_unordered(width);
    let total = Total::new(candidates.len());
    estimated
        .try_fold(total, |mut total, estimated| async move {
            total.add(estimated);
            Ok(total)
        })
        .await
}

async fn estimate_one(
    job: Job,
    context: &Context,
    candidates: &[Candidate],
) -> Result<Estimated, Failure> {
    estimate(&job, context, candidates).await.map_err(Failure::error)
}
