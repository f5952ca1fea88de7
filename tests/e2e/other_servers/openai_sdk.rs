//! OpenAI's SDK: batches against the simulator with rows from Juror.

use super::log_skip;
use crate::harness::{CommandHarness, TestSimulator};
use juror_services::install;
use juror_simulator::{BatchEnd, BatchSettings, SimulatorConfig};

const SDK: &str = "openai==3.54.0";

#[test]
fn openai_sdk_drives_simulator_batches_and_parses_our_rows() {
    let programs = match install::programs_from_pypi(SDK) {
        Ok(programs) => programs,
        Err(reason) => return log_skip("OpenAI's SDK", &reason),
    };
    let harness = CommandHarness::with_items(4);
    let batches = BatchSettings { end: BatchEnd::OnRequest, ..BatchSettings::default() };
    let holding = TestSimulator::start(SimulatorConfig { batches, ..SimulatorConfig::default() });
    let running = harness.start_run(&holding, "night", &["--lane", "batch"]);
    holding.await_count("batches", 1);
    let rows = std::fs::read(harness.path("runs/night/batches/night-1.jsonl")).unwrap();
    running.kill();
    let rows = harness.write("rows.jsonl", rows);

    let simulator = TestSimulator::new();
    let script = harness.write("openai_batches.py", include_str!("openai_batches.py"));
    let python = programs.join("python");
    let mut command = harness.program(python.to_str().unwrap());
    let output = command.arg(script).arg(simulator.base_url()).arg(rows).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "4");
}
