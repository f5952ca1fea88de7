//! Screenshot and render of an item, measured off the async threads.

use super::{
    css_pixels,
    reference_screenshot::{ComparableRender, ReferenceScreenshot},
};
use bytes::Bytes;
use juror_evidence::{
    DefaultsSearch, PicturePair, Snapshot, ViewportSearch, possible_frames, share_of_found_texts,
};
use juror_image::RgbPixels;
use juror_render::{RenderError, RenderedPage};
use juror_types::evidence::{Evidence, EvidenceRegion, EvidenceSource, PageFrame};
use std::sync::Arc;
use tokio::task::{JoinError, spawn_blocking};

/// A render of the code with its reference, and the render's elements if a browser made it.
#[derive(Clone)]
pub(super) struct RenderedPair {
    pub reference: Arc<ReferenceScreenshot>,
    pub render: ComparableRender,
    pub snapshot: Option<Arc<Snapshot>>,
}

impl RenderedPair {
    /// A browser's render in CSS pixels.
    pub async fn of_page(
        reference: &Arc<ReferenceScreenshot>,
        drawn: &RenderedPage,
    ) -> Result<Self, RenderError> {
        let render = reference.decode_render(drawn.picture.clone()).await;
        let render = render.ok().flatten().ok_or_else(css_pixels::unreadable)?;
        let snapshot = Some(Arc::new(drawn.snapshot.clone()));
        Ok(Self { reference: Arc::clone(reference), render, snapshot })
    }

    /// The screenshot with the render fitted to it. Synchronous.
    pub fn pictures(&self) -> PicturePair<'_> {
        let (screenshot, render) = (&self.reference.screenshot, &self.render.pixels);
        match self.render.is_compressed_alike {
            true => PicturePair::compressed_alike(screenshot, render),
            false => PicturePair::new(screenshot, render),
        }
    }

    /// Evidence without repairs.
    pub async fn measure(&self, source: EvidenceSource) -> Result<Evidence, RenderError> {
        self.off_thread(move |own| {
            let snapshot = own.snapshot.as_deref();
            let pair = own.pictures();
            let tokens =
                own.reference.tokens.iter().map(|(key, value)| (key.as_str(), value.as_str()));
            Evidence {
                size: [own.reference.screenshot.width(), own.reference.screenshot.height()],
                render_size: [own.render.pixels.width(), own.render.pixels.height()],
                tokens: pair.tokens(tokens, snapshot),
                ..pair.measure(source, snapshot)
            }
        })
        .await
    }

    /// The contact sheet of these regions as PNG; `None` without regions.
    pub async fn contact_sheet(
        &self,
        regions: &[EvidenceRegion],
    ) -> Result<Option<Bytes>, RenderError> {
        let regions = regions.to_vec();
        let sheet = self.off_thread(move |own| {
            let sheet = own.pictures().contact_sheet(&regions)?;
            let (width, height) = (sheet.width(), sheet.height());
            RgbPixels { width, height, pixels: sheet.into_pixels() }.to_png().map(Bytes::from)
        });
        or_default(sheet.await)
    }

    /// Share of the page's texts that the screenshot shows somewhere.
    pub async fn share_of_found_texts(&self) -> Result<f64, RenderError> {
        let share = self.off_thread(|own| {
            let snapshot = own.snapshot.as_deref()?;
            Some(share_of_found_texts(&own.reference.screenshot, &own.render.pixels, snapshot))
        });
        or_default(share.await).map(Option::unwrap_or_default)
    }

    /// Search for the viewport of a page that was rendered in this one.
    pub async fn viewport_search(
        &self,
        evidence: &Evidence,
        viewport: [u32; 2],
    ) -> Result<ViewportSearch, RenderError> {
        let evidence = evidence.clone();
        self.off_thread(move |own| {
            let content = own.snapshot.as_ref().map_or([0; 2], |page| page.content);
            let (screenshot, render) = (&own.reference.screenshot, &own.render.pixels);
            ViewportSearch::new(screenshot, render, &evidence, viewport, content)
        })
        .await
    }

    /// Search for the default styles of the screenshot's browser; `None` if there are none to try.
    pub async fn defaults_search(
        &self,
        evidence: &Evidence,
    ) -> Result<Option<DefaultsSearch>, RenderError> {
        let evidence = evidence.clone();
        self.off_thread(move |own| {
            let search = DefaultsSearch::new(&own.pictures(), &evidence, own.snapshot.as_deref()?);
            search.proposes_any().then_some(search)
        })
        .await
    }

    /// Adds the pair's page, drawn with the search's last defaults; true if it fits better than those
    /// before.
    pub async fn add_to_search(
        &self,
        mut search: DefaultsSearch,
        evidence: &Evidence,
    ) -> Result<(DefaultsSearch, bool), RenderError> {
        let evidence = evidence.clone();
        self.off_thread(move |own| {
            let (pair, snapshot) = (own.pictures(), own.snapshot.as_deref());
            let is_better = snapshot.is_some_and(|page| search.add_fit(&pair, &evidence, page));
            (search, is_better)
        })
        .await
    }

    /// Frames that may surround a component in the screenshot.
    pub async fn possible_frames(&self) -> Result<Vec<PageFrame>, RenderError> {
        let frames = self.off_thread(|own| {
            let Some(snapshot) = own.snapshot.as_deref() else { return Vec::new() };
            possible_frames(&own.reference.screenshot, &own.render.pixels, snapshot)
        });
        or_default(frames.await)
    }

    async fn off_thread<T: Send + 'static>(
        &self,
        measure: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, RenderError> {
        let own = self.clone();
        spawn_blocking(move || measure(&own)).await.map_err(unfinished)
    }
}

/// The error of a measurement that panicked, or that was cut off while the process ends.
pub(super) fn unfinished(error: JoinError) -> RenderError {
    if error.is_panic() { RenderError::Internal } else { RenderError::Interrupted }
}

/// The result of a step without which an item can be measured: nothing where it panicked.
fn or_default<T: Default>(step: Result<T, RenderError>) -> Result<T, RenderError> {
    match step {
        Err(RenderError::Internal) => Ok(T::default()),
        ended => ended,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn panic_is_a_defect_and_an_aborted_measurement_is_an_interruption() {
        let panicked = spawn_blocking(|| panic!("index out of bounds")).await;
        assert_eq!(unfinished(panicked.unwrap_err()), RenderError::Internal);
        let aborted = tokio::spawn(std::future::pending::<()>());
        aborted.abort();
        assert_eq!(unfinished(aborted.await.unwrap_err()), RenderError::Interrupted);
    }
}
