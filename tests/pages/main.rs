//! Report pages in a real browser.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::unreachable,
    reason = "a test may break off"
)]

mod browser;
mod compared;
mod dashboard;
mod dashboard_server;
mod measured;
mod run;
mod tabs;

use browser::PageBrowser;
use run::HOSTILE;
use serde_json::json;
use std::fs;

/// Ids in the first column of the table, in displayed order.
const SHOWN: &str =
    "Array.from(document.querySelectorAll('#results tbody bdi'), id => id.textContent)";

/// Clicks the header button of this name and returns the header's `aria-sort`.
fn click_head(browser: &mut PageBrowser, head: &str) -> serde_json::Value {
    browser.value(&format!(
        "(() => {{
            const heads = Array.from(document.querySelectorAll('#results thead button'));
            const button = heads.find(button => button.textContent === {head:?});
            button.click();
            return button.parentElement.getAttribute('aria-sort');
        }})()"
    ))
}

/// Sets a filter and waits until it has been applied.
fn filter(browser: &mut PageBrowser, name: &str, choice: &str) -> serde_json::Value {
    browser.value(&format!(
        "new Promise(done => {{
            const control = document.querySelector('[data-filter=\"{name}\"]');
            const option = Array.from(control.options || []).find(o => o.text.startsWith({choice:?}));
            control.value = option ? option.value : {choice:?};
            control.dispatchEvent(new Event('input', {{bubbles: true}}));
            setTimeout(() => done({SHOWN}), 0);
        }})"
    ))
}

fn reset(browser: &mut PageBrowser) {
    let all = browser.value(&format!(
        "new Promise(done => {{
            document.getElementById('filters').reset();
            setTimeout(() => done({SHOWN}.length), 0);
        }})"
    ));
    assert_eq!(all, 4);
}

#[test]
fn page_loads_nothing_and_escapes_untrusted_text() {
    let folder = tempfile::tempdir().unwrap();
    let page = run::page(folder.path());
    let mut browser = PageBrowser::open(&page);
    assert_eq!(browser.value("typeof hacked"), "undefined");
    assert_eq!(browser.value("document.scripts.length"), 1);
    assert_eq!(browser.value("document.styleSheets.length"), 1);
    let pictures = browser.value(
        "Promise.all(Array.from(document.images, picture => {
            // Images below the fold would load only on scrolling.
            picture.loading = 'eager';
            return picture.decode().then(
                () => picture.naturalWidth > 0 && picture.src.startsWith('data:image/png'));
        }))",
    );
    assert_eq!(pictures, json!([true, true, true, true]));
    let texts = browser.value(
        "[document.querySelector('#results tbody bdi'), document.querySelector('.issues bdi'),
          document.querySelector('.strengths bdi'), document.querySelector('[data-topic=issues] li bdi')]
            .map(element => element.textContent)",
    );
    assert_eq!(texts, json!([HOSTILE, HOSTILE, HOSTILE, HOSTILE]));
    let code = browser.value("document.querySelector('pre code').textContent");
    assert_eq!(code, format!("<p>\n{HOSTILE}</p>"));
    assert_eq!(browser.value("document.querySelectorAll('.sides, header.page').length"), 5);
    assert_eq!(browser.reported_errors(), Vec::<String>::new());
    let own = format!("file://{}", page.display());
    let foreign = browser.requests().into_iter();
    let foreign = foreign.filter(|url| *url != own && !url.starts_with("data:"));
    assert_eq!(foreign.collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn table_sorts_by_every_column_and_filters() {
    let folder = tempfile::tempdir().unwrap();
    let mut browser = PageBrowser::open(&run::page(folder.path()));
    assert_eq!(browser.value(SHOWN), json!([HOSTILE, "gamma", "alpha", "beta"]));
    assert_eq!(click_head(&mut browser, "Score"), "ascending");
    assert_eq!(browser.value(SHOWN), json!(["gamma", "alpha", "beta", HOSTILE]));
    assert_eq!(click_head(&mut browser, "Score"), "descending");
    assert_eq!(browser.value(SHOWN), json!(["beta", "alpha", "gamma", HOSTILE]));
    assert_eq!(click_head(&mut browser, "Item"), "ascending");
    assert_eq!(browser.value(SHOWN), json!([HOSTILE, "alpha", "beta", "gamma"]));
    let sorted = "document.querySelectorAll('#results th:not([aria-sort=none])[aria-sort]').length";
    assert_eq!(browser.value(sorted), 1);

    assert_eq!(filter(&mut browser, "text", "AMM"), json!(["gamma"]));
    let output = browser.value("document.getElementById('shown').textContent");
    assert_eq!(output, "1 of 4 results");
    reset(&mut browser);
    assert_eq!(filter(&mut browser, "o", "failed"), json!([HOSTILE]));
    reset(&mut browser);
    assert_eq!(filter(&mut browser, "t", "button"), json!(["alpha", "gamma"]));
    assert_eq!(filter(&mut browser, "i", "</script>"), json!(["alpha", "gamma"]));
    assert_eq!(filter(&mut browser, "t", "form"), json!([]));
    reset(&mut browser);
    assert_eq!(browser.reported_errors(), Vec::<String>::new());
}

#[test]
fn injected_scripts_and_images_are_blocked() {
    let folder = tempfile::tempdir().unwrap();
    let page = run::page(folder.path());
    let attack = "<script>hacked=1</script><p onclick='hacked=2' id=bait>bait</p>\
                  <img src='http://127.0.0.1:9/spy.png'><style>body{display:none}</style></main>";
    let text = fs::read_to_string(&page).unwrap().replace("</main>", attack);
    fs::write(&page, text).unwrap();
    let mut browser = PageBrowser::open(&page);
    browser.value("document.getElementById('bait').click()");
    assert_eq!(browser.value("typeof hacked"), "undefined");
    assert_eq!(browser.value("getComputedStyle(document.body).display"), "block");
    let refused = browser.reported_errors();
    assert!(refused.len() >= 4, "{refused:?}");
    assert!(refused.iter().all(|complaint| complaint.contains("Content Security Policy")));
}

/// Script that returns axe-core's violations, each with its first elements.
pub const VIOLATIONS: &str = "axe.run(document, {resultTypes: ['violations']}).then(found =>
    found.violations.map(one => [one.id, one.help, ...one.nodes.slice(0, 3).map(node => node.html)]))";

#[test]
fn page_is_accessible_in_both_color_schemes_and_all_widths() {
    let folder = tempfile::tempdir().unwrap();
    let mut browser = PageBrowser::open(&compared::page(folder.path()));
    let sections = browser.value(
        "['comparison', 'targets', 'calibration', 'repeats', 'issues', 'items-title']
            .filter(id => !document.getElementById(id))",
    );
    assert_eq!(sections, json!([]));
    browser.value("document.querySelectorAll('details').forEach(one => one.open = true)");
    browser.value(include_str!("axe/axe.min.js"));
    for (width, scheme) in [(1280, "light"), (1280, "dark"), (390, "light")] {
        browser.show(width, scheme);
        assert_eq!(browser.value(VIOLATIONS), json!([]), "{width} pixels, {scheme}");
        let wide = browser.value("document.documentElement.scrollWidth");
        assert!(wide.as_u64().unwrap() <= u64::from(width), "{wide} pixels of {width}, {scheme}");
    }
}
