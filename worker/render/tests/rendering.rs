//! Tests of the browser: discovery, reproducible rendering, and end with its worker.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests may panic")]

use juror_evidence::{PageChange, PageEdit};
use juror_render::{
    PageCode, PageSource, RenderError, RenderTime, Renderer, RendererError, RendererSettings,
};
use juror_services::install;
use serde_json::Map;
use std::{
    process::{Child, Command},
    thread::available_parallelism,
    time::Duration,
};

const CARD: &str = r#"<!doctype html><title>card</title>
<style>body { margin: 0; font: 16px sans-serif } .card { margin: 20px; padding: 12px; background: #1d4ed8;
color: white; border-radius: 8px; animation: pulse 1s infinite } @keyframes pulse { 50% { opacity: .2 } }</style>
<div class="card" id="first">Save <span id="now"></span> <b id="chance"></b></div>
<script>now.textContent = Date.now(); chance.textContent = Math.random();
setTimeout(() => { document.querySelector('.card').dataset.late = 'yes'; }, 500);</script>"#;

async fn renderer() -> Renderer {
    install::ensure("/usr/bin/chromium", "chromium");
    Renderer::start(RendererSettings::default()).await.unwrap()
}

fn html(code: &str) -> PageSource {
    let (code, props) = (PageCode::Html(code.to_owned()), Map::new());
    PageSource { code, props, frame: None, viewport: [320, 200], scale: 1 }
}

#[tokio::test]
async fn page_renders_with_equal_bytes_each_time() {
    let renderer = renderer().await;
    let mut pictures = Vec::new();
    for _ in 0..2 {
        let mut page = renderer.open(&html(CARD)).await.unwrap();
        let drawn = page.draw(&[]).await.unwrap();
        let again = page.draw(&[]).await.unwrap();
        assert_eq!((&drawn.picture, &drawn.snapshot), (&again.picture, &again.snapshot));
        pictures.push(drawn.picture);
        page.close().await;
    }
    assert_eq!(pictures[0], pictures[1]);
    assert!(pictures[0].starts_with(b"\x89PNG"));
    renderer.shut_down().await;
    let other = self::renderer().await;
    let mut page = other.open(&html(CARD)).await.unwrap();
    assert_eq!(
        page.draw(&[]).await.unwrap().picture,
        pictures[0],
        "nor does another browser differ"
    );
}

#[tokio::test]
async fn snapshot_lists_elements_and_a_change_is_reverted() {
    let renderer = renderer().await;
    let mut page = renderer.open(&html(CARD)).await.unwrap();
    let before = page.draw(&[]).await.unwrap();
    let snapshot = &before.snapshot;
    assert_eq!((snapshot.width, snapshot.height, snapshot.scale), (320, 200, 1.0));
    let card = snapshot.elements.iter().find(|element| element.classes == ["card"]).unwrap();
    assert_eq!((card.tag.as_str(), card.id.as_deref()), ("div", Some("first")));
    assert_eq!(card.path, "body > div:nth-child(1)");
    assert_eq!(card.styles["background-color"], "rgb(29, 78, 216)");
    assert_eq!(card.rect[..3], [20.0, 20.0, 280.0]);
    assert_eq!(snapshot.elements[card.parent.unwrap()].tag, "body");

    let edit = |property: &str, value: &str| PageEdit::Declare {
        property: property.to_owned(),
        value: value.to_owned(),
    };
    let change =
        PageChange { elements: vec![card.index], edit: edit("background-color", "rgb(255, 0, 0)") };
    let changed = page.draw(std::slice::from_ref(&change)).await.unwrap();
    assert_ne!(changed.picture, before.picture);
    let styles = &changed.snapshot.elements[card.index].styles;
    assert_eq!(styles["background-color"], "rgb(255, 0, 0)");
    let sized = PageChange { elements: vec![card.index], edit: edit("size", "60px 40px") };
    let sized = page.draw(&[sized]).await.unwrap().snapshot;
    let styles = &sized.elements[card.index].styles;
    assert_eq!([&styles["width"], &styles["height"]], ["60px", "40px"]);
    let removed = PageChange { elements: vec![card.index], edit: PageEdit::Remove };
    let removed = page.draw(&[removed]).await.unwrap();
    assert!(!removed.snapshot.elements[card.index].visible);
    assert_eq!(page.draw(&[]).await.unwrap().picture, before.picture);
    page.close().await;
}

