//! Share of named changes of a page: single CSS changes of components, half of them planted in the
//! code and half in the screenshot, rendered by a headless Chromium; and the cost of measuring.
//! Screenshots of another origin are also rendered by a headless Firefox, where there is one.
//!
//! `cargo bench --bench evidence -- 27 10 6` (pages of `examples/golden` and of
//! `benches/components`, and components of React, of which every second one is held out from
//! tuning, as are all those of `benches/components/held_back`; number of each that are also
//! compared with screenshots of another origin). All components of
//! `benches/components/rendering_differences` are used for tuning: browsers render them
//! differently. Those of `benches/components/long_pages` have hundreds of elements.
//!
//! `FOLDERS=benches/components/long_pages` takes components of such folders only; `MISSES=1` prints
//! each change that was not named, of the components tuned by; `TUNED=1` leaves those held back
//! out; `OPERATORS=margin,gap` plants such changes only; `ORIGINS=same browser;another browser`
//! takes screenshots of such origins only.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a measurement prints, and may break off"
)]

mod harness;
mod mutations;

use harness::{Mark, MarkTable};
use juror_evidence::{PicturePair, Raster, Snapshot};
use juror_types::evidence::{Evidence, EvidenceSource};
use mutations::{
    browser::BenchBrowser,
    component::{Component, HELD_BACK, OTHER_VIEWPORTS, RENDERING_DIFFERENCES, components},
    explained_page::{explain, measured, open_fitted, other_defaults},
    firefox::Firefox,
    marks::{ELSEWHERE, SAME_BROWSER},
    mounted,
    operators::{KEYWORDS, Mutation, OPERATORS, STRENGTHS, mutation},
    origin::{Browsers, ScreenshotOrigin},
    score::{Found, RegionScores, name_everything, print_scores},
};
use nix::sys::{
    resource::{UsageWho, getrusage},
    time::TimeValLike as _,
};
use std::env;

fn main() {
    let Some([pages, mounted, elsewhere]) = harness::sizes([27, 10, 6]) else { return };
    print_cost();
    let Some(chromium) = BenchBrowser::start() else {
        return println!("no chromium on PATH: nothing can be drawn");
    };
    let firefox = Firefox::start();
    if firefox.is_none() {
        println!("no firefox on PATH: no screenshots of another browser");
    }
    let mut browsers = Browsers { chromium, firefox };
    let mut page = |code: String, size: [u32; 2], extension: &str| match extension {
        "tsx" => mounted::page_of(&code, size),
        _ => code,
    };
    for (folder, extension, count) in [
        ("examples/golden/components", "html", pages),
        ("benches/components", "tsx", mounted),
        ("benches/components", "html", pages),
        (RENDERING_DIFFERENCES, "html", pages),
        ("benches/components/long_pages", "html", pages),
        (OTHER_VIEWPORTS, "html", pages),
        (HELD_BACK, "html", pages),
        (HELD_BACK, "tsx", mounted),
    ] {
        if !is_asked_for("FOLDERS", ',', folder) {
            continue;
        }
        let components = components(folder, extension, count, &mut page);
        let title = format!("{} components of {folder} in {extension}", components.len());
        println!("\n{title}");
        print_marks(&mut browsers, &title, &components, elsewhere);
    }
}

fn print_marks(browsers: &mut Browsers, title: &str, components: &[Component], elsewhere: usize) {
    print_silence(browsers, title, components);
    if is_taken(ScreenshotOrigin::SameBrowser) {
        print_same_browser(browsers, title, components);
    }
    for origin in ScreenshotOrigin::ELSEWHERE.into_iter().filter(|origin| is_taken(*origin)) {
        let mut scores = RegionScores::new();
        for component in components.iter().take(elsewhere) {
            // Small changes drown in such noise.
            Run { browsers, component, origin }.score(&OPERATORS, 1, &mut scores, None);
        }
        print_scores(origin.name(), &scores);
        ELSEWHERE.print(&format!("{title}: {}", origin.name()), &scores);
    }
}

