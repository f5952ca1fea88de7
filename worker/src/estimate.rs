//! Estimate of judging one job, without any call.

use crate::{
    context::Context,
    cost_bounds::{Bounds, ModelTerms},
    image::ImageRules,
    load,
    question::Question,
};
use futures_util::future::BoxFuture;
use juror_ledger::error::LedgerError;
use juror_types::{
    job::{Job, Judge},
    outcome::JobError,
    rubric::Need,
};

/// A model to estimate for.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The judge.
    pub judge: Judge,
    /// Facts about its model.
    pub terms: ModelTerms,
    /// Its provider's rules for images.
    pub rules: ImageRules,
}

/// Estimate of one job.
#[derive(Debug)]
pub enum Estimated {
    /// No call is needed.
    NoCall,
    /// One call, if its first answer is usable.
    Question {
        /// True if the cache has the reply of the context's own judge, so that it needs no call.
        cached: bool,
        /// Bounds of the call, for each candidate in order.
        bounds: Vec<Bounds>,
    },
    /// It would fail before any call.
    Failed(JobError),
}

/// Estimates a job for these candidates. Only the context's own judge has a cache.
pub fn estimate<'a>(
    job: &'a Job,
    context: &'a Context,
    candidates: &'a [Candidate],
) -> BoxFuture<'a, Result<Estimated, LedgerError>> {
    Box::pin(async move {
        let Some((judge, setup)) = job.judge.as_ref().zip(context.judge.as_ref()) else {
            return Ok(Estimated::NoCall);
        };
        let loaded = match load::load(&job.item, &context.sources).await {
            Ok(loaded) => loaded,
            Err(error) => return Ok(Estimated::Failed(error)),
        };
        if context.rubric.needs(Need::GeneratedCode) && loaded.code.is_none() {
            return Ok(Estimated::NoCall);
        }
        let question = match Question::of(job, judge, &loaded, None, setup, context).await {
            Ok(question) => question,
            Err(error) => return Ok(Estimated::Failed(error)),
        };
        if let Some(error) = question.unreadable() {
            return Ok(Estimated::Failed(error));
        }
        let cached = setup.cache && context.store.cached(&question.key).await?.is_some();
        let bounds = |candidate: &Candidate| {
            question.bounds(&candidate.judge, &candidate.terms, &candidate.rules)
        };
        let bounds = candidates.iter().map(bounds).collect();
        Ok(Estimated::Question { cached, bounds })
    })
}
