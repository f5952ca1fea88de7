//! Stage of measured evidence: the rendered image of the item's code, and its differences from the
//! screenshot.

mod browser;
mod css_pixels;
mod existing_render;
mod kept;
mod page_trials;
mod reference_screenshot;
mod rendered_pair;

use crate::{
    item_texts::LoadedItem,
    run_context::RunContext,
    source_image::{SourceImage, image_error},
};
use juror_evidence::Raster;
use juror_image::{ImageError, MAX_MEASURED_SIDE};
use juror_render::RenderError;
use juror_telemetry::EvidenceFinding;
use juror_types::{
    evidence::{Evidence, EvidenceMode, EvidenceOutcome, EvidenceSource},
    item::{ImageReference, Item, Tokens},
    job::Job,
    outcome::{InputRecord, JobError},
    rubric::RubricImage,
};
use reference_screenshot::ReferenceScreenshot;
use rendered_pair::RenderedPair;
use std::sync::Arc;
use tokio::{sync::OwnedSemaphorePermit, time::Instant};

/// The image that is measured against, where an item names it.
const SCREENSHOT: &str = "screenshot";
/// Minimum side of a screenshot that a page is rendered for, in pixels: in one pixel, all are alike.
const MIN_RENDERED_SIDE: u32 = 8;

pub struct ItemEvidence {
    /// The record of the result.
    pub outcome: EvidenceOutcome,
    /// The screenshot that was measured against.
    pub screenshot: SourceImage,
    /// Image of the code; `None` if it could not be rendered.
    pub rendered: Option<SourceImage>,
    /// The contact sheet of the regions; `None` without regions, and where no judge is sent one.
    pub crops: Option<SourceImage>,
}

impl ItemEvidence {
    /// True if the code was rendered; `None` if an image existed already.
    pub fn renders(&self) -> Option<bool> {
        match &self.outcome {
            EvidenceOutcome::Failed { .. } => Some(false),
            EvidenceOutcome::Measured(evidence) => {
                (evidence.source != EvidenceSource::Rendered).then_some(true)
            }
        }
    }

    /// The image of this name for the judge, if the mode includes it.
    pub fn image(&self, name: &str, mode: EvidenceMode) -> Option<&SourceImage> {
        let is_sent = mode == EvidenceMode::Full;
        match name {
            name if name == self.screenshot.record.name => Some(&self.screenshot),
            Item::RENDERED => self.rendered.as_ref().filter(|_| is_sent),
            RubricImage::CROPS => self.crops.as_ref().filter(|_| is_sent),
            _ => None,
        }
    }

    /// Images that are not part of the dataset.
    pub fn made(&self) -> impl Iterator<Item = &SourceImage> {
        let is_made = self.renders().is_some();
        self.rendered.iter().filter(move |_| is_made).chain(&self.crops)
    }

    fn measured(
        evidence: Evidence,
        screenshot: SourceImage,
        rendered: SourceImage,
        crops: Option<SourceImage>,
    ) -> Self {
        let outcome = EvidenceOutcome::Measured(Box::new(evidence));
        Self { outcome, screenshot, rendered: Some(rendered), crops }
    }

    fn failed(error: String, screenshot: SourceImage) -> Self {
        let outcome = EvidenceOutcome::Failed { error };
        Self { outcome, screenshot, rendered: None, crops: None }
    }
}

/// Reason why an item has no evidence.
pub enum MeasuringError {
    /// The item's own images cannot be used.
    Input(JobError),
    /// Evidence is not available here, through no fault of the item: no renderer, or a limit.
    Unmeasured(String),
}

impl From<RenderError> for MeasuringError {
    fn from(error: RenderError) -> Self {
        Self::Unmeasured(error.to_string())
    }
}

impl From<JobError> for MeasuringError {
    fn from(error: JobError) -> Self {
        Self::Input(error)
    }
}

