//! A judge behind TLS, with certificates of a private authority.

use crate::harness::{CommandHarness, Finished, TestSimulator, TlsFront};
use juror_services::certificates::Authority;

const ITEMS: u32 = 2;

#[test]
fn private_ca_judge_requires_its_ca_file() {
    let harness = CommandHarness::with_items(ITEMS);
    let authority = Authority::new();
    let simulator = TestSimulator::new();
    let front = TlsFront::start(&authority.issue("judge", &["localhost"]), &simulator.base_url());
    let url = front.base_url("localhost");

    let unknown = "an unknown authority";
    let paused = harness.judge(&url, "manifest.jsonl", &[]).exits(1);
    paused.stderr_contains(&[
        "paused and keeps its jobs",
        unknown,
        "judge.ca_file",
        "juror retry first",
    ]);
    let doctor = ["doctor", "--base-url", &url];
    harness.juror(&doctor).exits(1).stdout_contains(&[unknown, "judge.ca_file"]);
    let other = Authority::new();
    let wrong_file = harness.command(&doctor).env("JUROR_JUDGE_CA_FILE", other.file()).output();
    Finished::from(wrong_file.unwrap())
        .exits(1)
        .stdout_contains(&["not signed by an authority in"]);
    assert_eq!(simulator.requests(), 0);

    let mut retry = harness.command(&["retry", "first"]);
    retry.env("JUROR_JUDGE_CA_FILE", authority.file()).env("HTTPS_PROXY", "http://127.0.0.1:1");
    Finished::from(retry.output().unwrap()).exits(0).stdout_contains(&["2 of 2 scored"]);
    assert_eq!(simulator.requests(), u64::from(ITEMS));

    let by_address = ["doctor", "--base-url", &front.base_url("127.0.0.1")];
    let mut by_address = harness.command(&by_address);
    let by_address = by_address.env("JUROR_JUDGE_CA_FILE", authority.file()).output().unwrap();
    let not_for = "not for 127.0.0.1, but for localhost: use one of its names in judge.base_url";
    Finished::from(by_address).exits(1).stdout_contains(&[not_for]);
}

#[test]
fn plaintext_judge_at_an_https_url_is_reported() {
    let harness = CommandHarness::new();
    let simulator = TestSimulator::new();
    let url = simulator.base_url().replace("http://", "https://");
    let doctor = harness.juror(&["doctor", "--base-url", &url]).exits(1);
    doctor.stdout_contains(&["does not speak TLS", "judge.base_url"]);
}
