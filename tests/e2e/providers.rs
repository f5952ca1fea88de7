//! Settings and commands of the page on providers, gateways and local servers.

use crate::harness::{CommandHarness, Finished, Manual, TestSimulator, write_items};
use juror_simulator::{Named as _, Quirk, SimulatorConfig};
use std::fs;

#[test]
fn documented_provider_settings_judge_an_item() {
    let simulator = TestSimulator::start(SimulatorConfig::with_quirks(&[Quirk::DeploymentNames]));
    let page = Manual::page("providers");
    // The reader provides proxy and certificates.
    let blocks = page.blocks("toml").into_iter().filter(|block| !block.contains("proxy = "));
    let blocks: Vec<&str> = blocks.collect();
    assert!(blocks.len() >= 9, "{blocks:?}");
    for settings in blocks {
        let harness = CommandHarness::with_items(1);
        harness.write("juror.toml", settings);
        let mut command = harness.command(&["run", "manifest.jsonl", "--enable-llm-judge"]);
        command.env("JUROR_JUDGE_BASE_URL", simulator.base_url());
        command.env("AZURE_OPENAI_API_KEY", "a-key-of-azure");
        let run = Finished::from(command.output().unwrap());
        assert_eq!(run.code, 0, "{settings}\n{}", run.stderr);
    }
}

#[test]
fn page_lists_every_quirk_and_its_commands_run() {
    let page = Manual::page("providers");
    for quirk in Quirk::ALL {
        assert!(page.names(quirk.name()), "docs/providers.md does not name {quirk}");
    }
    let harness = CommandHarness::new();
    fs::rename(write_items(&harness, 2), harness.path("shots.jsonl")).unwrap();
    page.run(&harness, &[]);
}
