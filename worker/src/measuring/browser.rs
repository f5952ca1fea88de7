//! Evidence of code that the built-in renderer renders.

use super::{
    ItemEvidence, MeasuredItem, kept_page,
    pair::{DrawnPair, raster, token_values},
    trials, warn_once, without_screenshot,
};
use crate::{context::Context, source_image::SourceImage, stages::component};
use juror_evidence::Raster;
use juror_render::{
    DrawnPage, OpenPage, PageCode, PageSource, RenderError, Renderer, RendererError,
};
use juror_types::{
    event::Event,
    evidence::{Evidence, EvidenceSource, PageFrame},
    item::{Item, Language},
    outcome::{InputRecord, JobError},
};
use std::sync::Arc;

/// Structural similarity below which a screenshot is also compared at twice the pixels.
const ALIKE: f64 = 0.9;
/// Maximum share of the difference that remains with a frame that is used.
const FRAME_GAIN: f64 = 0.5;

/// Measures the browser's picture of the code, and tries repairs if it differs.
pub(super) async fn measure(
    code: (&str, Language),
    screenshot: SourceImage,
    item: &MeasuredItem<'_>,
) -> Result<Option<ItemEvidence>, JobError> {
    let context = item.context;
    let code = match code {
        (text, Language::Html) => PageCode::Html(text.to_owned()),
        (text, language) => match component::compile(text, language).await {
            Ok(module) => PageCode::Component(module),
            Err(error) => return Ok(Some(ItemEvidence::failed(error.to_string(), screenshot))),
        },
    };
    let Some(renderer) = renderer(context).await else { return Ok(None) };
    let Ok(_permit) = context.evidence.permit().await else { return Ok(None) };
    let picture = match raster(screenshot.bytes.clone()).await {
        Ok(Some(picture)) => picture,
        Ok(None) => return Ok(None),
        Err(error) => return without_screenshot(error, &screenshot, context).await,
    };
    let stage = BrowserStage { renderer, item, code, screenshot: picture };
    match stage.evidence().await {
        Ok(Some((evidence, drawn, crops))) => {
            let origin = InputRecord::BROWSER;
            let rendered = SourceImage::made(Item::RENDERED, origin, drawn.picture).await;
            Ok(Some(ItemEvidence::measured(evidence, screenshot, rendered, crops)))
        }
        Ok(None) => Ok(None),
        Err(error) if error.is_about_code() => {
            Ok(Some(ItemEvidence::failed(error.to_string(), screenshot)))
        }
        Err(error) => {
            warn_once(context, format!("{error}; the item is judged without measured evidence"))
                .await;
            Ok(None)
        }
    }
}

/// The renderer; none if it cannot be started, which is reported once.
async fn renderer(context: &Context) -> Option<&Renderer> {
    let (started, is_first) = context.evidence.renderer().await;
    match started {
        Ok(renderer) => {
            if is_first && !renderer.is_sandboxed() {
                let warning = "generated code is rendered without the browser's sandbox: the worker \
                               runs as root, or the system allows no user namespaces";
                context.events.emit(Event::Warning(warning.to_owned())).await;
            }
            Some(renderer)
        }
        Err(error) => {
            warn_once(context, format!("{error}; items are judged without measured evidence"))
                .await;
            None
        }
    }
}

/// One item's code, to be rendered and measured.
struct BrowserStage<'job> {
    renderer: &'job Renderer,
    item: &'job MeasuredItem<'job>,
    code: PageCode,
    screenshot: Arc<Raster>,
}

/// A page that was rendered and measured.
struct MeasuredPage<'renderer> {
    source: PageSource,
    /// The live page; none for a kept drawing.
    page: Option<OpenPage<'renderer>>,
    drawn: DrawnPage,
    pair: DrawnPair,
    evidence: Evidence,
}

impl MeasuredPage<'_> {
    /// The same page, closed.
    async fn closed(self) -> Self {
        if let Some(page) = self.page {
            page.close().await;
        }
        Self { page: None, ..self }
    }
}

impl<'job> BrowserStage<'job> {
    /// Evidence with its repairs, its drawing and its contact sheet; none while the process ends.
    async fn evidence(
        &self,
    ) -> Result<Option<(Evidence, DrawnPage, Option<SourceImage>)>, RenderError> {
        let Some(plain) = self.best_scale().await? else { return Ok(None) };
        let Some(measured) = self.best_frame(plain).await? else { return Ok(None) };
        let (evidence, drawn, pair) = match self.with_repairs(measured).await? {
            Some(MeasuredPage { evidence, drawn, pair, .. }) => (evidence, drawn, pair),
            None => return Ok(None),
        };
        let crops = self.item.crops(&pair, &evidence).await;
        Ok(Some((evidence, drawn, crops)))
    }

