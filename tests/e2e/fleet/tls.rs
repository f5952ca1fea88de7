//! A fleet whose servers require TLS and client certificates.

use super::servers::{ACTIVE, Servers};
use crate::harness::{
    ApiServer, CommandHarness, Finished, RunningCommand, TestSimulator, write_items,
};
use juror_ledger::redis::test_server::TestRedis;
use juror_services::{
    certificates::{Authority, Identity},
    process::free_port,
    rabbitmq::Broker,
};
use juror_types::id::RunId;
use serde_json::json;
use std::process::Command;

const ITEMS: u32 = 4;

/// Dedicated RabbitMQ and Redis, each with a TLS port next to its plaintext one, which the test
/// itself uses.
struct SecureServers {
    servers: Servers,
    broker: Broker,
    redis_port: u16,
    authority: Authority,
    client: Identity,
}

impl SecureServers {
    fn start() -> Self {
        let authority = Authority::new();
        let server = authority.issue("server", &["localhost"]);
        let client = authority.issue("client", &["juror"]);
        let broker = Broker::start_with_tls(&authority, &server);
        let redis_port = free_port();
        let path = |file: &std::path::Path| file.display().to_string();
        let options = [
            ("--tls-port", redis_port.to_string()),
            ("--tls-cert-file", path(&server.certificate)),
            ("--tls-key-file", path(&server.key)),
            ("--tls-ca-cert-file", path(&authority.file())),
            ("--tls-auth-clients", "yes".to_owned()),
            ("--appendonly", "yes".to_owned()),
            ("--appendfsync", "always".to_owned()),
        ];
        let options = options.iter().flat_map(|(name, value)| [*name, value]).collect::<Vec<_>>();
        let servers = Servers::with_broker(TestRedis::own(&options), broker.port());
        Self { servers, broker, redis_port, authority, client }
    }

    fn broker_url(&self) -> String {
        format!("amqps://guest:guest@localhost:{}", self.broker.tls_port())
    }

    fn redis_url(&self) -> String {
        format!("rediss://localhost:{}", self.redis_port)
    }

    /// The command with TLS to both servers, and no certificates.
    fn unknown(&self, harness: &CommandHarness, arguments: &[&str]) -> Command {
        let mut command = self.servers.command(harness, arguments);
        command.env("JUROR_FLEET_BROKER", self.broker_url());
        command.env("JUROR_FLEET_REDIS", self.redis_url());
        command
    }

    /// The command with the certificates that both servers require.
    fn command(&self, harness: &CommandHarness, arguments: &[&str]) -> Command {
        let mut command = self.unknown(harness, arguments);
        let Identity { certificate, key } = &self.client;
        for server in ["BROKER", "REDIS"] {
            command
                .env(format!("JUROR_FLEET_{server}_CA_FILE"), self.authority.file())
                .env(format!("JUROR_FLEET_{server}_CLIENT_CERTIFICATE_FILE"), certificate)
                .env(format!("JUROR_FLEET_{server}_CLIENT_KEY_FILE"), key);
        }
        command
    }

    fn start_command(&self, harness: &CommandHarness, arguments: &[&str]) -> RunningCommand {
        RunningCommand::start(self.command(harness, arguments))
    }

    fn juror(&self, harness: &CommandHarness, arguments: &[&str]) -> Finished {
        self.start_command(harness, arguments).finish()
    }
}

#[test]
fn fleet_commands_connect_over_tls() {
    let (harness, secure) = (CommandHarness::new(), SecureServers::start());
    let simulator = TestSimulator::new();
    let url = simulator.base_url();
    write_items(&harness, ITEMS);
    let mut aggregator = secure.start_command(&harness, &["aggregate"]);
    aggregator.await_stderr(ACTIVE);
    let worker = ["worker", "--base-url", &url, "--data-root", "."];
    let worker = secure.start_command(&harness, &worker);

    let enqueue = ["enqueue", "manifest.jsonl", "--enable-llm-judge", "--budget-usd", "1"];
    let dry = [&enqueue[..], &["--dry-run"]].concat();
    secure.juror(&harness, &dry).exits(0).stdout_contains(&["Nothing was published"]);
    let night = [&enqueue[..], &["--run-id", "night", "--wait"]].concat();
    secure.juror(&harness, &night).exits(0).stdout_contains(&["4 of 4 scored"]);
    secure.juror(&harness, &["enqueue", "--resume", "night", "--wait"]).exits(0);
    secure
        .juror(&harness, &["retry", "night"])
        .exits(0)
        .stderr_contains(&["run night is complete"]);
    secure.juror(&harness, &["cancel", "night"]).exits(0).stdout_contains(&["nothing to cancel"]);
    secure.juror(&harness, &["dead-letters", "list"]).exits(0);
    secure.juror(&harness, &["budget", "show", "night"]).exits(0);
    secure.juror(&harness, &["cache", "stats"]).exits(0);
    let doctor = secure.juror(&harness, &["doctor", "--base-url", &url]).exits(0);
    doctor.stdout_contains(&["RabbitMQ 3.", "Redis 7.", "its storage is durable"]);
    assert_eq!(simulator.count("billed_calls"), u64::from(ITEMS));

    let flags = ["serve", "--listen", "127.0.0.1:0", "--data-root", "."];
    let api = ApiServer::start(secure.command(&harness, &flags));
    let start = json!({"dataset": "manifest.jsonl", "run_id": "web", "enable_llm_judge": true,
                       "budget_usd": "1.00"});
    api.post("/api/v1/runs", &start).has_status(202);
    secure.servers.await_report(&RunId::new("web"), ITEMS.into());
    drop(api);
    for process in [worker, aggregator] {
        process.stop();
    }
    let status = secure.servers.status(&RunId::new("night")).unwrap();
    assert_eq!(status.expected, Some(u64::from(ITEMS)));
}

