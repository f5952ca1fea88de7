//! RabbitMQ: the server at 127.0.0.1:5672 with the guest account, or a dedicated one.

use crate::{
    certificates::{Authority, Identity},
    install,
    process::{KEEPER, await_line, free_port},
    wait::await_file,
};
use std::{
    ffi::OsStr,
    io::{Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
    time::Duration,
};

/// Path of the server's own script in Debian's and the upstream packages; unlike the one on the
/// path, it runs as the calling user.
const SERVER: &str = "/usr/lib/rabbitmq/bin/rabbitmq-server";
const USUAL_PORT: u16 = 5672;
/// A broker starts in some ten seconds on a busy machine.
const START_TIMEOUT: Duration = Duration::from_secs(180);

/// The port of a broker that all tests of this process share.
pub fn shared_port() -> u16 {
    static OWN: OnceLock<Option<Broker>> = OnceLock::new();
    let own = OWN.get_or_init(|| (!responds(USUAL_PORT)).then(Broker::start));
    own.as_ref().map_or(USUAL_PORT, Broker::port)
}

/// Dedicated broker, which ends when this is dropped.
pub struct Broker {
    port: u16,
    tls_port: Option<u16>,
    folder: PathBuf,
    server: Child,
}

impl Broker {
    /// Installs the broker if needed, starts it on free ports, and waits until it is ready.
    pub fn start() -> Self {
        Self::start_with(None)
    }

    /// Starts the broker with an additional TLS port that requires client certificates of this
    /// authority.
    pub fn start_with_tls(authority: &Authority, identity: &Identity) -> Self {
        Self::start_with(Some((authority, identity)))
    }

    fn start_with(tls: Option<(&Authority, &Identity)>) -> Self {
        install::ensure(SERVER, "rabbitmq-server");
        let port = free_port();
        let folder = std::env::temp_dir().join(format!("juror-rabbitmq-{port}"));
        std::fs::create_dir_all(&folder).expect("a folder for RabbitMQ");
        let tls_port = tls.map(|_| free_port());
        if let (Some(tls_port), Some((authority, Identity { certificate, key }))) = (tls_port, tls)
        {
            let (ca, certificate) = (authority.file(), certificate.display());
            let config = format!(
                "listeners.ssl.1 = 127.0.0.1:{tls_port}\n\
                 ssl_options.cacertfile = {}\n\
                 ssl_options.certfile = {certificate}\n\
                 ssl_options.keyfile = {}\n\
                 ssl_options.verify = verify_peer\n\
                 ssl_options.fail_if_no_peer_cert = true\n",
                ca.display(),
                key.display()
            );
            std::fs::write(config_file(&folder), config).expect("RabbitMQ's settings");
        }
        let server = launch(port, &folder);
        Self { port, tls_port, folder, server }
    }

    /// Port on which it listens on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Port on which it listens on 127.0.0.1 for TLS.
    pub fn tls_port(&self) -> u16 {
        self.tls_port.expect("a broker with TLS")
    }

    /// Kills the broker as a power failure would, and restarts it over the same data. Waits before
    /// the kill: version 3.10 keeps the names of new quorum queues in memory for some seconds and
    /// loses them otherwise.
    pub fn restart(&mut self) {
        let quorum = self.quorum_folder();
        await_file(&quorum.join("names.dets"), |names| queues_are_written(&quorum, names));
        self.kill();
        self.server = launch(self.port, &self.folder);
    }

    /// Folder of the quorum queues, each of which has its own folder there.
    fn quorum_folder(&self) -> PathBuf {
        let node = node(self.port);
        self.folder.join("data").join(&node).join("quorum").join(&node)
    }

    fn kill(&mut self) {
        drop(self.server.stdin.take());
        self.server.wait().expect("RabbitMQ's end");
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.kill();
        // Leftovers in the temporary folder are harmless.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// True if each queue that has a folder here is in this list of names.
fn queues_are_written(quorum: &Path, names: &Path) -> bool {
    let Ok(names) = std::fs::read(names) else { return false };
    let is_named = |queue: &OsStr| {
        let queue = queue.as_encoded_bytes();
        names.windows(queue.len()).any(|part| part == queue)
    };
    let entries = std::fs::read_dir(quorum).expect("RabbitMQ's folder of quorum queues");
    let mut folders = entries.flatten().filter(|entry| entry.path().is_dir());
    folders.all(|folder| is_named(&folder.file_name()))
}

fn node(port: u16) -> String {
    format!("juror{port}@localhost")
}

/// Without this file, RabbitMQ starts with its defaults.
fn config_file(folder: &Path) -> PathBuf {
    folder.join("rabbitmq.conf")
}

fn launch(port: u16, folder: &Path) -> Child {
    let mut server = Command::new("sh")
        .args(["-c", KEEPER, SERVER])
        .env("HOME", folder)
        .env("RABBITMQ_NODENAME", node(port))
        .env("RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1")
        .env("RABBITMQ_NODE_PORT", port.to_string())
        .env("RABBITMQ_DIST_PORT", free_port().to_string())
        .env("RABBITMQ_MNESIA_BASE", folder.join("data"))
        .env("ERL_CRASH_DUMP", folder.join("erl_crash.dump"))
        .env("RABBITMQ_LOG_BASE", folder.join("log"))
        .env("RABBITMQ_CONFIG_FILE", config_file(folder))
        .env("RABBITMQ_ENABLED_PLUGINS_FILE", folder.join("plugins"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .expect("RabbitMQ starts");
    let output = server.stdout.take().expect("RabbitMQ's output");
    if let Err(reason) = await_line(output, "completed with", START_TIMEOUT) {
        panic!("RabbitMQ did not come up: {reason}\nSee {}", folder.display());
    }
    assert!(responds(port), "RabbitMQ refuses connections; see {}", folder.display());
    server
}

/// True if a broker accepts the AMQP handshake on this port.
fn responds(port: u16) -> bool {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let Ok(mut stream) = TcpStream::connect_timeout(&address, Duration::from_secs(2)) else {
        return false;
    };
    let limited = stream.set_read_timeout(Some(Duration::from_secs(5)));
    let mut first = [0];
    limited.is_ok()
        && stream.write_all(b"AMQP\x00\x00\x09\x01").is_ok()
        && stream.read_exact(&mut first).is_ok()
        // A method frame: the broker introduces itself.
        && first == [1]
}