    /// The page, closed, with the repairs of its regions; none while the process ends.
    async fn with_repairs(
        &self,
        measured: MeasuredPage<'job>,
    ) -> Result<Option<MeasuredPage<'job>>, RenderError> {
        let trials = self.item.context.evidence.trials();
        if measured.evidence.regions.is_empty() || trials == 0 {
            return Ok(Some(measured.closed().await));
        }
        let MeasuredPage { source, page, drawn, pair, evidence } = measured;
        let page = match page {
            Some(page) => page,
            None => self.renderer.open(&source).await?,
        };
        let evidence = trials::with_repairs(page, &pair, evidence, trials).await;
        Ok(evidence.map(|evidence| MeasuredPage { source, page: None, drawn, pair, evidence }))
    }

    /// The page at the device scale that fits the screenshot better.
    async fn best_scale(&self) -> Result<Option<MeasuredPage<'job>>, RenderError> {
        let Some(single) = self.at_scale(1, None).await? else { return Ok(None) };
        let is_even = [self.screenshot.width(), self.screenshot.height()].map(|side| side % 2 == 0);
        if single.evidence.ssim >= ALIKE || is_even != [true, true] {
            return Ok(Some(single));
        }
        // One page at a time, for there may be but one browser.
        let single = single.closed().await;
        let Ok(Some(double)) = self.at_scale(2, None).await else { return Ok(Some(single)) };
        if double.evidence.ssim > single.evidence.ssim {
            return Ok(Some(double));
        }
        double.closed().await;
        Ok(Some(single))
    }

    /// The page with the frame that takes most of a component's difference away, if one takes half.
    async fn best_frame(
        &self,
        plain: MeasuredPage<'job>,
    ) -> Result<Option<MeasuredPage<'job>>, RenderError> {
        let evidence = &plain.evidence;
        let is_alike = evidence.regions.is_empty() && evidence.shift == [0, 0];
        if is_alike || matches!(self.code, PageCode::Html(_)) {
            return Ok(Some(plain));
        }
        let frames = plain.pair.possible_frames().await;
        if frames.is_empty() {
            return Ok(Some(plain));
        }
        let scale = evidence.scale;
        let mut limit = 1.0 - (1.0 - evidence.pixels_equal) * FRAME_GAIN;
        let mut best = plain.closed().await;
        for frame in frames {
            // A component may fail in a narrower page alone.
            let Ok(Some(framed)) = self.at_scale(scale, Some(frame)).await else { continue };
            let framed = framed.closed().await;
            let is_better = framed.evidence.regions.is_empty()
                || framed.evidence.pixels_equal > limit && framed.evidence.shift == [0, 0];
            if is_better {
                limit = framed.evidence.pixels_equal;
                best = framed;
            }
            if best.evidence.regions.is_empty() && best.evidence.shift == [0, 0] {
                break;
            }
        }
        Ok(Some(best))
    }

    async fn at_scale(
        &self,
        scale: u32,
        frame: Option<PageFrame>,
    ) -> Result<Option<MeasuredPage<'job>>, RenderError> {
        let size = [self.screenshot.width(), self.screenshot.height()];
        let source = PageSource {
            code: self.code.clone(),
            props: self.item.item.props.clone(),
            frame: frame.clone(),
            viewport: size.map(|side| side / scale),
            scale: 1,
        };
        let (page, drawn) = self.draw(&source).await?;
        let Ok(Some(drawing)) = raster(drawn.picture.clone()).await else {
            let unreadable = "its picture of the page cannot be read";
            return Err(RendererError::Ended(unreadable.to_owned()).into());
        };
        let (screenshot, tokens) = (Arc::clone(&self.screenshot), token_values(self.item.tokens));
        let snapshot = Some(Arc::new(drawn.snapshot.clone()));
        let pair = DrawnPair { screenshot, drawing, snapshot, tokens };
        let Some(evidence) = pair.measure(EvidenceSource::Browser).await else { return Ok(None) };
        let browser = Some(self.renderer.short_name().to_owned());
        let (partial, refused) = (drawn.partial.clone(), drawn.refused.clone());
        let evidence = Evidence { browser, frame, partial, refused, ..evidence };
        Ok(Some(MeasuredPage { source, page, drawn, pair, evidence }))
    }

    /// The kept drawing, or a new one with its page.
    async fn draw(
        &self,
        source: &PageSource,
    ) -> Result<(Option<OpenPage<'job>>, DrawnPage), RenderError> {
        let context = self.item.context;
        let key = kept_page::render_key(source, self.renderer.digest());
        if let Some(drawn) = kept_page::read(&context.evidence.renders, key).await {
            return Ok((None, drawn));
        }
        let (page, drawn) = match open_and_draw(self.renderer, source).await {
            // It may have ended between two pages.
            Err(RenderError::Browser(RendererError::Ended(_))) => {
                open_and_draw(self.renderer, source).await?
            }
            drawn => drawn?,
        };
        if let Err(error) = kept_page::keep(&context.evidence.renders, key, &drawn).await {
            warn_once(context, error.to_string()).await;
        }
        Ok((Some(page), drawn))
    }
}

async fn open_and_draw<'renderer>(
    renderer: &'renderer Renderer,
    source: &PageSource,
) -> Result<(OpenPage<'renderer>, DrawnPage), RenderError> {
    let mut page = renderer.open(source).await?;
    let drawn = page.draw(&[]).await?;
    Ok((page, drawn))
}
