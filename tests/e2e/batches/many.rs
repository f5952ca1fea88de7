//! Large batches: memory, and kills during their stages.

use super::{BatchFixture, end_batches};
use juror_services::wait::await_file;
use juror_simulator::{BatchEnd, BatchSettings, Fault, FaultPlan, Share, SimulatorConfig};
use serde_json::json;
use std::fs;

/// A PNG of noise, of some 200 KB.
fn noise() -> Vec<u8> {
    use image::{ExtendedColorType, ImageEncoder, codecs::png::PngEncoder};
    let mut pixels = vec![0; 256 * 256 * 3];
    rand::fill(&mut pixels[..]);
    let mut file = Vec::new();
    let encoder = PngEncoder::new(&mut file);
    encoder.write_image(&pixels, 256, 256, ExtendedColorType::Rgb8).unwrap();
    file
}

/// Peak memory of a process in bytes.
fn peak_memory(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1_024
}

#[test]
fn rows_are_never_held_in_memory_together() {
    const ITEMS: usize = 1_000;
    let fixture = BatchFixture::held(1);
    let image = noise();
    let mut manifest = String::new();
    for number in 0..ITEMS {
        let shot = format!("noise/{number}.png");
        // Distinct files, so that neither the page cache nor the image cache has them.
        fixture.harness.write(&shot, [&image[..], number.to_string().as_bytes()].concat());
        let code = format!("<b>{number}</b>");
        let line = json!({"id": format!("i{number}"), "screenshot": shot, "generated_code": code});
        manifest += &format!("{line}\n");
    }
    fixture.harness.write("manifest.jsonl", manifest);
    let flags = ["--lane", "batch", "--budget-usd", "500"];
    let running = fixture.harness.start_run(&fixture.simulator, "night", &flags);
    // Two files: 200 MB hold some 740 rows.
    fixture.simulator.await_count("batches", 2);
    let peak = peak_memory(running.id());
    assert!(peak < 150 << 20, "{} MB for {} MB of images", peak >> 20, (image.len() * ITEMS) >> 20);
    end_batches(&fixture.simulator);
    running.finish().exits(0).stdout_contains(&["1,000 of 1,000 scored"]);
    fixture.assert_billed_plus_presumed(0);
}

/// Kills a run once this file exists with content, and resumes it.
fn killed_when_written(file: &str) {
    let fixture = BatchFixture::faulty(300, &[]);
    let settings = "[batch]\npoll_min = \"1ms\"\npoll_max = \"5ms\"\nmax_rows = 200\n";
    fixture.harness.write("juror.toml", settings);
    let flags = ["--lane", "batch", "--budget-usd", "10"];
    let running = fixture.harness.start_run(&fixture.simulator, "night", &flags);
    let path = fixture.harness.path("runs/night").join(file);
    await_file(&path, |path| fs::metadata(path).is_ok_and(|metadata| metadata.len() > 0));
    running.kill();
    fixture.harness.resume("night", &[]).exits(0).stdout_contains(&["300 of 300 scored"]);
    assert_eq!(fixture.simulator.count("billed_calls"), 300);
    assert_eq!(fixture.harness.journal("night").len(), 300);
    fixture.assert_billed_plus_presumed(0);
}

#[test]
fn kill_during_row_collection_into_shards_loses_and_repeats_nothing() {
    killed_when_written("batches/night-1.unfinished");
}

#[test]
fn kill_during_result_collection_loses_and_repeats_nothing() {
    killed_when_written("results.jsonl");
}

#[test]
fn unusable_replies_are_retried_in_the_next_batch() {
    let rates = vec![Share { of: Fault::OutOfRange, share: 0.4 }];
    let faults = FaultPlan { rates, ..FaultPlan::default() };
    let batches = BatchSettings { end: BatchEnd::default(), ..BatchSettings::default() };
    let config = SimulatorConfig { faults, batches, ..SimulatorConfig::default() };
    let fixture = BatchFixture::with(30, config);
    let ended = fixture.run(&[]);
    assert!([0, 3].contains(&ended.code), "{}", ended.stderr);
    let (scored, unscorable) = (fixture.count("scored", ""), fixture.count("unscorable", "reply"));
    assert!(scored >= 20 && scored + unscorable == 30, "{scored} {unscorable}");
    assert!((2..=3).contains(&fixture.simulator.count("batches")), "three replies per job at most");
    fixture.assert_billed_plus_presumed(0);
}
