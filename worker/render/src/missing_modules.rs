//! Modules in place of missing imports.

use crate::source::ImportedNames;
use serde_json::json;

/// Extensions of style sheets, whose classes are named after themselves.
const STYLES: [&str; 5] = [".css", ".scss", ".sass", ".less", ".styl"];
/// Extensions of images, which are rendered empty.
const PICTURES: [&str; 7] = [".svg", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif"];

/// The text of a module that exports these names: marked boxes that render their children.
pub(crate) fn stand_in_module(specifier: &str, names: &ImportedNames) -> String {
    let path = specifier.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    let has_ending = |endings: &[&str]| endings.iter().any(|ending| path.ends_with(ending));
    let make = match () {
        () if has_ending(&STYLES) => "styles",
        () if has_ending(&PICTURES) => "picture",
        () => "standIn",
    };
    let exports = names
        .iter()
        .enumerate()
        .map(|(place, (name, shown))| export(place, name, &format!("{make}({})", json!(shown))));
    format!("import {{ {make} }} from '/stand-in.js';\n{}", exports.collect::<String>())
}

/// The statements that export a module's value at a place.
pub(crate) fn export(place: usize, name: &str, value: &str) -> String {
    // JSON's strings are JavaScript's; an export may be named by any of them.
    format!("const at{place} = {value};\nexport {{ at{place} as {} }};\n", json!(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholder_module_exports_the_imported_names() {
        let names = [("default", "Image"), ("Fill\"", "Fill\"")];
        let names = names.map(|(name, shown)| (name.to_owned(), shown.to_owned())).into();
        let expected = "import { standIn } from '/stand-in.js';\n\
            const at0 = standIn(\"Fill\\\"\");\nexport { at0 as \"Fill\\\"\" };\n\
            const at1 = standIn(\"Image\");\nexport { at1 as \"default\" };\n";
        assert_eq!(stand_in_module("next/image", &names), expected);
        assert!(stand_in_module("./A.module.CSS?inline", &names).contains("= styles("));
        assert!(stand_in_module("./logo.svg", &names).contains("= picture("));
        let none = ImportedNames::new();
        assert_eq!(stand_in_module("./a", &none), "import { standIn } from '/stand-in.js';\n");
    }
}
