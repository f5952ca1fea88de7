//! Gates of runs that an aggregator reports.

use super::*;

#[test]
fn a_run_that_nobody_waits_for_is_decided_by_its_gate() {
    let (harness, servers) = (CommandHarness::with_items(3), Servers::shared());
    let rule = "schema = 1\n[[rule]]\nmetric = \"token_extraction.accuracy\"\nat_least = 0.9\n";
    harness.write("strict.toml", rule);
    let enqueue = ["enqueue", "manifest.jsonl", "--run-id", "night", "--gate", "strict.toml"];
    servers.juror(&harness, &enqueue).exits(0);
    let _aggregator = servers.start_aggregator(&harness);
    servers.work(3, scored);
    servers.await_report(&RunId::new("night"), 3);
    let report = harness.report("night");
    assert_eq!(report["targets"]["decision"], "missed", "{report}");
    servers.juror(&harness, &["report", "night"]).exits(100);
    servers.juror(&harness, &["retry", "night", "--wait"]).exits(100);
    let unread = ["enqueue", "--resume", "night", "--gate", "missing.toml"];
    servers.juror(&harness, &unread).exits(2).stderr_contains(&["missing.toml"]);
    servers.juror(&harness, &["report", "night"]).exits(100);
    // On another machine, whose commands have no journal, it does not count as met.
    let elsewhere = CommandHarness::new();
    let follow = ["enqueue", "--wait", "--resume", "night"];
    servers.juror(&elsewhere, &follow).exits(2).stderr_contains(&["gate", "--runs-dir"]);
}

#[test]
fn a_gate_that_the_aggregator_cannot_read_is_a_warning_of_its_report() {
    let (harness, elsewhere) = (CommandHarness::new(), CommandHarness::new());
    let servers = Servers::shared();
    write_items(&harness, 1);
    let rule = "schema = 1\n[[rule]]\nmetric = \"token_extraction.accuracy\"\nat_least = 0.1\n";
    harness.write("gate.toml", rule);
    let _aggregator = servers.start_aggregator(&elsewhere);
    let enqueue = ["enqueue", "manifest.jsonl", "--run-id", "night", "--gate", "gate.toml"];
    servers.juror(&harness, &enqueue).exits(0);
    std::fs::remove_file(harness.path("gate.toml")).unwrap();
    servers.work(1, scored);
    servers.await_report(&RunId::new("night"), 1);
    let report = elsewhere.report("night").to_string();
    assert!(report.contains("not decided by its gate"), "{report}");
    servers.juror(&elsewhere, &["report", "night"]).exits(2).stderr_contains(&["gate.toml"]);
}
