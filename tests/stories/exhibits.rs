//! Which pictures and code a page has, and what it says where it has none.

use crate::workshop::{Workshop, png, write_items};
use juror_common::id::Digest;
use serde_json::json;
use std::fs;

/// A run of so many items without a judge, and its page.
fn reported(count: u32) -> (Workshop, String) {
    let workshop = Workshop::new();
    write_items(&workshop, count);
    workshop.juror(&["run", "manifest.jsonl", "--run-id", "first", "-o", "page.html"]).exits(0);
    let page = fs::read_to_string(workshop.path("page.html")).unwrap();
    (workshop, page)
}

fn again(workshop: &Workshop) -> String {
    workshop.juror(&["report", "first", "-o", "page.html"]).exits(0);
    fs::read_to_string(workshop.path("page.html")).unwrap()
}

#[test]
fn a_page_shows_every_picture_and_all_code() {
    let (_workshop, page) = reported(3);
    assert_eq!(page.matches("src=\"data:image/png;base64,").count(), 3);
    assert_eq!(page.matches("Number 2&lt;/button&gt;").count(), 1);
    assert!(!page.contains("No picture") && !page.contains("No code"));
}

#[test]
fn a_picture_that_is_another_one_now_is_not_shown() {
    let (workshop, _) = reported(3);
    workshop.write("shots/0000.png", png(77, 64, 32));
    fs::remove_file(workshop.path("shots/0001.png")).unwrap();
    let page = again(&workshop);
    // Without a judge nobody read the pictures, so no digest tells that one was replaced.
    assert_eq!(page.matches("src=\"data:image/png;base64,").count(), 2);
    assert_eq!(page.matches("No picture: shots/0001.png: no such file").count(), 1);

    let workshop = Workshop::new();
    workshop.juror(&["demo", "--run-id", "first"]).exits(0);
    workshop.write("runs/golden/shots/tabs.png", png(77, 64, 32));
    let page = again(&workshop);
    assert_eq!(page.matches("No picture: the file has changed since it was judged").count(), 1);
    assert_eq!(page.matches("src=\"data:image/").count(), 26);
}

#[test]
fn code_that_is_another_one_now_is_not_shown_in_the_place_of_what_was_judged() {
    let workshop = Workshop::new();
    workshop.write("shot.png", png(1, 8, 8));
    workshop.write("a.tsx", "export const A = () => <b>judged</b>;");
    workshop.write("t.json", r#"{"gap": "4px"}"#);
    let line = json!({"id": "a", "screenshot": "shot.png", "generated_code": "a.tsx",
                      "expected_tokens": "t.json", "extracted_tokens": {"gap": "4px"}});
    workshop.write("manifest.jsonl", format!("{line}\n"));
    let flags = ["run", "manifest.jsonl", "--run-id", "first", "-o", "page.html"];
    workshop.juror(&flags).exits(0);
    let inputs = workshop.result("first", "a")["item"]["inputs"].clone();
    let named: Vec<_> = inputs.as_array().unwrap().iter().map(|input| &input["name"]).collect();
    assert_eq!(named, ["screenshot", "generated_code", "expected_tokens", "extracted_tokens"]);
    assert_eq!((&inputs[1]["ref"], &inputs[3]["ref"]), (&json!("a.tsx"), &json!("inline")));
    let code = Digest::of(b"export const A = () => <b>judged</b>;");
    assert_eq!(inputs[1]["digest"], json!(code));
    assert_eq!(inputs[2]["digest"], inputs[3]["digest"], "tokens are compared flat");

    workshop.write("a.tsx", "export const A = () => <b>newer</b>;");
    let page = again(&workshop);
    assert!(page.contains("No code: the file has changed since it was judged"), "{page}");
    assert!(!page.contains("newer"));
    workshop.write("a.tsx", "\u{feff}export const A = () => <b>judged</b>;");
    assert!(
        again(&workshop).contains("&lt;b&gt;judged&lt;/b&gt;"),
        "a byte order mark is no change"
    );
}

#[test]
fn nothing_is_shown_of_a_dataset_that_is_another_one_now() {
    let (workshop, _) = reported(3);
    let manifest = workshop.path("manifest.jsonl");
    let text = fs::read_to_string(&manifest).unwrap().replace("Number 2", "Number 9");
    fs::write(manifest, text).unwrap();
    let page = again(&workshop);
    let reason = "No picture: the dataset has changed since it was judged";
    assert_eq!(page.matches(reason).count(), 3);
    assert!(!page.contains("data:image") && !page.contains("Number 9"));
    fs::remove_file(workshop.path("manifest.jsonl")).unwrap();
    assert_eq!(again(&workshop).matches("the dataset cannot be read from here").count(), 3);
}

#[test]
fn a_command_that_makes_the_code_leaves_none_to_show() {
    let workshop = Workshop::new();
    write_items(&workshop, 2);
    let settings = "[stages]\npipeline_command = [\"sh\", \"-c\", \"echo '{}'\"]\n";
    workshop.write("juror.toml", settings);
    let flags = ["run", "manifest.jsonl", "--run-id", "first", "-o", "page.html"];
    workshop.juror(&flags).exits(0);
    let page = fs::read_to_string(workshop.path("page.html")).unwrap();
    assert_eq!(page.matches("No code: a pipeline command made what was judged").count(), 2);
}
