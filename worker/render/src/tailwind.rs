//! Tailwind's browser build in a page: detection of code that needs it, and its place in a page of
//! HTML.

use crate::module_files::TAILWIND_PATH;
use serde::Deserialize;

juror_types::serde_enum! {
    /// Condition on which pages get Tailwind's browser build.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
    pub enum TailwindUse {
        /// Components whose classes look like Tailwind's, and HTML that loads it.
        #[default]
        Auto = "auto",
        /// Every page.
        On = "on",
        /// None.
        Off = "off",
    }
}

/// Host of the builds of Tailwind 3.
pub(crate) const OLD_CDN: &str = "cdn.tailwindcss.com";
/// Name of the builds of Tailwind 4, on any host.
const BUILD: &str = "@tailwindcss/browser";

/// Minimum number of Tailwind-like classes in a component's code that uses Tailwind.
const MIN_CLASSES: usize = 3;
const PREFIXES: &str = "bg text font border rounded shadow p px py pt pr pb pl m mx my mt mr mb \
    ml w h size min-w max-w min-h max-h gap gap-x gap-y space-x space-y grid-cols col-span items \
    justify self leading tracking opacity ring inset top right bottom left z flex divide from \
    via to line-clamp overflow aspect object";
const VALUES: &str = "xs sm md lg xl 2xl 3xl 4xl 5xl 6xl 7xl full screen auto px none center \
    start end between around stretch left right white black transparent normal medium semibold \
    bold col wrap tight relaxed hidden cover square";

/// True if the address is one that Tailwind's builds are loaded from.
pub(crate) fn is_build(address: &str) -> bool {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let host = path.strip_prefix("https://").unwrap_or_default().split('/').next();
    host == Some(OLD_CDN) || path.contains(BUILD)
}

/// True if a page of HTML loads Tailwind itself.
pub(crate) fn is_loaded_by(html: &str) -> bool {
    html.contains(OLD_CDN) || html.contains(BUILD)
}

/// True if code has several classes of the form that Tailwind's have.
pub(crate) fn looks_used(script: &str) -> bool {
    let words = script.split(|at: char| at.is_whitespace() || "\"'`{}(),;".contains(at));
    let mut found: Vec<&str> = words.filter(|word| is_utility(word)).collect();
    found.sort_unstable();
    found.dedup();
    found.len() >= MIN_CLASSES
}

/// A page of HTML that loads the build before all else.
pub(crate) fn with_build(html: &str) -> String {
    let at = doctype_end(html);
    let (doctype, rest) = html.split_at(at);
    format!("{doctype}<script src=\"{TAILWIND_PATH}\"></script>{rest}")
}

/// True for the form of `px-4`, `md:text-sm`, `bg-blue-600/50`, `w-[37px]`.
fn is_utility(word: &str) -> bool {
    let class = word.rsplit(':').next().unwrap_or_default();
    let class = class.trim_start_matches(['-', '!']);
    PREFIXES.split(' ').any(|prefix| {
        let value = class.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('-'));
        value.is_some_and(is_value)
    })
}

fn is_value(value: &str) -> bool {
    let value = value.split('/').next().unwrap_or_default();
    let is_number = |text: &str| !text.is_empty() && text.parse::<f32>().is_ok_and(f32::is_finite);
    let is_shade = |text: &str| {
        let shade = text.rsplit_once('-');
        shade.is_some_and(|(name, shade)| {
            name.chars().all(|at| at.is_ascii_lowercase())
                && matches!(shade.parse(), Ok(50_u32 | 100..=950))
        })
    };
    let is_arbitrary = value.starts_with('[') && value.ends_with(']');
    is_number(value)
        || is_arbitrary
        || VALUES.split(' ').any(|known| known == value)
        || is_shade(value)
}

/// The place after the doctype: before it, an element would change how the page is laid out.
fn doctype_end(html: &str) -> usize {
    let mut rest = html.trim_start_matches('\u{feff}').trim_start();
    while let Some(comment) = rest.strip_prefix("<!--") {
        rest = comment.split_once("-->").map_or("", |(_, after)| after).trim_start();
    }
    let begin = html.len() - rest.len();
    let has_doctype = rest.get(..9).is_some_and(|tag| tag.eq_ignore_ascii_case("<!doctype"));
    let end = rest.find('>').filter(|_| has_doctype);
    end.map_or(0, |end| begin + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tailwind_classes_are_recognized() {
        let button = r#"className: "inline-flex rounded-lg bg-blue-600/90 px-4 hover:bg-blue-700""#;
        assert!(looks_used(button));
        assert!(looks_used("cls(`w-[37px] -mt-2 md:grid-cols-3`)"));
        let plain = r#"className: "btn btn-primary card-title text-muted", id: "top-right-menu""#;
        assert!(!looks_used(plain));
        assert!(!looks_used(r#"style: { padding: 4, width: "w-1" }, a: "p-4 p-4 p-4""#));
    }

    #[test]
    fn tailwind_build_is_recognized_by_its_url() {
        for address in [
            "https://cdn.tailwindcss.com/?plugins=forms",
            "https://cdn.jsdelivr.net/npm/@tailwindcss/browser@4",
        ] {
            assert!(is_build(address), "{address}");
        }
        for address in ["https://cdn.tailwindcss.com.example/", "http://a.b/?@tailwindcss/browser"]
        {
            assert!(!is_build(address), "{address}");
        }
    }

    #[test]
    fn doctype_stays_first() {
        let script = "<script src=\"/modules/tailwind.js\"></script>";
        let page = "\n<!-- by hand --><!DOCTYPE html><p>text";
        let expected = format!("\n<!-- by hand --><!DOCTYPE html>{script}<p>text");
        assert_eq!(with_build(page), expected);
        assert_eq!(with_build("<p>text"), format!("{script}<p>text"));
    }
}
