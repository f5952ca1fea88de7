//! Evidence of an image that already exists, or that the user's program produces.

use super::{ItemEvidence, MeasuredItem, MeasuringError, rendered_pair::RenderedPair, too_large};
use crate::{
    source_image::{SourceImage, image_error},
    stages::command::{CommandSettings, RenderCommandError, run_render},
};
use juror_image::ImageError;
use juror_render::RenderError;
use juror_types::{
    evidence::EvidenceSource,
    item::{ImageReference, Item, Language},
    outcome::InputRecord,
};

/// Measures the image referenced by the item.
pub(super) async fn measure_picture(
    picture: &ImageReference,
    screenshot: SourceImage,
    item: &MeasuredItem<'_>,
) -> Result<ItemEvidence, MeasuringError> {
    let rendered = SourceImage::read(Item::RENDERED, picture, &item.context.sources).await?;
    measure(EvidenceSource::Rendered, screenshot, rendered, item).await
}

/// Measures the image that the user's program renders from the code.
pub(super) async fn measure_command(
    code: (&str, Language),
    command: &CommandSettings,
    screenshot: SourceImage,
    item: &MeasuredItem<'_>,
) -> Result<ItemEvidence, MeasuringError> {
    match run_render(item.item, code, item.context.sources.roots(), command).await {
        Ok(bytes) => {
            let origin = InputRecord::RENDER_COMMAND;
            let rendered = SourceImage::made(Item::RENDERED, origin, bytes).await;
            measure(EvidenceSource::Command, screenshot, rendered, item).await
        }
        Err(RenderCommandError::Failed(error)) => Ok(ItemEvidence::failed(error, screenshot)),
        Err(RenderCommandError::NotRun(reason)) => Err(MeasuringError::Unmeasured(reason)),
    }
}

async fn measure(
    source: EvidenceSource,
    screenshot: SourceImage,
    rendered: SourceImage,
    item: &MeasuredItem<'_>,
) -> Result<ItemEvidence, MeasuringError> {
    let (_permit, reference) = item.reference(&screenshot).await?;
    let render = match reference.decode_render(rendered.bytes.clone()).await {
        Ok(render) => render,
        Err(ImageError::TooManyPixels { width, height }) => {
            let reason = too_large("rendered pictures", width, height);
            return Err(MeasuringError::Unmeasured(reason));
        }
        Err(error) if source == EvidenceSource::Rendered => {
            return Err(image_error(format!("{}: {error}", rendered.record.reference)).into());
        }
        Err(error) => {
            let error = format!("the rendered picture cannot be read: {error}");
            return Ok(ItemEvidence::failed(error, screenshot));
        }
    };
    let render = render.ok_or(RenderError::Interrupted)?;
    let pair = RenderedPair { reference, render, snapshot: None };
    let evidence = pair.measure(source).await?;
    let crops = item.crops(&pair, &evidence).await?;
    Ok(ItemEvidence::measured(evidence, screenshot, rendered, crops))
}