/// Measures an item, if requested and if there is code or an image. A fault of the code is part of
/// the evidence.
///
/// # Errors
/// The item has no evidence although it should; a warning was emitted where that is no fault of the
/// item.
pub async fn collect(
    job: &Job,
    loaded: &LoadedItem,
    context: &RunContext,
) -> Result<Option<ItemEvidence>, MeasuringError> {
    let Some((name, reference)) = screenshot_of(&job.item) else { return Ok(None) };
    if job.evidence.is_none() {
        return Ok(None);
    }
    // The item's own picture shows other code than the pipeline command made.
    let picture = job.item.rendered().filter(|_| context.stages.pipeline_command.is_none());
    let code = loaded.code.as_deref().zip(loaded.language);
    if picture.is_none() && code.is_none() && loaded.unusable_code.is_none() {
        return Ok(None);
    }
    let begun = Instant::now();
    let screenshot = SourceImage::read(name, reference, &context.sources).await?;
    let sends_crops = job.judge.is_some()
        && job.evidence == EvidenceMode::Full
        && context.rubric.images.iter().any(|image| image.name == RubricImage::CROPS);
    let tokens = loaded.expected_tokens.as_ref();
    let item = MeasuredItem { item: &job.item, tokens, sends_crops, context };
    let measured = match (picture, code, &context.stages.render_command) {
        (Some(picture), ..) => existing_render::measure_picture(picture, screenshot, &item).await,
        (None, Some(code), Some(command)) => {
            existing_render::measure_command(code, command, screenshot, &item).await
        }
        // Boxed: the future is large and a worker's stack is small.
        (None, Some(code), None) => Box::pin(browser::measure(code, screenshot, &item)).await,
        (None, None, _) => {
            let reason = loaded.unusable_code.clone().unwrap_or_default();
            Ok(ItemEvidence::failed(reason, screenshot))
        }
    };
    if !matches!(measured, Err(MeasuringError::Input(_))) {
        context.metrics.evidence_ended(finding(measured.as_ref().ok()), begun.elapsed());
    }
    if let Err(MeasuringError::Unmeasured(reason)) = &measured {
        let warning = format!("{reason}; items are judged without measured evidence");
        context.warn_of_evidence(warning).await;
    }
    measured.map(Some)
}

/// The image that an item is measured against, with its name.
pub fn screenshot_of(item: &Item) -> Option<(&str, &ImageReference)> {
    let named = item.images.get_key_value(SCREENSHOT).or_else(|| item.images.first());
    named.map(|(name, image)| (name.as_str(), image))
}

/// Inputs of measuring an item.
struct MeasuredItem<'job> {
    item: &'job Item,
    tokens: Option<&'job Tokens>,
    /// True if the judge is sent a contact sheet of the regions.
    sends_crops: bool,
    context: &'job RunContext,
}

impl MeasuredItem<'_> {
    /// The decoded screenshot, with a permit for the memory of a picture pair.
    async fn reference(
        &self,
        screenshot: &SourceImage,
    ) -> Result<(OwnedSemaphorePermit, Arc<ReferenceScreenshot>), MeasuringError> {
        let permit = self.context.evidence.permit().await;
        let permit = permit.map_err(|_| RenderError::Interrupted)?;
        let decoded = ReferenceScreenshot::new(screenshot, self.tokens).await;
        let reference = decoded.map_err(|error| match error {
            ImageError::TooManyPixels { width, height } => {
                MeasuringError::Unmeasured(too_large("screenshots", width, height))
            }
            error => image_error(format!("{}: {error}", screenshot.record.reference)).into(),
        })?;
        Ok((permit, reference.ok_or(RenderError::Interrupted)?))
    }

    /// The contact sheet for the judge.
    async fn crops(
        &self,
        pair: &RenderedPair,
        evidence: &Evidence,
    ) -> Result<Option<SourceImage>, RenderError> {
        if !self.sends_crops || evidence.regions.is_empty() {
            return Ok(None);
        }
        let sheet = pair.contact_sheet(&evidence.regions).await?;
        let Some(sheet) = sheet else { return Ok(None) };
        Ok(Some(SourceImage::made(RubricImage::CROPS, InputRecord::EVIDENCE, sheet).await))
    }
}

fn finding(evidence: Option<&ItemEvidence>) -> EvidenceFinding {
    match evidence.map(|evidence| &evidence.outcome) {
        None => EvidenceFinding::Unmeasured,
        Some(EvidenceOutcome::Failed { .. }) => EvidenceFinding::Unrenderable,
        Some(EvidenceOutcome::Measured(evidence)) if evidence.regions.is_empty() => {
            EvidenceFinding::NoRegion
        }
        Some(EvidenceOutcome::Measured(_)) => EvidenceFinding::Regions,
    }
}

/// Message for a screenshot in which a page has no room; `None` for one that can be measured.
fn too_small(screenshot: &Raster) -> Option<String> {
    let sides = [screenshot.width(), screenshot.height()];
    sides.iter().any(|side| *side < MIN_RENDERED_SIDE).then(|| {
        format!(
            "a screenshot of {}x{} pixels shows no page: sides of less than {MIN_RENDERED_SIDE} \
             pixels are not measured",
            screenshot.width(),
            screenshot.height()
        )
    })
}

/// Message for images that are too large to measure.
fn too_large(pictures: &str, width: u32, height: u32) -> String {
    format!(
        "{pictures} of {width}x{height} pixels exceed the limit of {MAX_MEASURED_SIDE} pixels a \
         side and are not measured"
    )
}
