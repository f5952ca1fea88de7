//! Moto's S3 server: the one at 127.0.0.1:5000 if it runs, or a dedicated one.

use crate::{
    install,
    process::{KEEPER, await_line, free_port},
};
use std::{
    io::{Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    os::unix::process::CommandExt as _,
    process::{Child, Command, Stdio},
    sync::OnceLock,
    time::Duration,
};

const USUAL_PORT: u16 = 5000;
const MAX_WAIT: Duration = Duration::from_secs(60);
/// Access key; moto accepts any.
pub const ACCESS_KEY: &str = "a-test";
/// Secret key.
pub const SECRET_KEY: &str = "a-secret-of-a-test";

/// Address of the S3 server shared by all tests of this process, as in `http://127.0.0.1:5000`.
/// Buckets of different tests have different names.
pub fn shared_endpoint() -> String {
    static OWN: OnceLock<Option<Moto>> = OnceLock::new();
    let own = OWN.get_or_init(|| (!responds(USUAL_PORT)).then(Moto::start));
    let port = own.as_ref().map_or(USUAL_PORT, |own| own.port);
    format!("http://127.0.0.1:{port}")
}

/// Creates an unused, empty bucket on the shared server and returns its name.
pub fn new_bucket() -> String {
    static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    let bucket = format!("juror-{}-{number}", std::process::id());
    let endpoint = shared_endpoint();
    let host = endpoint.trim_start_matches("http://");
    let answer = exchange(host, &format!("PUT /{bucket}"), b"").expect("an S3 server");
    assert!(answer.starts_with("HTTP/1.1 200"), "bucket {bucket}: {answer}");
    bucket
}

/// Puts an object into a bucket of the shared server.
pub fn put(bucket: &str, key: &str, content: &[u8]) {
    let endpoint = shared_endpoint();
    let host = endpoint.trim_start_matches("http://");
    let answer = exchange(host, &format!("PUT /{bucket}/{key}"), content).expect("an S3 server");
    assert!(answer.starts_with("HTTP/1.1 200"), "{bucket}/{key}: {answer}");
}

/// Kept for as long as the process lives; the server ends with it.
struct Moto {
    port: u16,
    _server: Child,
}

impl Moto {
    fn start() -> Self {
        let python = install::python_with("moto[server]==5.2.5", "moto.server");
        let port = free_port();
        let mut server = Command::new("sh")
            .args(["-c", KEEPER])
            .arg(python)
            .args(["-m", "moto.server", "-H", "127.0.0.1", "-p", &port.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .expect("moto starts");
        let log = server.stderr.take().expect("moto's log");
        if let Err(reason) = await_line(log, "Running on", MAX_WAIT) {
            panic!("moto did not come up: {reason}");
        }
        assert!(responds(port), "moto does not respond on port {port}");
        Self { port, _server: server }
    }
}

/// True if moto listens there.
fn responds(port: u16) -> bool {
    let answer = exchange(&format!("127.0.0.1:{port}"), "GET /moto-api/data.json", b"");
    answer.is_some_and(|answer| answer.starts_with("HTTP/1.1 200"))
}

/// Sends one request and reads its complete response.
fn exchange(host: &str, request: &str, body: &[u8]) -> Option<String> {
    let port = host.rsplit(':').next()?.parse().ok()?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(2)).ok()?;
    stream.set_read_timeout(Some(MAX_WAIT)).ok()?;
    let length = body.len();
    // Moto takes the region and the service from here, and checks no signature.
    let account = format!(
        "AWS4-HMAC-SHA256 Credential={ACCESS_KEY}/20260101/us-east-1/s3/aws4_request, \
         SignedHeaders=host, Signature=none"
    );
    let head = format!(
        "{request} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\nauthorization: {account}\r\n\
         content-length: {length}\r\n\r\n"
    );
    stream.write_all(&[head.as_bytes(), body].concat()).ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    Some(String::from_utf8_lossy(&answer).into_owned())
}
