//! Measured evidence: rendered code compared with its screenshot.

mod browser;
mod card;
mod component;
mod frames;
mod golden;
#[cfg(target_os = "linux")]
mod hostile;
#[cfg(target_os = "linux")]
mod hostile_pages;
mod other_browser;
mod render_cache;
mod renderer;

use crate::harness::{CommandHarness, Recorder, completion, semantic_verdict, verdict};
use base64::Engine as _;
use serde_json::{Value, json};
use std::io::Cursor;

/// Image of a box in this color on white.
fn box_in(color: [u8; 3]) -> Vec<u8> {
    let picture = image::RgbImage::from_fn(96, 64, |x, y| {
        let is_inside = (16..64).contains(&x) && (16..40).contains(&y);
        image::Rgb(if is_inside { color } else { [255; 3] })
    });
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    bytes.into_inner()
}

const BLUE: [u8; 3] = [0x1d, 0x4e, 0xd8];
const RED: [u8; 3] = [0xd8, 0x1d, 0x1d];

/// Writes a dataset of one item with these further fields.
fn write_item(harness: &CommandHarness, fields: &Value) {
    harness.write("shot.png", box_in(BLUE));
    let mut line = json!({"id": "card", "screenshot": "shot.png",
                          "generated_code": "<p>text</p>\n", "language": "html"});
    for (name, value) in fields.as_object().unwrap() {
        line[name] = value.clone();
    }
    harness.write("manifest.jsonl", format!("{line}\n"));
}

#[test]
fn unavailable_evidence_is_refused_by_flag_and_warned_of_by_setting() {
    let harness = CommandHarness::new();
    write_item(&harness, &json!({}));
    let without_browser = "[render]\nbrowser = \"no-such-browser\"\n";
    harness.write("juror.toml", without_browser);
    let refused = harness.juror(&["run", "manifest.jsonl", "--evidence", "facts"]).exits(2);
    refused.stderr_contains(&[
        "--evidence facts has nothing to measure",
        "rendered",
        "apt-get install",
        "render_command",
    ]);
    harness.write("juror.toml", format!("{without_browser}[evidence]\nmode = \"facts\"\n"));
    let warned = harness.juror(&["run", "manifest.jsonl", "--run-id", "set"]).exits(0);
    warned.stderr_contains(&["measures nothing"]);
    assert!(harness.result("set", "card")["evidence"].is_null());
}

#[test]
fn missing_renderer_file_is_refused_by_flag() {
    let harness = CommandHarness::new();
    write_item(&harness, &json!({}));
    // The browser is available, so that only the file is invalid.
    let browser = harness.write("browser", "");
    for setting in ["stylesheet", "modules"] {
        let settings = format!("[render]\nbrowser = {browser:?}\n{setting} = \"gone\"\n");
        harness.write("juror.toml", settings);
        let refused = harness.juror(&["run", "manifest.jsonl", "--evidence", "facts"]).exits(2);
        let named = format!("--evidence facts: render.{setting}: ");
        refused.stderr_contains(&[
            &named,
            "gone",
            "No such file",
            "correct the path, or remove it",
        ]);
    }
}

#[test]
fn resume_keeps_the_evidence_mode_and_reports_a_different_one() {
    let harness = CommandHarness::new();
    harness.write("render.png", box_in(BLUE));
    write_item(&harness, &json!({"rendered": "render.png", "props": {"label": "Save"}}));
    harness.juror(&["run", "manifest.jsonl", "--run-id", "first", "--evidence", "facts"]).exits(0);
    let record = std::fs::read(harness.path("runs/first/run.json")).unwrap();
    let record: Value = serde_json::from_slice(&record).unwrap();
    assert_eq!(record["evidence"], "facts");
    harness.juror(&["run", "--resume", "first"]).exits(0);
    let other = harness.juror(&["run", "--resume", "first", "--evidence", "full"]).exits(2);
    other.stderr_contains(&["its evidence is facts, but full is requested"]);
}

#[test]
fn missing_rendered_image_is_reported_with_its_line() {
    let harness = CommandHarness::new();
    write_item(&harness, &json!({"rendered": "gone.png"}));
    let refused = harness.juror(&["run", "manifest.jsonl"]).exits(2);
    refused.stderr_contains(&["line 1", "\"rendered\"", "gone.png"]);
}

#[test]
fn rendered_image_of_an_item_is_measured_without_a_judge() {
    let harness = CommandHarness::new();
    harness.write("render.png", box_in(RED));
    write_item(&harness, &json!({"rendered": "render.png"}));
    let run = harness.juror(&["run", "manifest.jsonl", "--run-id", "first", "--evidence", "facts"]);
    run.exits(0).stdout_contains(&["MEASURED", "Pixels Equal", "color in 1"]);
    let result = harness.result("first", "card");
    let evidence = &result["evidence"];
    assert_eq!(evidence["source"], "rendered");
    assert_eq!(evidence["regions"][0]["box"], json!([16, 16, 48, 24]));
    assert_eq!(evidence["regions"][0]["kind"], "color");
    assert_eq!(evidence["pixels_equal"], 0.8125);
    assert!(result["generation"].get("renders").is_none(), "it was there already");
    let names: Vec<_> = result["item"]["inputs"].as_array().unwrap().iter().collect();
    assert!(
        names.iter().any(|input| input["name"] == "rendered" && input["digest"].is_string()),
        "{names:?}"
    );
    let report = harness.report("first");
    assert_eq!(report["overall"]["evidence"]["pixels_equal"], 0.8125);
    assert_eq!(report["evidence"]["differing"], 1);
}

