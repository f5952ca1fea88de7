//! Requests to files and batches, and the rows of batches, which are handled like chat requests.

use super::{ConnectionClosed, Simulator, no_such_address, too_large};
use crate::{
    batch::{BatchReply, BatchRequest, RowAnswerer, RowReply},
    chat_request::ValidatedRequest,
    image_download::with_downloaded_images,
    refusal::Refusal,
    reply::{self, Body},
    request_body::{self, BodyError, MAX_FILE},
};
use hyper::{HeaderMap, Method, Request, Response, body::Incoming, header::CONTENT_TYPE};
use juror_types::{lane::Lane, usage::Usage};
use std::sync::atomic::Ordering;

impl Simulator {
    /// Files and batches.
    pub(super) async fn batch(
        &self,
        request: Request<Incoming>,
        headers: HeaderMap,
    ) -> Result<Response<Body>, ConnectionClosed> {
        if let Err(refusal) = self.check_key(request.headers()) {
            return Ok(reply::refused(&refusal, headers));
        }
        let (head, body) = request.into_parts();
        let body = match request_body::read(body, MAX_FILE).await {
            Ok(body) => body,
            Err(BodyError::Lost) => return Err(ConnectionClosed),
            Err(BodyError::TooLarge) => return Ok(reply::refused(&too_large(), headers)),
        };
        let body = with_downloaded_images(body).await;
        let path = head.uri.path().trim_start_matches('/');
        let content_type = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let request = BatchRequest {
            method: &head.method,
            path: path.strip_prefix("v1/").unwrap_or(path),
            query: head.uri.query().unwrap_or_default(),
            content_type: content_type.unwrap_or_default(),
            body,
        };
        let answer = self.batches.respond(&request, &self.config.batches, self);
        self.counter.change(|stats| match answer {
            Ok(Some(BatchReply::Created(_) | BatchReply::CreatedUnheard)) => stats.batches += 1,
            _ if request.path.ends_with("/cancel") => stats.batch_cancels += 1,
            _ if head.method == Method::GET && request.path.starts_with("batches/") => {
                stats.batch_polls += 1;
            }
            _ => {}
        });
        Ok(match answer {
            Ok(Some(BatchReply::Json(value) | BatchReply::Created(value))) => {
                reply::whole(200, headers, &value)
            }
            Ok(Some(BatchReply::CreatedUnheard)) => return Err(ConnectionClosed),
            Ok(Some(BatchReply::Content(content))) => {
                reply::bytes(200, headers, "application/octet-stream", content)
            }
            Ok(None) => reply::refused(&no_such_address(), headers),
            Err(refusal) => {
                self.counter.refuse(refusal.code);
                reply::refused(&refusal, headers)
            }
        })
    }
}

impl RowAnswerer for Simulator {
    fn input_tokens(&self, body: &[u8]) -> u64 {
        let question = ValidatedRequest::read(body, &self.config);
        question.map_or(0, |question| question.input_tokens())
    }

    fn reply(&self, body: &[u8]) -> RowReply {
        let serial = self.serial.fetch_add(1, Ordering::Relaxed);
        let prepared = ValidatedRequest::read(body, &self.config).and_then(|question| {
            let input_tokens = question.input_tokens();
            self.decide(ValidatedRequest { lane: Lane::Batch, ..question }, input_tokens, serial)
        });
        let refused = |refusal: &Refusal| RowReply {
            status: refusal.status,
            body: refusal.body(),
            usage: Usage::default(),
        };
        let prepared = match prepared {
            Ok(prepared) => prepared,
            Err(refusal) => return refused(&refusal),
        };
        if let Some(fault) = prepared.fault {
            self.counter.count_fault(fault);
            if let Some(refusal) = Refusal::from_fault(fault, self.config.fault_retry_after) {
                return refused(&refusal);
            }
        }
        self.counter.imitate(&prepared.imitation);
        self.counter.bill(prepared.cost, prepared.usage);
        let body = prepared.completion(serial, &mut HeaderMap::new());
        RowReply { status: 200, body, usage: prepared.usage }
    }
}

/// True if an address is one of files or batches.
pub(super) fn has(path: &str) -> bool {
    let path = path.strip_prefix("/v1").unwrap_or(path);
    ["/files", "/batches", "/end-batches"].iter().any(|begin| path.starts_with(begin))
}
