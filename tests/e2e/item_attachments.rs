//! Images and code on a report page, and the notes for missing ones.

use crate::harness::{CommandHarness, png};
use juror_types::id::Digest;
use serde_json::json;
use std::fs;

/// Run of this many items without a judge, and its page.
fn reported(count: u32) -> (CommandHarness, String) {
    let harness = CommandHarness::with_items(count);
    harness.juror(&["run", "manifest.jsonl", "--run-id", "first", "-o", "page.html"]).exits(0);
    let page = fs::read_to_string(harness.path("page.html")).unwrap();
    (harness, page)
}

fn again(harness: &CommandHarness) -> String {
    harness.juror(&["report", "first", "-o", "page.html"]).exits(0);
    fs::read_to_string(harness.path("page.html")).unwrap()
}

#[test]
fn page_shows_every_image_and_all_code() {
    let (_workshop, page) = reported(3);
    assert_eq!(page.matches("src=\"data:image/png;base64,").count(), 3);
    assert_eq!(page.matches("Number 2&lt;/button&gt;").count(), 1);
    assert!(!page.contains("No picture") && !page.contains("No code"));
}

#[test]
fn changed_image_is_not_shown() {
    let (harness, _) = reported(3);
    harness.write("shots/0000.png", png(77, 64, 32));
    fs::remove_file(harness.path("shots/0001.png")).unwrap();
    let page = again(&harness);
    // Without a judge the images have no digest that shows a replacement.
    assert_eq!(page.matches("src=\"data:image/png;base64,").count(), 2);
    assert_eq!(page.matches("No picture: shots/0001.png: no such file").count(), 1);

    let harness = CommandHarness::new();
    harness.juror(&["demo", "--evidence", "none", "--run-id", "first"]).exits(0);
    harness.write("runs/golden/shots/tabs.png", png(77, 64, 32));
    let page = again(&harness);
    assert_eq!(page.matches("No picture: the file has changed since it was judged").count(), 1);
    assert_eq!(page.matches("src=\"data:image/").count(), 26);
}

#[test]
fn changed_code_is_not_shown_as_judged() {
    let harness = CommandHarness::new();
    harness.write("shot.png", png(1, 8, 8));
    harness.write("a.tsx", "export const A = () => <b>judged</b>;");
    harness.write("t.json", r#"{"gap": "4px"}"#);
    let line = json!({"id": "a", "screenshot": "shot.png", "generated_code": "a.tsx",
                      "expected_tokens": "t.json", "extracted_tokens": {"gap": "4px"}});
    harness.write("manifest.jsonl", format!("{line}\n"));
    let flags = ["run", "manifest.jsonl", "--run-id", "first", "-o", "page.html"];
    harness.juror(&flags).exits(0);
    let inputs = harness.result("first", "a")["item"]["inputs"].clone();
    let named: Vec<_> = inputs.as_array().unwrap().iter().map(|input| &input["name"]).collect();
    assert_eq!(named, ["screenshot", "generated_code", "expected_tokens", "extracted_tokens"]);
    assert_eq!((&inputs[1]["ref"], &inputs[3]["ref"]), (&json!("a.tsx"), &json!("inline")));
    let code = Digest::from_content(b"export const A = () => <b>judged</b>;");
    assert_eq!(inputs[1]["digest"], json!(code));
    assert_eq!(inputs[2]["digest"], inputs[3]["digest"], "tokens are compared flat");

    harness.write("a.tsx", "export const A = () => <b>newer</b>;");
    let page = again(&harness);
    assert!(page.contains("No code: the file has changed since it was judged"), "{page}");
    assert!(!page.contains("newer"));
    harness.write("a.tsx", "\u{feff}export const A = () => <b>judged</b>;");
    assert!(
        again(&harness).contains("&lt;b&gt;judged&lt;/b&gt;"),
        "a byte order mark is no change"
    );
}

#[test]
fn changed_dataset_is_not_shown() {
    let (harness, _) = reported(3);
    let manifest = harness.path("manifest.jsonl");
    let text = fs::read_to_string(&manifest).unwrap().replace("Number 2", "Number 9");
    fs::write(manifest, text).unwrap();
    let page = again(&harness);
    let reason = "No picture: the dataset has changed since it was judged";
    assert_eq!(page.matches(reason).count(), 3);
    assert!(!page.contains("data:image") && !page.contains("Number 9"));
    fs::remove_file(harness.path("manifest.jsonl")).unwrap();
    assert_eq!(again(&harness).matches("the dataset cannot be read on this machine").count(), 3);
}

#[test]
fn code_from_a_command_is_not_available_to_show() {
    let harness = CommandHarness::with_items(2);
    let command = r#"["sh", "-c", '''echo '{"quality_score": 1}' ''']"#;
    let settings = format!("[stages]\npipeline_command = {command}\n");
    harness.write("juror.toml", settings);
    let flags = ["run", "manifest.jsonl", "--run-id", "first", "-o", "page.html"];
    harness.juror(&flags).exits(0);
    let page = fs::read_to_string(harness.path("page.html")).unwrap();
    assert_eq!(page.matches("No code: a pipeline command made what was judged").count(), 2);
}
