//! A request's body, in one buffer and copied once.

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};

/// A body that could not be read.
#[derive(Debug)]
pub(crate) enum BodyError {
    /// The client went away.
    Lost,
    /// The body is larger than any server takes.
    TooLarge,
}

/// Reads a whole body, of at most `limit` bytes.
pub(crate) async fn read(mut body: Incoming, limit: usize) -> Result<Bytes, BodyError> {
    let expected = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if expected > limit {
        return Err(BodyError::TooLarge);
    }
    let mut whole = BytesMut::with_capacity(expected);
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| BodyError::Lost)?.into_data() else {
            continue;
        };
        if whole.len() + data.len() > limit {
            return Err(BodyError::TooLarge);
        }
        whole.extend_from_slice(&data);
    }
    Ok(whole.freeze())
}

/// Maximum size of a request body in bytes.
pub(crate) const MAX_BODY_BYTES: usize = 64 << 20;
/// Most bytes of an uploaded file.
pub(crate) const MAX_FILE: usize = 512 << 20;
