//! Requests to files and batches, and the rows of batches, which are handled like chat requests.

use super::{ConnectionClosed, PreparedAnswer, Simulator, no_such_address, too_large};
use crate::{
    batch::{BatchReply, BatchRequest, RowAnswerer, RowReply},
    chat_request::ValidatedRequest,
    image_download::with_downloaded_images,
    refusal::Refusal,
    reply::{self, Body},
    request_body::{self, BodyError, MAX_FILE},
};
use hyper::{
    HeaderMap, Method, Request, Response, StatusCode, body::Incoming, header::CONTENT_TYPE,
};
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
        let is_look = head.method == Method::GET && request.path.starts_with("batches/");
        let answer = self.batches.respond(&request, &self.config.batches, self);
        if is_look {
            self.counter.poll_batch();
        }
        if request.path.ends_with("/cancel") {
            self.counter.cancel_batch();
        }
        Ok(match answer {
            Some(Ok(BatchReply::Json(value))) => reply::whole(StatusCode::OK, headers, &value),
            Some(Ok(BatchReply::Created(value))) => {
                self.counter.create_batch();
                reply::whole(StatusCode::OK, headers, &value)
            }
            Some(Ok(BatchReply::CreatedUnheard)) => {
                self.counter.create_batch();
                return Err(ConnectionClosed);
            }
            Some(Ok(BatchReply::Content(content))) => {
                reply::bytes(StatusCode::OK, headers, "application/octet-stream", content)
            }
            Some(Err(refusal)) => {
                self.counter.refuse(refusal.code);
                reply::refused(&refusal, headers)
            }
            None => reply::refused(&no_such_address(), headers),
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
            status: refusal.status.as_u16(),
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
        let PreparedAnswer {
            imitation, model, content, usage, cache_write_tokens, lane, cost, ..
        } = prepared;
        self.counter.imitate(&imitation);
        self.counter.bill(cost, usage);
        let mut body = reply::completion(serial, &model, &content, usage, cache_write_tokens, lane);
        imitation.alter(&mut body, &mut HeaderMap::new(), cost);
        RowReply { status: 200, body, usage }
    }
}

/// True if an address is one of files or batches.
pub(super) fn has(path: &str) -> bool {
    let path = path.strip_prefix("/v1").unwrap_or(path);
    ["/files", "/batches", "/end-batches"].iter().any(|begin| path.starts_with(begin))
}
