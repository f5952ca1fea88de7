//! What judging one job would take, without calling anybody.

use crate::{
    bounds::{Bounds, ModelTerms},
    context::Context,
    image::Rules,
    load,
    question::Question,
};
use juror_common::{
    admission::AdmissionError,
    job::{Job, Judge},
    outcome::JobError,
    rubric::Need,
};

/// A model to estimate for.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The judge.
    pub judge: Judge,
    /// What is known of its model.
    pub terms: ModelTerms,
    /// What its provider takes of images.
    pub rules: Rules,
}

/// What one job would take.
#[derive(Debug)]
pub enum Estimated {
    /// Nothing: there is nothing to ask.
    NoCall,
    /// Nothing: the run's own judge was asked the same before.
    Cached,
    /// One call, if its first answer is usable; for each candidate in order.
    Call(Vec<Bounds>),
    /// It would fail before any call.
    Failed(JobError),
}

/// Estimates a job for these candidates. The cache is asked for the context's own judge.
pub async fn estimate(
    job: &Job,
    context: &Context,
    candidates: &[Candidate],
) -> Result<Estimated, AdmissionError> {
    let Some((judge, setup)) = job.judge.as_ref().zip(context.judge.as_ref()) else {
        return Ok(Estimated::NoCall);
    };
    let loaded = match load::load(&job.item, &context.roots).await {
        Ok(loaded) => loaded,
        Err(error) => return Ok(Estimated::Failed(error)),
    };
    if context.rubric.needs(Need::GeneratedCode) && loaded.code.is_none() {
        return Ok(Estimated::NoCall);
    }
    let question = match Question::of(job, judge, &loaded, setup, context).await {
        Ok(question) => question,
        Err(error) => return Ok(Estimated::Failed(error)),
    };
    if setup.cache && context.store.cached(&question.key).await?.is_some() {
        return Ok(Estimated::Cached);
    }
    let schema = setup.schema.to_string();
    let bounds = |candidate: &Candidate| {
        question.bounds(&candidate.judge, &candidate.terms, &candidate.rules, &schema)
    };
    Ok(Estimated::Call(candidates.iter().map(bounds).collect()))
}
