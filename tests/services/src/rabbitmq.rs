//! RabbitMQ: the one at 127.0.0.1:5672 with guest's account, or one of the test's own.

use crate::{
    install,
    process::{KEEPER, free_port},
};
use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    os::unix::process::CommandExt as _,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::OnceLock,
    time::Duration,
};

/// Where Debian and the upstream packages put the server's own script, which, unlike the one on
/// the path, runs as whoever calls it.
const SERVER: &str = "/usr/lib/rabbitmq/bin/rabbitmq-server";
const USUAL_PORT: u16 = 5672;

/// The port of a broker that all tests of this process share.
pub fn shared_port() -> u16 {
    static OWN: OnceLock<Option<Broker>> = OnceLock::new();
    let own = OWN.get_or_init(|| (!answers(USUAL_PORT)).then(Broker::start));
    own.as_ref().map_or(USUAL_PORT, Broker::port)
}

/// A broker that belongs to one test and ends with it.
pub struct Broker {
    port: u16,
    folder: PathBuf,
    server: Child,
}

impl Broker {
    /// Installs it if need be, starts it on free ports, and waits until it answers.
    pub fn start() -> Self {
        install::ensure(SERVER, "rabbitmq-server");
        let port = free_port();
        let folder = std::env::temp_dir().join(format!("juror-rabbitmq-{port}"));
        std::fs::create_dir_all(&folder).expect("a folder for RabbitMQ");
        let server = launch(port, &folder);
        Self { port, folder, server }
    }

    /// Where it listens on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Kills it as a power cut would, and starts it again over the same data.
    pub fn restart(&mut self) {
        self.kill();
        self.server = launch(self.port, &self.folder);
    }

    fn kill(&mut self) {
        drop(self.server.stdin.take());
        self.server.wait().expect("RabbitMQ's end");
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.kill();
        // What is left in the system's folder for temporary files does no harm.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn launch(port: u16, folder: &std::path::Path) -> Child {
    let mut server = Command::new("sh")
        .args(["-c", KEEPER, SERVER])
        .env("HOME", folder)
        .env("RABBITMQ_NODENAME", format!("juror{port}@localhost"))
        .env("RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1")
        .env("RABBITMQ_NODE_PORT", port.to_string())
        .env("RABBITMQ_DIST_PORT", free_port().to_string())
        .env("RABBITMQ_MNESIA_BASE", folder.join("data"))
        .env("RABBITMQ_LOG_BASE", folder.join("log"))
        .env("RABBITMQ_CONFIG_FILE", folder.join("none"))
        .env("RABBITMQ_ENABLED_PLUGINS_FILE", folder.join("plugins"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .expect("RabbitMQ starts");
    let output = server.stdout.take().expect("RabbitMQ's output");
    let mut output = BufReader::new(output);
    let mut lines = output.by_ref().lines().map_while(Result::ok);
    let ready = lines.any(|line| line.contains("completed with"));
    assert!(ready && answers(port), "RabbitMQ did not come up; see {}", folder.display());
    // Whoever writes to a pipe that nobody reads dies of it.
    server.stdout = Some(output.into_inner());
    server
}

/// Whether a broker listens there, asked in its own protocol.
fn answers(port: u16) -> bool {
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
