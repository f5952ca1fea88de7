//! Redis for tests: the server of this machine, or a dedicated one that a test starts, breaks and
//! stops.

#![expect(clippy::expect_used, clippy::panic, reason = "a test without its server may break off")]

use super::{RedisSettings, scripts};
use parking_lot::Mutex;
use std::{
    io::{BufRead as _, BufReader},
    net::TcpListener,
    process::{Child, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;

const MACHINES_OWN: &str = "redis://127.0.0.1:6379";

/// Server with an exclusive namespace, which is emptied on drop.
pub struct TestRedis {
    /// URL of the server.
    pub url: String,
    /// Exclusive namespace: `NAME` and every key that begins with `NAME.`.
    pub namespace: String,
    own: Option<OwnServer>,
}

impl TestRedis {
    /// The server of this machine, or a new one if it does not respond. Do not stop or flush it.
    pub fn shared() -> Self {
        if connects(MACHINES_OWN) {
            Self { url: MACHINES_OWN.to_owned(), namespace: unique(), own: None }.accepted()
        } else {
            Self::own(&[])
        }
    }

    /// Dedicated server on a free port with these further options, as in `["--appendonly", "yes"]`.
    pub fn own(options: &[&str]) -> Self {
        let own = OwnServer::start(options);
        let url = format!("redis://127.0.0.1:{}", own.port);
        Self { url, namespace: unique(), own: Some(own) }.accepted()
    }

    fn accepted(self) -> Self {
        self.accept_ledger(&self.namespace);
        self
    }

    /// Dedicated durable server.
    pub fn durable() -> Self {
        Self::own(&["--appendonly", "yes", "--appendfsync", "always"])
    }

    /// Marks the ledger of a namespace as reconciled with the server, as an aggregator does for a
    /// new fleet.
    pub fn accept_ledger(&self, namespace: &str) {
        let Some(mut connection) = connection(&self.url) else { return };
        let facts: redis::RedisResult<String> =
            redis::cmd("INFO").arg("server").query(&mut connection);
        let Ok(facts) = facts else { return };
        let server = facts.lines().find_map(|line| line.strip_prefix("run_id:"));
        let ledger = format!("{namespace}:ledger");
        let accepted: redis::RedisResult<()> = redis::cmd("HSET")
            .arg(&[&ledger, "server", server.unwrap_or_default()])
            .query(&mut connection);
        // A cluster node accepts no command.
        drop(accepted);
    }

    /// Settings for a backend in this namespace, which may hold a finite budget on any server.
    pub fn settings(&self) -> RedisSettings {
        RedisSettings {
            namespace: self.namespace.clone(),
            allow_volatile: true,
            ..RedisSettings::new(&self.url)
        }
    }

    /// Kills the dedicated server, as a crash would.
    pub fn kill(&self) {
        self.own_server().kill();
    }

    /// Restarts the dedicated server on the same port with the same files.
    pub fn start_again(&self) {
        self.own_server().start_again();
    }

    /// Runs a command on the server and returns its reply as text.
    pub fn command(&self, words: &[&str]) -> String {
        let mut connection = connection(&self.url).expect("a connection to Redis");
        let mut command = redis::Cmd::new();
        command.arg(words);
        let answer: redis::Value = command.query(&mut connection).expect("an answer of Redis");
        redis::from_redis_value(answer).unwrap_or_default()
    }

    /// Waits for a value that `look` finds; it looks again at each change of a key whose name in
    /// the namespace begins with `keys`. `None` after the time limit.
    pub fn await_value<T>(
        &self,
        keys: &str,
        within: Duration,
        mut look: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        let deadline = Instant::now() + within;
        let mut changes = KeyChanges::subscribe(&self.url, &format!("{}:{keys}", self.namespace));
        loop {
            if let Some(found) = look() {
                return Some(found);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || !changes.next(left) {
                return look();
            }
        }
    }

    fn own_server(&self) -> &OwnServer {
        self.own.as_ref().expect("only a server of the test's own is broken")
    }
}

impl Drop for TestRedis {
    fn drop(&mut self) {
        if let (None, Some(mut connection)) = (&self.own, connection(&self.url)) {
            let pattern = format!("{}*", self.namespace);
            let mut scan = redis::cmd("SCAN");
            scan.cursor_arg(0).arg("MATCH").arg(pattern).arg("COUNT").arg(1_000);
            let keys: Vec<String> = scan
                .iter(&mut connection)
                .map(|keys| keys.filter_map(Result::ok).collect())
                .unwrap_or_default();
            for some in keys.chunks(1_000) {
                let unlinked: redis::RedisResult<()> =
                    redis::cmd("UNLINK").arg(some).query(&mut connection);
                // A stopped server needs no cleanup.
                drop(unlinked);
            }
        }
    }
}

/// Scripts of a call, `claim`, `admit` and `settle`, each with the hash in the commands to Redis,
/// by which a proxy recognizes them.
pub fn hashes_of_steps() -> [(&'static str, String); 3] {
    [("claim", &scripts::CLAIM), ("admit", &scripts::ADMIT), ("settle", &scripts::SETTLE)]
        .map(|(name, step)| (name, step.get_hash().to_owned()))
}

/// Subscription to the changes of keys: the server's invalidation messages for client-side caches,
/// which need no setting of the server.
struct KeyChanges(redis::Connection);

impl KeyChanges {
    fn subscribe(url: &str, prefix: &str) -> Self {
        let url = format!("{url}?protocol=resp3");
        let mut connection = connection(&url).expect("a connection to Redis");
        let mut tracking = redis::cmd("CLIENT");
        tracking.arg(&["TRACKING", "ON", "BCAST", "PREFIX", prefix]);
        tracking.exec(&mut connection).expect("a subscription to changes of keys");
        Self(connection)
    }

    /// Waits for changes; false after the time limit.
    fn next(&mut self, within: Duration) -> bool {
        self.0.set_read_timeout(Some(within)).expect("a time limit");
        match self.0.recv_response() {
            Ok(_) => true,
            Err(error) if error.is_timeout() => false,
            Err(error) => panic!("the subscription to changes of keys ended: {error}"),
        }
    }
}

/// Process that is killed on drop.
struct OwnServer {
    port: u16,
    arguments: Vec<String>,
    running: Mutex<Option<Running>>,
    _folder: TempDir,
}

struct Running {
    process: Child,
    /// Kept open, since a server ends if it cannot write its log.
    _log: BufReader<ChildStdout>,
}

impl OwnServer {
    fn start(options: &[&str]) -> Self {
        install();
        // Another process may take the port before Redis binds it.
        (0..5).find_map(|_| Self::try_start(options)).expect("redis-server starts")
    }

    fn try_start(options: &[&str]) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let probe = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = probe.local_addr().expect("its number").port();
        drop(probe);
        let own = ["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""];
        let mut arguments: Vec<String> = own.map(str::to_owned).to_vec();
        arguments.extend(["--dir".to_owned(), folder.path().display().to_string()]);
        arguments.extend(options.iter().map(|option| (*option).to_owned()));
        let running = Mutex::new(Some(launch(&arguments)?));
        Some(Self { port, arguments, running, _folder: folder })
    }

    fn kill(&self) {
        if let Some(mut running) = self.running.lock().take() {
            running.process.kill().expect("Redis is killed");
            running.process.wait().expect("Redis has ended");
        }
    }

    fn start_again(&self) {
        let mut running = self.running.lock();
        assert!(running.is_none(), "kill it first");
        *running = Some(launch(&self.arguments).expect("redis-server starts again"));
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Starts the server and waits until it is ready; `None` if it ends instead.
fn launch(arguments: &[String]) -> Option<Running> {
    let mut command = Command::new("redis-server");
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut process = command.spawn().expect("redis-server starts");
    let mut log = BufReader::new(process.stdout.take().expect("its log"));
    let mut output = String::new();
    while !output.contains("Ready to accept connections") {
        if log.read_line(&mut output).expect("its log is read") == 0 {
            process.wait().expect("Redis has ended");
            return None;
        }
    }
    Some(Running { process, _log: log })
}

/// Installs `redis-server` if it is missing, which needs root and Debian.
fn install() {
    static ONCE: Mutex<()> = Mutex::new(());
    let _one_at_a_time = ONCE.lock();
    let present = Command::new("redis-server").arg("--version").stdout(Stdio::null()).status();
    if present.is_ok_and(|status| status.success()) {
        return;
    }
    let done = |words: &[&str]| {
        let mut command = Command::new("apt-get");
        command.args(words).env("DEBIAN_FRONTEND", "noninteractive").stdout(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    assert!(
        done(&["update"]) && done(&["install", "--yes", "--no-install-recommends", "redis-server"]),
        "these tests need redis-server: install it, or start a Redis at {MACHINES_OWN}"
    );
}

fn connection(url: &str) -> Option<redis::Connection> {
    let client = redis::Client::open(url).ok()?;
    client.get_connection_with_timeout(Duration::from_secs(5)).ok()
}

fn connects(url: &str) -> bool {
    connection(url)
        .is_some_and(|mut connection| redis::cmd("PING").query::<String>(&mut connection).is_ok())
}

fn unique() -> String {
    format!("test-{}-{:016x}", std::process::id(), rand::random::<u64>())
}
