//! Cost of rendering and measuring with the product's renderer: items per second, processor time
//! (browsers separately), cached renders, differing items and their trials, measuring, and memory
//! over many items.
//!
//! `cargo bench --bench rendering -- ITEMS DIFFERING MANY` (108 and 54 of the golden set's pages,
//! and 1,000 of them for the memory).
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

use harness::{Mark, MarkTable, Measured, ProcessTree, juror, measure_beside};
use serde_json::json;
use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};
use tempfile::TempDir;

/// Interval of polling the processes.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
const ONE_AT_ONCE: &[(&str, &str)] =
    &[("JUROR_LIMITS_MAX_CONCURRENCY", "1"), ("JUROR_RENDER_CONCURRENCY", "1")];
const TWO_AT_ONCE: &[(&str, &str)] =
    &[("JUROR_LIMITS_MAX_CONCURRENCY", "2"), ("JUROR_RENDER_CONCURRENCY", "2")];
/// Numbers of items after which memory is measured.
const TAKEN_AT: [usize; 3] = [100, 500, 1_000];
/// Lengths of the golden pages; four pixels are added to the first one that a page has.
const PLANTED: [&str; 3] = ["padding: ", "border-radius: ", "font-size: "];

fn main() {
    let Some([items, differing, many]) = harness::sizes([108, 54, 1_000]) else { return };
    let golden = golden_pages();
    let table = MarkTable::new(&format!("rendering {items} pages, two at once"));
    let folder = dataset(&golden, items, |page, _| page.to_owned());
    let once = run(folder.path(), "one", TWO_AT_ONCE, &["--limit", "1"]);
    let drawn = run(folder.path(), "drawn", TWO_AT_ONCE, &[]);
    let each = |taken: Duration| 1_000.0 * taken.as_secs_f64() / items as f64;
    table.marked("items a second, from start to exit", drawn.rate(items), "/s", Mark::AtLeast(4.0));
    let [own, browsers] = drawn.cpu;
    table.row("CPU per item: Juror", each(own), "ms");
    table.row("CPU per item: browsers", each(browsers), "ms");
    // The browser is started all the same.
    let kept = run(folder.path(), "kept", TWO_AT_ONCE, &[]);
    let further = |taken: Duration, first: Duration| {
        1_000.0 * taken.saturating_sub(first).as_secs_f64() / (items - 1).max(1) as f64
    };
    let wall = further(kept.wall, once.wall);
    table.marked("a further item with a kept render", wall, "ms", Mark::AtMost(5.0));
    table.row("  CPU", further(kept.cpu[0], once.cpu[0]), "ms");

    print_trials(&golden, differing);
    print_measuring();
    print_memory(&golden, many);
}

/// Items with differing images, one at a time.
fn print_trials(golden: &[GoldenPage], count: usize) {
    let table = MarkTable::new(&format!("{count} pages with a planted change, one at a time"));
    let folder = dataset(golden, count, planted);
    let without_trials = [ONE_AT_ONCE, &[("JUROR_EVIDENCE_TRIALS", "0")]].concat();
    let plain = run(folder.path(), "plain", &without_trials, &[]);
    fs::remove_dir_all(folder.path().join("runs")).unwrap();
    let tried = run(folder.path(), "tried", ONE_AT_ONCE, &[]);
    let differing = tried.differing.max(1);
    let each = |taken: Duration| 1_000.0 * taken.as_secs_f64() / differing as f64;
    table.row("of which differ", tried.differing as f64, "");
    let wall = each(tried.wall) / 1_000.0;
    table.marked("an item that differs, with its trials", wall, "s", Mark::AtMost(1.5));
    let [own, browsers] = tried.cpu;
    table.row("  CPU: Juror", each(own), "ms");
    table.row("  CPU: browsers", each(browsers), "ms");
    table.row("the same without trials", each(plain.wall) / 1_000.0, "s");
}

/// Existing images, so that no browser is needed.
fn print_measuring() {
    let count = 40;
    let table =
        MarkTable::new(&format!("measuring {count} pairs of 1440 x 900 pixels, one at a time"));
    let folder = tempfile::tempdir().unwrap();
    let mut picture = image::RgbImage::from_pixel(1440, 900, image::Rgb([248, 250, 252]));
    for (x, y, pixel) in picture.enumerate_pixels_mut() {
        if y % 22 > 8 && y % 22 < 18 && x % 14 < 3 + x / 14 % 9 {
            *pixel = image::Rgb([30, 41, 59]);
        }
    }
    picture.save(folder.path().join("shot.png")).unwrap();
    for x in 200..500 {
        (200..320).for_each(|y| picture.put_pixel(x, y, image::Rgb([37, 99, 235])));
    }
    picture.save(folder.path().join("rendered.png")).unwrap();
    let line = |at: usize| json!({"id": format!("item{at}"), "screenshot": "shot.png", "rendered": "rendered.png"});
    write_lines(folder.path(), (0..count).map(line));
    let once = run(folder.path(), "one", ONE_AT_ONCE, &["--limit", "1"]);
    let all = run(folder.path(), "all", ONE_AT_ONCE, &[]);
    let further = all.cpu[0].saturating_sub(once.cpu[0]).as_secs_f64() / (count - 1) as f64;
    table.marked("CPU, with decoding", 1_000.0 * further, "ms", Mark::AtMost(60.0));
    table.marked("peak memory of the process", all.peak_mb, "MB", Mark::AtMost(120.0));
}

