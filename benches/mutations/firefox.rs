//! Headless Firefox that renders pages, controlled over its Marionette port.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use image::{RgbImage, imageops};
use juror_evidence::PageChange;
use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};
use tempfile::TempDir;

/// Width and height of the window; pages are rendered in a frame in its corner,
/// without scroll bars as in the renderer.
const WINDOW: [u32; 2] = [1400, 2200];
/// Number of attempts to connect to its port, which it does not announce, and their interval.
const MAX_ATTEMPTS: usize = 120;
const CONNECT_INTERVAL: Duration = Duration::from_millis(250);

/// A running Firefox.
pub struct Firefox {
    process: Child,
    connection: BufReader<TcpStream>,
    number: u64,
    folder: TempDir,
}

impl Firefox {
    /// A browser; `None` if there is no Firefox.
    pub fn start() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        // Chromium's default fonts of a page.
        let fonts =
            [("serif", "Times New Roman"), ("sans-serif", "Arial"), ("monospace", "Monospace")];
        let fonts = fonts.map(|(family, font)| {
            format!("user_pref(\"font.name.{family}.x-western\", \"{font}\");\n")
        });
        // Otherwise a page may render before its fonts load on a busy machine.
        let preferences = format!(
            "user_pref(\"marionette.port\", {port});\n\
             user_pref(\"gfx.font_rendering.fallback.async\", false);\n{}",
            fonts.concat()
        );
        fs::write(folder.path().join("user.js"), preferences).unwrap();
        let process = ["firefox-esr", "firefox"].iter().find_map(|name| {
            let mut command = Command::new(name);
            command.args(["--headless", "--marionette", "--no-remote", "--profile"]);
            command.arg(folder.path()).env("MOZ_HEADLESS_WIDTH", WINDOW[0].to_string());
            command.env("MOZ_HEADLESS_HEIGHT", WINDOW[1].to_string());
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()
        })?;
        let stream = (0..MAX_ATTEMPTS).find_map(|_| {
            thread::sleep(CONNECT_INTERVAL);
            TcpStream::connect(("127.0.0.1", port)).ok()
        });
        let connection = BufReader::new(stream.expect("Firefox listens on its port"));
        let mut firefox = Self { process, connection, number: 0, folder };
        firefox.receive();
        firefox.call("WebDriver:NewSession", json!({}));
        let [width, height] = WINDOW;
        firefox.call("WebDriver:SetWindowRect", json!({"width": width, "height": height}));
        Some(firefox)
    }

    /// Renders a page with changes in a viewport in CSS pixels.
    pub fn draw(&mut self, html: &str, size: [u32; 2], changes: &[PageChange]) -> RgbImage {
        let [width, height] = size;
        let changes = serde_json::to_string(changes).unwrap();
        let script = include_str!("page.js");
        let page = format!("{html}<script>{script}; applyChanges({changes}, '');</script>");
        let page = page.replace('&', "&amp;").replace('"', "&quot;");
        let frame = format!(
            "<!doctype html><meta charset=\"utf-8\"><body style=\"margin: 0\">\
             <iframe scrolling=\"no\" style=\"border: 0; display: block\" width=\"{width}\" height=\"{height}\" \
             srcdoc=\"{page}\"></iframe>"
        );
        let file = self.folder.path().join("page.html");
        fs::write(&file, frame).unwrap();
        self.open(&file);
        let shot = self.call("WebDriver:TakeScreenshot", json!({"full": false}));
        let bytes = BASE64_STANDARD.decode(shot["value"].as_str().unwrap()).unwrap();
        let shown = image::load_from_memory(&bytes).unwrap().to_rgb8();
        assert!(shown.width() >= width && shown.height() >= height, "the window is too small");
        imageops::crop_imm(&shown, 0, 0, width, height).to_image()
    }

    fn open(&mut self, file: &Path) {
        let address = format!("file://{}", file.display());
        self.call("WebDriver:Navigate", json!({"url": address}));
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        self.number += 1;
        let message = json!([0, self.number, method, params]).to_string();
        let stream = self.connection.get_mut();
        write!(stream, "{}:{message}", message.len()).unwrap();
        let answer = self.receive();
        assert!(answer[2].is_null(), "{method}: {answer}");
        answer[3].clone()
    }

    /// One message: its length, a colon, JSON.
    fn receive(&mut self) -> Value {
        let mut length = Vec::new();
        self.connection.read_until(b':', &mut length).unwrap();
        length.pop();
        let length = String::from_utf8(length).unwrap().parse().unwrap();
        let mut message = vec![0; length];
        self.connection.read_exact(&mut message).unwrap();
        serde_json::from_slice(&message).unwrap()
    }
}

impl Drop for Firefox {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
