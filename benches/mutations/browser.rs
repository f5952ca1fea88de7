//! Headless Chromium that renders pages and changes of them, controlled over its debugging pipe.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use image::RgbImage;
use juror_evidence::{PageChange, PicturePair, Raster, SNAPSHOT_PROPERTIES, Snapshot};
use juror_image::{JpegCompression, RgbPixels};
use serde_json::{Value, json};
use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};
use tempfile::TempDir;

const FLAGS: [&str; 13] = [
    "--disable-frame-rate-limit",
    "--disable-gpu-vsync",
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--hide-scrollbars",
    "--font-render-hinting=none",
    "--disable-lcd-text",
    "--force-color-profile=srgb",
    "--disable-background-networking",
    "--disable-component-update",
    "--remote-debugging-pipe",
];
const PAGE_SCRIPT: &str = concat!(
    include_str!("../../worker/render/src/scripts/browser_drawn.js"),
    include_str!("page.js")
);

/// Waits for the component, and then for its effects and styles.
const SETTLED_MARKUP: &str = r"new Promise((resolve) => {
    const markup = () => {
        document.querySelectorAll('script').forEach((script) => script.remove());
        resolve(`<!doctype html>${document.documentElement.outerHTML}`);
    };
    const look = () => {
        const isMounted = document.getElementById('root').firstElementChild;
        if (isMounted) setTimeout(markup, 200); else setTimeout(look, 10);
    };
    look();
})";

/// A running browser with one page.
pub struct BenchBrowser {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    session: Option<String>,
    frame: String,
    number: u64,
    /// Compression of the screenshot, which renders are given too.
    pub compression: Option<JpegCompression>,
    _profile: TempDir,
}

impl BenchBrowser {
    /// A browser; `None` if there is no Chromium.
    pub fn start() -> Option<Self> {
        let profile = tempfile::tempdir().unwrap();
        // Chromium reads from descriptor 3 and writes to descriptor 4.
        let script = "exec chromium \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1";
        let mut process = Command::new("sh")
            .args(["-c", script, "sh"])
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let to = process.stdin.take()?;
        let from = BufReader::new(process.stdout.take()?);
        let mut browser = Self {
            process,
            to,
            from,
            session: None,
            frame: String::new(),
            number: 0,
            compression: None,
            _profile: profile,
        };
        let target = browser.try_call("Target.createTarget", json!({"url": "about:blank"}))?;
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let session = browser.call("Target.attachToTarget", attach);
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        let tree = browser.call("Page.getFrameTree", json!({}));
        browser.frame = tree["frameTree"]["frame"]["id"].as_str()?.to_owned();
        Some(browser)
    }

    /// Opens a page with a viewport in CSS pixels.
    pub fn open(&mut self, html: &str, size: [u32; 2], scale: u32) {
        let [width, height] = size;
        let metrics =
            json!({"width": width, "height": height, "deviceScaleFactor": scale, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        self.call("Page.setDocumentContent", json!({"frameId": self.frame, "html": html}));
        let properties = serde_json::to_string(&SNAPSHOT_PROPERTIES[..]).unwrap();
        self.evaluate(&format!("window.PROPERTIES = {properties}; {PAGE_SCRIPT}; null"));
    }

    /// Applies changes permanently, below those of later trials.
    pub fn plant(&mut self, changes: &[PageChange]) {
        let changes = serde_json::to_string(changes).unwrap();
        self.evaluate(&format!("applyChanges({changes}, ''); null"));
    }

    /// Renders the page with changes, in CSS pixels as the product measures it, and reverts them.
    pub fn draw(&mut self, changes: &[PageChange]) -> (Raster, Snapshot) {
        let written = serde_json::to_string(changes).unwrap();
        let snapshot = self
            .evaluate(&format!("window.undo = applyChanges({written}, 'important'); describe()"));
        let picture = self.capture();
        let drawing = self.as_compressed(raster_of(&picture));
        self.evaluate("undo(); null");
        let snapshot: Snapshot = serde_json::from_str(snapshot.as_str().unwrap()).unwrap();
        match snapshot.scale > 1.5 {
            true => (drawing.halved(), Snapshot { scale: 1.0, ..snapshot }),
            false => (drawing, snapshot),
        }
    }

    /// Renders the unchanged page.
    pub fn capture(&mut self) -> RgbImage {
        let file = self.capture_file(&json!({"format": "png", "optimizeForSpeed": true}));
        image::load_from_memory(&file).unwrap().to_rgb8()
    }

    /// Renders the unchanged page to a file with these options.
    pub fn capture_file(&mut self, options: &Value) -> Vec<u8> {
        let shot = self.call("Page.captureScreenshot", options.clone());
        BASE64_STANDARD.decode(shot["data"].as_str().unwrap()).unwrap()
    }

    /// A render with the screenshot, as the product compares them.
    pub fn pair<'drawing>(
        &self,
        screenshot: &Raster,
        drawing: &'drawing Raster,
    ) -> PicturePair<'drawing> {
        match self.compression {
            Some(_) => PicturePair::compressed_alike(screenshot, drawing),
            None => PicturePair::new(screenshot, drawing),
        }
    }

    /// A render compressed as the screenshot, as the product compares it.
    fn as_compressed(&self, drawing: Raster) -> Raster {
        let Some(compression) = &self.compression else { return drawing };
        let (width, height) = (drawing.width(), drawing.height());
        let pixels = RgbPixels { width, height, pixels: drawing.into_pixels() };
        let compressed = compression.apply(&pixels).unwrap();
        Raster::from_pixels(width, height, compressed.pixels).unwrap()
    }

    /// The page's markup without scripts, once a component stands in it.
    pub fn settled_markup(&mut self) -> String {
        let markup = self.evaluate(SETTLED_MARKUP);
        markup.as_str().unwrap().to_owned()
    }

    fn evaluate(&mut self, script: &str) -> Value {
        let params = json!({"expression": script, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", params);
        assert!(answer.get("exceptionDetails").is_none(), "{answer}");
        answer["result"]["value"].clone()
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        self.try_call(method, params).expect("the browser has ended")
    }

    fn try_call(&mut self, method: &str, params: Value) -> Option<Value> {
        self.number += 1;
        let mut message = json!({"id": self.number, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.to.write_all(format!("{message}\0").as_bytes()).ok()?;
        loop {
            let mut bytes = Vec::new();
            self.from.read_until(0, &mut bytes).ok().filter(|read| *read > 0)?;
            bytes.pop();
            let answer: Value = serde_json::from_slice(&bytes).ok()?;
            if answer["id"] == json!(self.number) {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return Some(answer["result"].clone());
            }
        }
    }
}

impl Drop for BenchBrowser {
    fn drop(&mut self) {
        let _ = self.try_call("Browser.close", json!({}));
        let _ = self.process.wait();
    }
}

/// Pixels of an image, as they are measured.
pub fn raster_of(image: &RgbImage) -> Raster {
    let pixels = image.pixels().map(|pixel| pixel.0).collect();
    Raster::from_pixels(image.width(), image.height(), pixels).unwrap()
}
