//! `deploy/systemd/`: validated by systemd, then checked for its settings.

use crate::{
    file_validators::{assert_silent, systemd_analyze},
    repository, settings_of, text_of,
};
use juror_app::settings::Settings;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    net::SocketAddr,
    path::Path,
    process::Command,
};
use tempfile::TempDir;

const UNITS: [&str; 5] = [
    "juror-worker@1.service",
    "juror-aggregate.service",
    "juror-serve.service",
    "juror-nightly.service",
    TIMER,
];
const TIMER: &str = "juror-nightly.timer";
/// Units whose processes may render.
const DRAWING_UNITS: [&str; 2] = ["juror-worker@1.service", "juror-nightly.service"];
const SHARED: &str = "juror-.service.d/10-juror.conf";
/// Maximum exposure by `systemd-analyze security` in tenths, from 0 to 100; a plain unit has more
/// than 90.
const MAX_EXPOSURE: &str = "15";
/// The same of a unit under which a browser runs in its sandbox.
const MAX_DRAWING_EXPOSURE: &str = "20";

/// File system in which units and command are installed as in `docs/deploy.md`.
fn machine() -> TempDir {
    let machine = tempfile::tempdir().unwrap();
    let place = |name: &str| {
        let path = machine.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    };
    fs::copy(env!("CARGO_BIN_EXE_juror"), place("usr/local/bin/juror")).unwrap();
    fs::copy("/bin/sh", place("bin/sh")).unwrap();
    // Targets that every unit depends on.
    let copied = Command::new("cp")
        .args(["-r", "/usr/lib/systemd/system"])
        .arg(place("usr/lib/systemd/system"))
        .status();
    assert!(copied.unwrap().success());
    for unit in UNITS.map(file_of).into_iter().chain([SHARED.to_owned()]) {
        let from = repository("deploy/systemd").join(&unit);
        fs::copy(from, place(&format!("etc/systemd/system/{unit}"))).unwrap();
    }
    for unit in DRAWING_UNITS.map(file_of) {
        let to = place(&format!("etc/systemd/system/{unit}.d/20-renders.conf"));
        fs::copy(repository("deploy/systemd/renders.conf"), to).unwrap();
    }
    machine
}

/// File of a unit; of an instance, its template.
fn file_of(unit: &str) -> String {
    unit.replace("@1.", "@.")
}

/// A unit's lines with what all units share, as key and value.
fn lines(unit: &str) -> Vec<(String, String)> {
    let shared = if unit == TIMER { String::new() } else { text_of(&in_systemd(SHARED)) };
    let text = shared + &text_of(&in_systemd(&file_of(unit)));
    let lines = text.replace("\\\n", " ");
    let lines = lines.lines().filter(|line| !line.starts_with('#'));
    let pairs = lines.filter_map(|line| line.split_once('='));
    pairs.map(|(key, value)| (key.to_owned(), value.replace("%i", "1"))).collect()
}

fn in_systemd(name: &str) -> String {
    format!("deploy/systemd/{name}")
}

/// Last value of a key, which takes precedence.
fn value(unit: &str, key: &str) -> String {
    let lines = lines(unit);
    let found = lines.iter().rev().find(|(name, _)| name == key);
    found.unwrap_or_else(|| panic!("{unit} has no {key}")).1.clone()
}

/// The variables of an environment file, where a value may stand in single quotes.
fn variables(file: &str) -> BTreeMap<String, String> {
    let text = text_of(&in_systemd(file));
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let pairs = lines.filter_map(|line| line.split_once('='));
    pairs.map(|(name, value)| (name.into(), value.trim_matches('\'').into())).collect()
}

/// Settings of a unit's process.
fn settings(unit: &str) -> Settings {
    let mut environment = variables("juror.env.example");
    for (_, pair) in lines(unit).into_iter().filter(|(key, _)| key == "Environment") {
        let (name, value) = pair.split_once('=').unwrap();
        environment.insert(name.to_owned(), value.to_owned());
    }
    settings_of(&environment)
}

#[test]
fn systemd_accepts_every_unit_without_warnings() {
    let machine = machine();
    assert_silent(systemd_analyze().arg("verify").arg("--root").arg(machine.path()).args(UNITS));
}

#[test]
fn services_are_sandboxed() {
    let machine = machine();
    for unit in UNITS.into_iter().filter(|unit| *unit != TIMER) {
        let mut security = systemd_analyze();
        let renders = DRAWING_UNITS.contains(&unit);
        let threshold = if renders { MAX_DRAWING_EXPOSURE } else { MAX_EXPOSURE };
        security.args(["security", "--offline=yes", "--threshold", threshold, "--root"]);
        let output = security.arg(machine.path()).arg(unit).output().unwrap();
        let message = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{unit}:\n{message}");
        assert_eq!(value(unit, "User"), "juror");
    }
}

#[test]
fn timer_starts_once_a_night() {
    let output = systemd_analyze().arg("calendar").arg(value(TIMER, "OnCalendar")).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // Parts: any year, month and day; one hour, minute and second.
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("Normalized form: *-*-* 02:30:00 UTC")
    );
    assert_eq!(value(TIMER, "Persistent"), "true");
}

#[test]
fn every_variable_is_a_setting_that_the_command_knows() {
    for unit in UNITS.into_iter().filter(|unit| *unit != TIMER) {
        let settings = settings(unit);
        assert!(settings.fleet.broker.is_some() && settings.fleet.redis.is_some(), "{unit}");
        assert_eq!(settings.files.data_roots, [Path::new("/srv/juror")], "{unit}");
    }
}

