//! The nightly unit's own command line, as systemd would start it.

use crate::harness::{
    CommandHarness, Finished, Manual, Recorder, SimulatorProcess, TestSimulator, completion,
    repository, verdict, write_items,
};
use std::fs;

/// Arguments of the unit's `ExecStart=` with these variables expanded as systemd does; an unbraced
/// variable is split at spaces.
fn words(harness: &CommandHarness, variables: &[(&str, &str)]) -> Vec<String> {
    let unit = fs::read_to_string(repository("deploy/systemd/juror-nightly.service")).unwrap();
    let unit = unit.replace("\\\n", " ");
    let line = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    let line = line
        .replace("/usr/local/bin/juror", env!("CARGO_BIN_EXE_juror"))
        .replace("%S", &harness.path("state").to_string_lossy())
        .replace("%%", "%");
    let mut words = Vec::new();
    for (number, part) in line.split('\'').enumerate() {
        if number == 1 {
            words.push(part.replace("$$", "$"));
            continue;
        }
        for word in part.split_whitespace() {
            let found =
                variables.iter().find(|(name, _)| word.trim_matches(['$', '{', '}']) == *name);
            match found {
                Some((_, value)) if word.starts_with("${") => words.push((*value).to_owned()),
                Some((_, value)) => words.extend(value.split_whitespace().map(str::to_owned)),
                None => words.push(word.to_owned()),
            }
        }
    }
    words
}

/// Nightly run of this day against this judge.
fn night(
    harness: &CommandHarness,
    day: &str,
    judge: &Recorder,
    variables: &[(&str, &str)],
) -> Finished {
    let date = format!("#!/bin/sh\n[ \"$*\" = '-u +%F' ] && echo {day}\n");
    harness.write_program("bin/date", &date);
    let path = format!("{}:{}", harness.path("bin").display(), std::env::var("PATH").unwrap());
    let words = words(harness, variables);
    let mut shell = harness.program(&words[0]);
    shell.args(&words[1..]).env("PATH", path).env("JUROR_JUDGE_BASE_URL", judge.base_url());
    shell.output().unwrap().into()
}

#[test]
fn nightly_run_is_named_after_its_day_with_budget_and_gate() {
    let harness = CommandHarness::new();
    let manifest = write_items(&harness, 3);
    let mut variables = vec![
        ("NIGHTLY_COMMAND", "run"),
        ("NIGHTLY_DATASET", manifest.to_str().unwrap()),
        ("NIGHTLY_BUDGET_USD", "5.00"),
        ("NIGHTLY_GATE", "production"),
        ("NIGHTLY_FLAGS", ""),
    ];
    let good = Recorder::start(vec![completion(&verdict(10), 1_500, 60)]);
    night(&harness, "2026-11-20", &good, &variables).exits(0);
    assert_eq!(good.requests().len(), 3);
    let report = |day: &str| harness.path(format!("state/juror/runs/nightly-{day}/report.json"));
    assert!(report("2026-11-20").is_file());

    // Started again on the same day, it is the same run.
    night(&harness, "2026-11-20", &good, &variables).exits(0);
    assert_eq!(good.requests().len(), 3);

    // The flags reach the command, and the gate decides how the unit ends.
    let bad = Recorder::start(vec![completion(&verdict(2), 1_500, 60)]);
    variables[4].1 = "--limit 2 --no-cache";
    night(&harness, "2026-11-21", &bad, &variables).exits(100);
    assert_eq!(bad.requests().len(), 2);
    assert!(report("2026-11-21").is_file());
}

#[test]
fn nightly_run_requires_a_budget() {
    let harness = CommandHarness::new();
    let manifest = write_items(&harness, 1);
    let judge = Recorder::start(vec![completion(&verdict(10), 1_500, 60)]);
    let variables = [
        ("NIGHTLY_COMMAND", "run"),
        ("NIGHTLY_DATASET", manifest.to_str().unwrap()),
        ("NIGHTLY_BUDGET_USD", ""),
        ("NIGHTLY_GATE", "production"),
        ("NIGHTLY_FLAGS", ""),
    ];
    night(&harness, "2026-11-20", &judge, &variables).exits(2).stderr_contains(&["--budget-usd"]);
    assert_eq!(judge.requests().len(), 0);
}

/// Folder of a reader of the page, with the golden set as dataset.
fn reader() -> CommandHarness {
    let harness = CommandHarness::new();
    harness.copy_golden_set("");
    fs::rename(harness.path("manifest.jsonl"), harness.path("shots.jsonl")).unwrap();
    // Parts of the page that the reader provides.
    harness.write("pipeline.sh", "test -s shots.jsonl\n");
    harness
}

