//! Security policy of a page's files.

/// `Content-Security-Policy` of a page: only its own scripts and styles, nothing sent, no frames,
/// workers, forms, windows, dialogs, downloads or connections. External images, fonts and scripts
/// are requested, so that the refusal is recorded.
pub(crate) const PAGE_POLICY: &str = "sandbox allow-scripts allow-same-origin; \
    default-src * data: blob: 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval'; connect-src 'self'; \
    frame-src 'none'; worker-src 'none'; object-src 'none'; form-action 'none'; webrtc 'block'";
