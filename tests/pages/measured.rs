//! Pages of a run whose code was rendered and measured.

use super::{VIOLATIONS, browser::PageBrowser, compared, dashboard_server::DashboardServer};
use serde_json::{Value, json};
use std::{fs, path::Path};

const BLUE: [u8; 3] = [0x1d, 0x4e, 0xd8];
const RED: [u8; 3] = [0xd8, 0x1d, 0x1d];

/// Share of the pixels of [`boxes`] that the first box has.
const FIRST_BOX: std::ops::Range<f64> = 0.1049..0.1051;

/// Color at a point of an image of 320 x 200 pixels: two boxes on white, the first in this color.
fn boxes(x: u32, y: u32, color: [u8; 3]) -> image::Rgb<u8> {
    let (in_first, in_second) = ((40..160).contains(&x), (200..280).contains(&x));
    image::Rgb(match (in_first, in_second, (40..96).contains(&y)) {
        (true, _, true) => color,
        (_, true, true) => [0x11, 0x18, 0x27],
        _ => [255; 3],
    })
}

/// Incompressible image with a box in a color.
fn grain(x: u32, y: u32, color: [u8; 3]) -> image::Rgb<u8> {
    let mixed = (x * 7919 + y * 104_729).wrapping_mul(2_654_435_761);
    let is_boxed = (100..200).contains(&x) && (100..200).contains(&y);
    image::Rgb(if is_boxed {
        color
    } else {
        [mixed, mixed >> 8, mixed >> 16].map(|sample| sample as u8)
    })
}

fn save(folder: &Path, name: &str, size: [u32; 2], pixel: impl Fn(u32, u32) -> image::Rgb<u8>) {
    image::RgbImage::from_fn(size[0], size[1], pixel).save(folder.join(name)).unwrap();
}

/// Judged run. The first box has another color in all items but `equal`: the screenshot of `double`
/// has twice the size, that of `shifted` other margins, and both images of `large` are too large
/// for a report.
fn run(folder: &Path) {
    save(folder, "shot.png", [320, 200], |x, y| boxes(x, y, BLUE));
    save(folder, "other.png", [320, 200], |x, y| boxes(x, y, RED));
    save(folder, "double.png", [640, 400], |x, y| boxes(x / 2, y / 2, BLUE));
    save(folder, "margins.png", [368, 232], |x, y| {
        boxes(x.wrapping_sub(24), y.wrapping_sub(16), BLUE)
    });
    save(folder, "grain.png", [400, 300], |x, y| grain(x, y, BLUE));
    save(folder, "grained.png", [400, 300], |x, y| grain(x, y, RED));
    let line = |id: &str, screenshot: &str, rendered: &str| {
        let line = json!({"id": id, "screenshot": screenshot, "rendered": rendered,
                          "generated_code": "<button>Save</button>\n", "language": "html",
                          "expected_tokens": {"color.primary": "#1D4ED8", "radius": "8px"}});
        format!("{line}\n")
    };
    let lines = [
        line("differs", "shot.png", "other.png"),
        line("equal", "shot.png", "shot.png"),
        line("double", "double.png", "other.png"),
        line("shifted", "margins.png", "other.png"),
        line("large", "grain.png", "grained.png"),
    ];
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

/// Adds an element, a repair and a token to the region, as in a rendered page, and a contradictory
/// verdict.
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
                "screenshot_delta_e": 0.1, "render_delta_e": 40.2},
                {"key": "radius", "expected": "8px", "used_by": 2,
                 "other_values": [["body > button", "12px"]]}]);
        }
        let contradicts = result["screenshot_id"] == "differs";
        let rules = if contradicts { json!(["similarity_against_evidence"]) } else { json!([]) };
        result["semantic"]["contradictions"] = rules;
        format!("{result}\n")
    });
    fs::write(journal, lines.collect::<String>()).unwrap();
}

