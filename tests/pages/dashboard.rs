//! The dashboard in a real browser.

mod forms;

use super::{
    VIOLATIONS,
    browser::PageBrowser,
    compared::{juror, worse_judge},
    dashboard_server::DashboardServer,
    run::{self, HOSTILE},
};
use serde_json::json;
use std::{fs, path::Path};

/// Runs for every view: judged by both rubrics, one regression, one without a judge.
fn runs(folder: &Path) {
    juror(folder, &["demo", "--evidence", "none", "--run-id", "base"], 0);
    juror(folder, &["demo", "--acrue", "--run-id", "restyled"], 0);
    juror(folder, &["run", "runs/golden/manifest.jsonl", "--run-id", "unjudged"], 0);
    let (mut simulator, url) = worse_judge(folder);
    let run = ["run", "runs/golden/manifest.jsonl", "--run-id", "head", "--enable-llm-judge"];
    juror(folder, &[&run[..], &["--base-url", &url, "--budget-usd", "1"]].concat(), 0);
    simulator.kill().unwrap();
    simulator.wait().unwrap();
}

/// Asserts that the browser reported no error and no request left the server.
#[track_caller]
fn assert_quiet(browser: &PageBrowser, dashboard_server: &DashboardServer) {
    assert_eq!(browser.reported_errors(), Vec::<String>::new());
    let elsewhere = browser.requests().into_iter();
    let elsewhere = elsewhere
        .filter(|url| !url.starts_with(&dashboard_server.url) && !url.starts_with("data:"));
    assert_eq!(elsewhere.collect::<Vec<_>>(), Vec::<String>::new());
}

fn text(browser: &mut PageBrowser, selector: &str) -> String {
    let shown = browser.value(&format!("document.querySelector({selector:?})?.textContent ?? ''"));
    shown.as_str().unwrap().to_owned()
}

#[test]
fn pages_are_accessible_in_both_color_schemes_and_on_phones() {
    let folder = tempfile::tempdir().unwrap();
    runs(folder.path());
    let dashboard_server = DashboardServer::open(folder.path(), &[]);
    let mut browser = PageBrowser::at(&dashboard_server.at("/"));
    for path in [
        "/",
        "/?enable_llm_judge=false",
        "/?run=unjudged",
        "/trend?run=base",
        "/runs",
        "/runs/head",
        "/runs/restyled",
        "/runs/head?q=nothing+fits",
        "/runs/head/items/card_pricing",
        "/runs/unjudged/items/card_pricing",
        "/runs/restyled/items/fox_pixel_art",
        "/compare",
        "/compare?base=base&head=head",
        "/start",
        "/login?refused=token",
        "/runs?sort=score&order=asc",
    ] {
        browser.clear_records();
        browser.visit(&dashboard_server.at(path));
        browser.value("document.querySelectorAll('details').forEach(one => one.open = true)");
        browser.value(include_str!("axe/axe.min.js"));
        for (width, scheme) in [(1440, "light"), (1440, "dark"), (375, "light"), (375, "dark")] {
            browser.show(width, scheme);
            assert_eq!(browser.value(VIOLATIONS), json!([]), "{path}, {width} pixels, {scheme}");
            let wide = browser.value("document.documentElement.scrollWidth");
            assert!(wide.as_u64().unwrap() <= u64::from(width), "{path}: {wide} of {width} pixels");
        }
        let missing =
            "Array.from(document.images).filter(one => one.complete && !one.naturalWidth).length";
        assert_eq!(browser.value(missing), 0, "{path}");
        assert_quiet(&browser, &dashboard_server);
    }
    browser.visit(&dashboard_server.at("/nowhere"));
    assert_eq!(text(&mut browser, "h1"), "Not found");
}

#[test]
fn run_table_is_complete_with_long_names() {
    let folder = tempfile::tempdir().unwrap();
    let name = "nightly-main-2026-11-22-0123456789abcdef";
    juror(folder.path(), &["demo", "--evidence", "none", "--run-id", name], 0);
    let record = folder.path().join("runs").join(name).join("run.json");
    let mut run: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&record).unwrap()).unwrap();
    run["judge"]["model"] = json!("claude-sonnet-4-5-20250929");
    run["planned"] = json!(10_000);
    fs::write(record, run.to_string()).unwrap();
    let dashboard_server = DashboardServer::open(folder.path(), &[]);
    let mut browser = PageBrowser::at(&dashboard_server.at("/runs"));
    assert_eq!(text(&mut browser, "tbody .chip"), "incomplete");
    for (width, scheme) in [(1280, "light"), (1440, "dark")] {
        browser.show(width, scheme);
        let cut = "(() => { const table = document.querySelector('.scroll');
                            return table.scrollWidth - table.clientWidth; })()";
        assert_eq!(browser.value(cut), 0, "pixels that are cut off of {width}");
    }
}

