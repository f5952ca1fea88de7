//! `deploy/compose.yaml` as docker compose resolves it.

use crate::{
    file_validators::{assert_silent, compose},
    repository, settings_of, text_of,
};
use juror_app::settings::Settings;
use juror_ledger::{
    admission::{Admission as _, Budget},
    redis::{RedisLedger, RedisSettings, test_server::TestRedis},
};
use juror_types::{id::RunId, usage::Money};
use serde_json::Value;
use std::{
    collections::BTreeMap, net::SocketAddr, path::PathBuf, process::Command, time::Duration,
};

/// Folder of stored rendered images.
const RENDERS: &str = "/var/lib/juror/renders";

/// Content of `.env`; its values are distinguishable in the resolved settings.
const GIVEN: [(&str, &str); 6] = [
    ("RABBITMQ_PASSWORD", "of-rabbitmq"),
    ("REDIS_PASSWORD", "of-redis"),
    ("DATA_DIR", "/the/dataset"),
    ("OPENAI_API_KEY_FILE", "/the/key"),
    ("READ_TOKEN_FILE", "/the/read/token"),
    ("WRITE_TOKEN_FILE", "/the/write/token"),
];

/// `docker compose` with only the given environment.
fn compose_with(given: &[(&str, &str)]) -> Command {
    let mut command = compose();
    command.arg("--file").arg(repository("deploy/compose.yaml"));
    command.args(["--env-file", "/dev/null", "--profile", "*", "config"]);
    for (name, _) in GIVEN {
        command.env_remove(name);
    }
    command.env_remove("IMAGE").envs(given.iter().copied());
    command
}