fn assert_reads_well(browser: &mut PageBrowser, what: &str) {
    browser.value("document.querySelectorAll('details').forEach(one => one.open = true)");
    browser.value(include_str!("axe/axe.min.js"));
    for (width, scheme) in [(1440, "light"), (1440, "dark"), (375, "light"), (375, "dark")] {
        browser.show(width, scheme);
        assert_eq!(browser.value(VIOLATIONS), json!([]), "{what}, {width} pixels, {scheme}");
        let wide = browser.value("document.documentElement.scrollWidth");
        assert!(wide.as_u64().unwrap() <= u64::from(width), "{what}: {wide} of {width} pixels");
    }
}

/// Image pair with a region.
const PAIR: &str = "document.querySelector('svg.regions').closest('[data-compare]')";

/// Image pair of an item of a report.
fn pair_of(item: &str) -> String {
    format!(
        "Array.from(document.querySelectorAll('article.item'))
            .find(article => article.querySelector('h3').textContent === {item:?})
            .querySelector('[data-compare]')"
    )
}

/// Comparison modes of a pair, with the text beside them.
fn modes(browser: &mut PageBrowser, pair: &str) -> String {
    let text = format!("{pair}.previousElementSibling.textContent");
    browser.value(&text).as_str().unwrap().to_owned()
}

/// Presses the button of this mode.
fn choose(browser: &mut PageBrowser, mode: &str) {
    choose_of(browser, PAIR, mode);
}

fn choose_of(browser: &mut PageBrowser, pair: &str, mode: &str) {
    browser.value(&format!(
        "Array.from({pair}.previousElementSibling.querySelectorAll('button'))
            .find(button => button.textContent === {mode:?}).click()"
    ));
}

/// Share of the pixels of a pair's heat map that are not equal.
fn red_share(browser: &mut PageBrowser, pair: &str) -> f64 {
    choose_of(browser, pair, "Heat map");
    browser.await_true(&format!("{pair}.querySelector('canvas').ariaBusy === 'false'"));
    let share = format!(
        "(() => {{
            const canvas = {pair}.querySelector('canvas');
            const context = canvas.getContext('2d', {{willReadFrequently: true}});
            const all = context.getImageData(0, 0, canvas.width, canvas.height);
            let count = 0;
            for (let at = 0; at < all.data.length; at += 4) count += all.data[at + 2] === 255 ? 0 : 1;
            return count / (all.data.length / 4);
        }})()"
    );
    browser.value(&share).as_f64().unwrap()
}

/// True if the heat map of a pair with this noise shows a box whose color differs by ten levels.
fn shows_ten_levels(browser: &mut PageBrowser, noise_levels: &Value) -> bool {
    let shown = format!(
        "(async () => {{
            const boxed = async (level) => {{
                const canvas = Object.assign(document.createElement('canvas'), {{width: 40, height: 40}});
                const context = canvas.getContext('2d');
                context.fillStyle = '#fff';
                context.fillRect(0, 0, 40, 40);
                context.fillStyle = `rgb(${{level}}, ${{level}}, ${{level}})`;
                context.fillRect(10, 10, 20, 20);
                return Object.assign(new Image(), {{src: canvas.toDataURL()}});
            }};
            const canvas = document.createElement('canvas');
            const pair = {{noise: 0.01, noise_levels: {noise_levels}}};
            await heatMap(canvas, await boxed(100), await boxed(110), pair);
            return canvas.getContext('2d').getImageData(20, 20, 1, 1).data[2] === 0;
        }})()"
    );
    browser.value(&shown).as_bool().unwrap()
}

