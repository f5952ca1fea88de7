//! Components in the middle or the frame of a page.

use super::{
    card::{Card, at_double_pixel_density},
    component::{BUTTON, drawn},
};
use crate::harness::CommandHarness;
use serde_json::json;

#[test]
fn component_in_a_padded_page_has_no_region_and_its_frame_is_reported() {
    let page = BUTTON.replace(
        "<Card title={title}>",
        "<div style={{ minHeight: '100vh', boxSizing: 'border-box', padding: 24, background: '#f1f5f9' }}><Card title={title}>",
    );
    let page = page.replace("</Card>\n  );", "</Card></div>\n  );");
    let card = drawn(&page);
    card.write_code(BUTTON, "tsx");
    let framed = card.run("framed", 0);
    assert_eq!(framed["evidence"]["frame"], json!({"padding": 24, "color": "#F1F5F9"}));
    assert_eq!(framed["evidence"]["regions"], json!([]));
    // Differences in the frame are still found, at the responsible element.
    card.write_code(&BUTTON.replace("#1d4ed8", "#16a34a"), "tsx");
    let planted = card.run("planted", 0);
    assert_eq!(planted["evidence"]["frame"]["padding"], 24);
    let region = &planted["evidence"]["regions"][0];
    assert_eq!(
        (&region["element"]["tag"], &region["property"]),
        (&json!("button"), &json!("background-color"))
    );
}

/// A page with a card in a box of this style, and the code of the card as a component.
fn storage_card(around: &str) -> (String, &'static str) {
    let page = format!(
        "<body style='margin: 0'><div style='background: #f1f5f9; min-height: 100vh; \
         box-sizing: border-box; {around}'><section style='padding: 20px; \
         font: 14px/20px Arial; border: 1px solid #cbd5e1; border-radius: 12px; \
         background: #fff'><h2 style='margin: 0 0 8px; font-size: 18px'>Storage of \
         Noor</h2><p style='margin: 0'>Photos 84 GB</p><p style='margin: 0'>Mail 12 GB</p>\
         <p style='margin: 0'>Video 51 GB</p></section></div>"
    );
    let code = "const line = { margin: 0 };\nexport default () => <section style={{ padding: 20, \
                font: '14px/20px Arial', border: '1px solid #cbd5e1', borderRadius: 12, \
                background: '#fff' }}><h2 style={{ margin: '0 0 8px', fontSize: 18 }}>Storage of \
                Noor</h2><p style={line}>Photos 84 GB</p><p style={line}>Mail 12 GB</p>\
                <p style={line}>Video 51 GB</p></section>;\n";
    (page, code)
}

#[test]
fn frame_of_a_component_is_found_at_double_density() {
    let (page, code) = storage_card("padding: 32px");
    let card = Card(CommandHarness::new());
    card.write("shot.png", at_double_pixel_density(&page, [240, 200]));
    card.write_code(code, "tsx");
    let evidence = &card.run("double", 0)["evidence"];
    assert_eq!(evidence["frame"], json!({"padding": 32, "color": "#F1F5F9"}));
    assert_eq!((&evidence["scale"], &evidence["regions"]), (&json!(2), &json!([])));
}

#[test]
fn component_in_the_middle_of_its_page_has_no_region() {
    let (page, code) = storage_card("display: flex; align-items: center; justify-content: center");
    let frame = json!({"padding": 0, "centered": true, "color": "#F1F5F9"});
    let card = Card::of_code(&page, "html");
    card.write_code(code, "tsx");
    let evidence = &card.run("single", 0)["evidence"];
    assert_eq!((&evidence["frame"], &evidence["regions"]), (&frame, &json!([])));
    // A planted difference is still found there, at either density.
    let planted = code.replace("borderRadius: 12", "borderRadius: 4");
    card.write("shot.png", at_double_pixel_density(&page, [320, 200]));
    card.write_code(&planted, "tsx");
    let evidence = &card.run("double", 0)["evidence"];
    assert_eq!((&evidence["frame"], &evidence["scale"]), (&frame, &json!(2)));
    let region = &evidence["regions"][0];
    let expected = (&json!("section"), &json!("border-radius"), &json!("12px"));
    let named = (&region["element"]["tag"], &region["property"], &region["should_be"]);
    assert_eq!(named, expected, "{evidence}");
}

#[test]
fn element_without_room_in_the_code_is_to_be_displayed() {
    let (page, _) = storage_card("padding: 24px");
    let card = Card(CommandHarness::new());
    card.write("shot.png", at_double_pixel_density(&page, [320, 220]));
    card.write_code(
        &page.replace("<p style='margin: 0'>Mail", "<p style='margin: 0; display: none'>Mail"),
        "html",
    );
    let region = &card.run("hidden", 0)["evidence"]["regions"][0];
    let named = ["kind", "property", "is", "should_be", "explains"].map(|field| &region[field]);
    assert_eq!(json!(named), json!(["missing", "display", "none", "block", 1.0]), "{region}");
}
