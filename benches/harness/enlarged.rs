//! Large datasets and runs by repetition of items.

use juror_types::id::{Digest, JobId, RunId};
use serde_json::{Value, json};
use std::{
    fs::{self, File},
    io::{BufWriter, Write as _},
    path::Path,
};

/// Writes a manifest of this many lines by repeating those of a smaller one with new ids.
pub fn enlarge_manifest(from: &Path, to: &Path, count: usize) {
    write_numbered(from, to, count, |_, _| ());
}

/// Enlarges a judged run to this many results of such a manifest by repetition.
pub fn enlarge_run(directory: &Path, manifest: &Path, count: usize) {
    let path = directory.join("run.json");
    let mut record: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    record["planned"] = json!(count);
    record["dataset"]["path"] = json!(manifest);
    record["dataset"]["digest"] = json!(Digest::from_content(&fs::read(manifest).unwrap()));
    let run = RunId::parse(record["run_id"].as_str().unwrap()).unwrap();
    fs::write(path, record.to_string()).unwrap();
    let journal = directory.join("results.jsonl");
    write_numbered(&journal, &journal, count, |result, id| {
        result["job_id"] = json!(JobId::for_item(&run, id, 0));
    });
}

fn write_numbered(from: &Path, to: &Path, count: usize, more: impl Fn(&mut Value, &str)) {
    let text = fs::read_to_string(from).unwrap();
    let mut samples: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let name = if samples[0].get("screenshot_id").is_some() { "screenshot_id" } else { "id" };
    // Results are in any order; each must match its item.
    samples.sort_by_key(|sample| sample[name].as_str().map(str::to_owned));
    let mut lines = BufWriter::new(File::create(to).unwrap());
    for (number, mut line) in (0..count).zip(samples.iter().cycle().cloned()) {
        let id = format!("item_{number:08}");
        line[name] = json!(id);
        more(&mut line, &id);
        writeln!(lines, "{line}").unwrap();
    }
    lines.flush().unwrap();
}