#[test]
fn images_are_compared_without_code_and_judge() {
    let harness = CommandHarness::new();
    harness.write("shot.png", box_in(BLUE));
    harness.write("render.png", box_in(RED));
    let line = json!({"id": "card", "screenshot": "shot.png", "rendered": "render.png"});
    harness.write("manifest.jsonl", format!("{line}\n"));
    let refused = harness.juror(&["run", "manifest.jsonl"]).exits(2);
    refused.stderr_contains(&[
        "nothing in manifest.jsonl can be evaluated",
        "or --evidence facts to compare",
    ]);
    let run = harness.juror(&["run", "manifest.jsonl", "--run-id", "first", "--evidence", "facts"]);
    run.exits(0).stdout_contains(&["Pixels Equal", "color in 1"]);
    assert_eq!(harness.result("first", "card")["evidence"]["pixels_equal"], 0.8125);
}

#[test]
fn custom_renderer_renders_or_reports_why_not() {
    let harness = CommandHarness::new();
    harness.write("drawn.png", box_in(BLUE));
    write_item(&harness, &json!({}));
    let script = r#"
grep -q '"id":"card"' || exit 5
grep -q text "$1" || exit 6
cp drawn.png "$2"
"#;
    harness.write("render.sh", script);
    let settings = |program: &str| {
        format!("[stages]\nrender_command = [{program}, \"{{file}}\", \"{{output}}\"]\n")
    };
    harness.write("juror.toml", settings("\"sh\", \"render.sh\""));
    let run_facts = |run: &str| {
        harness.juror(&["run", "manifest.jsonl", "--evidence", "full", "--run-id", run]).exits(0)
    };
    run_facts("drawn");
    let result = harness.result("drawn", "card");
    assert_eq!(result["evidence"]["source"], "command");
    assert_eq!(result["evidence"]["regions"], json!([]));
    assert_eq!(result["generation"]["renders"], true);
    let kept = std::fs::read_dir(harness.path("runs/.renders")).unwrap().count();
    assert_eq!(kept, 1, "the picture is kept by its digest");

    harness.write("render.sh", "echo 'ReferenceError: x is not a function' >&2; exit 1");
    run_facts("thrown").stdout_contains(&["does not render"]);
    let result = harness.result("thrown", "card");
    assert_eq!(result["outcome"], "scored");
    assert_eq!(result["evidence"], json!({"error": "ReferenceError: x is not a function"}));
    assert_eq!(result["generation"]["renders"], false);
    assert_eq!(result["pipeline_success"], false);

    harness.write("juror.toml", settings("\"no-such-renderer\""));
    run_facts("absent")
        .stderr_contains(&["no-such-renderer: cannot be started", "without measured evidence"]);
    assert!(harness.result("absent", "card")["evidence"].is_null());
}

#[test]
fn judge_receives_facts_and_on_request_the_image() {
    for (mode, images) in [("none", 1), ("facts", 1), ("full", 3)] {
        let harness = CommandHarness::new();
        let judge = Recorder::start(vec![completion(&verdict(10), 1_500, 60)]);
        harness.write("render.png", box_in(RED));
        write_item(&harness, &json!({"rendered": "render.png"}));
        harness.judge(&judge.base_url(), "manifest.jsonl", &["--evidence", mode]).exits(0);
        let result = harness.result("first", "card");
        assert_eq!(result["evidence"].is_null(), mode == "none");
        let rubric = if mode == "none" { "semantic@2" } else { "semantic-evidence@1" };
        assert_eq!(result["semantic"]["rubric"], rubric);
        let request = judge.requests().pop().unwrap();
        let content = request["messages"][1]["content"].as_array().unwrap().clone();
        let sent = content.iter().filter(|part| part["type"] == "image_url").count();
        assert_eq!(sent, images, "{mode}");
        let reported = content.iter().any(|part| {
            let text = part["text"].as_str().unwrap_or_default();
            text.contains("1. region at 16, 16, 48, 24: another color")
        });
        assert_eq!(reported, mode != "none");
        let contradictions = &result["semantic"]["contradictions"];
        match mode {
            "none" => assert!(contradictions.is_null()),
            _ => assert_eq!(*contradictions, json!(["similarity_against_evidence"])),
        }
    }
}

