//! Errors found before a run starts: reported with location and remedy, without any cost.

use crate::harness::{CommandHarness, Finished, TestSimulator, png, repository};
use juror_simulator::SimulatorConfig;
use serde_json::json;
use std::{fs, path::Path};

/// Runs a manifest with these lines, next to a valid `shot.png`.
fn run(lines: &str, flags: &[&str]) -> (CommandHarness, Finished) {
    let harness = CommandHarness::new();
    harness.write("shot.png", png(1, 8, 8));
    harness.write("manifest.jsonl", lines);
    let finished = harness.juror(&[&["run", "manifest.jsonl"], flags].concat());
    (harness, finished)
}

const SOUND: &str = r#"{"id":"a","screenshot":"shot.png","generated_code":"<p>Text</p>"}"#;

#[track_caller]
fn refused(lines: &str, flags: &[&str], message: &[&str]) {
    let (harness, finished) = run(lines, flags);
    finished.exits(2).stderr_contains(message);
    assert!(!harness.path("runs").exists(), "nothing is left behind");
}

#[test]
fn invalid_dataset_is_refused_with_its_line() {
    CommandHarness::new()
        .juror(&["run", "none.jsonl"])
        .exits(2)
        .stderr_contains(&["none.jsonl does not exist", "check the path"]);
    let missing = r#"{"id":"a","screenshot":"none.png","generated_code":"<p>a</p>"}"#;
    let place = "manifest.jsonl, line 1: field \"screenshot\":";
    refused(missing, &[], &[place, "\"none.png\" does not exist", "relative to the manifest"]);
    let twice = format!("{SOUND}\n\n{SOUND}\n");
    refused(&twice, &[], &["line 3: field \"id\"", "duplicate id \"a\", first in line 1"]);
    refused("\n", &[], &["manifest.jsonl has no items", "one JSON object per line"]);
    for path in ["../shot.png", "/etc/hostname"] {
        let outside = json!({"id": "a", "screenshot": path}).to_string();
        refused(&outside, &[], &[place, path, "--data-root"]);
    }
    let misnamed = r#"{"id":"a","screenshots":"shot.png"}"#;
    refused(misnamed, &[], &["line 1: field \"screenshot\": missing; rename \"screenshots\""]);
    let newer = r#"{"schema":2,"id":"a","screenshot":"shot.png"}"#;
    refused(newer, &[], &["line 1", "schema 2 is not supported: this version reads schema 1"]);
}

#[test]
fn invalid_line_among_a_thousand_is_reported_and_nothing_is_spent() {
    let simulator = TestSimulator::new();
    let mut lines = String::new();
    for number in 1..=1_000 {
        let line = SOUND.replace("\"a\"", &format!("\"item {number}\""));
        let end = if number == 731 { line.len() / 2 } else { line.len() };
        lines.push_str(&format!("{}\n", &line[..end]));
    }
    let flags = ["--enable-llm-judge", "--base-url", &simulator.base_url()];
    refused(&lines, &flags, &["1 line of the dataset is broken", "manifest.jsonl, line 731: not"]);
    assert_eq!(simulator.requests(), 0);
}

#[test]
fn judge_only_dataset_names_the_required_flag() {
    refused(
        r#"{"id":"a","screenshot":"shot.png"}"#,
        &[],
        &["--enable-llm-judge", "no item has code"],
    );
}

#[test]
fn invalid_settings_are_reported_with_file_and_line() {
    for (text, message) in [
        (
            "[judge]\n\nmodell = \"x\"\n",
            "juror.toml:3: judge.modell: unknown key 'modell'; did you mean 'model'?",
        ),
        ("[jugde]\n", "juror.toml:1: jugde: unknown key 'jugde'; did you mean 'judge'?"),
        ("[limits]\nrpm = \"many\"\n", "juror.toml:2: limits.rpm: invalid type"),
        ("[judge\n", "juror.toml:1: "),
        ("schema = 2\n", "juror.toml: schema 2 is not supported: this version reads schema 1"),
        (
            "[judge]\nprovider = \"gemini\"\n",
            "juror.toml:2: judge.provider: unknown key 'provider'",
        ),
    ] {
        let harness = CommandHarness::new();
        harness.write("shot.png", png(1, 8, 8));
        harness.write("manifest.jsonl", SOUND);
        harness.write("juror.toml", text);
        harness.juror(&["run", "manifest.jsonl"]).exits(2).stderr_contains(&[message]);
        assert!(!harness.path("runs").exists());
    }
    let harness = CommandHarness::new();
    harness.write("manifest.jsonl", SOUND);
    for (name, value, message) in [
        (
            "JUROR_JUDGE_MODELL",
            "x",
            "JUROR_JUDGE_MODELL: unknown key 'modell'; did you mean 'model'?",
        ),
        ("JUROR_LIMITS_RPM", "many", "JUROR_LIMITS_RPM: invalid type"),
        ("JUROR_CONFIG", "none.toml", "settings file none.toml cannot be read"),
    ] {
        let run = harness.command(&["run", "manifest.jsonl"]).env(name, value).output().unwrap();
        Finished::from(run).exits(2).stderr_contains(&[message]);
    }
}

