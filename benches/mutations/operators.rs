//! Single CSS changes of a component: fourteen operators of three strengths, and five of keywords.

use juror_evidence::{PageChange, PageEdit, Snapshot, SnapshotElement};

/// Properties that are changed.
pub const OPERATORS: [&str; 14] = [
    "color",
    "background-color",
    "border-color",
    "border-width",
    "border-radius",
    "opacity",
    "box-shadow",
    "font-size",
    "font-weight",
    "line-height",
    "letter-spacing",
    "padding",
    "margin",
    "gap",
];

/// Properties whose keyword is changed; they have no strengths, which choose the element alone.
pub const KEYWORDS: [&str; 5] =
    ["text-align", "font-style", "text-decoration-line", "visibility", "flex-direction"];

/// Strengths of a change.
pub const STRENGTHS: [&str; 3] = ["small", "medium", "large"];

/// Change to be detected.
pub struct Mutation {
    pub operator: &'static str,
    pub change: PageChange,
}

/// Change of a component by the operator of a list; `None` without a suitable element.
pub fn mutation(
    page: &Snapshot,
    operators: &[&'static str],
    operator: usize,
    strength: usize,
    seed: usize,
) -> Option<Mutation> {
    let name = operators[operator];
    let fit: Vec<&SnapshotElement> = page
        .elements
        .iter()
        .filter(|element| element.visible && !["html", "body"].contains(&element.tag.as_str()))
        .filter(|element| value(element, name, strength).is_some())
        .collect();
    let chosen = fit.get((seed * 7919 + operator * 31 + strength * 17) % fit.len().max(1))?;
    let (property, value) = value(chosen, name, strength)?;
    let alike = page.elements.iter().filter(|other| {
        let is_named = !chosen.classes.is_empty() && chosen.classes == other.classes;
        is_named && other.tag == chosen.tag && other.visible
    });
    let alike: Vec<usize> = alike.map(|element| element.index).collect();
    let elements =
        if seed.is_multiple_of(2) && alike.len() > 1 { alike } else { vec![chosen.index] };
    let edit = PageEdit::Declare { property, value };
    Some(Mutation { operator: name, change: PageChange { elements, edit } })
}

fn value(element: &SnapshotElement, operator: &str, strength: usize) -> Option<(String, String)> {
    let style = |name: &str| element.styles.get(name).map(String::as_str).unwrap_or_default();
    let length = |name: &str| style(name).trim_end_matches("px").parse::<f64>().ok();
    let has_text = !element.text.is_empty();
    let more = |name: &str, by: [f64; 3]| {
        length(name).map(|length| format!("{}px", length + by[strength]))
    };
    let has_border = length("border-top-width").is_some_and(|width| width > 0.0);
    let is_filled = !style("background-color").ends_with(", 0)");
    let is_box = has_border || is_filled;
    let written = match operator {
        "color" if has_text => recolored(style("color"), [0.15, 0.35, 0.7][strength]),
        "background-color" if is_filled => {
            recolored(style("background-color"), [0.06, 0.2, 0.5][strength])
        }
        "border-color" if has_border => {
            recolored(style("border-top-color"), [0.15, 0.35, 0.7][strength])
        }
        "border-width" if has_border => more("border-top-width", [1.0, 2.0, 4.0]),
        "border-radius" if is_box => more("border-top-left-radius", [2.0, 6.0, 14.0]),
        "opacity" if has_text || is_box => Some(["0.9", "0.7", "0.45"][strength].to_owned()),
        "box-shadow" if is_box && element.rect[2] > 40.0 => {
            let shadows = [
                "0 1px 3px rgba(15, 23, 42, 0.25)",
                "0 6px 14px rgba(15, 23, 42, 0.2)",
                "0 12px 32px rgba(15, 23, 42, 0.35)",
            ];
            Some(shadows[strength].to_owned())
        }
        "font-size" if has_text => more("font-size", [1.0, 2.0, 5.0]),
        "font-weight" if has_text => {
            let is_bold = style("font-weight").parse::<u32>().is_ok_and(|weight| weight >= 600);
            Some(if is_bold { "400" } else { "700" }.to_owned())
        }
        "line-height" if has_text => {
            let present = length("line-height").unwrap_or(1.15 * length("font-size")?);
            Some(format!("{}px", (present + [2.0, 5.0, 10.0][strength]).round()))
        }
        "letter-spacing" if has_text => Some(["0.3px", "0.8px", "2px"][strength].to_owned()),
        "padding" if is_box => {
            let sides = ["padding-top", "padding-right", "padding-bottom", "padding-left"];
            let sides = sides.map(|side| {
                format!("{}px", length(side).unwrap_or(0.0) + [2.0, 4.0, 10.0][strength])
            });
            Some(sides.join(" "))
        }
        "margin" => {
            return Some(("margin-bottom".to_owned(), more("margin-bottom", [2.0, 6.0, 14.0])?));
        }
        "gap" if style("display").contains("flex") || style("display").contains("grid") => {
            let present = length("column-gap").unwrap_or(0.0);
            Some(format!("{}px", present + [2.0, 6.0, 12.0][strength]))
        }
        "text-align" if has_text && style("display") == "block" => {
            Some(["center", "right", "center"][strength].to_owned())
        }
        "font-style" if has_text => Some("italic".to_owned()),
        "text-decoration-line" if has_text => Some("underline".to_owned()),
        "visibility" if has_text || is_box => Some("hidden".to_owned()),
        "flex-direction" if style("display").contains("flex") => {
            let is_row = style("flex-direction").starts_with("row");
            Some(if is_row { "column" } else { "row" }.to_owned())
        }
        _ => None,
    };
    written.map(|value| (operator.to_owned(), value))
}

/// Color shifted toward its opposite; Tailwind colors by lightness.
fn recolored(color: &str, way: f64) -> Option<String> {
    if let Some(parts) = color.strip_prefix("oklch(") {
        let (lightness, rest) = parts.split_once(' ')?;
        let lightness: f64 = lightness.parse().ok()?;
        let toward = if lightness > 0.5 { 0.2 } else { 0.8 };
        return Some(format!("oklch({:.3} {rest}", lightness + way * (toward - lightness)));
    }
    let numbers = color.strip_prefix("rgb(")?.strip_suffix(')')?;
    let channels: Vec<f64> =
        numbers.split(',').filter_map(|part| part.trim().parse().ok()).collect();
    let mean = channels.iter().sum::<f64>() / 3.0;
    let toward = if mean > 128.0 { [40.0, 30.0, 90.0] } else { [220.0, 140.0, 120.0] };
    let mixed: Vec<String> = channels
        .iter()
        .zip(toward)
        .map(|(channel, toward)| (channel + way * (toward - channel)).round().to_string())
        .collect();
    Some(format!("rgb({})", mixed.join(", ")))
}
