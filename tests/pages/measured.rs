//! Pages of a run whose code was rendered and measured.

use super::{VIOLATIONS, browser::Browser, compared, dashboard_server::DashboardServer};
use serde_json::{Value, json};
use std::{fs, path::Path};

/// A picture of two boxes on white, the first in this color.
fn picture(path: &Path, color: [u8; 3]) {
    let picture = image::RgbImage::from_fn(320, 200, |x, y| {
        let (in_first, in_second) = ((40..160).contains(&x), (200..280).contains(&x));
        image::Rgb(match (in_first, in_second, (40..96).contains(&y)) {
            (true, _, true) => color,
            (_, true, true) => [0x11, 0x18, 0x27],
            _ => [255; 3],
        })
    });
    picture.save(path).unwrap();
}

/// A judged run with the item `differs`, whose picture has another color, and the item `equal`.
fn run(folder: &Path) {
    picture(&folder.join("shot.png"), [0x1d, 0x4e, 0xd8]);
    picture(&folder.join("other.png"), [0xd8, 0x1d, 0x1d]);
    let line = |id: &str, rendered: &str| {
        let line = json!({"id": id, "screenshot": "shot.png", "rendered": rendered,
                          "generated_code": "<button>Save</button>\n", "language": "html",
                          "expected_tokens": {"color.primary": "#1D4ED8"}});
        format!("{line}\n")
    };
    let lines = [line("differs", "other.png"), line("equal", "shot.png")];
    fs::write(folder.join("manifest.jsonl"), lines.concat()).unwrap();
    let (mut simulator, url) = compared::worse_judge(folder);
    let run = ["run", "manifest.jsonl", "--run-id", "measured", "--enable-llm-judge"];
    let flags = ["--evidence", "full", "--base-url", &url, "--budget-usd", "1"];
    compared::juror(folder, &[&run[..], &flags].concat(), 0);
    simulator.kill().unwrap();
    simulator.wait().unwrap();
    explain(&folder.join("runs/measured/results.jsonl"));
    compared::juror(folder, &["report", "measured", "-o", "page.html"], 0);
}

/// Puts an element, a repair and a token into the region, as a drawn page gives them, and a verdict
/// that contradicts it.
fn explain(journal: &Path) {
    let lines = fs::read_to_string(journal).unwrap();
    let lines = lines.lines().map(|line| {
        let mut result: Value = serde_json::from_str(line).unwrap();
        if result["screenshot_id"] == "differs" {
            let evidence = &mut result["evidence"];
            let place = evidence["regions"][0]["box"].clone();
            evidence["regions"][0]["element"] = json!({"tag": "button", "id": null,
                "text": "<b>Save</b>", "path": "body > button", "box": place, "alike": 2});
            evidence["regions"][0]["property"] = json!("background-color");
            evidence["regions"][0]["is"] = json!("#D81D1D");
            evidence["regions"][0]["should_be"] = json!("#1D4ED8");
            evidence["regions"][0]["explains"] = json!(0.97);
            evidence["regions"][0]["alternatives"] = json!([{"path": "body > button",
                "property": "background", "is": "#D81D1D", "should_be": "#1D4ED8"}]);
            evidence["tokens"] = json!([{"key": "color.primary", "expected": "#1D4ED8",
                "screenshot_delta_e": 0.1, "render_delta_e": 40.2}]);
        }
        let contradicts = result["screenshot_id"] == "differs";
        let rules = if contradicts { json!(["similarity_against_evidence"]) } else { json!([]) };
        result["semantic"]["contradictions"] = rules;
        format!("{result}\n")
    });
    fs::write(journal, lines.collect::<String>()).unwrap();
}

fn assert_reads_well(browser: &mut Browser, what: &str) {
    browser.value("document.querySelectorAll('details').forEach(one => one.open = true)");
    browser.value(include_str!("axe/axe.min.js"));
    for (width, scheme) in [(1440, "light"), (1440, "dark"), (375, "light"), (375, "dark")] {
        browser.show(width, scheme);
        assert_eq!(browser.value(VIOLATIONS), json!([]), "{what}, {width} pixels, {scheme}");
        let wide = browser.value("document.documentElement.scrollWidth");
        assert!(wide.as_u64().unwrap() <= u64::from(width), "{what}: {wide} of {width} pixels");
    }
}

