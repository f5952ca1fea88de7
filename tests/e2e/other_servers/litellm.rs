//! LiteLLM's proxy between Juror and the simulator.

use super::available;
use crate::harness::{CommandHarness, Finished, TestSimulator, pico};
use juror_services::{other_servers::OtherServer, wait::await_file};
use juror_simulator::{Fault, FaultPlan, Share, SimulatorConfig};
use serde_json::{Value, json};
use std::{fs, path::Path};

const ITEMS: u32 = 6;
const GATEWAY_KEY: &str = "sk-gateway";
const UPSTREAM_KEY: &str = "upstream-key";

/// Proxy, its upstream, and a folder with a dataset and aliases for the model names of the proxy.
struct Gateway {
    harness: CommandHarness,
    upstream: TestSimulator,
    proxy: OtherServer,
}

impl Gateway {
    fn start() -> Option<Self> {
        let harness = CommandHarness::with_items(ITEMS);
        let aliases = ["our-judge", "busy", "keyless", "not-offered"];
        let alias = |name: &str| format!("[models.\"{name}\"]\nlike = \"gpt-4o\"\n");
        harness.write("juror.toml", aliases.map(alias).concat());
        let rates = vec![Share { of: Fault::RateLimit, share: 0.3 }];
        let upstream = TestSimulator::start(SimulatorConfig {
            key: Some(UPSTREAM_KEY.to_owned()),
            faults: FaultPlan { rates, ..FaultPlan::default() },
            ..SimulatorConfig::default()
        });
        let config = harness.write("proxy/config.yaml", config(&upstream.base_url()).to_string());
        harness.write("proxy/spend_log.py", include_str!("spend_log.py"));
        let log = harness.path("spend.txt");
        let proxy = OtherServer::litellm(&config, &[("SPEND_LOG", &log)]);
        Some(Self { proxy: available("LiteLLM", proxy)?, harness, upstream })
    }

    fn run(&self, run: &str, key: &str, flags: &[&str]) -> Finished {
        let url = self.proxy.base_url();
        let fixed = ["run", "manifest.jsonl", "--enable-llm-judge", "--no-cache", "--base-url"];
        let mut command =
            self.harness.command(&[&fixed[..], &[&url, "--run-id", run], flags].concat());
        command.env("OPENAI_API_KEY", key).output().unwrap().into()
    }

    fn doctor(&self, key: &str, flags: &[&str]) -> Finished {
        let url = self.proxy.base_url();
        let mut command = self.harness.command(&[&["doctor", "--base-url", &url], flags].concat());
        command.env("OPENAI_API_KEY", key).output().unwrap().into()
    }

    fn total(&self, run: &str) -> i64 {
        pico(&self.harness.report(run)["cost"]["total_usd"])
    }

    /// Lines of LiteLLM's spend log, which is written with a delay.
    fn spend_log(&self, lines: usize) -> Vec<(f64, String)> {
        let path = self.harness.path("spend.txt");
        let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
        await_file(&path, |path| {
            let log = read(path);
            log.lines().count() >= lines && log.ends_with('\n')
        });
        let log = read(&path);
        let parts = log.lines().map(|line| line.split_once(' ').unwrap());
        parts.map(|(cost, stream)| (cost.parse().unwrap(), stream.into())).collect()
    }
}

/// JSON is YAML too.
fn config(upstream: &str) -> Value {
    let deployment = |name: &str, base: &str, key: &str| {
        let parameters = json!({"model": "openai/gpt-4o", "api_base": base, "api_key": key});
        json!({"model_name": name, "litellm_params": parameters})
    };
    json!({
        "model_list": [
            deployment("gpt-4o", upstream, UPSTREAM_KEY),
            deployment("our-judge", upstream, UPSTREAM_KEY),
            deployment("keyless", upstream, "another-key"),
            // No server listens there, so the fallback replies.
            deployment("gpt-4o-mini", "http://127.0.0.1:1/v1", UPSTREAM_KEY),
        ],
        "router_settings": {"num_retries": 0, "disable_cooldowns": true},
        "litellm_settings": {
            "callbacks": "spend_log.spend_log",
            "fallbacks": [{"gpt-4o-mini": ["gpt-4o"]}],
        },
        "general_settings": {"master_key": GATEWAY_KEY},
    })
}

