//! Evidence of pages rendered by the built-in renderer.

use super::box_in;
use crate::harness::{CommandHarness, Finished};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use image::{ImageFormat, RgbImage, codecs::jpeg::JpegEncoder, imageops::FilterType};
use juror_render::{PageCode, PageSource, Renderer, RendererSettings};
use juror_services::install;
use serde_json::{Map, Value, json};
use std::{fs, io::Cursor, path::PathBuf};
use tokio::runtime::Runtime;

const CARD: &str = r#"<!doctype html>
<style>
  body { margin: 0; font: 14px sans-serif; background: #f8fafc }
  .card { margin: 16px; padding: 12px; background: white; border: 1px solid #e2e8f0 }
  button { background: #1d4ed8; color: white; border: 0; padding: 8px 16px }
</style>
<div class="card"><p>Unsaved changes</p><button>Save</button></div>"#;

/// A harness with a dataset of one card of 240 x 160 pixels.
pub struct Card(pub CommandHarness);

impl Card {
    /// Card whose screenshot is the browser's render of its code.
    fn drawn() -> Self {
        Self::of_code(CARD, "html")
    }

    /// Card with other code.
    pub fn of_code(code: &str, language: &str) -> Self {
        install::ensure("/usr/bin/chromium", "chromium");
        let card = Self(CommandHarness::new());
        card.write("shot.png", blank());
        card.write_code(code, language);
        // No repair turns the card into a blank image.
        card.settings("[evidence]\ntrials = 0\n");
        card.run("first", 0);
        card.settings("");
        let drawn = card.rendered("first");
        card.write("shot.png", drawn);
        card
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        self.0.write(name, content);
    }

    pub fn settings(&self, settings: &str) {
        self.write("juror.toml", settings);
    }

    pub fn write_code(&self, code: &str, language: &str) {
        self.write_line(&json!({"generated_code": code, "language": language}));
    }

    /// Writes the card's line with these fields.
    pub fn write_line(&self, fields: &Value) {
        let mut line = json!({"id": "card", "screenshot": "shot.png"});
        for (name, value) in fields.as_object().unwrap() {
            line[name] = value.clone();
        }
        self.write("manifest.jsonl", format!("{line}\n"));
    }

    /// Asserts that a run is refused for its settings with these texts.
    pub fn refused(&self, texts: &[&str]) {
        self.0
            .juror(&["run", "manifest.jsonl", "--evidence", "facts"])
            .exits(2)
            .stderr_contains(texts);
    }

    /// The result of a run.
    pub fn run(&self, run: &str, code: i32) -> Value {
        let flags = ["run", "manifest.jsonl", "--evidence", "facts", "--run-id", run];
        self.0.juror(&flags).exits(code);
        self.0.result(run, "card")
    }

    /// Records of this kind in the store of renders, with their paths.
    fn kept_records(&self, kind: &str) -> Vec<(PathBuf, Value)> {
        let files = fs::read_dir(self.0.path("runs/.renders")).unwrap();
        let paths = files.map(|file| file.unwrap().path());
        let records = paths.filter(|path| path.extension().is_some_and(|ending| ending == kind));
        let read = |path: PathBuf| {
            let text = fs::read_to_string(&path).unwrap();
            (path, serde_json::from_str::<Value>(&text).unwrap())
        };
        records.map(read).collect()
    }

    /// Stored image of a run's render.
    pub fn rendered(&self, run: &str) -> Vec<u8> {
        let result = self.0.result(run, "card");
        let inputs = result["item"]["inputs"].as_array().unwrap().iter();
        let rendered = inputs.clone().find(|input| input["name"] == "rendered").unwrap();
        let digest = rendered["digest"].as_str().unwrap();
        let name = digest.rsplit(':').next().unwrap();
        fs::read(self.0.path(format!("runs/.renders/{name}"))).unwrap()
    }
}

pub fn blank() -> Vec<u8> {
    let picture = RgbImage::from_pixel(240, 160, image::Rgb([255; 3]));
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, ImageFormat::Png).unwrap();
    bytes.into_inner()
}

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

/// Page in a viewport of CSS pixels, at double pixel density.
pub fn at_double_pixel_density(code: &str, viewport: [u32; 2]) -> Vec<u8> {
    install::ensure("/usr/bin/chromium", "chromium");
    let (code, props) = (PageCode::Html(code.to_owned()), Map::new());
    let source = PageSource { code, props, frame: None, viewport, scale: 2 };
    let drawing = async {
        let renderer = Renderer::start(RendererSettings::default()).await.unwrap();
        let mut page = renderer.open(&source).await.unwrap();
        let picture = page.draw(&[]).await.unwrap().picture;
        page.close().await;
        renderer.shut_down().await;
        picture.to_vec()
    };
    Runtime::new().unwrap().block_on(drawing)
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

#[test]
fn cached_render_needs_no_browser_page() {
    let card = Card::drawn();
    // The cached render is shown instead of a new one.
    let pages = card.kept_records("page");
    assert!(!pages.is_empty());
    let other = juror_types::id::Digest::from_content(&box_in([1; 3]));
    for (path, mut page) in pages {
        page["picture"] = json!(other);
        fs::write(path, page.to_string()).unwrap();
    }
    fs::write(card.0.path(format!("runs/.renders/{other}")), box_in([1; 3])).unwrap();
    let result = card.run("kept", 0);
    assert_eq!(result["evidence"]["render_size"], json!([96, 64]));
}

#[test]
fn unchanged_item_keeps_its_evidence_and_a_changed_one_is_measured() {
    let card = Card::drawn();
    card.write_code(&CARD.replace("#1d4ed8", "#16a34a"), "html");
    let first = card.run("differs", 0)["evidence"].clone();
    assert_eq!(card.run("again", 0)["evidence"], first);
    // The kept evidence is reported instead of another measurement.
    for (path, mut record) in card.kept_records("evidence") {
        record["evidence"]["delta_e"] = json!(77.0);
        fs::write(path, record.to_string()).unwrap();
    }
    let delta_e = |run: &str| card.run(run, 0)["evidence"]["delta_e"].clone();
    assert_eq!(delta_e("kept"), 77.0);
    card.settings("[evidence]\ntrials = 1\n");
    assert_eq!(delta_e("with-fewer-trials"), first["delta_e"]);
    card.settings("");
    card.write("shot.png", blank());
    let blank = delta_e("of-another-screenshot");
    assert!(blank != 77.0 && blank != first["delta_e"], "{blank}");
}

#[test]
fn cached_renders_are_counted_and_cleared_separately_from_replies() {
    let card = Card::drawn();
    let stats = card.0.juror(&["cache", "stats", "--json"]).exits(0);
    let stats = stats.json();
    assert!(stats["renders"]["images"].as_u64().unwrap() >= 1, "{stats}");
    assert!(stats["renders"]["bytes"].as_u64().unwrap() > 100 && stats["replies"] == 0, "{stats}");
    let replies = card.0.juror(&["cache", "clear", "--only", "replies"]).exits(0);
    assert!(!replies.stdout.contains("of rendered code"), "{}", replies.stdout);
    card.0.juror(&["cache", "stats"]).exits(0).stdout_contains(&[
        "0 replies",
        "of rendered code in",
        "runs/.renders",
    ]);
    let renders = card.0.juror(&["cache", "clear", "--only", "renders"]).exits(0);
    assert!(!renders.stdout.contains("replies"), "{}", renders.stdout);
    renders.stdout_contains(&["of rendered code", "removed"]);
    card.0
        .juror(&["cache", "stats"])
        .exits(0)
        .stdout_contains(&["0 images of rendered code in 0 bytes"]);
}

#[test]
fn other_fonts_miss_the_render_cache() {
    let card = Card::drawn();
    let pages = || card.kept_records("page").len();
    let before = pages();
    card.run("again", 0);
    assert_eq!(pages(), before, "the kept drawing is taken");
    card.0.write("fc-list", "#!/bin/sh\necho 'other.ttf 0 65536 Other'\n");
    make_executable(&card.0.path("fc-list"));
    let mut command = card.0.command(&["run", "manifest.jsonl", "--evidence", "facts"]);
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", card.0.path(".").display()));
    Finished::from(command.output().unwrap()).exits(0);
    assert_eq!(pages(), before + 1, "the code is rendered again");
}

pub fn make_executable(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
