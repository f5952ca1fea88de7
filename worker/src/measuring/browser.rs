//! Evidence of code that the built-in renderer draws.

use super::{
    ItemEvidence, MeasuredItem, kept_page,
    pair::{DrawnPair, raster, token_values},
    trials, warn_once, without_screenshot,
};
use crate::{context::Context, source_image::SourceImage};
use juror_evidence::Raster;
use juror_render::{DrawnPage, OpenPage, PageSource, RenderError, Renderer, RendererError};
use juror_types::{
    event::Event,
    evidence::{Evidence, EvidenceSource},
    item::{Item, Language},
    outcome::{InputRecord, JobError},
};
use std::sync::Arc;

/// Structural similarity below which a screenshot may be one of twice the pixels.
const ALIKE: f64 = 0.9;

/// Measures the picture that the browser draws of the code, and tries repairs where it differs.
pub(super) async fn measure(
    code: (&str, Language),
    screenshot: SourceImage,
    item: &MeasuredItem<'_>,
) -> Result<Option<ItemEvidence>, JobError> {
    let context = item.context;
    if code.1 != Language::Html {
        let warning = "the browser draws HTML alone: other code is judged without measured evidence \
                       unless stages.render_command draws it";
        warn_once(context, warning.to_owned()).await;
        return Ok(None);
    }
    let Some(renderer) = renderer(context).await else { return Ok(None) };
    let Ok(_permit) = context.evidence.permit().await else { return Ok(None) };
    let picture = match raster(screenshot.bytes.clone()).await {
        Ok(Some(picture)) => picture,
        Ok(None) => return Ok(None),
        Err(error) => return without_screenshot(error, &screenshot, context).await,
    };
    let stage = BrowserStage { renderer, item, code, screenshot: picture };
    match stage.evidence().await {
        Ok(Some((evidence, drawn))) => {
            let origin = InputRecord::BROWSER;
            let rendered = SourceImage::made(Item::RENDERED, origin, drawn.picture).await;
            Ok(Some(ItemEvidence::measured(evidence, screenshot, rendered)))
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

/// The renderer; none where it cannot be started, which is said once.
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

/// One item's code, to be drawn and measured.
struct BrowserStage<'job> {
    renderer: &'job Renderer,
    item: &'job MeasuredItem<'job>,
    code: (&'job str, Language),
    screenshot: Arc<Raster>,
}

/// A page that was drawn and measured.
struct MeasuredPage<'renderer> {
    source: PageSource,
    /// The live page; none where the drawing was kept.
    page: Option<OpenPage<'renderer>>,
    drawn: DrawnPage,
    pair: DrawnPair,
    evidence: Evidence,
}

impl MeasuredPage<'_> {
    /// The same without its live page.
    async fn closed(self) -> Self {
        if let Some(page) = self.page {
            page.close().await;
        }
        Self { page: None, ..self }
    }
}

impl<'job> BrowserStage<'job> {
    /// Evidence with its repairs and its drawing; none where the process is ending.
    async fn evidence(&self) -> Result<Option<(Evidence, DrawnPage)>, RenderError> {
        let Some(measured) = self.best_scale().await? else { return Ok(None) };
        let MeasuredPage { source, page, drawn, pair, evidence } = measured;
        let trials = self.item.context.evidence.trials();
        if evidence.regions.is_empty() || trials == 0 {
            if let Some(page) = page {
                page.close().await;
            }
            return Ok(Some((evidence, drawn)));
        }
        let page = match page {
            Some(page) => page,
            None => self.renderer.open(&source).await?,
        };
        let evidence = trials::with_repairs(page, &pair, evidence, trials).await;
        Ok(evidence.map(|evidence| (evidence, drawn)))
    }

    /// The page at the device scale that fits the screenshot better.
    async fn best_scale(&self) -> Result<Option<MeasuredPage<'job>>, RenderError> {
        let Some(single) = self.at_scale(1).await? else { return Ok(None) };
        let is_even = [self.screenshot.width(), self.screenshot.height()].map(|side| side % 2 == 0);
        if single.evidence.ssim >= ALIKE || is_even != [true, true] {
            return Ok(Some(single));
        }
        // One page at a time, for there may be but one browser.
        let single = single.closed().await;
        let Ok(Some(double)) = self.at_scale(2).await else { return Ok(Some(single)) };
        if double.evidence.ssim > single.evidence.ssim {
            return Ok(Some(double));
        }
        double.closed().await;
        Ok(Some(single))
    }

    async fn at_scale(&self, scale: u32) -> Result<Option<MeasuredPage<'job>>, RenderError> {
        let (code, language) = self.code;
        let size = [self.screenshot.width(), self.screenshot.height()];
        let source = PageSource {
            code: code.to_owned(),
            language,
            props: self.item.item.props.clone(),
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
        let evidence = Evidence { browser, ..evidence };
        Ok(Some(MeasuredPage { source, page, drawn, pair, evidence }))
    }

    /// The kept drawing, or a new one with its page.
    async fn draw(
        &self,
        source: &PageSource,
    ) -> Result<(Option<OpenPage<'job>>, DrawnPage), RenderError> {
        let context = self.item.context;
        let key = kept_page::render_key(source, self.renderer.browser());
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
