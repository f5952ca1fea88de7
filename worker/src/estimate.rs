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

/// A judge with its model's prices, limits and image rules.
#[derive(Clone, Debug)]
pub struct PricedJudge {
    /// Judge with the prices of its model.
    pub judge: Judge,
    /// Prices and limits of its model.
    pub terms: ModelTerms,
    /// Provider's rules for images.
    pub rules: ImageRules,
}

/// Estimate of one job.
#[derive(Debug)]
pub enum JobEstimate {
    /// No call is needed.
    NoCall,
    /// One call, if its first reply is usable.
    Request {
        /// True if the configured judge's reply is cached, so that no call is needed.
        cached: bool,
        /// Bounds of the call, for each candidate in order.
        bounds: Vec<Bounds>,
    },
    /// The job would fail before any call.
    Failed(JobError),
}

/// Estimates a job for these candidates. Only the configured judge has a cache. Evidence is not
/// measured: its tokens count at their maximum, and cached replies to requests with evidence are
/// not found.
pub fn estimate<'a>(
    job: &'a Job,
    context: &'a RunContext,
    candidates: &'a [PricedJudge],
) -> BoxFuture<'a, Result<JobEstimate, LedgerError>> {
    Box::pin(async move {
        let Some((judge, setup)) = job.judge.as_ref().zip(context.judge.as_ref()) else {
            return Ok(JobEstimate::NoCall);
        };
        let loaded = match item_texts::load(&job.item, &context.sources).await {
            Ok(loaded) => loaded,
            Err(error) => return Ok(JobEstimate::Failed(error)),
        };
        if context.rubric.needs(PromptField::GeneratedCode) && loaded.code.is_none() {
            return Ok(JobEstimate::NoCall);
        }
        let request = match JudgeRequest::for_job(job, judge, &loaded, None, setup, context).await {
            Ok(request) => request,
            Err(error) => return Ok(JobEstimate::Failed(error)),
        };
        if let Some(error) = request.unreadable() {
            return Ok(JobEstimate::Failed(error));
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
            return Ok(JobEstimate::Failed(error));
        }
        Ok(JobEstimate::Request { cached, bounds })
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
