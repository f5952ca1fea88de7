//! Rendered pages that are kept in the state folder, so that unchanged code needs no browser.

use bytes::Bytes;
use juror_evidence::Snapshot;
use juror_files::{
    data_roots::MAX_IMAGE_BYTES,
    kept_inputs::KeptInputError,
    kept_renders::{KeptRenders, RecordKind},
};
use juror_render::{PageSource, RenderedPage};
use juror_types::id::Digest;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::task::spawn_blocking;

/// Version of rendering: it changes whenever the same browser would render the same code
/// differently.
const RENDER_VERSION: u32 = 5;

/// Digest of everything that a render depends on.
pub(super) fn render_key(source: &PageSource, renderer: Digest) -> Digest {
    Digest::from_content(json!([RENDER_VERSION, renderer, source]).to_string().as_bytes())
}

/// Cached render of this key, if there is one.
pub(super) async fn read(renders: &KeptRenders, key: Digest) -> Option<RenderedPage> {
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
pub(super) async fn keep(
    renders: &KeptRenders,
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

/// Rendered page without its image.
#[derive(Serialize, Deserialize)]
struct KeptPage {
    picture: Digest,
    snapshot: Snapshot,
    partial: Vec<String>,
    refused: Vec<String>,
    error: Option<String>,
}