#[test]
fn key_is_a_credential_of_calling_units_only() {
    for unit in ["juror-worker@1.service", "juror-nightly.service"] {
        let credential = value(unit, "LoadCredential");
        let (name, file) = credential.split_once(':').unwrap();
        assert!(file.starts_with("/etc/juror/"), "{unit}");
        let reported = settings(unit).judge.api_key_file.unwrap();
        assert_eq!(reported, Path::new("%d").join(name), "{unit}");
    }
    for unit in ["juror-aggregate.service", "juror-serve.service"] {
        assert!(!credentials(unit).contains_key("openai_api_key"), "{unit}");
    }
}

/// The files of a unit's credentials by their names.
fn credentials(unit: &str) -> BTreeMap<String, String> {
    let lines = lines(unit).into_iter().filter(|(key, _)| key == "LoadCredential");
    let pairs = lines.map(|(_, value)| value.split_once(':').map(|(a, b)| (a.into(), b.into())));
    pairs.map(Option::unwrap).collect()
}

#[test]
fn dashboard_listens_locally_and_its_tokens_are_credentials() {
    let unit = "juror-serve.service";
    let command = value(unit, "ExecStart");
    let mut words = command.split_whitespace();
    let listen = words.find(|word| *word == "--listen").and_then(|_| words.next()).unwrap();
    assert!(listen.parse::<SocketAddr>().unwrap().ip().is_loopback(), "{listen}");
    let (reported, credentials) = (settings(unit).serve, credentials(unit));
    for (file, name) in
        [(reported.read_token_file, "read_token"), (reported.write_token_file, "write_token")]
    {
        assert_eq!(file.unwrap(), Path::new("%d").join(name));
        assert_eq!(credentials[name], format!("/etc/juror/{name}"));
    }
}

#[test]
fn dashboard_reads_the_run_directories_of_writing_units() {
    for unit in ["juror-aggregate.service", "juror-serve.service", "juror-nightly.service"] {
        assert!(value(unit, "ExecStart").contains("--runs-dir %S/juror/runs"), "{unit}");
        assert_eq!(value(unit, "StateDirectory"), "juror juror/runs", "{unit}");
    }
}

#[test]
fn stop_timeouts_cover_graceful_shutdown() {
    let worker = "juror-worker@1.service";
    let command = value(worker, "ExecStart");
    let mut words = command.split_whitespace();
    let drain = words.find(|word| *word == "--drain-timeout").and_then(|_| words.next());
    let drain = drain.unwrap().parse::<u64>().unwrap();
    let grace = value(worker, "TimeoutStopSec").parse::<u64>().unwrap();
    assert!(grace >= drain + 15, "{grace} s for a drain of {drain} s");
    assert_eq!(value(worker, "KillMode"), "mixed");
    let serve = "juror-serve.service";
    let drain = settings(serve).serve.drain_timeout_seconds;
    let grace = value(serve, "TimeoutStopSec").parse::<u64>().unwrap();
    assert!(grace >= drain + 15, "{grace} s for a drain of {drain} s");
    let call = settings(worker).judge.timeout_seconds;
    let grace = value("juror-nightly.service", "TimeoutStopSec").parse::<u64>().unwrap();
    assert!(grace > call * 2, "{grace} s for a call of {call} s and its slower retry");
}

#[test]
fn every_file_that_a_unit_reads_has_an_example() {
    for unit in UNITS.into_iter().filter(|unit| *unit != TIMER) {
        for (_, file) in lines(unit).into_iter().filter(|(key, _)| key == "EnvironmentFile") {
            let name = file.strip_prefix("/etc/juror/").unwrap();
            assert!(!variables(&format!("{name}.example")).is_empty(), "{unit} reads {file}");
        }
    }
}

#[test]
fn every_variable_of_the_nightly_run_has_an_example() {
    let command = value("juror-nightly.service", "ExecStart");
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let words = command.split(|letter| !is_letter(letter));
    let used = words.filter(|word| word.starts_with("NIGHTLY_")).map(str::to_owned);
    let used = used.collect::<BTreeSet<_>>();
    assert_eq!(used, variables("nightly.env.example").into_keys().collect());
}

#[test]
fn nightly_flags_are_accepted_by_both_commands() {
    let line = value("juror-nightly.service", "ExecStart");
    let flags = line.split_whitespace().filter(|word| word.starts_with("--"));
    let flags: Vec<String> = flags.map(str::to_owned).collect();
    assert!(flags.len() >= 4, "{flags:?}");
    for command in [&["run"][..], &["enqueue", "--wait"]] {
        let command = command.iter().map(|word| (*word).to_owned());
        let words: Vec<String> = command.chain(flags.iter().cloned()).collect();
        crate::command_lines::assert_known("juror-nightly.service", &words);
    }
}

#[test]
fn rendering_unit_limits_cover_its_browsers() {
    let text = text_of("deploy/systemd/renders.conf");
    let value = |key: &str| {
        let lines = text.lines().filter_map(|line| line.split_once('='));
        let found = lines.into_iter().find(|(name, _)| *name == key);
        found.unwrap_or_else(|| panic!("no {key}")).1.to_owned()
    };
    let browsers: u64 = value("Environment").rsplit('=').next().unwrap().parse().unwrap();
    let gigabytes: u64 = value("MemoryMax").trim_end_matches('G').parse().unwrap();
    assert!(gigabytes * 1024 >= 256 + browsers * (240 + 512));
    assert!(value("TasksMax").parse::<u64>().unwrap() >= 30 + browsers * 2 * 110);
    assert_eq!(value("MemoryDenyWriteExecute"), "no");
}
