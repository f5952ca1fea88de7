//! Rendered pages and evidence that are kept in the state folder, so that unchanged code needs no
//! browser, and an unchanged item opens no page.

use super::{ItemEvidence, MeasuredItem};
use crate::source_image::SourceImage;
use bytes::Bytes;
use futures_util::future::OptionFuture;
use juror_evidence::Snapshot;
use juror_files::{
    data_roots::MAX_IMAGE_BYTES,
    kept_inputs::KeptInputError,
    render_cache::{RecordKind, RenderCache},
};
use juror_render::{PageCode, PageSource, RenderedPage};
use juror_types::{
    evidence::{Evidence, EvidenceOutcome},
    id::Digest,
    item::Item,
    outcome::InputRecord,
    rubric::RubricImage,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::{os::unix::fs::MetadataExt as _, sync::OnceLock};
use tokio::task::spawn_blocking;

/// Version of rendering: it changes whenever the same browser would render the same code
/// differently.
const RENDER_VERSION: u32 = 5;

/// Digest of everything that a render depends on.
pub(super) fn page_key(source: &PageSource, renderer: Digest) -> Digest {
    Digest::from_content(json!([RENDER_VERSION, renderer, source]).to_string().as_bytes())
}

/// Cached render of this key, if there is one.
pub(super) async fn read_page(renders: &RenderCache, key: Digest) -> Option<RenderedPage> {
    let renders = renders.clone();
    let reading = spawn_blocking(move || {
        let page = renders.read_record(RecordKind::Page, key, MAX_IMAGE_BYTES)?;
        let KeptPage { picture, snapshot, partial, refused, error } =
            serde_json::from_slice(&page).ok()?;
        let picture = renders.read(picture, MAX_IMAGE_BYTES)?;
        Some(RenderedPage { picture, snapshot, partial, refused, error })
    });
    reading.await.ok()?
}

/// Stores a render under a key.
///
/// # Errors
/// The folder cannot be written.
pub(super) async fn keep_page(
    renders: &RenderCache,
    key: Digest,
    drawn: &RenderedPage,
) -> Result<(), KeptInputError> {
    let picture = Digest::from_content(&drawn.picture);
    renders.keep(picture, drawn.picture.clone()).await?;
    let RenderedPage { snapshot, partial, refused, error, .. } = drawn;
    let page = json!({
        "picture": picture, "snapshot": snapshot, "partial": partial, "refused": refused,
        "error": error,
    });
    renders.keep_record(RecordKind::Page, key, Bytes::from(page.to_string())).await
}

/// Digest of everything that the evidence of code depends on; `None` if it cannot be kept.
pub(super) fn evidence_key(
    code: &PageCode,
    renderer: Digest,
    screenshot: &SourceImage,
    item: &MeasuredItem<'_>,
) -> Option<Digest> {
    let (build, screenshot) = (build()?, screenshot.record.digest?);
    let (props, trials) = (&item.item.props, item.context.evidence.trials());
    let inputs =
        json!([build, renderer, code, props, screenshot, item.tokens, trials, item.sends_crops]);
    Some(Digest::from_content(inputs.to_string().as_bytes()))
}

/// Kept evidence of this key, if there is some.
pub(super) async fn read_evidence(
    renders: &RenderCache,
    key: Digest,
    screenshot: &SourceImage,
) -> Option<ItemEvidence> {
    let renders = renders.clone();
    let reading = spawn_blocking(move || {
        let record = renders.read_record(RecordKind::Evidence, key, MAX_IMAGE_BYTES)?;
        let KeptEvidence { evidence, rendered, crops } = serde_json::from_slice(&record).ok()?;
        let image = |digest| renders.read(digest, MAX_IMAGE_BYTES);
        let crops = crops.map_or(Some(None), |digest| image(digest).map(Some))?;
        Some((evidence, image(rendered)?, crops))
    });
    let (evidence, rendered, crops): (_, Bytes, Option<Bytes>) = reading.await.ok()??;
    let rendered = SourceImage::made(Item::RENDERED, InputRecord::BROWSER, rendered).await;
    let sheet =
        crops.map(|sheet| SourceImage::made(RubricImage::CROPS, InputRecord::EVIDENCE, sheet));
    let crops = OptionFuture::from(sheet).await;
    Some(ItemEvidence::measured(evidence, screenshot.clone(), rendered, crops))
}

/// Stores evidence under a key. What was cut short, or not measured, is measured again.
///
/// # Errors
/// The folder cannot be written.
pub(super) async fn keep_evidence(
    renders: &RenderCache,
    key: Digest,
    measured: &ItemEvidence,
) -> Result<(), KeptInputError> {
    let EvidenceOutcome::Measured(evidence) = &measured.outcome else { return Ok(()) };
    let digest_of = |image: Option<&SourceImage>| image.and_then(|image| image.record.digest);
    let crops = digest_of(measured.crops.as_ref());
    let Some(rendered) = digest_of(measured.rendered.as_ref()) else { return Ok(()) };
    if evidence.cut_short {
        return Ok(());
    }
    for image in measured.made() {
        if let Some(digest) = image.record.digest {
            renders.keep(digest, image.bytes.clone()).await?;
        }
    }
    let record = json!(KeptEvidence { evidence: evidence.as_ref().clone(), rendered, crops });
    renders.keep_record(RecordKind::Evidence, key, Bytes::from(record.to_string())).await
}

/// Rendered page without its image.
#[derive(Serialize, Deserialize)]
struct KeptPage {
    picture: Digest,
    snapshot: Snapshot,
    partial: Vec<String>,
    refused: Vec<String>,
    error: Option<String>,
}

/// Evidence with the digests of its images.
#[derive(Serialize, Deserialize)]
struct KeptEvidence {
    evidence: Evidence,
    rendered: Digest,
    crops: Option<Digest>,
}

/// Size of this program's file and time of its last change, which no build sets, since another
/// build may measure otherwise; `None` if the system does not tell them (only Linux does), so that
/// nothing is kept.
fn build() -> Option<&'static str> {
    static BUILD: OnceLock<Option<String>> = OnceLock::new();
    let read = || {
        let file = std::fs::metadata("/proc/self/exe").ok()?;
        Some(format!("{} {}.{:09}", file.len(), file.ctime(), file.ctime_nsec()))
    };
    BUILD.get_or_init(read).as_deref()
}