/// The pair of pictures that have a region.
const PAIR: &str = "document.querySelector('svg.regions').closest('[data-compare]')";

/// Presses the button of this mode.
fn choose(browser: &mut Browser, mode: &str) {
    browser.value(&format!(
        "Array.from({PAIR}.previousElementSibling.querySelectorAll('button'))
            .find(button => button.textContent === {mode:?}).click()"
    ));
}

/// Goes through every way to look at both pictures.
fn look_through(browser: &mut Browser) {
    browser.value(&format!("{PAIR}.scrollIntoView()"));
    let marks = browser.value("document.querySelectorAll('svg.regions a').length");
    assert_eq!(marks, 2, "the region on both pictures");
    choose(browser, "Slider");
    let slid = format!(
        "(() => {{
            const range = {PAIR}.querySelector('input[type=range]');
            range.value = 20;
            range.dispatchEvent(new Event('input'));
            return {PAIR}.querySelector('.over').style.clipPath;
        }})()"
    );
    assert_eq!(browser.value(&slid), "inset(0px 0px 0px 80%)");
    choose(browser, "Onion skin");
    assert_eq!(browser.value(&format!("{PAIR}.querySelector('.over').style.opacity")), "0.2");
    choose(browser, "Heat map");
    let reds = format!(
        "(() => {{
            const canvas = {PAIR}.querySelector('canvas');
            const context = canvas.getContext('2d', {{willReadFrequently: true}});
            const all = context.getImageData(0, 0, canvas.width, canvas.height);
            let count = 0;
            for (let at = 0; at < all.data.length; at += 4) count += all.data[at + 2] === 0 ? 1 : 0;
            return count / (all.data.length / 4);
        }})()"
    );
    browser.await_true(&format!("{PAIR}.querySelector('canvas').ariaBusy === 'false'"));
    let share = browser.value(&reds).as_f64().unwrap();
    assert!((0.1..0.11).contains(&share), "{share} of the map is red, 0.105 differ");
    choose(browser, "Blink");
    browser.await_true(&format!("{PAIR}.querySelector('.over').hidden"));
    choose(browser, "Blink");
    assert_eq!(browser.value(&format!("{PAIR}.querySelector('.stage').hidden")), true, "it rests");
}

#[test]
fn measured_pictures_are_laid_over_each_other_in_any_light_and_on_a_phone() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path());
    let dashboard_server = DashboardServer::open(folder.path(), &[]);
    let mut browser = Browser::at(&dashboard_server.at("/runs/measured"));
    assert_reads_well(&mut browser, "run");
    let rows =
        "Array.from(document.querySelectorAll('#results tbody th bdi'), it => it.textContent)";
    for (state, shown) in [
        ("contradicts", json!(["differs"])),
        ("differs", json!(["differs"])),
        ("equal", json!(["equal"])),
        ("not_rendered", json!([])),
    ] {
        browser.visit(&dashboard_server.at(&format!("/runs/measured?evidence={state}")));
        assert_eq!(browser.value(rows), shown, "{state}");
    }
    browser.visit(&dashboard_server.at("/runs/measured/items/differs"));
    look_through(&mut browser);
    assert_reads_well(&mut browser, "item");
    browser.value("document.querySelector('svg.regions a').dispatchEvent(new MouseEvent('click'))");
    let repair = browser.value("document.querySelector('#region-1 pre').textContent");
    assert_eq!(repair, "body > button { background-color: #1D4ED8; }");
    assert_eq!(browser.complaints(), Vec::<String>::new());

    let mut page = Browser::open(&folder.path().join("page.html"));
    look_through(&mut page);
    assert_reads_well(&mut page, "report");
    assert_eq!(page.complaints(), Vec::<String>::new());
}
