//! Content security policy of a page's files. `page_session.rs` refuses their requests besides,
//! and the flags in `browser_process.rs` leave the browser no network.

/// `Content-Security-Policy` of a page: only its own scripts and styles, nothing sent, no frames,
/// workers, forms, windows, dialogs, downloads or connections. External images, fonts and scripts
/// are requested, so that the refusal is recorded.
pub(crate) const CONTENT_SECURITY_POLICY: &str = "sandbox allow-scripts allow-same-origin; \
    default-src * data: blob: 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval'; connect-src 'self'; \
    frame-src 'none'; worker-src 'none'; object-src 'none'; form-action 'none'; webrtc 'block'";
