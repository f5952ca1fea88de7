//! Evidence of a picture that already exists, or that the user's own program makes.

use super::{
    ItemEvidence, MeasuredItem,
    pair::{DrawnPair, raster, token_values},
    warn_once, without_screenshot,
};
use crate::{
    source_image::{SourceImage, image_error},
    stages::command::{CommandSettings, RenderCommandError, run_render},
};
use juror_types::{
    evidence::EvidenceSource,
    item::{ImageReference, Item, Language},
    outcome::{InputRecord, JobError},
};

/// Measures the picture that the item names.
pub(super) async fn measure_picture(
    picture: &ImageReference,
    screenshot: SourceImage,
    item: &MeasuredItem<'_>,
) -> Result<Option<ItemEvidence>, JobError> {
    let rendered = SourceImage::read(Item::RENDERED, picture, &item.context.sources).await?;
    measure(EvidenceSource::Rendered, screenshot, rendered, item).await
}

/// Measures the picture that the user's program makes of the code.
pub(super) async fn measure_command(
    code: (&str, Language),
    command: &CommandSettings,
    screenshot: SourceImage,
    item: &MeasuredItem<'_>,
) -> Result<Option<ItemEvidence>, JobError> {
    let context = item.context;
    match run_render(item.item, code, context.sources.roots(), command).await {
        Ok(bytes) => {
            let origin = InputRecord::RENDER_COMMAND;
            let rendered = SourceImage::made(Item::RENDERED, origin, bytes).await;
            measure(EvidenceSource::Command, screenshot, rendered, item).await
        }
        Err(RenderCommandError::Failed(error)) => Ok(Some(ItemEvidence::failed(error, screenshot))),
        Err(RenderCommandError::NotRun(reason)) => {
            warn_once(context, format!("{reason}; items are judged without measured evidence"))
                .await;
            Ok(None)
        }
    }
}

async fn measure(
    source: EvidenceSource,
    screenshot: SourceImage,
    rendered: SourceImage,
    item: &MeasuredItem<'_>,
) -> Result<Option<ItemEvidence>, JobError> {
    let Ok(_permit) = item.context.evidence.permit().await else { return Ok(None) };
    let picture = match raster(screenshot.bytes.clone()).await {
        Ok(picture) => picture,
        Err(error) => return without_screenshot(error, &screenshot, item.context).await,
    };
    let drawing = match raster(rendered.bytes.clone()).await {
        Ok(drawing) => drawing,
        Err(error) if source == EvidenceSource::Rendered => {
            return Err(image_error(format!("{}: {error}", rendered.record.reference)));
        }
        Err(error) => {
            let error = format!("the rendered picture cannot be read: {error}");
            return Ok(Some(ItemEvidence::failed(error, screenshot)));
        }
    };
    let Some((picture, drawing)) = picture.zip(drawing) else { return Ok(None) };
    let tokens = token_values(item.tokens);
    let pair = DrawnPair { screenshot: picture, drawing, snapshot: None, tokens };
    let Some(evidence) = pair.measure(source).await else { return Ok(None) };
    let crops = item.crops(&pair, &evidence).await;
    Ok(Some(ItemEvidence::measured(evidence, screenshot, rendered, crops)))
}
