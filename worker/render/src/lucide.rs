//! Icons of lucide-react: a module of those that a component imports.

use crate::{missing_modules::export, source::ImportedNames};
use serde_json::json;

/// The specifier of the icons.
pub(crate) const LUCIDE: &str = "lucide-react";
/// Icons, one a line: name, name in the page, nodes; or name and `=` with the name of the same
/// icon.
const ICONS: &str = include_str!("../../../config/render/lucide-icons.txt");
/// Exports that are no icons.
const OTHERS: [&str; 4] = ["Icon", "LucideProvider", "createLucideIcon", "useLucideContext"];

/// A module's text, and the names that this version of Lucide does not have.
pub(crate) fn icon_module(names: &ImportedNames) -> (String, Vec<&str>) {
    let mut text = "import * as lucide from '/modules/lucide.js';\n\
                    import { standIn } from '/stand-in.js';\n"
        .to_owned();
    let mut missing = Vec::new();
    for (place, name) in names.keys().enumerate() {
        let value = if OTHERS.contains(&name.as_str()) {
            format!("lucide[{}]", json!(name))
        } else if let Some((shown, nodes)) = icon(name) {
            format!("lucide.createLucideIcon({}, {nodes})", json!(shown))
        } else {
            missing.push(name.as_str());
            format!("standIn({})", json!(name))
        };
        text.push_str(&export(place, name, &value));
    }
    (text, missing)
}

/// An icon's name in the page and its nodes; `CheckIcon` and `LucideCheck` are `Check`.
fn icon(name: &str) -> Option<(&'static str, &'static str)> {
    let found = line(name)
        .or_else(|| line(name.strip_suffix("Icon")?))
        .or_else(|| line(name.strip_prefix("Lucide")?))?;
    let whole = match found.strip_prefix('=') {
        Some(other) => line(other)?,
        None => found,
    };
    whole.split_once(' ')
}

/// The line of a name, without it.
fn line(name: &str) -> Option<&'static str> {
    // An export may be named by any text.
    if name.contains(' ') {
        return None;
    }
    ICONS.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn icons_are_found_by_all_their_names() {
        let check = icon("Check").unwrap();
        assert_eq!(check, ("check", r#"[["path",{"d":"M20 6 9 17l-5-5"}]]"#));
        for name in ["CheckIcon", "LucideCheck"] {
            assert_eq!(icon(name), Some(check), "{name}");
        }
        assert_eq!(icon("Home"), icon("House"));
        for name in ["", "check", "Github2", "Icon", "Lucide", "Check check"] {
            assert_eq!(icon(name), None, "{name}");
        }
    }

    #[test]
    fn module_exports_its_imported_icons_and_names_missing_ones() {
        let names = ["Check", "Github2", "Icon"].map(|name| (name.to_owned(), name.to_owned()));
        let names = names.into();
        let (text, missing) = icon_module(&names);
        assert_eq!(missing, ["Github2"]);
        assert!(text.contains("lucide.createLucideIcon(\"check\", [["), "{text}");
        assert!(text.contains("= standIn(\"Github2\");\nexport { at1 as \"Github2\" }"), "{text}");
        assert!(text.contains("= lucide[\"Icon\"];"), "{text}");
    }
}