#[test]
fn unknown_servers_and_clients_are_refused() {
    let (harness, secure) = (CommandHarness::new(), SecureServers::start());
    let other = Authority::new();
    let stranger = other.issue("stranger", &["juror"]);
    let refused = |command: &mut Command, broker: &[&str], redis: &[&str]| {
        let found = Finished::from(command.output().unwrap()).exits(1);
        let found = found.stdout_contains(broker).stdout_contains(redis);
        assert!(!found.stdout.contains("guest:guest"), "{}", found.stdout);
    };
    let doctor = ["doctor"];
    let command = || secure.command(&harness, &doctor);

    let unknown = "an unknown authority";
    refused(
        &mut secure.unknown(&harness, &doctor),
        &["RabbitMQ at amqps://localhost:", unknown, "fleet.broker_ca_file"],
        &["Redis at rediss://localhost:", unknown, "fleet.redis_ca_file"],
    );
    let mut wrong_authority = command();
    for server in ["BROKER", "REDIS"] {
        wrong_authority.env(format!("JUROR_FLEET_{server}_CA_FILE"), other.file());
    }
    refused(
        &mut wrong_authority,
        &["not signed by an authority in", "(fleet.broker_ca_file)"],
        &["not signed by an authority in", "(fleet.redis_ca_file)"],
    );
    let mut no_certificate = command();
    let mut strange_certificate = command();
    for server in ["BROKER", "REDIS"] {
        let certificate = format!("JUROR_FLEET_{server}_CLIENT_CERTIFICATE_FILE");
        let key = format!("JUROR_FLEET_{server}_CLIENT_KEY_FILE");
        no_certificate.env_remove(&certificate).env_remove(&key);
        strange_certificate.env(certificate, &stranger.certificate).env(key, &stranger.key);
    }
    refused(
        &mut no_certificate,
        &["requires a client certificate", "fleet.broker_client_certificate_file"],
        &["requires a client certificate", "fleet.redis_client_certificate_file"],
    );
    refused(
        &mut strange_certificate,
        &["refused the client certificate", "fleet.broker_client_certificate_file"],
        &["refused the client certificate", "fleet.redis_client_certificate_file"],
    );
    let mut by_address = command();
    let to_address = |url: String| url.replace("localhost", "127.0.0.1");
    by_address.env("JUROR_FLEET_BROKER", to_address(secure.broker_url()));
    by_address.env("JUROR_FLEET_REDIS", to_address(secure.redis_url()));
    refused(
        &mut by_address,
        &["not for 127.0.0.1, but for localhost", "fleet.broker"],
        &["not for 127.0.0.1, but for localhost", "fleet.redis"],
    );
}

#[test]
fn tls_and_plaintext_ports_are_distinguished_immediately() {
    let (harness, secure) = (CommandHarness::new(), SecureServers::start());
    let plain_redis = secure.servers.redis.url.replace("redis://", "rediss://");
    let plain_broker = format!("amqps://guest:guest@localhost:{}", secure.broker.port());
    let mut encrypted = secure.command(&harness, &["doctor"]);
    encrypted.env("JUROR_FLEET_BROKER", plain_broker).env("JUROR_FLEET_REDIS", plain_redis);
    let encrypted = Finished::from(encrypted.output().unwrap()).exits(1);
    encrypted.stdout_contains(&["fleet.broker (usually 5671)", "fleet.redis (usually 6379)"]);

    let broker = secure.broker_url().replace("amqps://", "amqp://");
    let redis = secure.redis_url().replace("rediss://", "redis://");
    for arguments in [&["doctor"][..], &["aggregate"]] {
        let mut open = secure.servers.command(&harness, arguments);
        open.env("JUROR_FLEET_BROKER", &broker);
        let open = Finished::from(open.output().unwrap());
        assert!(open.code == 1 || open.code == 2, "{}", open.stderr);
        let message = format!("{}{}", open.stdout, open.stderr);
        assert!(message.contains("accepts only TLS: use amqps:// in fleet.broker"), "{message}");
    }
    let mut open = secure.servers.command(&harness, &["doctor"]);
    open.env("JUROR_FLEET_REDIS", redis);
    Finished::from(open.output().unwrap())
        .exits(1)
        .stdout_contains(&["write rediss:// in fleet.redis"]);

    let mut mixed = secure.servers.command(&harness, &["doctor"]);
    mixed.env("JUROR_FLEET_REDIS_CA_FILE", secure.authority.file());
    let mixed = Finished::from(mixed.output().unwrap()).exits(1);
    mixed.stdout_contains(&["fleet.redis_ca_file is set", "has no TLS"]);
}
