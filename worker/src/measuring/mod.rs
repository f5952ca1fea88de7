//! The stage of measured evidence: a picture of the item's code, and where it differs from the
//! screenshot.

use crate::{
    context::Context,
    image::{ImageError, RgbaPicture},
    load::LoadedItem,
    source_image::{SourceImage, image_error},
    stages::command::{RenderCommandError, run_render},
};
use juror_evidence::{PicturePair, Raster};
use juror_types::{
    event::Event,
    evidence::{Evidence, EvidenceMode, EvidenceOutcome, EvidenceSource},
    item::{ImageReference, Item},
    job::Job,
    outcome::{InputRecord, JobError},
};
use tokio::task::spawn_blocking;

/// The image that is measured against, where an item names it.
const SCREENSHOT: &str = "screenshot";

/// The evidence of one item.
pub struct ItemEvidence {
    /// The record of the result.
    pub outcome: EvidenceOutcome,
    /// The screenshot that was measured against.
    pub screenshot: SourceImage,
    /// The picture of the code; none where it could not be rendered.
    pub rendered: Option<SourceImage>,
    /// Whether the code was rendered; none where a picture was there already.
    pub renders: Option<bool>,
}

impl ItemEvidence {
    /// The image of this name that a judge is sent, as far as the mode goes.
    pub fn image(&self, name: &str, mode: EvidenceMode) -> Option<&SourceImage> {
        let is_sent = mode == EvidenceMode::Full;
        match name {
            name if name == self.screenshot.record.name => Some(&self.screenshot),
            Item::RENDERED => self.rendered.as_ref().filter(|_| is_sent),
            _ => None,
        }
    }

    /// The pictures that no dataset holds.
    pub fn made(&self) -> impl Iterator<Item = &SourceImage> {
        let is_made = self.renders.is_some();
        self.rendered.iter().filter(move |_| is_made)
    }
}

/// Measures an item, if that is asked for and there is something to render. Whatever is wrong with the
/// code is part of the evidence.
///
/// # Errors
/// The item's own images cannot be used.
pub async fn collect(
    job: &Job,
    loaded: &LoadedItem,
    context: &Context,
) -> Result<Option<ItemEvidence>, JobError> {
    let Some((name, reference)) = screenshot_of(&job.item) else { return Ok(None) };
    if job.evidence.is_none() || !can_render(&job.item, loaded, context) {
        return Ok(None);
    }
    let screenshot = SourceImage::read(name, reference, &context.sources).await?;
    let rendered = match render(&job.item, loaded, context).await? {
        Rendered::Picture(source, rendered) => (source, rendered),
        Rendered::Failed(error) => return Ok(Some(failed(screenshot, error))),
        Rendered::Nothing => return Ok(None),
    };
    let (source, rendered) = rendered;
    let Ok(_permit) = context.evidence.permit().await else {
        return Ok(None);
    };
    let (one, other) = (screenshot.bytes.clone(), rendered.bytes.clone());
    let measuring = spawn_blocking(move || {
        let one = RgbaPicture::decode(&one).map_err(Unmeasured::Screenshot)?;
        let other = RgbaPicture::decode(&other).map_err(Unmeasured::Render)?;
        let size = Some([one.width, one.height]);
        let render_size = Some([other.width, other.height]);
        let (screenshot, drawing) = (raster(&one), raster(&other));
        let Some((screenshot, drawing)) = screenshot.zip(drawing) else { return Ok(None) };
        let evidence = PicturePair::new(&screenshot, &drawing).measure(source, None);
        Ok(Some(Evidence { size, render_size, ..evidence }))
    });
    let Ok(measured) = measuring.await else { return Ok(None) };
    let renders = (source != EvidenceSource::Rendered).then_some(true);
    match measured {
        Ok(None) => Ok(None),
        Ok(Some(evidence)) => {
            let outcome = EvidenceOutcome::Measured(Box::new(evidence));
            Ok(Some(ItemEvidence { outcome, screenshot, rendered: Some(rendered), renders }))
        }
        Err(Unmeasured::Screenshot(ImageError::TooManyPixels { width, height })) => {
            warn_once(context, format!("screenshots of {width}x{height} pixels are not measured"))
                .await;
            Ok(None)
        }
        Err(Unmeasured::Screenshot(error)) => {
            Err(image_error(format!("{}: {error}", screenshot.record.reference)))
        }
        Err(Unmeasured::Render(error)) if renders.is_none() => {
            Err(image_error(format!("{}: {error}", rendered.record.reference)))
        }
        Err(Unmeasured::Render(error)) => {
            Ok(Some(failed(screenshot, format!("the rendered picture cannot be read: {error}"))))
        }
    }
}

/// The pixels as measuring takes them; none for a picture without any.
fn raster(picture: &RgbaPicture) -> Option<Raster> {
    Raster::from_rgba(picture.width, picture.height, &picture.pixels)
}

/// The picture that could not be decoded.
enum Unmeasured {
    Screenshot(ImageError),
    Render(ImageError),
}

/// Result of rendering.
enum Rendered {
    Picture(EvidenceSource, SourceImage),
    Failed(String),
    Nothing,
}

fn screenshot_of(item: &Item) -> Option<(&str, &ImageReference)> {
    let named = item.images.get_key_value(SCREENSHOT).or_else(|| item.images.first());
    named.map(|(name, image)| (name.as_str(), image))
}

/// A picture that the item names, unless a program of the user's has made other code since.
fn given_picture<'job>(item: &'job Item, context: &Context) -> Option<&'job ImageReference> {
    item.rendered().filter(|_| context.stages.pipeline_command.is_none())
}

fn can_render(item: &Item, loaded: &LoadedItem, context: &Context) -> bool {
    let has_renderer = context.stages.render_command.is_some();
    given_picture(item, context).is_some() || (has_renderer && loaded.code.is_some())
}

async fn render(item: &Item, loaded: &LoadedItem, context: &Context) -> Result<Rendered, JobError> {
    if let Some(image) = given_picture(item, context) {
        let picture = SourceImage::read(Item::RENDERED, image, &context.sources).await?;
        return Ok(Rendered::Picture(EvidenceSource::Rendered, picture));
    }
    let code = loaded.code.as_deref().zip(loaded.language);
    let Some((code, command)) = code.zip(context.stages.render_command.as_ref()) else {
        return Ok(Rendered::Nothing);
    };
    match run_render(item, code, context.sources.roots(), command).await {
        Ok(bytes) => {
            let origin = InputRecord::RENDER_COMMAND;
            let picture = SourceImage::made(Item::RENDERED, origin, bytes).await;
            Ok(Rendered::Picture(EvidenceSource::Command, picture))
        }
        Err(RenderCommandError::Failed(error)) => Ok(Rendered::Failed(error)),
        Err(RenderCommandError::NotRun(reason)) => {
            warn_once(context, format!("{reason}; items are judged without measured evidence"))
                .await;
            Ok(Rendered::Nothing)
        }
    }
}

fn failed(screenshot: SourceImage, error: String) -> ItemEvidence {
    let outcome = EvidenceOutcome::Failed { error };
    ItemEvidence { outcome, screenshot, rendered: None, renders: Some(false) }
}

async fn warn_once(context: &Context, warning: String) {
    if context.evidence.warns_first() {
        context.events.emit(Event::Warning(warning)).await;
    }
}