#[tokio::test]
async fn snapshot_has_boxes_of_shown_controls_and_emoji_that_the_browser_draws() {
    let code = "<style>body { margin: 0 } * { position: absolute; margin: 0; width: 30px; height: 20px } \
         .own { appearance: none } .faint { opacity: 0 } .hidden { visibility: hidden }</style>\
         <input type=checkbox style='left: 10px; top: 40px'><input type=checkbox class=own>\
         <input type=range class=faint><input type=range class=hidden><input type=text><p>Ada \u{a9}</p>\
         <p style='left: 100px; top: 80px; width: 200px'>\u{1f680} Launch</p><p hidden>\u{1f680}</p>";
    let renderer = renderer().await;
    let mut page = renderer.open(&html(code)).await.unwrap();
    let boxes = page.draw(&[]).await.unwrap().snapshot.browser_drawn;
    assert_eq!(boxes.len(), 2, "{boxes:?}");
    assert_eq!(boxes[0], [10.0, 40.0, 30.0, 20.0]);
    let [left, top, width, height] = boxes[1];
    assert_eq!([left, top], [100.0, 80.0]);
    assert!((height..2.0 * height).contains(&width), "one emoji, without the text after it");
    page.close().await;
}

#[tokio::test]
async fn animations_are_rendered_at_rest() {
    // Two frames, black and white, 10 ms each, without an end.
    let gif = "R0lGODlhAgACAPAAAAAAAP///yH/C05FVFNDQVBFMi4wAwEAAAAh+QQAAQAAACwAAAAAAgACAAACAoRRACH5BAABAAAALAAAAAACAAIAAAICjFMAOw==";
    let code = format!(
        "<style>i, b, img {{ display: block; width: 100px; height: 20px; background: #1d4ed8 }}</style>\
         <i></i><b></b><img src='data:image/gif;base64,{gif}'>\
         <svg width='100' height='20'><rect width='10' height='20'>\
         <animate attributeName='width' from='10' to='100' dur='0.05s' repeatCount='indefinite'/></rect></svg>\
         <script>const move = [{{ width: '10px' }}, {{ width: '90px' }}];\
         document.querySelector('i').animate(move, {{ duration: 30, iterations: Infinity }});\
         document.querySelector('b').animate(move, {{ duration: 1e7, fill: 'forwards' }});</script>"
    );
    let renderer = renderer().await;
    let mut page = renderer.open(&html(&code)).await.unwrap();
    let first = page.draw(&[]).await.unwrap();
    let width =
        |tag| first.snapshot.elements.iter().find(|element| element.tag == tag).unwrap().rect[2];
    assert_eq!([width("i"), width("b"), width("rect")], [100.0, 90.0, 10.0]);
    for _ in 0..20 {
        assert_eq!(page.draw(&[]).await.unwrap().picture, first.picture);
    }
    page.close().await;
    let mut again = renderer.open(&html(&code)).await.unwrap();
    assert_eq!(again.draw(&[]).await.unwrap().picture, first.picture);
    again.close().await;
}

#[tokio::test]
async fn content_of_shadow_roots_is_rendered_at_rest() {
    let code = "<app-root></app-root><script>\
         customElements.define('app-root', class extends HTMLElement {\
         constructor() { super(); this.attachShadow({ mode: 'closed' }).innerHTML = `<style>\
         @keyframes come { from { opacity: 0; margin-left: 90px } to { opacity: 1; margin-left: 0 } }\
         p { animation: come 0.6s } </style><p>Orders of today</p>`; } });</script>";
    let renderer = renderer().await;
    let mut pictures = Vec::new();
    for _ in 0..2 {
        let mut page = renderer.open(&html(code)).await.unwrap();
        for _ in 0..5 {
            pictures.push(page.draw(&[]).await.unwrap().picture);
        }
        page.close().await;
    }
    let plain = "<p>Orders of today</p>";
    let mut page = renderer.open(&html(plain)).await.unwrap();
    let plain = page.draw(&[]).await.unwrap().picture;
    page.close().await;
    assert!(pictures.iter().all(|picture| *picture == plain));
}

