//! Files that a page is answered with; whatever else it requests is refused.

use bytes::Bytes;
use std::collections::BTreeMap;

/// Origin of every page. The name can never be resolved (RFC 6761), so what is not answered here leads
/// nowhere.
const ORIGIN: &str = "https://page.juror.invalid";

/// Policy of a page: scripts and styles of its own, nothing sent, no frames, workers, forms, windows,
/// dialogs, downloads or connections. Pictures, fonts and scripts from elsewhere are requested, so that
/// the refusal is seen.
const POLICY: &str = "sandbox allow-scripts allow-same-origin; \
    default-src * data: blob: 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval'; connect-src 'self'; \
    frame-src 'none'; worker-src 'none'; object-src 'none'; form-action 'none'; webrtc 'block'";

/// A file that a page is answered with.
#[derive(Clone, Debug)]
pub(crate) struct PageFile {
    pub media_type: &'static str,
    pub content: Bytes,
}

impl PageFile {
    pub fn html(text: impl Into<Bytes>) -> Self {
        Self { media_type: "text/html; charset=utf-8", content: text.into() }
    }

    /// Headers of the response, by name.
    pub fn headers(&self) -> [(&'static str, &'static str); 3] {
        [
            ("Content-Type", self.media_type),
            ("Content-Security-Policy", POLICY),
            ("Access-Control-Allow-Origin", "*"),
        ]
    }
}

/// The files of one page, by path; the page itself is `/`.
#[derive(Clone, Debug)]
pub(crate) struct PageFiles(BTreeMap<String, PageFile>);

impl PageFiles {
    /// The files of a page that needs no other.
    pub fn of_page(page: PageFile) -> Self {
        Self(BTreeMap::from([("/".to_owned(), page)]))
    }

    /// The address of the page.
    pub fn address() -> String {
        format!("{ORIGIN}/")
    }

    /// Whether an address is that of the page's icon.
    pub fn is_icon(address: &str) -> bool {
        address.strip_prefix(ORIGIN) == Some("/favicon.ico")
    }

    /// The file at an address; none where the address is not the page's.
    pub fn file(&self, address: &str) -> Option<&PageFile> {
        let path = address.strip_prefix(ORIGIN)?;
        let path = path.split(['?', '#']).next().unwrap_or_default();
        self.0.get(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_page_have_a_file() {
        let files = PageFiles::of_page(PageFile::html("<p>text"));
        assert!(files.file(&PageFiles::address()).is_some());
        assert!(files.file("https://page.juror.invalid/?again#there").is_some());
        for other in
            ["https://page.juror.invalid.example/", "https://page.juror.invalid/a", "file:///"]
        {
            assert!(files.file(other).is_none(), "{other}");
        }
    }
}