fn print_same_browser(browsers: &mut Browsers, title: &str, components: &[Component]) {
    let mut control = RegionScores::new();
    let (mut scores, mut keywords) = (RegionScores::new(), RegionScores::new());
    for component in components {
        let mut run = Run { browsers, component, origin: ScreenshotOrigin::SameBrowser };
        run.score(&OPERATORS, 0, &mut scores, Some(&mut control));
        run.score(&KEYWORDS, 0, &mut keywords, None);
    }
    print_scores("same browser", &scores);
    SAME_BROWSER.print(&format!("{title}: same browser"), &scores);
    print_scores("keywords", &keywords);
    SAME_BROWSER.print(&format!("{title}: keywords"), &keywords);
    print_scores("a report that names everything", &control);
    SAME_BROWSER.refuse(&control);
}

/// True if changes by an operator are requested.
fn is_planted(operator: &str) -> bool {
    is_asked_for("OPERATORS", ',', operator)
}

/// True if screenshots of an origin are requested.
fn is_taken(origin: ScreenshotOrigin) -> bool {
    is_asked_for("ORIGINS", ';', origin.name())
}

fn is_asked_for(variable: &str, separator: char, name: &str) -> bool {
    let Ok(selected) = env::var(variable) else { return true };
    selected.split(separator).any(|selected| selected == name)
}

/// Single cases of held-out components are not printed.
fn prints_misses(component: &Component) -> bool {
    env::var_os("MISSES").is_some() && component.number.is_multiple_of(2)
}

/// The changes of one component, against screenshots of one origin.
struct Run<'run> {
    browsers: &'run mut Browsers,
    component: &'run Component,
    origin: ScreenshotOrigin,
}

impl Run<'_> {
    fn score(
        &mut self,
        operators: &[&'static str],
        weakest: usize,
        scores: &mut RegionScores,
        mut control: Option<&mut RegionScores>,
    ) {
        let Component { html, size, number, .. } = self.component;
        self.browsers.chromium.open(html, *size, 1);
        let (original, page) = self.browsers.chromium.draw(&[]);
        for operator in (0..operators.len()).filter(|&at| is_planted(operators[at])) {
            for strength in weakest..STRENGTHS.len() {
                let turn = number / 2 + operator + strength;
                let Some(planted) = mutation(&page, operators, operator, strength, turn) else {
                    continue;
                };
                self.browsers.chromium.open(html, *size, 1);
                let change = std::slice::from_ref(&planted.change);
                if self.browsers.chromium.draw(change).0 == original {
                    continue;
                }
                let is_in_code = turn.is_multiple_of(2);
                let (in_code, in_screenshot) =
                    if is_in_code { (change, &[][..]) } else { (&[][..], change) };
                let shot = self.origin.screenshot(self.browsers, html, *size, in_screenshot);
                let Some(screenshot) = shot else { return };
                let browser = &mut self.browsers.chromium;
                let viewport = self.origin.viewport(*size);
                open_fitted(browser, &screenshot, viewport, |browser, viewport| {
                    browser.open(html, viewport, 1);
                    browser.plant(in_code);
                });
                let (evidence, snapshot, drawn) = explain(browser, &screenshot);
                let found = Found::new(&evidence, &planted, &snapshot);
                let key = (number % 2 == 1, planted.operator);
                scores.entry(key).or_default().add(&found, drawn);
                if let Some(control) = &mut control {
                    let everything = name_everything(&evidence, &snapshot);
                    let found = Found::new(&everything, &planted, &snapshot);
                    control.entry(key).or_default().add(&found, 0);
                }
                if !found.both && prints_misses(self.component) {
                    self.print_miss(&planted, &evidence, &snapshot, is_in_code);
                }
            }
        }
    }

    fn print_miss(
        &self,
        planted: &Mutation,
        evidence: &Evidence,
        page: &Snapshot,
        is_in_code: bool,
    ) {
        let element = &page.elements[planted.change.elements[0]];
        let place = if is_in_code { "code" } else { "screenshot" };
        let wanted = format!(
            "{:?} of {} x{}",
            planted.change.edit,
            element.path,
            planted.change.elements.len()
        );
        let first = evidence.regions.first().map(|region| {
            let path = region.element.as_ref().map(|element| (&element.path, element.alike));
            (path, &region.property, &region.is, &region.should_be, region.explains)
        });
        println!("{} ({place}): {wanted}: {first:?}", self.component.name);
    }
}