#[test]
fn judge_column_toggles_and_table_sorts_and_filters() {
    let folder = tempfile::tempdir().unwrap();
    runs(folder.path());
    let dashboard_server = DashboardServer::open(folder.path(), &[]);
    let mut browser = PageBrowser::at(&dashboard_server.at("/?run=base"));
    let shown = text(&mut browser, "[data-topic=semantic] .big");
    assert!(shown.ends_with('%'));
    browser.follow("[role=switch]");
    assert_eq!(
        browser.value("document.activeElement.id"),
        "judge-switch",
        "the switch has the focus"
    );
    assert_eq!(browser.value("scrollY"), 0);
    browser.follow("[role=switch]");
    assert_eq!(
        text(&mut browser, "[data-topic=semantic] .big"),
        shown,
        "still the run of the address"
    );
    browser.visit(&dashboard_server.at("/"));
    assert_eq!(text(&mut browser, "[data-topic=semantic] .simulated"), "SIMULATED");
    browser.follow("[role=switch]");
    let judged = "document.querySelectorAll('[data-topic=semantic], [data-topic=issues]').length";
    assert_eq!(browser.value(judged), 0);
    assert_eq!(browser.value("document.querySelector('[role=switch]').ariaChecked"), "false");
    browser.follow("[role=switch]");
    assert!(text(&mut browser, "[data-topic=semantic] .big").ends_with('%'));

    browser.visit(&dashboard_server.at("/runs/base"));
    let ids =
        "Array.from(document.querySelectorAll('#results tbody th bdi'), id => id.textContent)";
    let worst_first = browser.value(ids);
    assert_eq!(worst_first[0], "button_secondary");
    browser.follow("th a.sort[href*='sort=id']");
    let sorted = browser.value(ids);
    assert_eq!((&sorted[0], &sorted[26]), (&json!("alert_error"), &json!("toast")));
    assert_eq!(browser.value("document.querySelector('[aria-sort]').ariaSort"), "ascending");
    browser.follow("th a.sort[href*='sort=id']");
    assert_eq!(browser.value(ids)[0], "toast");
    browser.value(
        "document.querySelector('[name=tag]').value = 'button';
         document.querySelector('[name=to]').value = '90'",
    );
    browser.follow("#filters button");
    assert_eq!(
        browser.value(ids),
        json!(["button_secondary", "button_icon_right", "button_danger"])
    );

    browser.follow("#results tbody th a");
    assert_eq!(text(&mut browser, "h1"), "button_secondary");
    assert!(text(&mut browser, ".ways").contains("1 of 3"));
    browser.follow("[rel=next]");
    assert_eq!(text(&mut browser, "h1"), "button_icon_right");
    press(&mut browser, "k");
    assert_eq!(text(&mut browser, "h1"), "button_secondary");
    press(&mut browser, "ArrowRight");
    assert_eq!(text(&mut browser, "h1"), "button_icon_right");
    browser.follow(".ways a");
    browser.press("j");
    browser.press("j");
    browser.press("k");
    let focused = "document.activeElement.closest('tr').rowIndex";
    assert_eq!(browser.value(focused), 1);
    browser.follow("#items p[role=status] a");
    browser.follow("[data-topic=issues] a");
    let address = browser.value("location.search");
    assert!(
        address.as_str().unwrap().starts_with("?issue=Missing+icon"),
        "a label, no position: {address}"
    );
    assert_eq!(browser.value("document.querySelectorAll('#results tbody tr').length"), 3);

    browser.visit(&dashboard_server.at("/compare?base=base&head=head"));
    assert!(text(&mut browser, ".decision .verdict").starts_with("Worse: Semantic Correctness"));
    assert!(text(&mut browser, ".moved").contains("Visual similarity"));
    browser.visit(&dashboard_server.at("/compare?base=base&head=restyled"));
    assert!(text(&mut browser, ".error").contains("rubric"));
    browser.visit(&dashboard_server.at("/runs/restyled/items/fox_pixel_art"));
    let slid = "(() => {
        const range = document.querySelector('input[type=range]');
        range.value = 20;
        range.dispatchEvent(new Event('input'));
        return document.querySelector('.over').style.clipPath;
    })()";
    assert_eq!(browser.value(slid), "inset(0px 0px 0px 80%)");
    assert_quiet(&browser, &dashboard_server);
}