#[test]
fn documented_page_commands_work() {
    let harness = reader();
    let manual = Manual::page("nightly");
    harness.write("juror.toml", manual.blocks("toml")[0]);
    let judge = SimulatorProcess::start(&harness);
    let summary = harness.path("step-summary.md");
    let variables = [
        ("JUROR_JUDGE_BASE_URL", judge.base_url.as_str()),
        ("GITHUB_STEP_SUMMARY", summary.to_str().unwrap()),
    ];
    manual.run(&harness, &variables);
    let summary = fs::read_to_string(summary).unwrap();
    assert!(summary.contains("base first · head nightly-"), "{summary}");

    // Both nightly runs of the page are one run of one day, served by the cache.
    let nights = fs::read_dir(harness.path("runs")).unwrap();
    let names = nights.map(|night| night.unwrap().file_name().into_string().unwrap());
    let nights: Vec<String> = names.filter(|name| name.starts_with("nightly-")).collect();
    let [night] = nights.as_slice() else { panic!("{nights:?}") };
    let report = harness.report(night);
    assert_eq!(report["cost"]["results_usd"], "0.000000000", "all was in the cache");
    assert_eq!(report["comparison"]["decision"], "same");
}

#[test]
fn cron_and_kubernetes_nightly_commands_run() {
    let harness = reader();
    let manual = Manual::page("nightly");
    let judge = SimulatorProcess::start(&harness);
    let run = |program: &str, arguments: &[&str]| -> Finished {
        let binary = std::path::Path::new(env!("CARGO_BIN_EXE_juror")).parent().unwrap();
        let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
        let mut command = harness.program(program);
        command.args(arguments).env("PATH", path).env("JUROR_JUDGE_BASE_URL", &judge.base_url);
        command.output().unwrap().into()
    };
    let judging = ["run", "shots.jsonl", "--enable-llm-judge", "--run-id", "first"];
    harness
        .juror(&[&judging[..], &["--base-url", &judge.base_url, "--budget-usd", "5"]].concat())
        .exits(0);
    harness.juror(&["bless", "first"]).exits(0);

    let [line] = manual.blocks("crontab")[..] else { panic!("one line of cron") };
    let command = line.trim().split(' ').skip(5).collect::<Vec<_>>().join(" ");
    let command = command.replace("/srv/juror", &harness.path("").display().to_string());
    run("sh", &["-euc", &command]).exits(0).stdout_contains(&["27 of 27 scored"]);

    let job = manual.blocks("yaml").into_iter().find(|job| job.contains("CronJob")).unwrap();
    let (_, arguments) = job.split_once("args:\n").unwrap();
    let arguments = arguments.lines().map_while(|line| line.trim().strip_prefix("- "));
    let arguments = arguments.map(|argument| {
        let folder = harness.path("").display().to_string();
        argument.replace("/data", &folder).replace("/var/lib/juror", &folder)
    });
    let arguments: Vec<String> = arguments.collect();
    assert!(arguments.len() >= 8, "{arguments:?}");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    run(env!("CARGO_BIN_EXE_juror"), &arguments).exits(0).stdout_contains(&["27 of 27 scored"]);
}

#[test]
fn deadline_time_of_day_uses_the_budget_time_zone() {
    let harness = CommandHarness::with_items(1);
    for (zone, hour) in [("Asia/Tokyo", "22"), ("America/Bogota", "12")] {
        harness.write("juror.toml", format!("[budget]\nzone = \"{zone}\"\n"));
        let simulator = TestSimulator::new();
        let flags = ["--deadline", "07:00", "--no-cache"];
        harness.judge_run(&simulator, hour, &flags);
        let record = fs::read_to_string(harness.path("runs").join(hour).join("run.json")).unwrap();
        let record: serde_json::Value = serde_json::from_str(&record).unwrap();
        let deadline = record["deadline"].as_str().unwrap();
        assert!(deadline.ends_with(&format!("T{hour}:00:00Z")), "{zone}: {deadline}");
    }
}

#[test]
fn deadline_too_early_for_batches_is_reported() {
    let harness = CommandHarness::with_items(1);
    let simulator = TestSimulator::new();
    let run = |name, deadline| {
        let flags = ["--lane", "mixed", "--deadline", deadline, "--budget-usd", "1"];
        harness.judge_run(&simulator, name, &flags)
    };
    run("short", "20m").exits(0).stderr_contains(&["no batches are made"]);
    let reported = run("long", "2h").exits(0);
    assert!(!reported.stderr.contains("no batches are made"), "{}", reported.stderr);
}
