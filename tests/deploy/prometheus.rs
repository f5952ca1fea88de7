//! `deploy/prometheus.yml`.

use crate::{file_validators::promtool, repository, text_of};
use std::collections::BTreeMap;

/// Port at which each service's replicas are scraped.
pub fn ports_by_service() -> BTreeMap<String, u16> {
    let text = text_of("deploy/prometheus.yml");
    let mut service = None;
    let mut ports = BTreeMap::new();
    for line in text.lines().map(|line| line.trim().trim_start_matches("- ")) {
        if let Some(name) = line.strip_prefix("names: [").and_then(|rest| rest.strip_suffix(']')) {
            service = Some(name.to_owned());
        } else if let Some(port) = line.strip_prefix("port: ") {
            ports.insert(service.take().unwrap(), port.parse().unwrap());
        }
    }
    ports
}

#[test]
fn promtool_accepts_the_rules() {
    let file = repository("deploy/prometheus.yml");
    let output = promtool().args(["check", "config", "--lint-fatal"]).arg(file).output().unwrap();
    let message = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && message.contains("SUCCESS"), "{message}");
}
