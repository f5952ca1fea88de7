//! Evidence of code that the built-in renderer renders.

mod measured_page;

use super::{
    ItemEvidence, MeasuredItem, MeasuringError,
    kept::{evidence_key, keep_evidence, read_evidence},
    page_trials::{self, PageWithDefaults, explaining_defaults},
    reference_screenshot::ReferenceScreenshot,
    too_small,
};
use crate::{run_context::RunContext, source_image::SourceImage, stages::component};
use juror_render::{PageCode, PageSource, RenderError, RenderTime, RenderedPage, Renderer};
use juror_types::{
    evidence::Evidence,
    item::{Item, Language},
    outcome::InputRecord,
};
use measured_page::MeasuredPage;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Share of a page's texts which, found in the screenshot, tell that both have the same scale.
const MOST_TEXTS: f64 = 0.5;
/// Maximum share of the difference that remains with a color around the component, and again with a
/// frame that places it, to be used.
const FRAME_GAIN: f64 = 0.5;

/// Measures the browser's render of the code, and tries repairs if it differs.
pub(super) async fn measure(
    code: (&str, Language),
    screenshot: SourceImage,
    item: &MeasuredItem<'_>,
) -> Result<ItemEvidence, MeasuringError> {
    let context = item.context;
    let code = match code {
        (text, Language::Html) => PageCode::Html(text.to_owned()),
        (text, language) => match component::compile(text, language).await {
            Ok(module) => PageCode::Component(module),
            Err(error) => return Ok(ItemEvidence::failed(error.to_string(), screenshot)),
        },
    };
    let renderer = renderer(context).await?;
    let key = evidence_key(&code, renderer.digest(), &screenshot, item);
    let renders = &context.evidence.renders;
    if let Some(key) = key
        && let Some(kept) = read_evidence(renders, key, &screenshot).await
    {
        return Ok(kept);
    }
    let (_permit, reference) = item.reference(&screenshot).await?;
    if let Some(reason) = too_small(&reference.screenshot) {
        return Err(MeasuringError::Unmeasured(reason));
    }
    let (budget, is_cut_short) = (RenderTime::default(), AtomicBool::new(false));
    let stage = BrowserStage { renderer, item, code, reference, budget, is_cut_short };
    match stage.evidence().await {
        Ok((evidence, drawn, crops)) => {
            let origin = InputRecord::BROWSER;
            let rendered = SourceImage::made(Item::RENDERED, origin, drawn.picture).await;
            let measured = ItemEvidence::measured(evidence, screenshot, rendered, crops);
            if let Some(key) = key
                && let Err(error) = keep_evidence(renders, key, &measured).await
            {
                context.warn_of_evidence(error.to_string()).await;
            }
            Ok(measured)
        }
        Err(error) if error.is_about_code() => {
            Ok(ItemEvidence::failed(error.to_string(), screenshot))
        }
        Err(error) => Err(error.into()),
    }
}

/// Code of one item, to be rendered and measured.
struct BrowserStage<'job> {
    renderer: &'job Renderer,
    item: &'job MeasuredItem<'job>,
    code: PageCode,
    reference: Arc<ReferenceScreenshot>,
    /// Time of all its pages.
    budget: RenderTime,
    /// True once a scale, frame, viewport or repair could not be tried for another reason than the
    /// code.
    is_cut_short: AtomicBool,
}

impl<'job> BrowserStage<'job> {
    /// Evidence with its repairs, its render and its contact sheet.
    async fn evidence(&self) -> Result<(Evidence, RenderedPage, Option<SourceImage>), RenderError> {
        let plain = self.fitting_scale().await?;
        let framed = self.best_frame(plain).await?;
        let fitted = self.best_viewport(framed).await?;
        let measured = self.best_defaults(fitted).await;
        let MeasuredPage { evidence, drawn, pair, .. } = self.with_repairs(measured).await?;
        let cut_short = evidence.cut_short
            || self.is_cut_short.load(Ordering::Relaxed)
            || self.renderer.is_time_exhausted(&self.budget);
        let evidence = Evidence { cut_short, ..evidence };
        let crops = self.item.crops(&pair, &evidence).await?;
        Ok((evidence, drawn, crops))
    }