/// Memory while many items are rendered.
fn print_memory(golden: &[GoldenPage], count: usize) {
    let table = MarkTable::new(&format!("memory over {count} pages, two at once"));
    let folder = dataset(golden, count, |page, _| page.to_owned());
    let drawn = run(folder.path(), "many", TWO_AT_ONCE, &[]);
    for (at, [own, browsers]) in drawn.memory {
        table.row(format!("after {at} items: Juror"), own, "MB");
        table.row(format!("after {at} items: browsers"), browsers, "MB");
    }
    table.row("peak of Juror", drawn.peak_mb, "MB");
}

/// Page of the golden set that equals its screenshot.
struct GoldenPage {
    name: String,
    html: String,
    screenshot: PathBuf,
}

fn golden_pages() -> Vec<GoldenPage> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/golden");
    let files = fs::read_dir(golden.join("components")).unwrap();
    let mut files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "html"));
    files.sort();
    let page = |file: &PathBuf| {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let screenshot = golden.join("shots").join(&name).with_extension("png");
        GoldenPage { name, html: fs::read_to_string(file).unwrap(), screenshot }
    };
    files.iter().map(page).collect()
}

/// Dataset of these pages in turn, each with different code.
fn dataset(golden: &[GoldenPage], count: usize, code: fn(&str, usize) -> String) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for page in golden {
        fs::copy(&page.screenshot, folder.path().join(&page.name).with_extension("png")).unwrap();
    }
    let lines = golden.iter().cycle().take(count).enumerate().map(|(at, page)| {
        let code = format!("{}<!-- {at} -->", code(&page.html, at));
        let screenshot = format!("{}.png", page.name);
        json!({"id": format!("item{at}"), "screenshot": screenshot, "generated_code": code,
            "language": "html"})
    });
    write_lines(folder.path(), lines);
    folder
}

fn write_lines(folder: &Path, lines: impl Iterator<Item = serde_json::Value>) {
    let lines: String = lines.map(|line| format!("{line}\n")).collect();
    fs::write(folder.join("manifest.jsonl"), lines).unwrap();
}

/// The page with another length.
fn planted(page: &str, at: usize) -> String {
    let names = PLANTED.iter().cycle().skip(at).take(PLANTED.len());
    let mut places = names.filter_map(|name| Some(page.find(name)? + name.len()));
    let Some(place) = places.next() else { return page.to_owned() };
    let (before, after) = page.split_at(place);
    let digits = after.find(|letter: char| !letter.is_ascii_digit()).unwrap();
    let (length, after) = after.split_at(digits);
    format!("{before}{}{after}", length.parse::<u32>().unwrap_or(0) + 4)
}

/// A finished run.
struct RenderedRun {
    wall: Duration,
    /// Processor time of the process, and of its browsers.
    cpu: [Duration; 2],
    peak_mb: f64,
    /// Memory of the process and of its browsers after these numbers of results.
    memory: Vec<(usize, [f64; 2])>,
    differing: usize,
}

impl RenderedRun {
    fn rate(&self, count: usize) -> f64 {
        count as f64 / self.wall.as_secs_f64()
    }
}

/// Runs the dataset with these settings and flags.
fn run(folder: &Path, id: &str, settings: &[(&str, &str)], flags: &[&str]) -> RenderedRun {
    let command = ["run", "manifest.jsonl", "--evidence", "facts", "--quiet", "--run-id", id];
    let mut command = juror(folder, &[&command[..], flags].concat());
    command.envs(settings.iter().copied());
    let renders = folder.join("runs/.renders");
    let (measured, (tree, memory)) = measure_beside(&mut command, &[0], |process| {
        let (mut tree, mut memory) = (ProcessTree::new(process), Vec::new());
        while tree.look() {
            let due = TAKEN_AT.get(memory.len()).filter(|at| kept_pages(&renders) >= **at);
            if let Some(at) = due {
                memory.push((*at, tree.memory_mb()));
            }
            thread::sleep(POLL_INTERVAL);
        }
        (tree, memory)
    });
    let results = fs::read_to_string(folder.join("runs").join(id).join("results.jsonl")).unwrap();
    let differing = results.lines().filter(|line| line.contains(r#""regions":[{"#)).count();
    let Measured { wall, peak_mb, .. } = measured;
    RenderedRun { wall, cpu: tree.cpu(), peak_mb, memory, differing }
}

/// Number of cached pages.
fn kept_pages(renders: &Path) -> usize {
    let files = fs::read_dir(renders).into_iter().flatten().flatten();
    files.filter(|file| file.path().extension().is_some_and(|ending| ending == "page")).count()
}
