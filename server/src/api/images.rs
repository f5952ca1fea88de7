//! Judged images, by the digests in results.

use super::BASE_PATH;
use crate::{
    api::extract::{RunSubpath, StrictQuery, blocking},
    app_state::AppState,
    problem::Problem,
};
use axum::{
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use juror_app::item_source::ItemDetails;
use juror_report::AttachmentRequest;
use juror_types::{
    id::Digest,
    outcome::{InputRecord, JobResult},
};
use serde::Deserialize;
use std::sync::Arc;
use url::form_urlencoded;

/// Cache control of images, which never change: they are addressed by digest.
const IMMUTABLE: &str = "private, max-age=31536000, immutable";

/// Content security policy of an image that is shown by itself.
const POLICY: &str = "default-src 'none'; sandbox; frame-ancestors 'none'";

/// Item of an image.
#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ImageQuery {
    /// The item, if its images were not judged and so have no digest in a result.
    item: Option<String>,
}

/// Address of an image of a result; `None` if it is not available.
pub fn address(
    result: &JobResult,
    input: &InputRecord,
    details: Option<&ItemDetails>,
) -> Option<String> {
    let url = |digest: &Digest| format!("{BASE_PATH}/runs/{}/images/{digest}", result.run_id);
    if let Some(judged) = &input.digest {
        return Some(url(judged));
    }
    let mut unjudged = details?.unjudged.iter();
    let (_, digest) = unjudged.find(|(name, _)| *name == input.name)?;
    let item: String = form_urlencoded::byte_serialize(result.screenshot_id.as_bytes()).collect();
    Some(format!("{}?item={item}", url(digest)))
}

/// A judged image
#[utoipa::path(
    get, path = "/runs/{run}/images/{digest}", tag = "runs",
    params(("run" = String, Path, description = "The run's name"),
           ("digest" = crate::published::Digest, Path,
            description = "SHA-256 of the image's bytes, from a result"),
           ImageQuery),
    responses((status = 200, description = "The judged bytes", body = [u8],
               content_type = "image/*"),
              (status = 304, description = "The client has this version"),
              (status = 404, description = "No such run or image, or its file is missing or changed"))
)]
pub async fn image(
    State(site): State<AppState>,
    RunSubpath(run, digest): RunSubpath,
    StrictQuery(query): StrictQuery<ImageQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let digest: Digest = digest
        .parse()
        .map_err(|error: juror_types::id::InvalidDigest| Problem::missing(error.to_string()))?;
    let view = site.views.get(&run).await?;
    let place = match &query.item {
        // Its images are the same in every repeat.
        Some(item) => view.place_of(item, 0),
        None => view.place_of_image(&digest),
    };
    let Some(place) = place else {
        let detail = format!("Run {run} judged no image of this digest.");
        return Err(Problem::missing(detail));
    };
    let etag = format!("\"{digest}\"");
    if has_version(&headers, &etag) {
        let known = [(header::ETAG, etag), (header::CACHE_CONTROL, IMMUTABLE.to_owned())];
        return Ok((StatusCode::NOT_MODIFIED, known).into_response());
    }
    let reading = Arc::clone(&view);
    let result = blocking(move || Ok(reading.result(place)?)).await?;
    let result = result.ok_or_else(|| Problem::internal(&"no result"))?;
    let shown = AttachmentRequest::from(result);
    let (record, rubric) = (view.files.record(), &view.report.rubric);
    let bytes = site.item_source.image(record, rubric, &shown, digest).await;
    let bytes = bytes.map_err(Problem::missing)?;
    image_response(bytes, etag)
}

fn image_response(bytes: Bytes, etag: String) -> Result<Response, Problem> {
    let Some(media_type) = media_type(&bytes) else {
        let detail = "The file is not a PNG, JPEG, GIF, WebP or BMP.";
        return Err(Problem::missing(detail));
    };
    let headers = [
        (header::CONTENT_TYPE, media_type.to_owned()),
        (header::CACHE_CONTROL, IMMUTABLE.to_owned()),
        (header::CONTENT_SECURITY_POLICY, POLICY.to_owned()),
        (header::ETAG, etag),
    ];
    Ok((headers, bytes).into_response())
}

/// Media type of an image by its first bytes. Other content of a dataset's file is not served to
/// browsers.
fn media_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        // Four bytes of length and four zeros follow the signature.
        [b'B', b'M', _, _, _, _, 0, 0, 0, 0, ..] => Some("image/bmp"),
        _ => None,
    }
}

/// True if the client has this version already.
fn has_version(headers: &HeaderMap, etag: &str) -> bool {
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let is_this = |tag: &str| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag;
    known.is_some_and(|known| known.split(',').map(str::trim).any(is_this))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_images_have_a_media_type() {
        for (bytes, expected) in [
            (&b"\x89PNG\r\n\x1a\n...."[..], Some("image/png")),
            (b"\xff\xd8\xff\xe0", Some("image/jpeg")),
            (b"GIF89a..", Some("image/gif")),
            (b"RIFF\x01\x02\x03\x04WEBPVP8 ", Some("image/webp")),
            (b"BM\x01\x02\x03\x04\0\0\0\0", Some("image/bmp")),
            (b"BMs are not bitmaps", None),
            (b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>", None),
            (b"<html>", None),
            (b"GIF88a", None),
            (b"", None),
        ] {
            assert_eq!(media_type(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn a_version_is_known_among_others() {
        let known = |value: &str| {
            let headers = HeaderMap::from_iter([(header::IF_NONE_MATCH, value.parse().unwrap())]);
            has_version(&headers, "\"ab\"")
        };
        assert!(known("\"ab\"") && known("\"x\", W/\"ab\"") && known("*"));
        assert!(!known("\"abc\"") && !known("ab"));
        assert!(!has_version(&HeaderMap::new(), "\"ab\""));
    }
}