/// Number of unchanged pages without a region.
fn print_silence(browsers: &mut Browsers, title: &str, components: &[Component]) {
    let table =
        MarkTable::new(&format!("{title}: no region on unchanged code, tuned by and held back"));
    let near = [ScreenshotOrigin::SameBrowser, ScreenshotOrigin::Rounded, ScreenshotOrigin::Double];
    let origins = near.into_iter().chain(ScreenshotOrigin::ELSEWHERE);
    for origin in origins.filter(|origin| is_taken(*origin)) {
        // A browser that drew at twice the scale draws letters otherwise from then on.
        if let Some(fresh) = BenchBrowser::start() {
            browsers.chromium = fresh;
        }
        let mut halves = [(0, 0); 2];
        for component in components {
            let Component { name, html, size, number } = component;
            let screenshot = origin.screenshot(browsers, html, *size, &[]);
            let Some(screenshot) = screenshot else { continue };
            let browser = &mut browsers.chromium;
            // Reformatted: the same page in other bytes.
            let (code, viewport) = (html.replace(" {", " {\n"), origin.viewport(*size));
            open_fitted(browser, &screenshot, viewport, |browser, viewport| {
                browser.open(&code, viewport, origin.device_scale());
            });
            let defaults = other_defaults(browser, &screenshot);
            let (evidence, ..) = measured(browser, &screenshot, &defaults);
            let is_silent = evidence.regions.is_empty();
            let (silent, all) = &mut halves[number % 2];
            *all += 1;
            *silent += usize::from(is_silent);
            if !is_silent && prints_misses(component) {
                println!("  {name}: {:?}", evidence.regions.first());
            }
        }
        let least = if ScreenshotOrigin::ELSEWHERE.contains(&origin) { 95.0 } else { 99.0 };
        for (silent, all) in halves.into_iter().filter(|(_, all)| *all > 0) {
            let what = format!("{}: {silent} of {all}", origin.name());
            table.marked(what, 100.0 * silent as f64 / all as f64, "%", Mark::AtLeast(least));
        }
    }
}

/// CPU time of aligning and measuring a pair of 1440 x 900 pixels.
fn print_cost() {
    let mut drawing = Raster::filled(1440, 900, [248, 250, 252]);
    for line in 0..40 {
        for word in 0..100 {
            drawing.fill([word * 14 + 10, line * 22 + 8, 3 + word % 9, 9], [30, 41, 59]);
        }
    }
    let mut screenshot = drawing.clone();
    screenshot.fill([200, 200, 300, 120], [37, 99, 235]);
    let before = cpu_ms();
    let rounds = 10;
    for _ in 0..rounds {
        let pair = PicturePair::new(&screenshot, &drawing);
        assert_eq!(pair.measure(EvidenceSource::Browser, None).regions.len(), 1);
    }
    let each = (cpu_ms() - before) / f64::from(rounds);
    MarkTable::new("measuring").marked(
        "CPU of a pair of 1440 x 900",
        each,
        "ms",
        Mark::AtMost(60.0),
    );
}

fn cpu_ms() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).unwrap();
    (usage.user_time() + usage.system_time()).num_microseconds() as f64 / 1000.0
}
