//! Unusual, damaged and dangerous images in one dataset.

use crate::{
    errors::check_costs,
    harness::{CommandHarness, TestSimulator, repository},
};
use serde_json::{Value, json};
use std::fs;

/// Images that cannot be decoded faithfully, with their messages. All others are judged.
const REFUSED: [(&str, &str); 11] = [
    ("apng__syntax_num_frames_zero.png", "it has no image data"),
    ("broken.png", "the file ends early"),
    ("decompression_bomb.ico", "this is a Windows icon: use a PNG"),
    ("image-rs-Bad_height.bmp", "its pixels are fewer"),
    ("image-rs-Bad_reallybig.bmp", "its pixels are fewer"),
    ("image-rs-oom-0d0085eb7f66ea55d9119206235cd29e089b9140.ico", "a Windows icon"),
    ("image-rs-oss-fuzz-36829.jpeg", "a marker is damaged"),
    ("libpng-huge_zTXt_chunk.png", "the file ends early"),
    ("truncated_jpeg.jpg", "the file ends early"),
    ("empty.png", "an empty file"),
    ("bomb.png", "60000"),
];

/// Image of 60,000 by 60,000 pixels in half a megabyte.
fn bomb() -> Vec<u8> {
    let mut bomb = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut chunk = |kind: &[u8; 4], content: &[u8]| {
        bomb.extend((content.len() as u32).to_be_bytes());
        let checked = [kind.as_slice(), content].concat();
        bomb.extend(&checked);
        bomb.extend(crc32(&checked).to_be_bytes());
    };
    let side = 60_000_u32.to_be_bytes();
    chunk(b"IHDR", &[&side[..], &side[..], &[1, 0, 0, 0, 0]].concat());
    let mut data = vec![0; 440_000];
    data[..2].copy_from_slice(&[0x78, 0x9c]);
    chunk(b"IDAT", &data);
    chunk(b"IEND", &[]);
    bomb
}

/// <https://www.w3.org/TR/png-3/#D-CRCAppendix>
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            let low = crc & 1;
            (crc >> 1) ^ (0xedb8_8320 * low)
        })
    })
}

/// Writes the dataset and returns the names of the images.
fn write_dataset(harness: &CommandHarness) -> Vec<String> {
    harness.write("shots/empty.png", "");
    harness.write("shots/bomb.png", bomb());
    for entry in fs::read_dir(repository("worker/image/tests-data/hostile")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        harness.write(&format!("shots/{name}"), fs::read(entry.path()).unwrap());
    }
    let names: Vec<String> = fs::read_dir(harness.path("shots"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let line = |name: &String| {
        let shot = format!("shots/{name}");
        format!("{}\n", json!({"id": name, "screenshot": shot, "generated_code": "<p>a</p>"}))
    };
    harness.write("manifest.jsonl", names.iter().map(line).collect::<String>());
    names
}

#[test]
fn hostile_images_are_judged_or_refused_independently() {
    let harness = CommandHarness::new();
    let names = write_dataset(&harness);
    let (all, refused) = (names.len(), REFUSED.len());
    assert_eq!(all, 32);
    let simulator = TestSimulator::new();
    let run = harness.judge(&simulator.base_url(), "manifest.jsonl", &[]).exits(3);
    run.stdout_contains(&[
        &format!("{} of {all} scored", all - refused),
        &format!("{refused} failed"),
    ]);
    for name in &names {
        let result = harness.result("first", name);
        match REFUSED.iter().find(|(refused, _)| refused == name) {
            None => assert_eq!(result["outcome"], "scored", "{result}"),
            Some((_, expected_text)) => {
                assert_eq!(result["outcome"], "failed", "{name}");
                assert_eq!(result["error"]["kind"], "image", "{name}");
                let message = result["error"]["message"].as_str().unwrap();
                assert!(message.starts_with(&format!("shots/{name}: ")), "{message}");
                assert!(message.contains(expected_text), "{message}");
            }
        }
    }
    let note = |name: &str| harness.result("first", name)["item"]["inputs"][0]["note"].clone();
    assert_eq!(note("image-rs-anim.webp"), "first of 6 frames");
    assert_eq!(note("image-rs-cat.jpg"), Value::Null);
    assert_eq!(simulator.requests(), (all - refused) as u64);
    assert_eq!(check_costs(&harness, &simulator), 0);
    assert_eq!(harness.report("first")["items"].as_array().unwrap().len(), all);
}

#[test]
fn hostile_images_that_are_resized_have_equal_outcomes() {
    let harness = CommandHarness::new();
    let all = write_dataset(&harness).len();
    let simulator = TestSimulator::new();
    harness.write("juror.toml", "[image]\nmax_side = 8\n");
    let run = harness.judge(&simulator.base_url(), "manifest.jsonl", &[]).exits(3);
    run.stdout_contains(&[&format!("{} of {all} scored", all - REFUSED.len())]);
}