#[test]
fn invalid_flags_are_refused_before_any_write() {
    for (flags, message) in [
        (&["--budget-usd", "abc"][..], "\"abc\" is not an amount in US dollars"),
        (
            &["--budget-usd", "-1"],
            "'-1' for '--budget-usd <AMOUNT>': give an amount in US dollars, 0 or more",
        ),
        (&["--filter", "tags"], "use KEY=VALUE or KEY!=VALUE"),
        (&["--filter", "tags=none"], "no items match: --filter tags=none selects none of 1"),
        (&["--limit", "0"], "no items match: --limit 0 selects none of 1"),
        (&["--repeat", "0"], "setting run.repeat is 0"),
        (&["--repeat", "two"], "--repeat <N>"),
        (&["--max-concurrency", "0"], "at least 1"),
        (
            &["--output", "report.pdf"],
            "report.pdf: unknown format; use one of the extensions .json",
        ),
        (&["--output", "none/report.csv"], "there is no folder none; create it first"),
        (&["--gate", "none"], "use `targets`, `production` or the path of a TOML file"),
        (&["--run-id", "../a"], "run id \"../a\" is invalid"),
        (&["--rubric", "none"], "no rubric \"none\": use semantic, acrue, semantic-evidence"),
        (&["--no-such-flag"], "--no-such-flag"),
        (&["--enable-llm-judge", "--model", "none"], "model \"none\" has no price"),
        (&["--enable-llm-judge", "--base-url", "ftp://a"], "must start with https:// or http://"),
        (&["--enable-llm-judge", "--base-url", "http://u:secret@a"], "contains a user or password"),
    ] {
        refused(SOUND, flags, &[message]);
        if !flags.contains(&"--run-id") {
            refused(SOUND, &[flags, &["--dry-run"]].concat(), &[message]);
        }
    }
    let (_, finished) = run(SOUND, &["--enable-llm-judge", "--base-url", "http://u:secret@a"]);
    assert!(!finished.stderr.contains("secret"), "{}", finished.stderr);
}

#[test]
fn invalid_rubric_weights_are_refused_with_their_line() {
    let acrue = fs::read_to_string(repository("config/rubrics/acrue.toml")).unwrap();
    for (weight, message) in [
        ("weight = -2", "-2 is not a weight"),
        ("weight = \"two\"", "invalid type"),
        ("weight = 0", "every weight is 0, so there is no total; set a positive one"),
    ] {
        let harness = CommandHarness::new();
        let wrong: Vec<_> = acrue
            .lines()
            .map(|line| if line.starts_with("weight =") { weight } else { line })
            .collect();
        harness.write("own.toml", wrong.join("\n"));
        harness.write("manifest.jsonl", "");
        for command in [
            &["rubric", "check", "own.toml"][..],
            &["run", "manifest.jsonl", "--rubric", "own.toml"],
        ] {
            let refused = harness.juror(command).exits(2).stderr_contains(&["own.toml:", message]);
            let (_, after) = refused.stderr.split_once("own.toml:").unwrap();
            assert!(after.starts_with(|first: char| first.is_ascii_digit()), "a line: {after}");
        }
    }
}

#[test]
fn real_provider_is_not_called_without_a_key() {
    let harness = CommandHarness::with_items(1);
    let run = ["run", "manifest.jsonl", "--enable-llm-judge"];
    let without = harness.command(&run).env_remove("OPENAI_API_KEY").output().unwrap();
    Finished::from(without).exits(2).stderr_contains(&[
        "OPENAI_API_KEY",
        "judge.api_key_file",
        "juror demo",
    ]);
    let mut lost = harness.command(&run);
    lost.env_remove("OPENAI_API_KEY").env("JUROR_JUDGE_API_KEY_FILE", "none.txt");
    Finished::from(lost.output().unwrap()).exits(2).stderr_contains(&["none.txt cannot be read"]);
    let broken = harness.command(&run).env("OPENAI_API_KEY", "two\nlines").output().unwrap();
    let broken =
        Finished::from(broken).exits(2).stderr_contains(&["environment variable OPENAI_API_KEY"]);
    assert!(!broken.stderr.contains("lines"), "{}", broken.stderr);
    assert!(!harness.path("runs").exists());
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push((path.display().to_string(), fs::read(&path).unwrap()));
        }
    }
    found
}