#[tokio::test]
async fn every_clock_of_a_page_stands_still() {
    let code = "<p></p><b></b><script>const day = new Intl.DateTimeFormat('en', { timeZone: 'UTC' });\
         const year = day.formatToParts().find((part) => part.type === 'year').value;\
         document.querySelector('b').textContent = [day.format(), day.format(new Date(0)), year].join(' ');\
         document.querySelector('p').textContent = [\
         document.lastModified, performance.timeOrigin, Date.now(), new Event('x').timeStamp,\
         document.timeline.currentTime, globalThis.Temporal?.Now.instant().epochMilliseconds ??\
         1735732800000, globalThis.Temporal?.Now.plainDateISO().year ?? 2025].join(' ');</script>";
    let renderer = renderer().await;
    let mut page = renderer.open(&html(code)).await.unwrap();
    let snapshot = page.draw(&[]).await.unwrap().snapshot;
    let text =
        |tag| snapshot.elements.iter().find(|element| element.tag == tag).unwrap().text.clone();
    assert_eq!(text("b"), "1/1/2025 1/1/1970 2025");
    let times = "01/01/2025 12:00:00 1735732800000 1735732800000 0 0 1735732800000 2025";
    assert_eq!(text("p"), times);
    page.close().await;
}

#[tokio::test]
async fn page_is_rendered_after_the_answers_to_its_requests() {
    let code = "<p>loading</p><b>loading</b><script>\
         const ended = (tag) => () => { document.querySelector(tag).textContent = 'failed'; };\
         setTimeout(() => fetch('https://example.com/a').then(() => {}, ended('p')), 990);\
         const request = new XMLHttpRequest();\
         request.open('GET', 'https://example.com/b');\
         request.onerror = () => setTimeout(ended('b'), 10);\
         request.send();\
         try { request.send(); } catch {}</script>";
    let renderer = renderer().await;
    for _ in 0..5 {
        let mut page = renderer.open(&html(code)).await.unwrap();
        let elements = page.draw(&[]).await.unwrap().snapshot.elements;
        let shown = elements.iter().filter(|element| ["p", "b"].contains(&element.tag.as_str()));
        let shown: Vec<&str> = shown.map(|element| element.text.as_str()).collect();
        assert_eq!(shown, ["failed", "failed"]);
        page.close().await;
    }
}

#[tokio::test]
async fn snapshot_of_oversized_names_and_styles_is_short() {
    let code = "<div id=outer></div><script>const long = 'a'.repeat(1e6);\
         let inner = document.getElementById('outer');\
         for (let depth = 0; depth < 900; depth += 1) {\
         const next = document.createElement('div'); inner.append(next); inner = next; }\
         inner.innerHTML = '<p>text</p>'; const text = inner.firstChild;\
         text.id = long; text.setAttribute('src', long);\
         text.className = long + Array.from({ length: 500 }, (_, name) => ' c' + name).join('');\
         text.style.fontFamily = long;</script>";
    let renderer = renderer().await;
    let mut page = renderer.open(&html(code)).await.unwrap();
    let snapshot = page.draw(&[]).await.unwrap().snapshot;
    let text = snapshot.elements.iter().find(|element| element.tag == "p").unwrap();
    assert_eq!(text.id.as_ref().map(String::len), Some(200));
    assert_eq!((text.classes.len(), text.classes[0].len()), (50, 200));
    assert_eq!(text.styles["font-family"], "");
    assert!(text.image.as_ref().is_some_and(|image| image.starts_with("data:")), "a digest");
    let path = &text.path;
    assert!(path.len() <= 1000 && path.starts_with("div:nth-child(1) > div"), "{path}");
    assert!(path.ends_with("> p:nth-child(1)"), "{path}");
    page.close().await;
}

#[tokio::test]
async fn doubled_scale_doubles_the_pixels() {
    let renderer = renderer().await;
    let source = PageSource { scale: 2, ..html(CARD) };
    let mut page = renderer.open(&source).await.unwrap();
    let drawn = page.draw(&[]).await.unwrap();
    // The PNG's first chunk has width and height.
    assert_eq!(drawn.picture[16..24], [640_u32.to_be_bytes(), 400_u32.to_be_bytes()].concat());
    let large = PageSource { scale: 2, viewport: [2049, 200], ..html(CARD) };
    let refused = renderer.open(&large).await.unwrap_err();
    assert_eq!(refused, RenderError::Viewport { width: 4098, height: 400, max: 4096 });
}

