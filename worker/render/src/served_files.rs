//! Files that a page is served; every other request is refused.

use crate::{
    component_page::ComponentPage,
    module_files::{ModuleFiles, STYLESHEET_LINK, TAILWIND_NAME, TAILWIND_PATH},
    served_file::ServedFile,
    source::{PageCode, PageSource},
    tailwind::{self, TailwindUse},
};
use std::{collections::BTreeMap, sync::Arc};

/// Origin of every page. The name can never be resolved (RFC 6761), so a request that is not served
/// here fails.
const ORIGIN: &str = "https://page.juror.invalid";

/// Beginning of the page that a part of one is put into: lines are laid out otherwise without it.
const DOCTYPE: &str = "<!doctype html>\n";

/// Pages that load Tailwind 3 configure it by a variable, which version 4 does not have.
const CONFIGURED: &[u8] = b"window.tailwind ??= {};\n";

/// The files of one page, by path; the page itself is `/`.
#[derive(Clone, Debug)]
pub(crate) struct ServedFiles {
    files: BTreeMap<String, ServedFile>,
    modules: Arc<ModuleFiles>,
    /// The reply to requests for Tailwind's builds; `None` if they are refused.
    tailwind: Option<ServedFile>,
    /// Parts of the code that are replaced in the render.
    pub partial: Vec<String>,
}

impl ServedFiles {
    /// The files of the page that some code becomes.
    pub fn from_source(
        source: &PageSource,
        modules: &Arc<ModuleFiles>,
        tailwind: TailwindUse,
    ) -> Self {
        let is_on = tailwind == TailwindUse::On;
        let is_auto = tailwind == TailwindUse::Auto;
        let build = modules.files.get(TAILWIND_PATH).filter(|_| is_on || is_auto);
        let build = build.map(|file| ServedFile::script([CONFIGURED, &file.content].concat()));
        let (files, partial) = match &source.code {
            PageCode::Html(text) => {
                let is_loaded = tailwind::is_loaded_by(text);
                let text = match is_on && !is_loaded {
                    true => tailwind::with_build(text),
                    false => text.clone(),
                };
                let text = match modules.has_stylesheet() && !is_whole_page(&text) {
                    true => format!("{DOCTYPE}{STYLESHEET_LINK}{text}"),
                    false => text,
                };
                let is_old = build.is_some() && text.contains(tailwind::OLD_CDN);
                let named = format!("{} ({TAILWIND_NAME})", tailwind::OLD_CDN);
                let partial = if is_old { vec![named] } else { Vec::new() };
                (BTreeMap::from([("/".to_owned(), ServedFile::html(text))]), partial)
            }
            PageCode::Component(component) => {
                let has_tailwind = is_on || is_auto && tailwind::looks_used(&component.script);
                let frame = source.frame.as_ref();
                let page =
                    ComponentPage::new(component, &source.props, frame, modules, has_tailwind);
                (page.files, page.replaced)
            }
        };
        Self { files, modules: Arc::clone(modules), tailwind: build, partial }
    }

    /// The address of the page.
    pub fn address() -> String {
        format!("{ORIGIN}/")
    }

    /// True if an address is that of the page's icon.
    pub fn is_icon(address: &str) -> bool {
        address.strip_prefix(ORIGIN) == Some("/favicon.ico")
    }

    /// The file at an address; `None` if the page has no such file.
    pub fn file(&self, address: &str) -> Option<&ServedFile> {
        if tailwind::is_build(address) {
            return self.tailwind.as_ref();
        }
        let path = address.strip_prefix(ORIGIN)?;
        let path = path.split(['?', '#']).next().unwrap_or_default();
        self.files.get(path).or_else(|| self.modules.files.get(path))
    }
}

/// True for a complete HTML page, which has its own styles; false for a fragment.
fn is_whole_page(html: &str) -> bool {
    let text = html.to_ascii_lowercase();
    ["<!doctype", "<html", "<head", "<body"].iter().any(|begin| text.contains(begin))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Map;
    use std::path::Path;

    fn files_of(html: &str, tailwind: TailwindUse) -> ServedFiles {
        files_with(html, tailwind, None)
    }

    fn files_with(html: &str, tailwind: TailwindUse, stylesheet: Option<&Path>) -> ServedFiles {
        let code = PageCode::Html(html.to_owned());
        let (props, viewport) = (Map::new(), [320, 200]);
        let source = PageSource { code, props, frame: None, viewport, scale: 1 };
        ServedFiles::from_source(
            &source,
            &Arc::new(ModuleFiles::load(None, stylesheet).unwrap()),
            tailwind,
        )
    }

    #[test]
    fn only_page_urls_are_served() {
        let files = files_of("<p>text", TailwindUse::Auto);
        assert!(files.file(&ServedFiles::address()).is_some());
        assert!(files.file("https://page.juror.invalid/?again#there").is_some());
        for other in
            ["https://page.juror.invalid.example/", "https://page.juror.invalid/a", "file:///"]
        {
            assert!(files.file(other).is_none(), "{other}");
        }
    }

    #[test]
    fn fragment_gets_the_configured_styles_and_a_page_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let stylesheet = folder.path().join("page.css");
        std::fs::write(&stylesheet, "body { margin: 0 }").unwrap();
        let files = |html| files_with(html, TailwindUse::Off, Some(&stylesheet));
        let page = |html| files(html).file(&ServedFiles::address()).unwrap().content.clone();
        assert!(
            page("<p>text")
                .starts_with(b"<!doctype html>\n<link rel=\"stylesheet\" href=\"/page.css\">")
        );
        let styles = files("<p>text");
        let styles = styles.file("https://page.juror.invalid/page.css").unwrap();
        assert_eq!(styles.content, "body { margin: 0 }");
        assert_eq!(page("<!DOCTYPE html><p>text"), "<!DOCTYPE html><p>text");
        let without = files_of("<p>text", TailwindUse::Off);
        assert!(without.file("https://page.juror.invalid/page.css").is_none());
        let error = ModuleFiles::load(None, Some(&folder.path().join("none.css"))).unwrap_err();
        assert!(error.to_string().contains("render.stylesheet"), "{error}");
    }

    #[test]
    fn tailwind_is_served_unless_disabled_and_its_version_reported() {
        let page = "<script src='https://cdn.tailwindcss.com'></script>";
        let address = "https://cdn.tailwindcss.com/";
        let auto = files_of(page, TailwindUse::Auto);
        assert!(auto.file(address).is_some());
        assert_eq!(auto.partial, ["cdn.tailwindcss.com (Tailwind 4.3.4)"]);
        let off = files_of(page, TailwindUse::Off);
        assert!(off.file(address).is_none() && off.partial.is_empty());
        let on = files_of("<p>text", TailwindUse::On);
        let text = &on.file(&ServedFiles::address()).unwrap().content;
        assert!(text.starts_with(b"<script src=\"/modules/tailwind.js\">"));
        assert!(on.partial.is_empty());
    }
}
