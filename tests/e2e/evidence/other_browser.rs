//! Screenshots of another browser, whose default styles are not the renderer's.

use super::card::{Card, at_double_pixel_density};
use crate::harness::CommandHarness;
use image::{ImageFormat, imageops::FilterType};
use serde_json::json;
use std::{fs, io::Cursor};

const VIEWPORT: [u32; 2] = [480, 420];

/// A page with lines of the height of their font, and with lines of a height of their own.
fn page(paragraphs: &str) -> String {
    let line = |number: usize| format!("<p>Paragraph {number} of a longer text about harbors</p>");
    let lines: String = (1..=12).map(line).collect();
    format!(
        r#"<!doctype html>
<style>
  body {{ margin: 0; font: 16px sans-serif; display: flex; background: #f8fafc; color: #0f172a }}
  main {{ width: 260px; padding: 16px }}
  p {{ margin: 0; white-space: nowrap; overflow: hidden; {paragraphs} }}
  ol {{ margin: 0; line-height: 28px }}
</style>
<main>{lines}</main><ol>{}</ol>"#,
        "<li>Harbor master</li>".repeat(12)
    )
}

/// The page as another browser shows it, which has these styles of paragraphs as its default.
fn shown_elsewhere(paragraphs: &str) -> Vec<u8> {
    let double = at_double_pixel_density(&page(paragraphs), VIEWPORT);
    let double = image::load_from_memory(&double).unwrap();
    let [width, height] = VIEWPORT;
    let mut bytes = Cursor::new(Vec::new());
    double
        .resize_exact(width, height, FilterType::Triangle)
        .to_rgb8()
        .write_to(&mut bytes, ImageFormat::Png)
        .unwrap();
    bytes.into_inner()
}

#[test]
fn default_line_height_of_another_browser_is_no_difference_of_the_code() {
    let card = Card(CommandHarness::new());
    card.write("shot.png", shown_elsewhere("line-height: 19px"));
    card.write_code(&page(""), "html");
    // The fit needs no trials of repairs.
    card.settings("[evidence]\ntrials = 0\n");
    let unchanged = &card.run("unchanged", 0)["evidence"];
    assert_eq!(unchanged["regions"], json!([]), "{unchanged}");
    assert_eq!(unchanged["defaults"][0]["property"], "line-height");
    assert_eq!(unchanged["defaults"][0]["value"], "19px");
    card.0.juror(&["report", "unchanged", "-o", "report.html"]).exits(0);
    let html = fs::read_to_string(card.0.path("report.html")).unwrap();
    assert!(html.contains("default styles of the screenshot's browser: line-height: 19px"));

    // A change of the code is found beside it.
    card.settings("");
    let marked = "</style><style>p:nth-child(3) { background: #fde68a }</style>";
    card.write_code(&page("").replace("</style>", marked), "html");
    let changed = &card.run("changed", 0)["evidence"];
    let region = &changed["regions"][0];
    assert_eq!(region["property"], "background-color", "{changed}");
    assert_eq!(region["element"]["text"], "Paragraph 3 of a longer text about harbors");
    assert_eq!(changed["defaults"][0]["value"], "19px");
}
