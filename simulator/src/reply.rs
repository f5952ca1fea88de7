//! Responses on the wire: complete, cut, or in small chunks.

use crate::{quirk::SubstituteResponse, refusal::Refusal};
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http_body_util::{BodyExt as _, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::{
    HeaderMap, Response, StatusCode,
    body::Frame,
    header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, RETRY_AFTER},
};
use serde_json::Value;
use std::{io, time::Duration};

pub(crate) type Body = UnsyncBoxBody<Bytes, io::Error>;

/// A response in one piece.
pub(crate) fn whole(status: u16, headers: HeaderMap, value: &Value) -> Response<Body> {
    bytes(status, headers, JSON, Bytes::from(value.to_string()))
}

/// A response of any content in one piece.
pub(crate) fn bytes(
    status: u16,
    mut headers: HeaderMap,
    content_type: &'static str,
    content: Bytes,
) -> Response<Body> {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    let body = Full::new(content);
    response(status, headers, body.map_err(|never| match never {}).boxed_unsync())
}

/// The response of a quirk that takes the place of a completion.
pub(crate) fn substitute(substitute: &SubstituteResponse, headers: HeaderMap) -> Response<Body> {
    bytes(
        substitute.status,
        headers,
        substitute.content_type,
        Bytes::from_static(substitute.body.as_bytes()),
    )
}

/// Media type of responses and errors.
pub(crate) const JSON: &str = "application/json";

/// An error, with the time to wait where it has one.
pub(crate) fn refused(refusal: &Refusal, mut headers: HeaderMap) -> Response<Body> {
    if let Some(wait) = refusal.retry_after {
        let milliseconds = u64::try_from(wait.as_micros().div_ceil(1_000)).unwrap_or(u64::MAX);
        headers.insert("retry-after-ms", HeaderValue::from(milliseconds));
        headers.insert(RETRY_AFTER, HeaderValue::from(milliseconds.div_ceil(1_000)));
    }
    whole(refusal.status, headers, &refusal.body())
}

/// A response whose connection ends after the first half of the body.
pub(crate) fn cut(mut headers: HeaderMap, value: &Value) -> Response<Body> {
    let mut half = Bytes::from(value.to_string());
    headers.insert(CONTENT_LENGTH, HeaderValue::from(half.len()));
    half.truncate(half.len() / 2);
    let first = stream::once(async move { Ok(Frame::data(half)) });
    let end = stream::once(async {
        // The first half is sent before the connection is given up only if the server gets to
        // wait for something.
        tokio::task::yield_now().await;
        Err(io::Error::other("cut by the fault of that name"))
    });
    response(200, headers, StreamBody::new(first.chain(end)).boxed_unsync())
}

/// Response whose body is sent in small chunks, with a pause before each.
pub(crate) fn slow(mut headers: HeaderMap, value: &Value, pause: Duration) -> Response<Body> {
    let body = Bytes::from(value.to_string());
    headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
    let drop_length = body.len().div_ceil(CHUNKS).max(1);
    let drops = stream::unfold(body, move |mut rest| async move {
        if rest.is_empty() {
            return None;
        }
        tokio::time::sleep(pause).await;
        let next = rest.split_to(drop_length.min(rest.len()));
        Some((Ok(Frame::data(next)), rest))
    });
    response(200, headers, StreamBody::new(drops).boxed_unsync())
}

const CHUNKS: usize = 20;

fn response(status: u16, mut headers: HeaderMap, body: Body) -> Response<Body> {
    headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static(JSON));
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    *response.headers_mut() = headers;
    response
}