    /// The page, closed, with the repairs of its regions.
    async fn with_repairs(
        &self,
        mut measured: MeasuredPage<'job>,
    ) -> Result<MeasuredPage<'job>, RenderError> {
        let trials = self.item.context.evidence.trials();
        if measured.evidence.regions.is_empty() || trials == 0 {
            return Ok(measured.closed().await);
        }
        // The page was rendered and measured already; without a live page only the repairs are lost.
        let Some(page) = self.live_page(&mut measured).await else { return Ok(measured) };
        let (defaults, pair, plain) = (&measured.defaults, &measured.pair, &measured.evidence);
        let searched = page_trials::with_repairs(page, defaults, pair, plain.clone(), trials);
        match searched.await {
            Ok(evidence) => Ok(MeasuredPage { evidence, ..measured }),
            // What was measured before holds without repairs.
            Err(error @ RenderError::Internal) => {
                self.is_cut_short.store(true, Ordering::Relaxed);
                let warning = format!("{}: its repairs are lost: {error}", self.item.item.id);
                self.item.context.warn_of_evidence(warning).await;
                Ok(measured)
            }
            Err(error) => Err(error),
        }
    }

    /// The result of a step without which an item can be measured.
    fn attempted<T>(&self, step: Result<T, RenderError>) -> Option<T> {
        self.is_cut_short
            .fetch_or(step.as_ref().is_err_and(RenderError::may_pass), Ordering::Relaxed);
        step.ok()
    }

    /// The page at the device scale that fits the screenshot.
    async fn fitting_scale(&self) -> Result<MeasuredPage<'job>, RenderError> {
        let single = self.at_scale(1, None).await?;
        let screenshot = &self.reference.screenshot;
        let has_even_sides =
            [screenshot.width(), screenshot.height()].iter().all(|side| side % 2 == 0);
        if single.evidence.regions.is_empty() || !has_even_sides {
            return Ok(single);
        }
        let found = single.pair.share_of_found_texts().await?;
        if found >= MOST_TEXTS {
            return Ok(single);
        }
        // Closed first: there may be only one browser.
        let single = single.closed().await;
        let double = self.attempted(self.at_scale(2, None).await);
        let Some(double) = double else { return Ok(single) };
        let found_twice = double.pair.share_of_found_texts().await?;
        let is_more_alike = double.evidence.ssim > single.evidence.ssim;
        if found_twice > found || found_twice == found && is_more_alike {
            return Ok(double);
        }
        double.closed().await;
        Ok(single)
    }

    /// The page with the frame that takes most of a component's difference away, if one takes half.
    async fn best_frame(
        &self,
        plain: MeasuredPage<'job>,
    ) -> Result<MeasuredPage<'job>, RenderError> {
        let evidence = &plain.evidence;
        let is_alike = evidence.regions.is_empty() && evidence.shift == [0, 0];
        if is_alike || matches!(self.code, PageCode::Html(_)) {
            return Ok(plain);
        }
        let frames = plain.pair.possible_frames().await?;
        if frames.is_empty() {
            return Ok(plain);
        }
        let scale = evidence.scale;
        let half_of = |page: &Evidence| 1.0 - (1.0 - page.pixels_equal) * FRAME_GAIN;
        let mut limit = half_of(evidence);
        let mut best = plain.closed().await;
        for frame in frames {
            let is_around = frame.padding > 0 || frame.centered;
            // A component may fail at this width only; skip that frame.
            let framed = self.attempted(self.at_scale(scale, Some(frame)).await);
            let Some(framed) = framed else { continue };
            let framed = framed.closed().await;
            let is_better = framed.evidence.regions.is_empty()
                || framed.evidence.pixels_equal > limit && framed.evidence.shift == [0, 0];
            if is_better {
                limit = match is_around {
                    true => framed.evidence.pixels_equal,
                    false => half_of(&framed.evidence),
                };
                best = framed;
            }
            if best.evidence.regions.is_empty() && best.evidence.shift == [0, 0] {
                break;
            }
        }
        Ok(best)
    }

    /// The page in a viewport without the margin of the screenshot, if that fits better.
    async fn best_viewport(
        &self,
        page: MeasuredPage<'job>,
    ) -> Result<MeasuredPage<'job>, RenderError> {
        let PageSource { scale, ref frame, viewport, .. } = page.source;
        let mut search = page.pair.viewport_search(&page.evidence, viewport).await?;
        let (frame, mut best) = (frame.clone(), page);
        while let Some(viewport) = search.next_viewport() {
            // Closed first: there may be only one browser.
            best = best.closed().await;
            let other = self.attempted(self.drawn_in(viewport, scale, frame.clone()).await);
            let Some(other) = other else { continue };
            let content = other.pair.snapshot.as_ref().map_or([0; 2], |page| page.content);
            if search.add_fit(&other.evidence, content) {
                best = other;
            } else {
                other.closed().await;
            }
        }
        Ok(best)
    }

    /// The page with the default styles of the screenshot's browser, if those explain most of the
    /// difference.
    async fn best_defaults(&self, mut measured: MeasuredPage<'job>) -> MeasuredPage<'job> {
        if measured.evidence.regions.is_empty() || measured.evidence.noise <= 0.0 {
            return measured;
        }
        let search = measured.pair.defaults_search(&measured.evidence).await;
        let Some(Some(search)) = self.attempted(search) else { return measured };
        let Some(mut page) = self.live_page(&mut measured).await else { return measured };
        let fitting = explaining_defaults(&mut page, &measured.pair, search).await;
        // Dropping an unclosed page ends its browser.
        let Some(fitting) = self.attempted(fitting) else { return measured };
        measured.page = Some(page);
        let Some(PageWithDefaults { defaults, changes, drawn, pair, evidence }) = fitting else {
            return measured;
        };
        let frame = measured.source.frame.clone();
        let evidence = Evidence { defaults, ..self.recorded(evidence, frame, &drawn) };
        MeasuredPage { defaults: changes, drawn, pair, evidence, ..measured }
    }
}

/// The renderer, started by the first item that needs it.
async fn renderer(context: &RunContext) -> Result<&Renderer, MeasuringError> {
    let started = context.evidence.renderer().await;
    let renderer = started.map_err(|error| MeasuringError::Unmeasured(error.to_string()))?;
    if let Some(fault) = renderer.unsandboxed_reason() {
        let warning = format!("generated code is rendered without the browser's sandbox: {fault}");
        context.warn_of_evidence(warning).await;
    }
    Ok(renderer)
}
