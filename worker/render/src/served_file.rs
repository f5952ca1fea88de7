//! File served to a page, with its headers.

use bytes::Bytes;

/// `Content-Security-Policy` of a page: only its own scripts and styles, nothing sent, no frames,
/// workers, forms, windows, dialogs, downloads or connections. External images, fonts and scripts
/// are requested, so that the refusal is recorded. `page_session.rs` refuses their requests besides,
/// and the flags in `browser_process.rs` leave the browser no network.
const CONTENT_SECURITY_POLICY: &str = "sandbox allow-scripts allow-same-origin; \
    default-src * data: blob: 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval'; connect-src 'self'; \
    frame-src 'none'; worker-src 'none'; object-src 'none'; form-action 'none'; webrtc 'block'";

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
