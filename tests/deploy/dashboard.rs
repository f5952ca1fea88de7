//! The dashboard in `deploy/compose.yaml`: who reaches it, by which tokens, and who sees that it
//! lives.

use crate::composed::{fleet, settings, words};
use std::{
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::{Command, Stdio},
};

#[test]
fn only_the_dashboard_holds_its_tokens_and_in_files() {
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
    let told = settings(&fleet, "serve").serve;
    assert_eq!(told.read_token_file, target("read_token"));
    assert_eq!(told.write_token_file, target("write_token"));
}

#[test]
fn the_dashboard_is_reached_from_this_machine_alone() {
    let fleet = fleet();
    let listen = settings(&fleet, "serve").serve.listen;
    assert!(listen.ip().is_unspecified(), "{listen} is not reached through a published port");
    let serve = &fleet["services"]["serve"];
    let ports = serve["ports"].as_array().unwrap();
    assert_eq!(ports.len(), 1);
    assert_eq!(ports[0]["host_ip"], "127.0.0.1");
    assert_eq!(ports[0]["target"], listen.port());
    // Docker publishes nothing of a container that has internal networks alone.
    let networks = serve["networks"].as_object().unwrap();
    let is_internal = |name: &String| fleet["networks"][name]["internal"] == true;
    assert!(!networks.keys().all(is_internal), "{networks:?}");
}

/// The dashboard's health check, asked at a port of this machine.
fn dashboard_is_healthy(port: u16) -> bool {
    let fleet = fleet();
    let own = format!("/127.0.0.1/{} ", settings(&fleet, "serve").serve.listen.port());
    let check = words(&fleet["services"]["serve"]["healthcheck"]["test"]);
    let ["CMD", program, flags @ .., script] = &check[..] else { panic!("{check:?}") };
    // What docker compose prints can be read by it again: a dollar sign is two.
    let script = script.replace("$$", "$");
    assert!(script.contains(&own), "{script} does not ask {own}");
    let script = script.replace(&own, &format!("/127.0.0.1/{port} "));
    let output = Command::new(program).args(flags).arg(script).output().unwrap();
    output.status.success()
}

#[test]
fn the_dashboards_health_check_knows_whether_it_answers() {
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
    assert_eq!(port.map(dashboard_is_healthy), Some(false), "nobody listens there any more");
}
