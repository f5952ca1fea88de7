//! Inputs that a run keeps, so that pages show the judged files even if the dataset has changed
//! since.

use crate::{
    evidence_stage::ItemEvidence,
    interruption::Interruption,
    item_texts::{self, LoadedItem},
    run_context::RunContext,
    source_image::SourceImage,
};
use bytes::Bytes;
use juror_files::kept_inputs::KeptInputError;
use juror_types::id::Digest;

/// Keeps the item's texts.
pub async fn texts(loaded: &LoadedItem, context: &RunContext) -> Result<(), Interruption> {
    if context.kept_inputs.is_none() {
        return Ok(());
    }
    for text in item_texts::texts(loaded).into_values() {
        input(Digest::from_content(&text), text.into_owned().into(), context).await?;
    }
    Ok(())
}

/// Stores images that are not part of the dataset, and, if the run keeps its inputs, those that
/// are.
pub async fn renders(evidence: &ItemEvidence, context: &RunContext) -> Result<(), Interruption> {
    for SourceImage { record, bytes, .. } in evidence.made() {
        let Some(digest) = record.digest else { continue };
        let kept = context.evidence.renders.keep(digest, bytes.clone()).await;
        kept.map_err(|error| storage_interruption(&error, context))?;
    }
    for SourceImage { record, bytes, .. } in evidence.rendered.iter().chain([&evidence.screenshot])
    {
        if let Some(digest) = record.digest {
            input(digest, bytes.clone(), context).await?;
        }
    }
    Ok(())
}

/// Keeps an input if the run does so, before any call: a result names no input that is lost, and a
/// full disk pauses the run before it costs anything.
pub async fn input(digest: Digest, bytes: Bytes, context: &RunContext) -> Result<(), Interruption> {
    let Some(kept) = &context.kept_inputs else { return Ok(()) };
    kept.keep(digest, bytes).await.map_err(|error| storage_interruption(&error, context))
}

fn storage_interruption(error: &KeptInputError, context: &RunContext) -> Interruption {
    // Pauses the run before other jobs fail the same way.
    context.shutdown.drain.cancel();
    Interruption::Paused(error.to_string())
}