#[test]
fn judge_receives_stored_crops_of_the_regions_and_none_without_a_region() {
    let harness = CommandHarness::new();
    let judge = Recorder::start(vec![completion(&verdict(10), 1_500, 60)]);
    harness.write("render.png", box_in(RED));
    write_item(&harness, &json!({"rendered": "render.png"}));
    let flags = ["--evidence", "full", "--keep-inputs", "-o", "page.html"];
    harness.judge(&judge.base_url(), "manifest.jsonl", &flags).exits(0);
    let request = judge.requests().pop().unwrap();
    let content = request["messages"][1]["content"].as_array().unwrap().clone();
    let mut sent = content.iter().filter_map(|part| part["image_url"]["url"].as_str());
    let sheet =
        sent.next_back().unwrap().strip_prefix("data:image/png;base64,").unwrap().to_owned();
    let sheet = base64::engine::general_purpose::STANDARD.decode(sheet).unwrap();
    let picture = image::load_from_memory(&sheet).unwrap().into_rgb8();
    // The box of 48 x 24 pixels with a margin of 8, three times as large, below its number.
    assert_eq!(picture.dimensions(), (8 + 192 + 8, 8 + 24 + 120 + 3 + 120 + 8));
    assert_eq!(picture.get_pixel(8 + 96, 8 + 24 + 60).0, BLUE);
    assert_eq!(picture.get_pixel(8 + 96, 8 + 24 + 120 + 3 + 60).0, RED);
    let result = harness.result("first", "card");
    let images: Vec<_> = result["item"]["inputs"].as_array().unwrap().iter().take(3).collect();
    let named: Vec<_> = images.iter().map(|image| image["name"].as_str().unwrap()).collect();
    assert_eq!(named, ["screenshot", "rendered", "crops"]);
    assert_eq!(images[2]["ref"], "evidence");
    let digest = juror_types::id::Digest::from_content(&sheet).to_string();
    assert_eq!(images[2]["digest"], digest);
    assert!(harness.path("runs/first/inputs").join(&digest).is_file());
    let page = std::fs::read_to_string(harness.path("page.html")).unwrap();
    assert_eq!(page.matches("src=\"data:image/").count(), 3);
    assert_eq!(page.matches("class=\"pictures compared\"").count(), 1, "the pair is compared");

    let harness = CommandHarness::new();
    let judge = Recorder::start(vec![completion(&verdict(10), 1_500, 60)]);
    harness.write("render.png", box_in(BLUE));
    write_item(&harness, &json!({"rendered": "render.png"}));
    harness.judge(&judge.base_url(), "manifest.jsonl", &["--evidence", "full"]).exits(0);
    let request = judge.requests().pop().unwrap();
    let content = request["messages"][1]["content"].as_array().unwrap().clone();
    assert_eq!(content.iter().filter(|part| part["type"] == "image_url").count(), 2);
}

#[test]
fn cited_region_is_linked_and_an_unknown_one_is_dropped() {
    let harness = CommandHarness::new();
    let mut answer: Value =
        serde_json::from_str(&semantic_verdict([7; 5], &["red", "round", "late"], &[])).unwrap();
    for (finding, region) in [json!(1), json!(2), json!("1")].into_iter().enumerate() {
        answer["findings"][finding]["region"] = region;
    }
    let judge = Recorder::start(vec![completion(&answer.to_string(), 1_500, 60)]);
    harness.write("render.png", box_in(RED));
    write_item(&harness, &json!({"rendered": "render.png"}));
    let flags = ["--evidence", "facts", "-o", "page.html"];
    harness.judge(&judge.base_url(), "manifest.jsonl", &flags).exits(0);
    let request = judge.requests().pop().unwrap();
    let schema = &request["response_format"]["json_schema"]["schema"];
    let finding = &schema["properties"]["findings"]["items"];
    assert_eq!(finding["properties"]["region"]["type"], "integer");
    let findings = harness.result("first", "card")["semantic"]["findings"].clone();
    assert_eq!(findings.as_array().unwrap().len(), 3);
    let regions: Vec<_> = (0..3).map(|number| &findings[number]["region"]).collect();
    assert_eq!(regions, [&json!(1), &Value::Null, &Value::Null]);
    let page = std::fs::read_to_string(harness.path("page.html")).unwrap();
    for link in ["href=\"#i0-box-1\"", "id=\"i0-box-1\" href=\"#i0-finding-1\""] {
        assert_eq!(page.matches(link).count(), 1, "{link}");
    }
    assert_eq!(page.matches("href=\"#i0-finding-1\"").count(), 3, "both boxes and the fact");
}

#[test]
fn gate_reports_measured_metrics() {
    let harness = CommandHarness::new();
    harness.write("render.png", box_in(RED));
    write_item(&harness, &json!({"rendered": "render.png"}));
    let gate = |bound: f64| {
        let gate = format!("[[rule]]\nmetric = \"evidence.pixels_equal\"\nat_least = {bound}\n");
        harness.write("gate.toml", format!("schema = 1\n{gate}"));
        ["run", "manifest.jsonl", "--evidence", "facts", "--gate", "gate.toml"]
    };
    harness.juror(&gate(0.8)).exits(0);
    harness.juror(&gate(0.98)).exits(100).stdout_contains(&["Pixels Equal"]);
}