#[test]
fn key_appears_in_no_output_or_file() {
    let key = "sk-very-secret-key-of-this-test";
    let contains = |content: &[u8]| content.windows(key.len()).any(|part| part == key.as_bytes());
    for accepted in [key, "another-key"] {
        let config = SimulatorConfig { key: Some(accepted.to_owned()), ..Default::default() };
        let simulator = TestSimulator::start(config);
        let harness = CommandHarness::with_items(3);
        let flags = ["-o", "a.json", "-o", "a.jsonl", "-o", "a.csv", "--json"];
        let mut judging = harness.judging(&simulator.base_url(), "manifest.jsonl", &flags);
        judging.env("OPENAI_API_KEY", key).env("JUROR_LOG_LEVEL", "trace");
        let finished = Finished::from(judging.output().unwrap());
        assert_eq!(finished.code, if accepted == key { 0 } else { 1 });
        assert!(!finished.stdout.contains(key));
        assert!(!finished.stderr.contains(key), "not even in the most talkative log");
        let mut looked_at = 0;
        for (name, content) in files(&harness.path("")) {
            assert!(!contains(&content), "{name}");
            looked_at += 1;
        }
        assert!(looked_at > 8, "{looked_at}");
    }
}

#[test]
fn dry_run_lists_exactly_the_items_that_would_fail() {
    let harness = CommandHarness::new();
    let sound = png(1, 8, 8);
    harness.write("sound.png", &sound);
    harness.write("empty.png", "");
    harness.write("cut.png", &sound[..sound.len() - 9]);
    harness.write("page.png", "<html>");
    harness.write("latin1.html", b"caf\xe9");
    let mut lines = String::new();
    for (id, image, code) in [
        ("sound", "sound.png", "<p>"),
        ("empty", "empty.png", "<p>"),
        ("cut", "cut.png", "<p>"),
        ("page", "page.png", "<p>"),
        ("code", "sound.png", "latin1.html"),
    ] {
        let item = json!({"id": id, "screenshot": image, "generated_code": code});
        lines.push_str(&format!("{item}\n"));
    }
    harness.write("manifest.jsonl", lines);
    let message = [
        "4 of 5 items would fail",
        "manifest.jsonl, line 2: screenshot: empty.png: this is an empty file",
        "manifest.jsonl, line 3: screenshot: cut.png: this PNG file cannot be read",
        "manifest.jsonl, line 4: screenshot: page.png: this is an HTML page",
        "manifest.jsonl, line 5: generated_code: latin1.html: not UTF-8",
    ];
    harness.juror(&["run", "manifest.jsonl", "--dry-run"]).exits(2).stderr_contains(&message);
    let limited = ["run", "manifest.jsonl", "--dry-run", "--limit", "1"];
    harness.juror(&limited).exits(0).stdout_contains(&["1 of 5 items are valid"]);
    let doctor = harness.juror(&["doctor", "manifest.jsonl"]).exits(1);
    doctor.stdout_contains(&["BAD   dataset", "4 of 5 items would fail"]);
    let simulator = TestSimulator::new();
    harness.judge_run(&simulator, "r", &[]).exits(3).stdout_contains(&["4 failed"]);
}

#[test]
fn path_with_parent_components_is_refused_with_a_working_remedy() {
    let harness = CommandHarness::new();
    harness.write("shots/1.png", png(1, 8, 8));
    let item = |path: &str| {
        let line = json!({"id": "a", "screenshot": path, "generated_code": "<p>"});
        harness.write("set/manifest.jsonl", format!("{line}\n"));
    };
    let run = ["run", "set/manifest.jsonl", "--data-root", "shots"];
    item("../shots/1.png");
    for flags in [&[][..], &["--dry-run"]] {
        let message =
            ["has '..', which is not allowed", "below the manifest's folder or a --data-root"];
        harness.juror(&[&run[..], flags].concat()).exits(2).stderr_contains(&message);
    }
    item("1.png");
    harness.juror(&run).exits(0);
}
