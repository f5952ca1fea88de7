//! The generated code, colored by what its parts are.

use super::highlight::{Kind, pieces};
use juror_analysis::format::grouped;
use juror_report::{
    Code,
    sanitize::{sanitize, sanitize_lines},
};
use juror_types::item::Language;
use maud::{Markup, html};

/// Longer code is shown without colors: each piece is an element of the page.
const MAX_COLORED: usize = 200_000;

/// The section, or why there is no code to be shown.
pub fn section(code: &Result<Code, String>) -> Markup {
    html! {
        section.card.coded aria-labelledby="code" {
            h2 #code {
                "Generated code"
                @if let Ok(Code { language: Some(language), .. }) = code { " (" (language.name()) ")" }
            }
            @match code {
                Ok(code) => {
                    @if let Some(remark) = &code.remark { p.notice { (sanitize(remark)) } }
                    pre tabindex="0" role="region" aria-label="The code" {
                        code dir="ltr" { (colored(&sanitize_lines(&code.text), code.language)) }
                    }
                    @if code.left_out > 0 {
                        p.faint { (grouped(code.left_out as u64)) " more bytes are left out." }
                    }
                }
                Err(reason) => { p.missing { "No code: " (sanitize_lines(reason)) } }
            }
        }
    }
}

fn colored(text: &str, language: Option<Language>) -> Markup {
    let language = language.unwrap_or(Language::Tsx);
    html! {
        @if text.len() > MAX_COLORED { (text) }
        @else {
            @for (kind, piece) in pieces(text, language) {
                @match class(kind) {
                    Some(class) => { span class=(class) { (piece) } }
                    None => { (piece) }
                }
            }
        }
    }
}

fn class(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Plain => None,
        Kind::Comment => Some("k-comment"),
        Kind::Text => Some("k-text"),
        Kind::Number => Some("k-number"),
        Kind::Word => Some("k-word"),
        Kind::Tag => Some("k-tag"),
        Kind::Attribute => Some("k-attribute"),
    }
}
