//! The page that a component is mounted in.

use crate::{
    lucide::{LUCIDE, icon_module},
    missing_modules::stand_in_module,
    module_files::{ModuleFiles, STYLESHEET_LINK, TAILWIND_PATH},
    served_file::ServedFile,
    source::ComponentModule,
};
use juror_types::evidence::PageFrame;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Scripts of a component's page: the preparation, the mounting of the component, and the boxes in
/// place of missing imports.
pub(crate) const PREPARATION: &str = include_str!("scripts/component_page.js");
pub(crate) const MOUNT: &str = include_str!("scripts/mount.js");
pub(crate) const STAND_IN: &str = include_str!("scripts/stand_in.js");

/// Style of a page that shows its component in the middle.
const CENTERED: &str = " #root { min-height: 100vh; display: flex; align-items: center; \
                        justify-content: center }";

/// Maximum number of replaced imports that are named, and of characters of each.
const MAX_NAMED: usize = 50;
const MAX_NAME_CHARS: usize = 100;

/// Files of a component's page by path, and the imports that stand-ins replace.
pub(crate) struct ComponentPage {
    pub files: BTreeMap<String, ServedFile>,
    pub replaced: Vec<String>,
}

impl ComponentPage {
    pub fn new(
        component: &ComponentModule,
        props: &Map<String, Value>,
        frame: Option<&PageFrame>,
        modules: &ModuleFiles,
        has_tailwind: bool,
    ) -> Self {
        let given = format!(
            "export const candidates = {};\nexport const props = JSON.parse({});\n",
            json!(component.candidates),
            // JSON.parse, because a `__proto__` key in an object literal sets the prototype.
            json!(json!(props).to_string())
        );
        let mut files = BTreeMap::from([
            ("/component-page.js".to_owned(), ServedFile::script(PREPARATION)),
            ("/mount.js".to_owned(), ServedFile::script(MOUNT)),
            ("/stand-in.js".to_owned(), ServedFile::script(STAND_IN)),
            ("/given.js".to_owned(), ServedFile::script(given)),
            ("/component.js".to_owned(), ServedFile::script(component.script.clone())),
        ]);
        let known = modules.specifiers.iter().map(|(name, path)| (name.clone(), json!(path)));
        let (mut paths, mut replaced): (Map<_, _>, _) = (known.collect(), Vec::new());
        for (specifier, names) in &component.imports {
            if modules.specifiers.contains_key(specifier) {
                continue;
            }
            let path = format!("/imports/{}.js", files.len());
            paths.insert(specifier.clone(), json!(path));
            let text = match specifier.as_str() {
                LUCIDE => {
                    let (text, missing) = icon_module(names);
                    replaced.extend(missing.iter().map(|name| format!("{LUCIDE} ({name})")));
                    text
                }
                other => {
                    replaced.push(other.to_owned());
                    stand_in_module(other, names)
                }
            };
            files.insert(path, ServedFile::script(text));
        }
        let replaced = named(replaced);
        let link = if modules.has_stylesheet() { STYLESHEET_LINK } else { "" };
        let page = page(frame, paths, link, has_tailwind);
        files.insert("/".to_owned(), ServedFile::html(page));
        Self { files, replaced }
    }
}

/// Specifiers as evidence names them.
fn named(mut specifiers: Vec<String>) -> Vec<String> {
    let more = specifiers.len().saturating_sub(MAX_NAMED);
    specifiers.truncate(MAX_NAMED);
    let shortened = specifiers.iter().map(|name| name.chars().take(MAX_NAME_CHARS).collect());
    let rest = (more > 0).then(|| format!("{more} more"));
    shortened.chain(rest).collect()
}

fn page(
    frame: Option<&PageFrame>,
    paths: Map<String, Value>,
    stylesheet_link: &str,
    has_tailwind: bool,
) -> String {
    // The text of a script ends at its first end tag, wherever that stands.
    let imports = json!({"imports": paths}).to_string().replace('<', "\\u003c");
    // No default color: it would hide that the component renders nothing.
    let around = frame.map_or_else(String::new, |frame| {
        let PageFrame { padding, centered, color } = frame;
        let middle = if *centered { CENTERED } else { "" };
        format!("<style>body {{ padding: {padding}px; background: {color} }}{middle}</style>\n")
    });
    let tailwind = match has_tailwind {
        true => format!("<script src=\"{TAILWIND_PATH}\"></script>\n"),
        false => String::new(),
    };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>component</title>\n\
         <script type=\"importmap\">{imports}</script>\n<script src=\"/component-page.js\"></script>\n\
         <style>body {{ margin: 0 }}</style>\n{stylesheet_link}\n{around}{tailwind}\
         </head>\n<body>\n<div id=\"root\"></div>\n\
         <script type=\"module\" src=\"/mount.js\"></script>\n</body>\n</html>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page_of(imports: &[&str]) -> ComponentPage {
        let imports = imports.iter().map(|name| ((*name).to_owned(), BTreeMap::new())).collect();
        let component = ComponentModule { imports, ..ComponentModule::default() };
        let modules = ModuleFiles::load(None, None).unwrap();
        ComponentPage::new(&component, &Map::new(), None, &modules, false)
    }

    #[test]
    fn missing_imports_are_replaced_and_named() {
        let page = page_of(&["react", "next/image", "./Card"]);
        assert_eq!(page.replaced, ["./Card", "next/image"]);
        let html = String::from_utf8(page.files["/"].content.to_vec()).unwrap();
        assert!(html.contains(r#""./Card":"/imports/5.js""#), "{html}");
        assert!(html.contains(r#""react":"/modules/react.js""#));
        assert!(page.files.contains_key("/imports/6.js"));
        assert_eq!(page_of(&["lucide-react"]).replaced, [""; 0]);
    }

    #[test]
    fn named_imports_are_bounded() {
        let specifiers: Vec<String> = (0..70).map(|number| format!("./{number:200}")).collect();
        let page = page_of(&specifiers.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!((page.replaced.len(), page.replaced[50].as_str()), (51, "20 more"));
        assert_eq!(page.replaced[0].len(), 100);
        assert!(page.files.contains_key("/imports/74.js"));
    }

    #[test]
    fn a_specifier_cannot_end_the_import_map() {
        let page = page_of(&["</script><script>alert(1)</script>"]);
        let html = String::from_utf8(page.files["/"].content.to_vec()).unwrap();
        assert_eq!(html.matches("</script>").count(), 3, "{html}");
    }
}
