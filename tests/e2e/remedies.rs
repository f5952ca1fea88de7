//! Commands that messages propose: each runs as it is printed.

use crate::harness::{CommandHarness, Finished, RunningCommand, TestSimulator};
use juror_simulator::{BatchEnd, BatchSettings, SimulatorConfig};
use rustix::process::Signal;

/// Flags of settings, runs and ledger in other places than the usual ones.
const PLACES: [&str; 6] =
    ["--config", "own.toml", "--runs-dir", "my runs", "--state", "the ledger"];

fn harness() -> CommandHarness {
    let harness = CommandHarness::with_items(6);
    harness.write("own.toml", "[batch]\npoll_min = \"1ms\"\npoll_max = \"5ms\"\n");
    harness
}

fn run(harness: &CommandHarness, base_url: &str, flags: &[&str]) -> Finished {
    running(harness, base_url, flags).finish()
}

fn running(harness: &CommandHarness, base_url: &str, flags: &[&str]) -> RunningCommand {
    let run = ["run", "manifest.jsonl", "--run-id", "night", "--enable-llm-judge", "--base-url"];
    harness.start(&[&run[..], &[base_url], &PLACES, flags].concat())
}

/// Runs the command that a message proposes after these words, up to its line's end or this text,
/// with further flags.
#[track_caller]
fn follow(
    harness: &CommandHarness,
    message: &str,
    (words, end): (&str, &str),
    more: &str,
) -> Finished {
    let proposed = message.split_once(words).unwrap_or_else(|| panic!("no {words:?} in {message}"));
    let line = proposed.1.lines().next().unwrap();
    let command = line.split_once(end).map_or(line, |(command, _)| command);
    let arguments = command.strip_prefix("juror ").unwrap_or_else(|| panic!("{command:?}"));
    let mut shell = harness.program("sh");
    shell.args(["-c", &format!("{} {arguments} {more}", env!("CARGO_BIN_EXE_juror"))]);
    RunningCommand::start(shell).finish()
}

#[test]
fn proposed_commands_find_the_run_where_it_is() {
    let (harness, simulator) = (harness(), TestSimulator::new());
    let ended = run(&harness, &simulator.base_url(), &["--budget-usd", "0.02"]).exits(3);
    let words = ("raise it and resume with: ", " (");
    follow(&harness, &ended.stderr, words, "--budget-usd 1").exits(0).stdout_contains(&["6 of 6"]);

    let unknown = harness.juror(&[&["report", "nihgt"], &PLACES[..]].concat()).exits(2);
    let listed = follow(&harness, &unknown.stderr, ("list the runs with `", "`"), "").exits(0);
    listed.stdout_contains(&["night", "6/6"]);
    // A run that is named by its path is found by its id.
    let path = ["bless", "my runs/night", "--name", "main"];
    let blessed = harness.juror(&path).exits(0);
    let next = blessed.stderr.replace("…", "manifest.jsonl");
    follow(&harness, &next, ("compare with it: ", "\n"), "--dry-run").exits(0);
}

#[test]
fn remedy_of_a_paused_run_takes_the_flags_that_its_reason_names() {
    let (harness, simulator) = (harness(), TestSimulator::new());
    let elsewhere = format!("http://{}/elsewhere", simulator.address);
    let flags = ["--lane", "batch", "--budget-usd", "1"];
    let paused = run(&harness, &elsewhere, &flags).exits(1);
    assert!(paused.stderr.contains("resume with --lane realtime"), "{}", paused.stderr);
    let more = format!("--lane realtime --base-url {}", simulator.base_url());
    let resumed = follow(&harness, &paused.stderr, ("\n  resume with: ", "\n"), &more);
    resumed.exits(0).stdout_contains(&["6 of 6 scored"]);
}

#[test]
fn batches_left_at_the_provider_are_cancelled_and_collected_as_proposed() {
    let batches = BatchSettings { end: BatchEnd::OnRequest, ..BatchSettings::default() };
    let config = SimulatorConfig { batches, ..SimulatorConfig::default() };
    let (harness, simulator) = (harness(), TestSimulator::start(config));
    let flags = ["--lane", "batch", "--budget-usd", "1"];
    let left = running(&harness, &simulator.base_url(), &flags);
    simulator.await_count("batch_polls", 2);
    left.signal(Signal::INT);
    let left = left.finish().exits(3);
    let cancelled = follow(&harness, &left.stderr, ("or cancel with: ", "\n"), "").exits(0);
    assert!(cancelled.stdout.contains("1 batch is cancelled"), "{}", cancelled.stdout);
    follow(&harness, &cancelled.stdout, ("results with: ", "\n"), "").exits(3);
    let collect =
        "juror run --config own.toml --runs-dir 'my runs' --state 'the ledger' --resume night";
    left.stderr_contains(&[&format!("collect the results with: {collect}, or")]);
}
