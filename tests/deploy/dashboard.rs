//! The dashboard in `deploy/compose.yaml`: its exposure, tokens and health check.

use crate::composed::{fleet, settings, words};
use std::{
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::{Command, Stdio},
};

#[test]
fn only_the_dashboard_has_its_tokens_and_in_files() {
    let fleet = fleet();
    assert_eq!(fleet["secrets"]["read_token"]["file"], "/the/read/token");
    assert_eq!(fleet["secrets"]["write_token"]["file"], "/the/write/token");
    for (name, service) in fleet["services"].as_object().unwrap() {
        let secrets = service["secrets"].as_array().into_iter().flatten();
        let tokens = secrets.filter(|secret| secret["source"] != "openai_api_key").count();
        assert_eq!(tokens, if name == "serve" { 2 } else { 0 }, "{name}");
    }
    let target = |source: &str| {
        let mut secrets = fleet["services"]["serve"]["secrets"].as_array().unwrap().iter();
        let secret = secrets.find(|secret| secret["source"] == source).unwrap();
        Some(PathBuf::from(secret["target"].as_str().unwrap()))
    };
    let reported = settings(&fleet, "serve").serve;
    assert_eq!(reported.read_token_file, target("read_token"));
    assert_eq!(reported.write_token_file, target("write_token"));
}

#[test]
fn dashboard_is_reachable_only_from_this_machine() {
    let fleet = fleet();
    let listen = settings(&fleet, "serve").serve.listen;
    assert!(listen.ip().is_unspecified(), "{listen} is not reached through a published port");
    let serve = &fleet["services"]["serve"];
    let ports = serve["ports"].as_array().unwrap();
    assert_eq!(ports.len(), 1);
    assert_eq!(ports[0]["host_ip"], "127.0.0.1");
    assert_eq!(ports[0]["target"], listen.port());
    // Docker publishes no port of a container that has only internal networks.
    let networks = serve["networks"].as_object().unwrap();
    let is_internal = |name: &String| fleet["networks"][name]["internal"] == true;
    assert!(!networks.keys().all(is_internal), "{networks:?}");
}

/// Health check of the dashboard, run against a local port.
fn dashboard_is_healthy(port: u16) -> bool {
    let fleet = fleet();
    let own = format!("/127.0.0.1/{} ", settings(&fleet, "serve").serve.listen.port());
    let check = words(&fleet["services"]["serve"]["healthcheck"]["test"]);
    let ["CMD", program, flags @ .., script] = &check[..] else { panic!("{check:?}") };
    // docker compose escapes a dollar sign as two.
    let script = script.replace("$$", "$");
    assert!(script.contains(&own), "{script} does not ask {own}");
    let script = script.replace(&own, &format!("/127.0.0.1/{port} "));
    let output = Command::new(program).args(flags).arg(script).output().unwrap();
    output.status.success()
}

#[test]
fn dashboard_health_check_detects_its_response() {
    let folder = tempfile::tempdir().unwrap();
    let mut dashboard = Command::new(env!("CARGO_BIN_EXE_juror"))
        .args(["serve", "--quiet", "--listen", "127.0.0.1:0", "--runs-dir", "runs"])
        .env("JUROR_SERVE_READ_TOKEN", "may-look-at-every-run")
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(dashboard.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let port = line.trim().rsplit(':').next().and_then(|port| port.parse().ok());
    let healthy = port.map(dashboard_is_healthy);
    dashboard.kill().unwrap();
    dashboard.wait().unwrap();
    assert_eq!(healthy, Some(true), "{line}");
    assert_eq!(port.map(dashboard_is_healthy), Some(false), "the port is closed");
}