/// The file as docker compose resolves it.
pub fn fleet() -> Value {
    let output = compose_with(&GIVEN).args(["--format", "json"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The words of a command.
pub fn words(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
}

fn environment(service: &Value) -> BTreeMap<String, String> {
    serde_json::from_value(service["environment"].clone()).unwrap()
}

/// Settings of a role's container: those of the image, overridden by its own.
pub fn settings(fleet: &Value, role: &str) -> Settings {
    let mut variables = crate::image::environment();
    variables.extend(environment(&fleet["services"][role]));
    settings_of(&variables)
}

#[test]
fn docker_compose_accepts_the_file() {
    assert_silent(compose_with(&GIVEN).arg("--quiet"));
}

#[test]
fn missing_env_values_prevent_startup() {
    let example = text_of("deploy/.env.example");
    for (name, _) in GIVEN {
        let line = format!("\n{name}=\n");
        assert!(example.contains(&line), "{name} is not in .env.example, or has a value there");
        let others = GIVEN.into_iter().filter(|(other, _)| *other != name).collect::<Vec<_>>();
        for given in [others.clone(), [others, vec![(name, "")]].concat()] {
            let output = compose_with(&given).arg("--quiet").output().unwrap();
            let message = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success() && message.contains(name), "{name}: {message}");
        }
    }
}

#[test]
fn every_role_has_settings_that_the_command_accepts() {
    let fleet = fleet();
    for role in ["worker", "aggregate", "serve", "juror"] {
        let settings = settings(&fleet, role).fleet;
        assert_eq!(settings.broker.unwrap(), "amqp://juror:of-rabbitmq@rabbitmq:5672", "{role}");
        assert_eq!(settings.redis.unwrap(), "redis://:of-redis@redis:6379", "{role}");
    }
}

#[test]
fn roles_are_started_by_existing_commands() {
    let fleet = fleet();
    for role in ["worker", "aggregate", "serve"] {
        let command = words(&fleet["services"][role]["command"]);
        let command: Vec<String> = command.into_iter().map(str::to_owned).collect();
        crate::command_lines::assert_known("deploy/compose.yaml", &command);
        assert_eq!(command[0], role);
    }
}

#[test]
fn only_workers_have_the_key_and_in_a_file() {
    let fleet = fleet();
    assert_eq!(fleet["secrets"]["openai_api_key"]["file"], "/the/key");
    for (name, service) in fleet["services"].as_object().unwrap() {
        let mut secrets = service["secrets"].as_array().into_iter().flatten();
        let has_key = secrets.any(|secret| secret["source"] == "openai_api_key");
        assert_eq!(has_key, name == "worker", "{name}");
    }
    let reported = settings(&fleet, "worker").judge.api_key_file.unwrap();
    assert_eq!(fleet["services"]["worker"]["secrets"][0]["target"], reported.to_str().unwrap());
}

#[test]
fn stop_timeouts_cover_graceful_shutdown() {
    let fleet = fleet();
    for (role, drain) in [
        ("worker", settings(&fleet, "worker").fleet.drain_timeout_seconds),
        ("serve", settings(&fleet, "serve").serve.drain_timeout_seconds),
    ] {
        let grace = grace(&fleet["services"][role]);
        assert!(grace >= Duration::from_secs(drain + 15), "{role}: {grace:?} for {drain} s");
    }
    for (name, service) in fleet["services"].as_object().unwrap() {
        let keeps_data = ["aggregate", "rabbitmq", "redis"].contains(&name.as_str());
        // Docker's default is 10 s.
        assert!(!keeps_data || service["stop_grace_period"].is_string(), "{name}");
    }
}

/// Docker formats a duration as in `2m0s`.
fn grace(service: &Value) -> Duration {
    let text = service["stop_grace_period"].as_str().unwrap();
    let (minutes, seconds) = text.split_once('m').unwrap_or(("0", text));
    let seconds = seconds.strip_suffix('s').unwrap().parse::<u64>().unwrap();
    Duration::from_secs(minutes.parse::<u64>().unwrap() * 60 + seconds)
}

#[tokio::test]
async fn redis_is_configured_to_hold_budgets() {
    let fleet = fleet();
    let command = words(&fleet["services"]["redis"]["command"]);
    assert_eq!(command[0], "redis-server");
    let redis = TestRedis::own(&command[1..]);
    let url = redis.url.replace("redis://", "redis://:of-redis@");
    let backend = RedisLedger::open(RedisSettings::new(url)).await.unwrap();
    let run = RunId::parse("first").unwrap();
    backend.open_run(&run, Budget::Cap("5.00".parse::<Money>().unwrap())).await.unwrap();
    assert!(backend.ledger(&run).await.unwrap().is_some());
    backend.close().await;
}

#[test]
fn persistent_data_is_in_volumes() {
    let fleet = fleet();
    let volumes = |service: &str| -> Vec<(String, String)> {
        let list = fleet["services"][service]["volumes"].as_array().unwrap().iter();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        list.map(|volume| (text(&volume["source"]), text(&volume["target"]))).collect()
    };
    let runs = settings(&fleet, "aggregate").run.runs_dir.display().to_string();
    for (service, source, target) in [
        ("aggregate", "runs", runs.as_str()),
        ("serve", "runs", &runs),
        ("juror", "runs", &runs),
        ("worker", "renders", RENDERS),
        ("serve", "renders", RENDERS),
        ("juror", "renders", RENDERS),
        ("rabbitmq", "rabbitmq", "/var/lib/rabbitmq"),
        ("redis", "redis", "/data"),
        ("prometheus", "prometheus", "/prometheus"),
    ] {
        let wanted = (source.to_owned(), target.to_owned());
        assert!(volumes(service).contains(&wanted), "{service}: {:?}", volumes(service));
    }
    for service in ["worker", "serve", "juror"] {
        let list = fleet["services"][service]["volumes"].as_array().unwrap();
        let data = list.iter().find(|volume| volume["target"] == "/data").unwrap();
        assert_eq!(data["read_only"], true, "{service}");
        let root = settings(&fleet, service).files.data_roots;
        assert_eq!(root, [PathBuf::from("/data")], "{service}");
    }
    for service in ["worker", "serve", "juror"] {
        let kept = settings(&fleet, service).render.keep_dir;
        assert_eq!(kept, Some(PathBuf::from(RENDERS)), "{service}");
    }
    // The dashboard mounts the runs read-only.
    let shown = fleet["services"]["serve"]["volumes"].as_array().unwrap();
    assert!(shown.iter().all(|volume| volume["read_only"] == true), "{shown:?}");
}

#[test]
fn worker_limits_cover_its_browsers() {
    let fleet = fleet();
    let worker = &fleet["services"]["worker"];
    let browsers = settings(&fleet, "worker").render.concurrency.unwrap() as u64;
    let limits = &worker["deploy"]["resources"]["limits"];
    let memory: u64 = limits["memory"].as_str().unwrap().parse().unwrap();
    let temporary = worker["tmpfs"][0].as_str().unwrap();
    let temporary = temporary.strip_prefix("/tmp:size=").and_then(|size| size.strip_suffix('m'));
    let temporary: u64 = temporary.unwrap().parse().unwrap();
    assert!(memory >> 20 >= 256 + browsers * (240 + 512) + temporary);
    let pids = &limits["pids"];
    assert!(pids.as_u64().unwrap() >= 30 + browsers * 2 * 110, "{pids}");
}

#[test]
fn containers_have_limits_pinned_images_and_health_checks() {
    let fleet = fleet();
    for (name, service) in fleet["services"].as_object().unwrap() {
        assert!(service["deploy"]["resources"]["limits"]["memory"].is_string(), "{name}");
        let image = service["image"].as_str().unwrap();
        let ours = image == "juror";
        let tag = image.split_once(':').map_or("latest", |(_, tag)| tag);
        assert!(ours || tag.contains(|letter: char| letter.is_ascii_digit()), "{name}: {image}");
        // The image has a health check of its own.
        assert!(ours || service["healthcheck"]["test"].is_array(), "{name}");
        assert!(!ours || service["read_only"] == true, "{name}");
        for port in service["ports"].as_array().into_iter().flatten() {
            assert_eq!(port["host_ip"], "127.0.0.1", "{name}");
        }
    }
}

#[test]
fn prometheus_scrapes_the_ports_of_the_roles() {
    let fleet = fleet();
    let ports = crate::prometheus::ports_by_service();
    for role in ["worker", "aggregate"] {
        let listen: SocketAddr = settings(&fleet, role).fleet.listen.unwrap();
        assert!(listen.ip().is_unspecified(), "{role} listens to {listen} alone");
        assert_eq!(ports.get(role), Some(&listen.port()), "{role}");
        for name in [role, "prometheus"] {
            let networks = fleet["services"][name]["networks"].as_object().unwrap();
            assert!(networks.contains_key("fleet"), "{name} is not where {role} is found");
        }
    }
}
