//! Costs in the documentation, compared with estimates.

use crate::harness::{CommandHarness, TestSimulator, png, repository};
use serde_json::{Value, json};
use std::fs;

/// Screenshots of a small run, and nightly runs per year.
const RUN: f64 = 15.0;
const NIGHTS: f64 = 365.0;

fn dollars(amount: &Value) -> f64 {
    amount.as_str().unwrap().parse().unwrap()
}

/// Expected and worst cost of a screenshot of the golden set by each model.
struct Costs {
    models: Vec<(String, f64, f64)>,
}

impl Costs {
    fn estimated(harness: &CommandHarness, lane: &[&str]) -> Self {
        let golden = repository("examples/golden/manifest.jsonl");
        let reported =
            harness.juror(&[&["estimate", &golden, "--all-models", "--json"], lane].concat());
        let estimate = reported.exits(0).json();
        let jobs = estimate["jobs"].as_f64().unwrap();
        let of = |model: &Value, amount: &str| dollars(&model[amount]) / jobs;
        let models = estimate["models"].as_array().unwrap().iter().map(|model| {
            let name = model["model"].as_str().unwrap().to_owned();
            (name, of(model, "expected_usd"), of(model, "worst_one_call_usd"))
        });
        Self { models: models.collect() }
    }

    fn of(&self, name: &str) -> (f64, f64) {
        let known = self.models.iter().find(|(model, ..)| model == name);
        let (_, expected, worst) = known.unwrap_or_else(|| panic!("{name} has no price any more"));
        (*expected, *worst)
    }
}

#[test]
fn cost_table_matches_juror_estimate() {
    let harness = CommandHarness::new();
    let ordinary = Costs::estimated(&harness, &[]);
    // Models without a price in this lane are listed at the realtime price.
    let flex = Costs::estimated(&harness, &["--lane", "flex", "--model", "gpt-5-mini"]);
    let batches = Costs::estimated(&harness, &["--lane", "batch"]);
    let row = |name: &str| {
        let (expected, worst) = ordinary.of(name);
        let thousand = |cost: f64| format!("${:.2}", cost * 1_000.0);
        let none = || "–".to_owned();
        let flex =
            Some(flex.of(name).0).filter(|cost| *cost < expected).map_or_else(none, thousand);
        let has_batches = name.starts_with("gpt-");
        let batches = if has_batches { thousand(batches.of(name).0) } else { none() };
        format!(
            "| `{name}` | ${expected:.4} | ${worst:.4} | ${:.2} | ${:.0} | {} | {flex} | {batches} |",
            expected * RUN,
            expected * RUN * NIGHTS,
            thousand(expected)
        )
    };
    let page = fs::read_to_string(repository("docs/cost.md")).unwrap();
    let (_, table) = page.split_once("<!-- cost table").unwrap();
    let lines = table.lines().skip_while(|line| !line.starts_with('|'));
    let lines = lines.take_while(|line| line.starts_with('|'));
    let rows: Vec<&str> = lines.filter(|line| line.starts_with("| `")).collect();
    assert!(rows.len() >= 10, "the table has {} rows", rows.len());
    for written in rows {
        let name = written.split('`').nth(1).unwrap();
        assert_eq!(written, row(name), "docs/cost.md, the row of {name}");
    }
    assert_eq!(ordinary.models[0].0, "gpt-4o", "the page begins with the default model");
}

/// Estimate of the model of a run with these flags.
fn estimate_of(harness: &CommandHarness, simulator: &TestSimulator, flags: &[&str]) -> Value {
    let url = simulator.base_url();
    let estimate = ["estimate", "manifest.jsonl", "--json", "--base-url", &url];
    harness.juror(&[&estimate, flags].concat()).exits(0).json()["models"][0].take()
}

#[test]
fn estimate_of_each_lane_matches_its_bill_after_one_run() {
    for lane in ["realtime", "flex", "batch", "mixed"] {
        let harness = CommandHarness::with_items(30);
        let simulator = TestSimulator::new();
        let flags = ["--model", "gpt-5-mini", "--lane", lane, "--no-cache"];
        let estimated = || {
            let model = estimate_of(&harness, &simulator, &flags);
            let is_batched = ["batch", "mixed"].contains(&lane);
            assert_eq!(model["seconds"] == 86_400.0, is_batched, "{lane}: {model}");
            dollars(&model["expected_usd"])
        };
        let bill = || simulator.bill() as f64 / 1e12;
        harness.judge_run(&simulator, "first", &flags).exits(0);
        let (first, estimate) = (bill(), estimated());
        harness.judge_run(&simulator, "second", &flags).exits(0);
        let second = bill() - first;
        assert!(second > 0.0, "{lane}: the second run makes calls again");
        let ratio = estimate / second;
        assert!((0.95..1.05).contains(&ratio), "{lane}: estimated {estimate}, billed {second}");
    }
}

