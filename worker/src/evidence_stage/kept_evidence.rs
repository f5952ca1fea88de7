//! Evidence that is kept in the state folder, so that an unchanged item opens no page.

use super::{ItemEvidence, MeasuredItem};
use crate::source_image::SourceImage;
use bytes::Bytes;
use juror_files::{
    data_roots::MAX_IMAGE_BYTES,
    kept_inputs::KeptInputError,
    kept_renders::{KeptRenders, RecordKind},
};
use juror_render::PageCode;
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

/// Digest of everything that the evidence of code depends on; none if it cannot be kept.
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
pub(super) async fn read(
    renders: &KeptRenders,
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
    let crops = match crops {
        Some(sheet) => {
            Some(SourceImage::made(RubricImage::CROPS, InputRecord::EVIDENCE, sheet).await)
        }
        None => None,
    };
    Some(ItemEvidence::measured(evidence, screenshot.clone(), rendered, crops))
}

/// Stores evidence under a key. What was cut short, or not measured, is measured again.
///
/// # Errors
/// The folder cannot be written.
pub(super) async fn keep(
    renders: &KeptRenders,
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

/// Evidence with the digests of its images.
#[derive(Serialize, Deserialize)]
struct KeptEvidence {
    evidence: Evidence,
    rendered: Digest,
    crops: Option<Digest>,
}

/// Size of this program's file and time of its last change, which no build sets, since another build
/// may measure otherwise; none where the system does not tell them (only Linux does), so that nothing
/// is kept.
fn build() -> Option<&'static str> {
    static BUILD: OnceLock<Option<String>> = OnceLock::new();
    let read = || {
        let file = std::fs::metadata("/proc/self/exe").ok()?;
        Some(format!("{} {}.{:09}", file.len(), file.ctime(), file.ctime_nsec()))
    };
    BUILD.get_or_init(read).as_deref()
}
