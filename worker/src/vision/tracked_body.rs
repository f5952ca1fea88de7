//! A request body that reports when the network has taken it.

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use std::{
    convert::Infallible,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

/// Flag that is set once a request is being sent. A connection reads the body only when it is
/// established, and a provider cannot bill a request without its body, so this distinguishes *not
/// sent* from *lost*.
#[derive(Clone, Debug, Default)]
pub(super) struct Sent(Arc<AtomicBool>);

impl Sent {
    /// True if any of the body may have left.
    pub(super) fn get(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// The body, in one piece.
pub(super) struct Upload {
    pub(super) content: Bytes,
    /// Flag that it sets.
    pub(super) sent: Sent,
}

impl Body for Upload {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.sent.0.store(true, Ordering::Release);
        let content = std::mem::take(&mut self.content);
        Poll::Ready(if content.is_empty() { None } else { Some(Ok(Frame::data(content))) })
    }

    fn is_end_stream(&self) -> bool {
        self.content.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.content.len() as u64)
    }
}
