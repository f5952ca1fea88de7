//! A page of the code as the browser renders it, measured against the screenshot.

use super::BrowserStage;
use crate::evidence_stage::{
    css_pixels,
    kept::{keep_page, page_key, read_page},
    rendered_pair::RenderedPair,
};
use juror_evidence::PageChange;
use juror_render::{OpenPage, PageSource, RenderError, RenderedPage, RendererError};
use juror_types::evidence::{Evidence, EvidenceSource, PageFrame};

/// Digits of a renderer's digest in evidence.
const RENDERER_DIGITS: usize = 12;

pub(super) struct MeasuredPage<'renderer> {
    pub source: PageSource,
    /// Live page; `None` for a cached render.
    pub page: Option<OpenPage<'renderer>>,
    /// Changes of the page that give it the defaults of another browser.
    pub defaults: Vec<PageChange>,
    pub drawn: RenderedPage,
    pub pair: RenderedPair,
    pub evidence: Evidence,
}

impl MeasuredPage<'_> {
    /// Closes the page.
    pub async fn closed(self) -> Self {
        if let Some(page) = self.page {
            page.close().await;
        }
        Self { page: None, ..self }
    }
}

impl<'job> BrowserStage<'job> {
    pub(super) async fn at_scale(
        &self,
        scale: u32,
        frame: Option<PageFrame>,
    ) -> Result<MeasuredPage<'job>, RenderError> {
        let screenshot = &self.reference.screenshot;
        let size = [screenshot.width(), screenshot.height()];
        self.drawn_in(size.map(|side| side / scale), scale, frame).await
    }

    pub(super) async fn drawn_in(
        &self,
        viewport: [u32; 2],
        scale: u32,
        frame: Option<PageFrame>,
    ) -> Result<MeasuredPage<'job>, RenderError> {
        let source = PageSource {
            code: self.code.clone(),
            props: self.item.item.props.clone(),
            frame: frame.clone(),
            viewport,
            scale,
        };
        let (page, drawn) = self.draw(&source).await?;
        let pair = RenderedPair::of_page(&self.reference, &drawn).await?;
        let evidence = pair.measure(EvidenceSource::Browser).await?;
        let evidence = self.recorded(evidence, frame, &drawn);
        Ok(MeasuredPage { source, page, defaults: Vec::new(), drawn, pair, evidence })
    }

    /// Evidence with the record of its render.
    pub(super) fn recorded(
        &self,
        evidence: Evidence,
        frame: Option<PageFrame>,
        drawn: &RenderedPage,
    ) -> Evidence {
        let browser = Some(self.renderer.short_name().to_owned());
        let renderer = Some(
            self.renderer.environment_digest().to_string().chars().take(RENDERER_DIGITS).collect(),
        );
        let RenderedPage { partial, refused, error: page_error, .. } = drawn.clone();
        Evidence { browser, renderer, frame, partial, refused, page_error, ..evidence }
    }

    /// Cached render, or a new one with its page.
    async fn draw(
        &self,
        source: &PageSource,
    ) -> Result<(Option<OpenPage<'job>>, RenderedPage), RenderError> {
        let context = self.item.context;
        let key = page_key(source, self.renderer.digest());
        if let Some(drawn) = read_page(&context.evidence.renders, key).await {
            return Ok((None, drawn));
        }
        let (page, drawn) = match self.open_and_render(source).await {
            // The idle browser may have exited since its last page, or the system may have ended the
            // page: a fault of the code happens again in a new browser.
            Err(RenderError::Browser(RendererError::Ended(_)) | RenderError::PageEnded) => {
                self.open_and_render(source).await?
            }
            drawn => drawn?,
        };
        let drawn = css_pixels::in_css_pixels(drawn).await.ok_or_else(css_pixels::unreadable)?;
        if let Err(error) = keep_page(&context.evidence.renders, key, &drawn).await {
            context.warn_of_evidence(error.to_string()).await;
        }
        Ok((Some(page), drawn))
    }

    async fn open_and_render(
        &self,
        source: &PageSource,
    ) -> Result<(OpenPage<'job>, RenderedPage), RenderError> {
        let mut page = self.renderer.open_within(source, &self.budget).await?;
        let drawn = page.draw(&[]).await?;
        Ok((page, drawn))
    }

    /// The live page, taken out of the measured one, or opened for a cached render.
    pub(super) async fn live_page(
        &self,
        measured: &mut MeasuredPage<'job>,
    ) -> Option<OpenPage<'job>> {
        match measured.page.take() {
            Some(page) => Some(page),
            None => self.attempted(self.renderer.open_within(&measured.source, &self.budget).await),
        }
    }
}
