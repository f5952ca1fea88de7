//! File served to a page, with its headers.

use crate::content_security_policy::CONTENT_SECURITY_POLICY;
use bytes::Bytes;

/// File served to a page.
#[derive(Clone, Debug)]
pub(crate) struct ServedFile {
    pub media_type: &'static str,
    pub content: Bytes,
}

impl ServedFile {
    pub fn html(text: impl Into<Bytes>) -> Self {
        Self { media_type: "text/html; charset=utf-8", content: text.into() }
    }

    pub fn script(text: impl Into<Bytes>) -> Self {
        Self { media_type: "text/javascript; charset=utf-8", content: text.into() }
    }

    pub fn styles(text: impl Into<Bytes>) -> Self {
        Self { media_type: "text/css; charset=utf-8", content: text.into() }
    }

    /// Headers of the response, by name.
    pub fn headers(&self) -> [(&'static str, &'static str); 3] {
        [
            ("Content-Type", self.media_type),
            ("Content-Security-Policy", CONTENT_SECURITY_POLICY),
            ("Access-Control-Allow-Origin", "*"),
        ]
    }
}
