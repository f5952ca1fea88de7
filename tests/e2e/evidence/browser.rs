//! Evidence of pages rendered by the built-in renderer.

use super::card::{CARD, Card, at_double_pixel_density};
use crate::harness::CommandHarness;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use image::{ImageFormat, RgbImage, codecs::jpeg::JpegEncoder, imageops::FilterType};
use serde_json::json;
use std::{fs, io::Cursor};

#[test]
fn content_beyond_the_screenshot_is_reported_and_not_compared() {
    let card = Card::drawn();
    assert_eq!(card.run("whole", 0)["evidence"].get("overflow"), None);
    let section = r#"<section style="height: 1500px; background: red">Second page</section>"#;
    let page = CARD.replace(r#"<div class="card">"#, r#"<div class="card" style="height: 126px">"#);
    card.write_code(&format!("{page}{section}"), "html");
    card.write("shot.png", {
        card.settings("[evidence]\ntrials = 0\n");
        card.run("longer", 0);
        card.rendered("longer")
    });
    let evidence = &card.run("below", 0)["evidence"];
    assert_eq!(evidence["regions"], json!([]));
    let [right, below] = [0, 1].map(|side| evidence["overflow"][side].as_u64().unwrap());
    assert!(right == 0 && below > 1_400, "{evidence}");
    let report = card.0.juror(&["report", "below", "-o", "report.html"]).exits(0);
    report.stdout_contains(&["the page of 1 item goes on beyond the screenshot's edges"]);
    let page = fs::read_to_string(card.0.path("report.html")).unwrap();
    assert!(page.contains("Nothing differs within the screenshot."));
}

#[test]
fn planted_difference_is_reported_by_element_property_and_value() {
    let card = Card::drawn();
    let equal = card.run("equal", 0);
    assert_eq!(equal["evidence"]["source"], "browser");
    assert_eq!(equal["evidence"]["regions"], json!([]));
    assert_eq!(equal["evidence"]["pixels_equal"], 1.0);
    assert_eq!(equal["generation"]["renders"], true);
    assert!(equal["evidence"]["browser"].as_str().unwrap().starts_with("Chrom"));

    card.write_code(&CARD.replace("#1d4ed8", "#16a34a"), "html");
    let planted = card.run("planted", 0);
    let region = &planted["evidence"]["regions"][0];
    assert_eq!(region["element"]["tag"], "button");
    assert_eq!(region["element"]["text"], "Save");
    assert_eq!(region["property"], "background-color");
    assert_eq!(region["should_be"].as_str().unwrap().to_lowercase(), "#1d4ed8");
    assert!(region["explains"].as_f64().unwrap() > 0.9, "{region}");
}

#[test]
fn jpeg_screenshot_is_compared_with_a_render_that_is_compressed_alike() {
    let card = Card::drawn();
    let shown = image::load_from_memory(&card.rendered("first")).unwrap().to_rgb8();
    let mut file = Vec::new();
    shown.write_with_encoder(JpegEncoder::new_with_quality(&mut file, 60)).unwrap();
    card.write("shot.png", file);
    let equal = card.run("equal", 0);
    assert_eq!(equal["evidence"]["regions"], json!([]));
    assert!(equal["evidence"]["ssim"].as_f64().unwrap() > 0.999, "{equal}");

    card.write_code(&CARD.replace("#1d4ed8", "#2a58dc"), "html");
    let region = &card.run("planted", 0)["evidence"]["regions"][0];
    assert_eq!(
        (&region["element"]["tag"], &region["property"]),
        (&json!("button"), &json!("background-color"))
    );
}

#[test]
fn alignments_and_gradient_stops_are_found() {
    let page = r#"<!doctype html>
<style>
  body { margin: 0; font: 14px sans-serif; background: #f8fafc }
  .bar { display: flex; justify-content: flex-start; margin: 16px; padding: 8px; background: white }
  .head { height: 48px; background: linear-gradient(90deg, #2563eb, #7c3aed) }
  .note { width: 96px; margin: 0 16px; text-align: left }
</style>
<div class="head"></div><div class="bar"><b>Files</b><i>Sync</i></div><p class="note">Done</p>"#;
    let card = Card::of_code(page, "html");
    for (is, planted, property, expected) in [
        ("flex-start", "center", "justify-content", "flex-start"),
        ("text-align: left", "text-align: center", "text-align", "left"),
        ("#7c3aed", "#db2777", "background-image", "linear-gradient(90deg, #2563EB, #7C3AED)"),
    ] {
        card.write_code(&page.replace(is, planted), "html");
        let result = card.run(property, 0);
        let region = &result["evidence"]["regions"][0];
        let others = region["alternatives"].as_array().unwrap();
        let named = others.iter().chain([region]).find(|way| way["property"] == property);
        assert_eq!(named.unwrap_or_else(|| panic!("{region}"))["should_be"], expected);
        assert!(region["explains"].as_f64().unwrap() > 0.9, "{region}");
    }
}

#[test]
fn pasted_screenshot_is_reported() {
    let card = Card::drawn();
    let shown = card.rendered("first");
    let as_png = format!("data:image/png;base64,{}", BASE64_STANDARD.encode(&shown));
    let mut compressed = Vec::new();
    let picture = image::load_from_memory(&shown).unwrap().to_rgb8();
    JpegEncoder::new_with_quality(&mut compressed, 80).encode_image(&picture).unwrap();
    let as_jpeg = format!("data:image/jpeg;base64,{}", BASE64_STANDARD.encode(&compressed));
    let canvas = format!(
        r#"<canvas width=240 height=160></canvas><script>const image = new Image();
        image.onload = () => document.querySelector("canvas").getContext("2d").drawImage(image, 0, 0);
        image.src = "{as_png}"</script>"#
    );
    for (run, code) in [
        ("image", format!(r#"<img src="{as_png}">"#)),
        ("compressed", format!(r#"<img src="{as_jpeg}">"#)),
        ("drawing", format!(r#"<svg width=240 height=160><image href="{as_png}"/></svg>"#)),
        ("background", format!("<style>body {{ background: url({as_png}) }}</style>")),
        ("canvas", canvas),
    ] {
        card.write_code(&format!("<style>body {{ margin: 0 }}</style>{code}"), "html");
        let evidence = &card.run(run, 0)["evidence"];
        assert_eq!(evidence["pastes_screenshot"], true, "{run}: {evidence}");
    }
    card.write_code(CARD, "html");
    assert_ne!(card.run("honest", 0)["evidence"]["pastes_screenshot"], true);
}

#[test]
fn double_density_screenshot_is_rendered_pixel_exactly() {
    let card = Card(CommandHarness::new());
    card.write("shot.png", at_double_pixel_density(CARD, [480, 320]));
    card.write_code(CARD, "html");
    let result = card.run("double", 0);
    assert_eq!(result["evidence"]["scale"], 2);
    assert_eq!(result["evidence"]["regions"], json!([]));
    assert_eq!(
        (&result["evidence"]["pixels_equal"], &result["evidence"]["noise"]),
        (&json!(1.0), &json!(0.0))
    );
    assert_eq!(result["evidence"]["render_size"], json!([480, 320]));
    // Repairs are tried at the same density.
    card.write_code(&CARD.replace("#1d4ed8", "#16a34a"), "html");
    let region = &card.run("planted", 0)["evidence"]["regions"][0];
    assert_eq!(region["property"], "background-color");
    assert_eq!(region["should_be"].as_str().unwrap().to_lowercase(), "#1d4ed8");
    assert_eq!(region["explains"], 1.0);
}

/// Screenshot from another program: with a further margin of 7 and 5 pixels, and slightly smoothed.
fn taken_elsewhere(picture: &[u8]) -> Vec<u8> {
    let picture = image::load_from_memory(picture).unwrap();
    let (width, height) = (picture.width(), picture.height());
    let double = picture.resize_exact(2 * width, 2 * height, FilterType::CatmullRom);
    let smooth = double.resize_exact(width, height, FilterType::Triangle).to_rgb8();
    let mut larger = RgbImage::from_pixel(width + 7, height + 5, *smooth.get_pixel(0, 0));
    image::imageops::overlay(&mut larger, &smooth, 7, 5);
    let mut bytes = Cursor::new(Vec::new());
    larger.write_to(&mut bytes, ImageFormat::Png).unwrap();
    bytes.into_inner()
}

#[test]
fn screenshot_with_another_margin_is_compared_without_it() {
    let code = CARD.replace("#e2e8f0", "#475569");
    let card = Card::of_code(&code, "html");
    let drawn = card.rendered("first");
    card.write("shot.png", taken_elsewhere(&drawn));
    let unchanged = card.run("unchanged", 0);
    assert_eq!(unchanged["evidence"]["regions"], json!([]), "{unchanged}");
    assert_eq!(unchanged["evidence"]["shift"], json!([7, 5]));
    // The card fills its page, which is seven pixels narrower than the screenshot.
    assert_eq!(unchanged["evidence"]["render_size"], json!([240, 160]));

    card.write_code(&code.replace("#1d4ed8", "#16a34a"), "html");
    let region = &card.run("planted", 0)["evidence"]["regions"][0];
    assert_eq!(region["property"], "background-color", "{region}");
    // Content that moves within one browser is a difference, even if it resembles a margin.
    let moved = code.replace("body { margin: 0", "body { margin: 0; padding: 5px 0 0 7px");
    card.write_code(&moved, "html");
    card.write("shot.png", drawn);
    let moved = card.run("moved", 0);
    assert_eq!(moved["evidence"]["shift"], json!([0, 0]));
    assert_ne!(moved["evidence"]["regions"], json!([]));
}

#[test]
fn throwing_code_is_a_finding_and_no_failure() {
    let card = Card::drawn();
    card.write_code("<script>missing.call()</script>", "html");
    let thrown = card.run("thrown", 0);
    assert_eq!(thrown["outcome"], "scored");
    assert_eq!(thrown["evidence"], json!({"error": "throws: missing is not defined"}));
    assert_eq!(thrown["generation"]["renders"], false);
}