/// Presses a key that leads to another page.
fn press(browser: &mut PageBrowser, key: &str) {
    let loads = browser.loads();
    browser.press(key);
    browser.await_load(loads);
}

#[test]
fn every_column_sorts_and_rows_have_images() {
    let folder = tempfile::tempdir().unwrap();
    runs(folder.path());
    let dashboard_server = DashboardServer::open(folder.path(), &[]);
    let mut browser = PageBrowser::at(&dashboard_server.at("/runs/base"));
    for page in ["/runs/base", "/runs"] {
        browser.visit(&dashboard_server.at(page));
        let heads = "Array.from(document.querySelectorAll('.results thead th'), head =>
            head.querySelector('a.sort') ? '' : head.textContent).filter(text => text)";
        let plain =
            if page == "/runs" { json!(["Image", "Base", "Head"]) } else { json!(["Image"]) };
        assert_eq!(browser.value(heads), plain, "{page}");
        let count = browser.value("document.querySelectorAll('.results a.sort').length");
        for head in 0..count.as_u64().unwrap() {
            let chosen = format!("document.querySelectorAll('.results a.sort')[{head}]");
            let loads = browser.loads();
            browser.value(&format!("{chosen}.click()"));
            browser.await_load(loads);
            let sorted = format!("{chosen}.closest('th').ariaSort !== null");
            assert_eq!(browser.value(&sorted), true, "{page}, column {head}");
        }
        let pictures =
            "Promise.all(Array.from(document.querySelectorAll('.results .thumb img'), image => {
            image.loading = 'eager';
            return image.decode().then(() => image.naturalWidth > 0);
        })).then(all => all.length > 3 && all.every(shown => shown))";
        assert_eq!(browser.value(pictures), true, "{page}");
    }
    assert_quiet(&browser, &dashboard_server);
}

#[test]
fn wide_table_is_printed_completely() {
    let folder = tempfile::tempdir().unwrap();
    juror(folder.path(), &["demo", "--evidence", "none", "--run-id", "base"], 0);
    let dashboard_server = DashboardServer::open(folder.path(), &[]);
    let mut browser = PageBrowser::at(&dashboard_server.at("/runs/base"));
    browser.print_preview();
    let cut = "(() => { const table = document.querySelector('#items .scroll');
                        return table.scrollWidth - table.clientWidth; })()";
    assert_eq!(browser.value(cut), 0, "pixels that are cut off of an A4 page");
}

#[test]
fn untrusted_text_is_escaped_on_every_page() {
    let folder = tempfile::tempdir().unwrap();
    run::page(folder.path());
    let dashboard_server = DashboardServer::open(folder.path(), &[]);
    let mut browser = PageBrowser::at(&dashboard_server.at("/runs/page"));
    assert_eq!(text(&mut browser, "#results tbody bdi"), HOSTILE);
    let item = browser.value("document.querySelector('#results tbody a').getAttribute('href')");
    let alpha = "/runs/page/items/alpha";
    for path in
        ["/", "/runs", "/runs/page", item.as_str().unwrap(), alpha, "/compare?base=page&head=page"]
    {
        browser.visit(&dashboard_server.at(path));
        assert_eq!(browser.value("typeof hacked"), "undefined", "{path}");
        assert_eq!(browser.value("document.scripts.length"), 1, "{path}");
        let lost =
            "Array.from(document.images).filter(one => one.getAttribute('src') === 'x').length";
        assert_eq!(browser.value(lost), 0, "{path}");
    }
    browser.visit(&dashboard_server.at(item.as_str().unwrap()));
    assert_eq!(text(&mut browser, "h1"), HOSTILE);
    browser.visit(&dashboard_server.at(alpha));
    assert_eq!(text(&mut browser, ".issues bdi"), HOSTILE);
    assert_eq!(text(&mut browser, "pre code"), format!("<p>\n{HOSTILE}</p>"));
    assert_quiet(&browser, &dashboard_server);
}
