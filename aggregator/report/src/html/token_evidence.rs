//! Expected tokens of an item compared with its images and computed styles.

use crate::sanitize::sanitize;
use juror_analysis::format::counted;
use juror_types::evidence::{SAME_COLOR_DELTA_E, TokenEvidence};
use maud::{Markup, html};

/// The colors, and the lengths and weights; nothing where no token was looked for.
///
/// `item` is the item's number on a page of many, which keeps labels unique.
pub(super) fn token_tables(tokens: &[TokenEvidence], item: Option<usize>) -> Markup {
    let of_item = item.map_or_else(String::new, |number| format!(", item {number}"));
    let colors: Vec<_> = tokens
        .iter()
        .filter_map(|token| Some((token, token.screenshot_delta_e?, token.render_delta_e?)))
        .collect();
    let styles: Vec<_> = tokens.iter().filter_map(|token| Some((token, token.used_by?))).collect();
    html! {
        @if !colors.is_empty() {
            (table(&format!("Colors of tokens{of_item}"), &COLOR_HEADS, &html! {
                @for (token, screenshot, render) in colors {
                    tr {
                        th scope="row" { bdi { (sanitize(&token.key)) } }
                        td { (strip(&token.expected, screenshot, render)) }
                        td { (sanitize(&token.expected)) }
                        td { (found(screenshot, token.screenshot_color.as_deref())) }
                        td { (found(render, token.render_color.as_deref())) }
                    }
                }
            }))
        }
        @if !styles.is_empty() {
            (table(&format!("Lengths and weights of tokens{of_item}"), &STYLE_HEADS, &html! {
                @for (token, used_by) in styles {
                    tr {
                        th scope="row" { bdi { (sanitize(&token.key)) } }
                        td { (sanitize(&token.expected)) }
                        td { (uses(used_by)) }
                        td { (others(&token.other_values)) }
                    }
                }
            }))
        }
    }
}

const COLOR_HEADS: [&str; 5] = ["Token", "Palette", "Expected", "Screenshot", "Render"];
const STYLE_HEADS: [&str; 4] =
    ["Token", "Expected", "In the render", "Neighbors with another value"];

fn table(label: &str, heads: &[&str], rows: &Markup) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(label) {
            table.plain.palette {
                thead { tr { @for head in heads { th scope="col" { (head) } } } }
                tbody { (rows) }
            }
        }
    }
}

fn found(distance: f64, nearest: Option<&str>) -> Markup {
    html! {
        @if distance <= SAME_COLOR_DELTA_E { "there" }
        @else {
            span.chip.missed { "missing" } " nearest "
            @if let Some(nearest) = nearest { (sanitize(nearest)) ", " }
            "ΔE " (format!("{distance:.1}"))
        }
    }
}

fn uses(elements: u32) -> Markup {
    html! {
        @if elements == 0 { span.chip.missed { "no element" } }
        @else { (counted(elements.into(), "element")) }
    }
}

fn others(values: &[[String; 2]]) -> Markup {
    html! {
        @if values.is_empty() { "–" }
        @else {
            ul { @for [path, value] in values {
                li { code dir="ltr" { (sanitize(path)) } ": " (sanitize(value)) }
            } }
        }
    }
}

/// Strip of an expected color and its presence in screenshot and render: the color if present, a
/// crossed square if absent. Empty for values that are not hexadecimal.
fn strip(color: &str, screenshot: f64, render: f64) -> Markup {
    let digits = color.strip_prefix('#').unwrap_or_default();
    let is_color = [3, 4, 6, 8].contains(&digits.len())
        && digits.chars().all(|digit| digit.is_ascii_hexdigit());
    let shown = [0.0, screenshot, render].map(|distance| distance <= SAME_COLOR_DELTA_E);
    html! {
        @if is_color {
            svg.palette-strip width="60" height="20" viewBox="0 0 60 20" aria-hidden="true" {
                @for (left, is_there) in [0, 20, 40].into_iter().zip(shown) {
                    @if is_there { rect x=(left) width="20" height="20" fill=(color) {} }
                    @else { path.absent d=(format!("M{left} 0l20 20m0-20l-20 20")) {} }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_types::test_record::token;

    #[test]
    fn colors_are_paired_and_lengths_name_their_elements() {
        let color = TokenEvidence {
            screenshot_delta_e: Some(0.1),
            render_delta_e: Some(16.28),
            render_color: Some("#2563EB".to_owned()),
            ..token("color.primary", "#4F46E5")
        };
        let radius = TokenEvidence {
            used_by: Some(2),
            other_values: vec![["body > <i>".to_owned(), "12px".to_owned()]],
            ..token("radius", "8px")
        };
        let padding = TokenEvidence { used_by: Some(0), ..token("spacing.padding", "32px") };
        let text = token_tables(&[color, radius, padding], Some(3)).into_string();
        for part in [
            "aria-label=\"Colors of tokens, item 3\"",
            "missing</span> nearest #2563EB, ΔE 16.3",
            "2 elements",
            "body &gt; &lt;i&gt;</code>: 12px",
            "no element",
        ] {
            assert!(text.contains(part), "no {part} in {text}");
        }
        assert_eq!(
            (text.matches("fill=\"#4F46E5\"").count(), text.matches("absent").count()),
            (2, 1)
        );
        assert_eq!(token_tables(&[token("motion", "80ms")], None).into_string(), "");
    }

    #[test]
    fn swatch_is_shown_only_for_a_valid_color() {
        assert!(strip("#1D4ED8", 0.0, 0.0).into_string().contains("fill=\"#1D4ED8\""));
        for other in ["red", "#12", "#1234567", "url(#x)"] {
            assert_eq!(strip(other, 0.0, 0.0).into_string(), "");
        }
    }
}
