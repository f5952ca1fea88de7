//! Sections of a page that are always hidden.

use super::{Cut, NEUTRAL_ELEMENTS};
use html5ever::tokenizer::Tag;

/// Text in the place of a hidden section.
const HIDDEN: &str = "<i hidden></i>";

/// Elements that are closed by their own end tag alone, as long as their content is balanced and
/// neutral.
const SECTIONS: [&str; 9] =
    ["div", "section", "article", "aside", "header", "footer", "nav", "main", "dialog"];

/// Elements without an end tag that change nothing outside of themselves.
const VOID_ELEMENTS: [&str; 4] = ["br", "hr", "img", "wbr"];

/// Elements whose contents are not parsed as elements, and style sheets.
const OTHER_CONTENTS: [&str; 10] = [
    "script",
    "style",
    "link",
    "select",
    "xmp",
    "plaintext",
    "iframe",
    "noembed",
    "noframes",
    "frameset",
];

/// Hidden sections, found tag by tag.
#[derive(Default)]
pub(super) struct HiddenSections {
    found: Vec<Cut>,
    open: Option<OpenSection>,
    /// True if a script or a style sheet may show them, or they may not be elements at all.
    uncertain: bool,
}

impl HiddenSections {
    pub(super) fn start_tag(&mut self, tag: &Tag, start: usize) {
        self.uncertain |= OTHER_CONTENTS.contains(&&*tag.name) || has_handler(tag);
        match &mut self.open {
            Some(_) if VOID_ELEMENTS.contains(&&*tag.name) => {}
            Some(section) if fits(tag, section.tags.last()) => {
                section.tags.push(tag.name.to_string());
            }
            Some(_) => self.open = None,
            None if SECTIONS.contains(&&*tag.name) && is_hidden(tag) => {
                self.open = Some(OpenSection { start, tags: vec![tag.name.to_string()] });
            }
            None => {}
        }
    }

    pub(super) fn end_tag(&mut self, tag: &Tag, end: usize) {
        let Some(section) = &mut self.open else { return };
        // A mismatched end tag may close the section: treat it as not hidden.
        if section.tags.pop().as_deref() != Some(&*tag.name) {
            self.open = None;
        } else if section.tags.is_empty() {
            self.found.push(Cut { range: section.start..end, instead: HIDDEN });
            self.open = None;
        }
    }

    pub(super) fn into_cuts(self) -> Vec<Cut> {
        if self.uncertain { Vec::new() } else { self.found }
    }
}

/// The value of a tag's attribute.
pub(super) fn attribute<'tag>(tag: &'tag Tag, name: &str) -> Option<&'tag str> {
    let found = tag.attrs.iter().find(|attribute| &*attribute.name.local == name);
    found.map(|attribute| &*attribute.value)
}

struct OpenSection {
    start: usize,
    /// Tags that are open, the section's own first.
    tags: Vec<String>,
}

/// True if a tag inside of a hidden section leaves it open: an item ends every open item that no
/// list stands between.
fn fits(tag: &Tag, parent: Option<&String>) -> bool {
    let in_list = parent.is_some_and(|parent| parent == "ul" || parent == "ol");
    NEUTRAL_ELEMENTS.contains(&&*tag.name) && (&*tag.name != "li" || in_list)
}

/// True if a tag has an event handler, such as `onload`.
fn has_handler(tag: &Tag) -> bool {
    tag.attrs.iter().any(|attribute| attribute.name.local.starts_with("on"))
}

/// True if a tag hides its element: by the attribute `hidden` without a class or a style, or by its
/// `style` attribute.
fn is_hidden(tag: &Tag) -> bool {
    match attribute(tag, "style") {
        Some(style) => {
            style.to_ascii_lowercase().replace(' ', "").trim_end_matches(';') == "display:none"
        }
        None => {
            attribute(tag, "hidden").is_some_and(|value| !value.eq_ignore_ascii_case("until-found"))
                && attribute(tag, "class").is_none()
        }
    }
}