#[tokio::test]
async fn unrenderable_code_has_a_reason_and_the_next_page_renders() {
    install::ensure("/usr/bin/chromium", "chromium");
    let timeout = Duration::from_secs(3);
    let settings = RendererSettings { timeout, ..RendererSettings::default() };
    let renderer = Renderer::start(settings).await.unwrap();
    let many = "<script>for (let i = 0; i < 10001; i++) document.body.append(document.createElement('i'))\
                </script>";
    let cases = [
        ("<body></body>", "renders nothing"),
        ("<script>x.y()</script>", "throws: x is not defined"),
        (&format!("<body>{many}"), "more than 10,000 elements"),
        ("<p>text<script>for (;;);</script>", "did not settle in 3 s"),
    ];
    for (code, reason) in cases {
        let error = renderer.open(&html(code)).await.unwrap_err();
        assert!(error.is_about_code());
        assert_eq!(error.to_string(), reason);
    }
    let mut page = renderer.open(&html(CARD)).await.unwrap();
    page.draw(&[]).await.unwrap();
    page.close().await;
}

#[tokio::test]
async fn page_has_no_network_and_its_requests_are_recorded() {
    let renderer = renderer().await;
    let code = "<p>text</p><img src='https://example.com/a.png?key=secret'>\
                <iframe src='http://frame.example/a'></iframe>\
                <script>fetch('http://169.254.169.254/').then(() => document.body.append(document.createElement('u')), () => {});\
                try { new WebSocket('ws://socket.example/b'); } catch {}\
                </script>";
    let mut page = renderer.open(&html(code)).await.unwrap();
    let drawn = page.draw(&[]).await.unwrap();
    assert_eq!(
        drawn.refused,
        [
            "http://169.254.169.254/",
            "http://frame.example",
            "https://example.com/a.png",
            "ws://socket.example/b"
        ]
    );
    assert!(drawn.snapshot.elements.iter().all(|element| element.tag != "u"));
    page.close().await;
}

#[tokio::test]
async fn missing_browser_is_reported() {
    let browser = Some("no-such-browser".into());
    let error = Renderer::start(RendererSettings { browser, ..RendererSettings::default() }).await;
    let Err(RendererError::Unusable { program, .. }) = error else { panic!("{error:?}") };
    assert_eq!(program.to_str(), Some("no-such-browser"));
}

#[tokio::test]
async fn unstartable_browser_output_is_quoted_in_one_bounded_line() {
    let browser = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/failing_browser.sh");
    let settings =
        RendererSettings { browser: Some(browser.into()), ..RendererSettings::default() };
    let error = Renderer::start(settings).await.unwrap_err().to_string();
    let line = error.strip_prefix("Chromium 156.0.1 cannot be started: ").unwrap();
    assert!(line.starts_with("cannot open display: 000"), "{line}");
    assert_eq!(line.len(), 300);
}

#[tokio::test]
async fn item_over_its_time_limit_opens_no_further_page() {
    install::ensure("/usr/bin/chromium", "chromium");
    let timeout = Duration::from_secs(3);
    let settings = RendererSettings { timeout, ..RendererSettings::default() };
    let renderer = Renderer::start(settings).await.unwrap();
    let (item, endless) = (RenderTime::default(), "<p>text<script>for (;;);</script>");
    let unsettled = RenderError::Unsettled(timeout);
    assert_eq!(renderer.open_within(&html(endless), &item).await.unwrap_err(), unsettled);
    assert_eq!(renderer.open_within(&html(CARD), &item).await.unwrap_err(), unsettled);
    let other = RenderTime::default();
    renderer.open_within(&html(CARD), &other).await.unwrap().close().await;
}

/// Programs that keep processors busy until they are dropped.
struct BusyProcessors(Vec<Child>);

impl BusyProcessors {
    /// Two for each processor.
    fn start() -> Self {
        let count = 2 * available_parallelism().unwrap().get();
        let start =
            || Command::new("timeout").args(["60", "sh", "-c", "while :; do :; done"]).spawn();
        Self((0..count).map(|_| start().unwrap()).collect())
    }
}

impl Drop for BusyProcessors {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let id = child.id().to_string();
            // `timeout` passes this on to its program.
            Command::new("kill").arg(id).status().unwrap();
            child.wait().unwrap();
        }
    }
}

#[tokio::test]
async fn page_renders_with_equal_bytes_on_busy_processors() {
    let renderer = renderer().await;
    let mut pictures = Vec::new();
    for is_busy in [false, true, true] {
        let _busy = is_busy.then(BusyProcessors::start);
        let mut page = renderer.open(&html(CARD)).await.unwrap();
        pictures.push(page.draw(&[]).await.unwrap().picture);
        page.close().await;
    }
    assert!(pictures.iter().all(|picture| *picture == pictures[0]));
}
