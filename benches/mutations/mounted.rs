//! React components as HTML pages: mounted once, then captured as static markup.

use super::browser::BenchBrowser;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use juror_types::item::Language;
use juror_worker::stages::component;
use serde_json::{Map, json};

/// Modules by specifier, with the facades' own name for the bundle.
const MODULES: [(&str, &str); 5] = [
    ("/modules/react.bundle.js", include_str!("../../config/render/react.bundle.js")),
    ("react", include_str!("../../config/render/react.js")),
    ("react-dom", include_str!("../../config/render/react-dom.js")),
    ("react-dom/client", include_str!("../../config/render/react-dom-client.js")),
    ("react/jsx-runtime", include_str!("../../config/render/react-jsx-runtime.js")),
];
const TAILWIND: &str = include_str!("../../config/render/tailwind.js");
const BUNDLE: &str = "react-bundle";

/// Page of a component without its scripts. Each needs its own browser: modules persist in a
/// document across rewrites.
pub fn page_of(code: &str, size: [u32; 2]) -> String {
    let mut browser = BenchBrowser::start().expect("a browser, as there was one before");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let component = runtime.block_on(component::compile(code, Language::Tsx)).unwrap();
    let name = component.candidates.first().unwrap();
    let mount = format!(
        "import {{ createElement }} from 'react';\nimport {{ createRoot }} from 'react-dom/client';\n\
         import {{ {name} as Component }} from 'component';\n\
         createRoot(document.getElementById('root')).render(createElement(Component));\n"
    );
    let own = [("component", component.script.as_str()), ("mount", mount.as_str())];
    let modules = MODULES.iter().copied().chain(own).map(|(name, text)| {
        let text = text.replace("/modules/react.bundle.js", BUNDLE);
        let address = format!("data:text/javascript;base64,{}", BASE64_STANDARD.encode(text));
        (name.replace("/modules/react.bundle.js", BUNDLE), json!(address))
    });
    let imports = json!({"imports": Map::from_iter(modules)});
    // A component without a style sheet of its own has its classes of Tailwind.
    let has_tailwind = code.contains("className=") && !code.contains("<style>");
    let tailwind =
        if has_tailwind { format!("<script>{TAILWIND}</script>") } else { String::new() };
    let page = format!(
        "<!doctype html><html><head><script type=\"importmap\">{imports}</script>\
         <style>body {{ margin: 0 }}</style>{tailwind}</head><body><div id=\"root\"></div>\
         <script type=\"module\">import 'mount';</script></body></html>"
    );
    browser.open(&page, size, 1);
    browser.settled_markup()
}