/// Selects every comparison mode.
fn look_through(browser: &mut PageBrowser) {
    browser.value(&format!("{PAIR}.scrollIntoView()"));
    let marks = browser.value(&format!("{PAIR}.querySelectorAll('svg.regions a').length"));
    assert_eq!(marks, 2, "the region on both pictures");
    // Boxes are positioned relative to the image, even in a wider column.
    let aside = format!(
        "(() => {{
            const pair = {PAIR};
            pair.style.gridTemplateColumns = '600px 600px';
            const aside = Array.from(pair.querySelectorAll('.marked'), marked => {{
                const [picture, boxes] = ['img', 'svg'].map(
                    name => marked.querySelector(name).getBoundingClientRect());
                const sides = ['left', 'top', 'width', 'height'];
                return Math.max(...sides.map(side => Math.abs(picture[side] - boxes[side])));
            }});
            pair.style.gridTemplateColumns = '';
            return Math.max(...aside);
        }})()"
    );
    let aside = browser.value(&aside).as_f64().unwrap();
    assert!(aside < 1.5, "the boxes lie {aside} px aside of their picture");
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
    let share = red_share(browser, PAIR);
    assert!(FIRST_BOX.contains(&share), "{share} of the map is red");
    choose(browser, "Blink");
    browser.await_true(&format!("{PAIR}.querySelector('.over').hidden"));
    choose(browser, "Blink");
    assert_eq!(browser.value(&format!("{PAIR}.querySelector('.stage').hidden")), true, "it rests");
}

#[test]
fn measured_images_overlay_in_both_color_schemes_and_on_phones() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path());
    let dashboard_server = DashboardServer::open(folder.path(), &[]);
    let mut browser = PageBrowser::at(&dashboard_server.at("/runs/measured"));
    assert_reads_well(&mut browser, "run");
    let rows = "Array.from(document.querySelectorAll('#results tbody th bdi'), it => it.textContent).sort()";
    for filter in ["repair=", "evidence=contradicts"] {
        browser.visit(&dashboard_server.at("/runs/measured"));
        browser.follow(&format!("[data-topic=measured] a[href*='{filter}']"));
        assert_eq!(browser.value(rows), json!(["differs"]), "{filter}");
    }
    for (state, shown) in [
        ("contradicts", json!(["differs"])),
        ("differs", json!(["differs", "double", "large", "shifted"])),
        ("equal", json!(["equal"])),
        ("not_rendered", json!([])),
    ] {
        browser.visit(&dashboard_server.at(&format!("/runs/measured?evidence={state}")));
        assert_eq!(browser.value(rows), shown, "{state}");
    }
    browser.visit(&dashboard_server.at("/runs/measured/items/differs"));
    look_through(&mut browser);
    assert_reads_well(&mut browser, "item");
    let lengths = browser.value(
        "document.querySelector('[aria-label=\"Lengths and weights of tokens\"] tbody tr').textContent",
    );
    assert_eq!(lengths, "radius8px2 elementsbody > button: 12px");
    browser.value("document.querySelector('svg.regions a').dispatchEvent(new MouseEvent('click'))");
    let repair = browser.value("document.querySelector('#region-1 pre').textContent");
    assert_eq!(repair, "body > button { background-color: #1D4ED8; }");
    for item in ["double", "shifted"] {
        browser.visit(&dashboard_server.at(&format!("/runs/measured/items/{item}")));
        let share = red_share(&mut browser, PAIR);
        assert!(FIRST_BOX.contains(&share), "{item}: {share} of the map is red");
    }
    choose(&mut browser, "Slider");
    let style = browser.value(&format!("{PAIR}.querySelector('.over img').style.cssText"));
    assert_eq!(style, "left: 6.52174%; top: 6.89655%; width: 86.9565%;");
    assert_eq!(browser.reported_errors(), Vec::<String>::new());

    let mut page = PageBrowser::open(&folder.path().join("page.html"));
    let first = page.value("document.querySelector('article.item h3').textContent");
    assert_eq!(first, "differs", "a contradiction comes first");
    look_through(&mut page);
    assert_reads_well(&mut page, "report");
    for item in ["double", "shifted"] {
        let share = red_share(&mut page, &pair_of(item));
        assert!(FIRST_BOX.contains(&share), "{item}: {share} of the map is red");
    }
    assert!(modes(&mut page, &pair_of("equal")).contains("Heat map"), "its pictures are small");
    let large = modes(&mut page, &pair_of("large"));
    assert!(
        !large.contains("Heat map") && large.contains("No heat map: the pictures are too large")
    );
    let shown = [json!(9), json!(14), Value::Null].map(|noise| shows_ten_levels(&mut page, &noise));
    assert_eq!(shown, [true, false, false], "beyond the pair's own noise");
    assert_eq!(page.reported_errors(), Vec::<String>::new());
}
