//! Estimate of judging one job, without any call.

use crate::{
    cost_bounds::{Bounds, ModelTerms},
    evidence_stage::screenshot_of,
    item_texts::{self, LoadedItem},
    judge_request::{EvidenceInput, JudgeRequest},
    prompt,
    run_context::RunContext,
};
use futures_util::future::BoxFuture;
use juror_evidence::max_sheet_size;
use juror_image::ImageRules;
use juror_ledger::error::LedgerError;
use juror_types::{
    evidence::EvidenceMode,
    item::Item,
    job::{Job, Judge},
    outcome::JobError,
    rubric::{PromptField, Rubric, RubricImage},
};

/// A judge with the facts that its calls are priced by.
#[derive(Clone, Debug)]
pub struct PricedJudge {
    /// The judge.
    pub judge: Judge,
    /// Facts about its model.
    pub terms: ModelTerms,
    /// Provider's rules for images.
    pub rules: ImageRules,
}

/// Estimate of one job.
#[derive(Debug)]
pub enum Estimated {
    /// No call is needed.
    NoCall,
    /// One call, if its first reply is usable.
    Request {
        /// True if the cache has the reply of the context's own judge, so that it needs no call.
        cached: bool,
        /// Bounds of the call, for each candidate in order.
        bounds: Vec<Bounds>,
    },
    /// The job would fail before any call.
    Failed(JobError),
}

/// Estimates a job for these candidates. Only the context's own judge has a cache. Nothing is
/// measured: evidence is counted as it may come, and its cached replies are not known.
pub fn estimate<'a>(
    job: &'a Job,
    context: &'a RunContext,
    candidates: &'a [PricedJudge],
) -> BoxFuture<'a, Result<Estimated, LedgerError>> {
    Box::pin(async move {
        let Some((judge, setup)) = job.judge.as_ref().zip(context.judge.as_ref()) else {
            return Ok(Estimated::NoCall);
        };
        let loaded = match item_texts::load(&job.item, &context.sources).await {
            Ok(loaded) => loaded,
            Err(error) => return Ok(Estimated::Failed(error)),
        };
        if context.rubric.needs(PromptField::GeneratedCode) && loaded.code.is_none() {
            return Ok(Estimated::NoCall);
        }
        let request = match JudgeRequest::for_job(job, judge, &loaded, None, setup, context).await {
            Ok(request) => request,
            Err(error) => return Ok(Estimated::Failed(error)),
        };
        if let Some(error) = request.unreadable() {
            return Ok(Estimated::Failed(error));
        }
        let cached = setup.cache && context.store.cached_reply(&request.cache_key).await?.is_some();
        let evidence = evidence_input(job, &loaded, &request, &context.rubric);
        let bounds = |candidate: &PricedJudge| {
            request.bounds(&evidence, &candidate.judge, &candidate.terms, &candidate.rules)
        };
        let bounds: Vec<Bounds> = candidates.iter().map(bounds).collect();
        let own = candidates.first().zip(bounds.first());
        if !cached
            && let Some(error) = own.and_then(|(own, bounds)| own.terms.context_error(bounds))
        {
            return Ok(Estimated::Failed(error));
        }
        Ok(Estimated::Request { cached, bounds })
    })
}

/// Input tokens of the item's evidence: facts within their bound, a rendered image of the
/// screenshot's size, and the largest contact sheet of such images.
fn evidence_input(
    job: &Job,
    loaded: &LoadedItem,
    request: &JudgeRequest,
    rubric: &Rubric,
) -> EvidenceInput {
    let is_measured = job.item.rendered().is_some() || loaded.code.is_some();
    if job.evidence.is_none() || !is_measured {
        return EvidenceInput::default();
    }
    let texts = prompt::evidence_tokens(rubric, loaded.expected_tokens.as_ref());
    let screenshot = screenshot_of(&job.item).and_then(|(name, _)| request.image_size(name));
    let Some((width, height)) = screenshot.filter(|_| job.evidence == EvidenceMode::Full) else {
        return EvidenceInput { texts, images: Vec::new() };
    };
    let size = |image: &RubricImage| match image.name.as_str() {
        Item::RENDERED => Some((width, height)),
        RubricImage::CROPS => Some(max_sheet_size([width, height]).into()),
        _ => None,
    };
    let made = rubric.images.iter().filter(|image| image.optional);
    EvidenceInput { texts, images: made.filter_map(size).collect() }
}
