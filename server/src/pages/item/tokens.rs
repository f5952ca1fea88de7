//! Design tokens as they should be beside those that were found.

use juror_analysis::format::counted;
use juror_app::item_source::{AsJudged, TokenLine};
use juror_report::sanitize::sanitize;
use maud::{Markup, html};
use serde_json::Value;

/// Maximum number of shown tokens.
const MAX: usize = 500;

/// The section, or why there is none to be shown.
pub fn section(tokens: &Result<AsJudged<Vec<TokenLine>>, String>) -> Markup {
    html! {
        section.card aria-labelledby="tokens" {
            h2 #tokens { "Design tokens" }
            @match tokens {
                Ok(lines) => {
                    @if let Some(remark) = &lines.remark { p.notice { (sanitize(remark)) } }
                    (table(&lines.content))
                }
                Err(reason) => { p.missing { "No tokens: " (sanitize(reason)) } }
            }
        }
    }
}

/// A value as people write it: a string without its quotes.
pub fn value(value: &Value) -> String {
    match value {
        Value::String(text) => sanitize(text),
        other => sanitize(&other.to_string()),
    }
}

fn table(lines: &[TokenLine]) -> Markup {
    let differing = lines.iter().filter(|line| !line.equal).count() as u64;
    // Differing tokens come first: readers look for them.
    let mut sorted: Vec<&TokenLine> = lines.iter().collect();
    sorted.sort_by_key(|line| line.equal);
    html! {
        div.scroll tabindex="0" role="region" aria-label="Table of tokens" {
            table.plain {
                caption { span {
                    (counted(lines.len() as u64, "token")) ", "
                    @if differing == 0 { "all as expected." } @else { (differing) " not as expected, listed first." }
                } }
                thead { tr {
                    th scope="col" { "Token" } th scope="col" { "Expected" } th scope="col" { "Extracted" } th scope="col" { "Comparison" }
                } }
                tbody {
                    @for line in sorted.iter().take(MAX) {
                        tr {
                            th scope="row" { bdi { (sanitize(&line.name)) } }
                            td { (cell(line.expected.as_ref())) } td { (cell(line.extracted.as_ref())) }
                            td { (verdict(line)) }
                        }
                    }
                }
            }
        }
        @if lines.len() > MAX { p.faint { "and " (counted((lines.len() - MAX) as u64, "more token")) } }
    }
}

fn verdict(line: &TokenLine) -> Markup {
    let (class, word) = match (line.equal, &line.expected, &line.extracted) {
        (true, ..) => ("met", "equal"),
        (false, Some(_), None) => ("missed", "missing"),
        (false, None, _) => ("undecided", "not expected"),
        (false, Some(_), Some(_)) => ("missed", "differs"),
    };
    html! { span class=(format!("chip {class}")) { (word) } }
}

/// A token's value, with a swatch beside a color.
fn cell(found: Option<&Value>) -> Markup {
    let Some(found) = found else { return html! { "–" } };
    let text = value(found);
    html! {
        @if is_hex_color(&text) {
            svg.swatch viewBox="0 0 10 10" aria-hidden="true" { rect width="10" height="10" fill=(text) {} } " "
        }
        bdi { (text) }
    }
}

/// True for a hexadecimal color, which is shown as a swatch.
fn is_hex_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or_default();
    matches!(digits.len(), 3 | 4 | 6 | 8) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}