/// Not run by default: the proxy has no smaller installation, and no smaller part of it books costs.
#[test]
#[ignore = "installs 740 MB from PyPI, which takes minutes on a busy machine"]
fn litellm_forwards_calls_and_juror_books_litellm_costs() {
    let Some(gateway) = Gateway::start() else { return };
    costs_match_the_litellm_log(&gateway);
    fallback_is_reported_and_booked_at_its_price(&gateway);
    account_errors_pause_with_the_gateway_message(&gateway);
}

/// Three of ten calls are refused meanwhile by the rate limit of the upstream.
fn costs_match_the_litellm_log(gateway: &Gateway) {
    gateway.doctor(GATEWAY_KEY, &[]).exits(0).stdout_contains(&["a run can start"]);
    gateway.run("plain", GATEWAY_KEY, &[]).exits(0);
    gateway.run("alias", GATEWAY_KEY, &["--model", "our-judge"]).exits(0);
    let requests = gateway.upstream.requests();
    assert!(requests > u64::from(2 * ITEMS), "{requests} requests: none was refused");
    let log = gateway.spend_log(2 * ITEMS as usize);
    let spent: f64 = log.iter().map(|(cost, _)| cost).sum();
    let booked = gateway.total("plain") + gateway.total("alias");
    // Each cost is rounded up to a pico-dollar.
    let rounding = booked - gateway.upstream.bill();
    assert!((0..=i64::from(2 * ITEMS)).contains(&rounding), "{rounding} picodollars");
    assert!((booked as f64 / 1e12 - spent).abs() < 1e-10, "{booked} booked, {spent} by LiteLLM");
    assert!(log.iter().all(|(_, stream)| stream == "False"), "{log:?}");
    for run in ["plain", "alias"] {
        let report = gateway.harness.report(run);
        assert_eq!(report["coverage"]["scored"], ITEMS, "{run}");
        assert_eq!(report["run"]["simulated"], true, "{run}: marked behind a gateway too");
    }
}

fn fallback_is_reported_and_booked_at_its_price(gateway: &Gateway) {
    let before = gateway.upstream.bill();
    let run = gateway.run("fallback", GATEWAY_KEY, &["--model", "gpt-4o-mini"]).exits(0);
    run.stderr_contains(&["model gpt-4o replies in place of gpt-4o-mini"]);
    let rounding = gateway.total("fallback") - (gateway.upstream.bill() - before);
    assert!((0..=i64::from(ITEMS)).contains(&rounding), "{rounding} picodollars");
    let answered_by = &gateway.harness.result("fallback", "item_0000")["judge"]["answered_by"];
    assert_eq!(answered_by, "gpt-4o");
}

fn account_errors_pause_with_the_gateway_message(gateway: &Gateway) {
    let before = gateway.upstream.bill();
    for (run, key, model, words) in [
        ("wrong-key", "sk-wrong", "gpt-4o", ["authentication failed", "No connected db."]),
        (
            "unknown-model",
            GATEWAY_KEY,
            "not-offered",
            ["check the model's name", "Invalid model name passed in model=not-offered"],
        ),
        (
            "upstream-key",
            GATEWAY_KEY,
            "keyless",
            ["authentication failed", "the API key is missing or wrong"],
        ),
    ] {
        let paused = gateway.run(run, key, &["--model", model, "-j", "1"]).exits(1);
        paused
            .stderr_contains(&words)
            .stderr_contains(&["paused and keeps its jobs", &format!("juror retry {run}")]);
        assert_eq!(gateway.harness.report(run)["coverage"]["pending"], ITEMS, "{run}");
        assert_eq!(gateway.total(run), 0, "{run}");
    }
    assert_eq!(gateway.upstream.bill(), before);
    gateway.doctor("sk-wrong", &[]).exits(1).stdout_contains(&["authentication failed"]);
    gateway
        .doctor(GATEWAY_KEY, &["--model", "not-offered"])
        .exits(1)
        .stdout_contains(&["not-offered"]);
}
