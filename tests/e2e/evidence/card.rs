//! Dataset of one small card, and its code.

use crate::harness::CommandHarness;
use image::{ImageFormat, RgbImage};
use juror_render::{PageCode, PageSource, Renderer, RendererSettings};
use juror_services::install;
use serde_json::{Map, Value, json};
use std::{fs, io::Cursor, path::PathBuf};
use tokio::runtime::Runtime;

pub const CARD: &str = r#"<!doctype html>
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
    pub fn drawn() -> Self {
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
    pub fn kept_records(&self, kind: &str) -> Vec<(PathBuf, Value)> {
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