/// Writes a dataset of this many screenshots of 1280 × 800 pixels with a button that has another
/// color in every other render.
fn write_rendered_items(harness: &CommandHarness, count: u32) {
    let page = |button: [u8; 3]| {
        let picture = image::RgbImage::from_fn(1280, 800, |x, y| {
            let is_button = (40..200).contains(&x) && (60..110).contains(&y);
            image::Rgb(if is_button { button } else { [255; 3] })
        });
        let mut bytes = std::io::Cursor::new(Vec::new());
        picture.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
        bytes.into_inner()
    };
    harness.write("shot.png", page([0x1d, 0x4e, 0xd8]));
    harness.write("equal.png", page([0x1d, 0x4e, 0xd8]));
    harness.write("red.png", page([0xd8, 0x1d, 0x1d]));
    let lines = (0..count).map(|number| {
        let line = json!({
            "id": format!("item_{number:04}"), "screenshot": "shot.png",
            "rendered": if number % 2 == 0 { "red.png" } else { "equal.png" },
            "generated_code": format!("<button>Number {number:04}</button>"), "language": "html",
            "expected_tokens": { "color.primary": "#1D4ED8" },
        });
        format!("{line}\n")
    });
    harness.write("manifest.jsonl", lines.collect::<String>());
}

/// Estimates count a contact sheet of maximum size for every item; half of these have none.
#[test]
fn evidence_estimate_is_within_a_fifth_of_its_bill_after_one_run() {
    for mode in ["facts", "full"] {
        let harness = CommandHarness::new();
        let simulator = TestSimulator::new();
        write_rendered_items(&harness, 30);
        let flags = ["--model", "gpt-4o", "--no-cache", "--evidence", mode];
        let estimated = || {
            let model = estimate_of(&harness, &simulator, &flags);
            (dollars(&model["expected_usd"]), dollars(&model["worst_case_usd"]))
        };
        let bill = || simulator.bill() as f64 / 1e12;
        harness.judge_run(&simulator, "first", &flags).exits(0);
        let (first, (expected, worst)) = (bill(), estimated());
        harness.judge_run(&simulator, "second", &flags).exits(0);
        let second = bill() - first;
        let ratio = expected / second;
        assert!((0.8..1.2).contains(&ratio), "{mode}: estimated {expected}, billed {second}");
        assert!(worst > second, "{mode}: at worst {worst}, billed {second}");
        let booked = &harness.report("second")["cost"]["worst_case_usd"];
        assert!(worst >= dollars(booked), "{mode}: at worst {worst}, reserved {booked}");
    }
}

#[test]
fn evidence_cost_table_matches_juror_estimate() {
    let harness = CommandHarness::new();
    harness.write("shot.png", png(7, 1440, 900));
    harness.write("render.png", png(8, 1440, 900));
    let line = json!({
        "id": "page", "screenshot": "shot.png", "rendered": "render.png",
        "generated_code": "<button>Save</button>", "language": "html",
        "expected_tokens": { "color.primary": "#1D4ED8" },
    });
    harness.write("manifest.jsonl", format!("{line}\n"));
    let cost = |mode: &str| {
        let arguments = ["estimate", "manifest.jsonl", "--json", "--evidence", mode];
        let reported = harness.juror(&arguments).exits(0);
        let estimate = reported.json();
        let model = &estimate["models"][0];
        assert_eq!(model["model"], "gpt-4o");
        (dollars(&model["expected_usd"]), dollars(&model["worst_one_call_usd"]))
    };
    let (expected, worst) = cost("none");
    let page = fs::read_to_string(repository("docs/cost.md")).unwrap();
    for mode in ["facts", "full"] {
        let (more_expected, more_worst) = cost(mode);
        let row =
            format!("| `{mode}` | ${:.4} | ${:.4} |", more_expected - expected, more_worst - worst);
        assert!(page.contains(&row), "docs/cost.md lacks {row}");
    }
}
