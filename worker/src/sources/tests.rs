//! Reading of files, and every reason to refuse one.

use super::{
    resolver::{Lookup, SystemLookup},
    *,
};
use crate::item_texts::load;
use async_trait::async_trait;
use juror_services::{
    s3,
    web::{WebRequest, WebResponse, WebServer},
};
use juror_types::item::{Item, Text};
use parking_lot::Mutex;
use std::{
    collections::VecDeque,
    io,
    net::{IpAddr, SocketAddr},
};

/// Signature of every URL here, which no message may show.
const SIGNATURE: &str = "?signature=c0ffee";
const LIMIT: u64 = 100;

/// Sources that may fetch from these hosts, without a pause between attempts.
fn sources_by(lookup: Arc<dyn Lookup>, hosts: &[String], private: &[&str]) -> Sources {
    let private: Vec<String> = private.iter().map(|&host| host.to_owned()).collect();
    let allowed = Arc::new(FetchPolicy::parse(hosts, &private, &[]).unwrap());
    let web = Web::new(&allowed, 1_000.0, Duration::from_secs(60), lookup).unwrap();
    let pause = |_| Duration::ZERO;
    Sources { allowed, web: Some(web), pause, ..Sources::local(Roots::new(vec![])) }
}

fn sources(hosts: &[String], private: &[&str]) -> Sources {
    sources_by(Arc::new(SystemLookup), hosts, private)
}

/// Sources that may fetch from this server alone.
fn sources_at(server: &WebServer) -> Sources {
    sources(&[format!("http://{}", server.address())], &["127.0.0.1"])
}

fn url(server: &WebServer, path: &str) -> String {
    format!("http://{}{path}{SIGNATURE}", server.address())
}

/// Message for a refused file.
async fn refusal(sources: &Sources, reference: &str) -> String {
    let error = sources.read(reference, LIMIT).await.unwrap_err().to_string();
    assert!(!error.contains("c0ffee"), "{error}");
    error
}

fn file(_: &WebRequest) -> WebResponse {
    WebResponse::file(b"content")
}

/// Resolver that returns these addresses in turn.
struct ScriptedServer(Mutex<VecDeque<Vec<IpAddr>>>);

impl ScriptedServer {
    fn new(answers: &[&[&str]]) -> Arc<Self> {
        let addresses =
            |answer: &&[&str]| answer.iter().map(|address| address.parse().unwrap()).collect();
        Arc::new(Self(Mutex::new(answers.iter().map(addresses).collect())))
    }

    fn left(&self) -> usize {
        self.0.lock().len()
    }
}

#[async_trait]
impl Lookup for ScriptedServer {
    async fn lookup(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        Ok(self.0.lock().pop_front().unwrap())
    }
}

/// URL with a name and the port of this server.
fn host_at(address: SocketAddr) -> String {
    format!("http://images.test:{}", address.port())
}

#[tokio::test]
async fn files_come_from_folders_and_allowed_hosts() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("1.png"), "local").unwrap();
    let server = WebServer::start(file);
    let roots = Roots::new(vec![folder.path().to_owned()]);
    let sources = Sources { roots, ..sources_at(&server) };
    assert_eq!(&sources.read("1.png", LIMIT).await.unwrap()[..], b"local");
    assert_eq!(&sources.read(&url(&server, "/a%20b/1.png"), 7).await.unwrap()[..], b"content");
    assert_eq!(server.requests()[0].path, format!("/a%20b/1.png{SIGNATURE}"));
    assert!(refusal(&sources, "../1.png").await.contains("'..' is not allowed"));
    assert!(refusal(&sources, "/etc/passwd").await.contains("outside the allowed folders"));
    assert!(refusal(&sources, "file:///etc/passwd").await.contains("not a reference"));
}

#[tokio::test]
async fn other_hosts_and_buckets_are_refused_without_a_request() {
    let server = WebServer::start(file);
    let other = WebServer::start(file);
    let sources = sources_at(&server);
    let error = refusal(&sources, &url(&other, "/1.png")).await;
    let origin = format!("http://{}", other.address());
    assert!(error.starts_with(&format!("{origin}/1.png: files from")), "{error}");
    assert!(error.contains(&format!("add {origin:?} to files.hosts")), "{error}");
    let secure = url(&server, "/1.png").replace("http://", "https://");
    assert!(refusal(&sources, &secure).await.contains("files.hosts"));
    assert!(refusal(&sources, "s3://bucket/1.png").await.contains("files.buckets"));
    assert_eq!((server.requests(), other.requests()), (vec![], vec![]));
}

#[tokio::test]
async fn non_public_address_is_refused_in_any_notation() {
    let server = WebServer::start(file);
    let port = server.address().port();
    for host in
        ["127.0.0.1", "2130706433", "0x7f.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]"]
    {
        let allowed = format!("http://{host}:{port}");
        let sources = sources(std::slice::from_ref(&allowed), &[]);
        let error = refusal(&sources, &format!("{allowed}/1.png{SIGNATURE}")).await;
        assert!(error.contains("a private address"), "{host}: {error}");
        assert!(error.contains("to files.private_hosts"), "{host}: {error}");
    }
    assert_eq!(server.requests(), []);
}

#[tokio::test]
async fn private_host_is_reachable_if_configured() {
    let server = WebServer::start(file);
    let address = server.address();
    for (host, private) in [("127.0.0.1", "127.0.0.1"), ("[::ffff:127.0.0.1]", "127.0.0.1")] {
        let allowed = format!("http://{host}:{}", address.port());
        let sources = sources(std::slice::from_ref(&allowed), &[private]);
        sources.read(&format!("{allowed}/1.png"), LIMIT).await.unwrap();
    }
    for private in ["images.test", "127.0.0.1"] {
        let lookup = ScriptedServer::new(&[&["127.0.0.1"]]);
        let sources = sources_by(lookup, &[host_at(address)], &[private]);
        sources.read(&format!("{}/1.png", host_at(address)), LIMIT).await.unwrap();
    }
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn connection_uses_the_validated_address() {
    // The first represents a public address, the second a private one at the same port.
    let checked = WebServer::start_at("127.0.0.2:0", file);
    let port = checked.address().port();
    let private = WebServer::start_at(&format!("127.0.0.1:{port}"), file);
    let lookup = ScriptedServer::new(&[&["127.0.0.2"], &["127.0.0.1"]]);
    let host = host_at(checked.address());
    let sources = sources_by(lookup.clone(), std::slice::from_ref(&host), &["127.0.0.2"]);
    let reference = format!("{host}/1.png{SIGNATURE}");
    sources.read(&reference, LIMIT).await.unwrap();
    assert_eq!((lookup.left(), checked.requests().len()), (1, 1));
    let error = refusal(&sources, &reference).await;
    assert!(error.contains("images.test has the address 127.0.0.1, a private"), "{error}");
    assert_eq!((lookup.left(), checked.requests().len()), (0, 1));
    assert_eq!(private.requests(), []);
}

#[tokio::test]
async fn a_name_with_one_private_address_among_public_ones_is_refused() {
    let server = WebServer::start(file);
    let lookup = ScriptedServer::new(&[&["1.1.1.1", "127.0.0.1"]]);
    let host = host_at(server.address());
    let sources = sources_by(lookup, std::slice::from_ref(&host), &[]);
    let error = refusal(&sources, &format!("{host}/1.png")).await;
    assert!(error.contains("127.0.0.1, a private address"), "{error}");
    assert_eq!(server.requests(), []);
}

#[tokio::test]
async fn redirects_are_followed_to_allowed_hosts() {
    let end = WebServer::start(file);
    let to = url(&end, "/end.png");
    let server = WebServer::start(move |request| match request.path.starts_with("/1.png") {
        true => WebResponse::redirect("/2.png"),
        false => WebResponse::redirect(&to),
    });
    let hosts = [&server, &end].map(|server| format!("http://{}", server.address()));
    let sources = sources(&hosts, &["127.0.0.1"]);
    let content = sources.read(&url(&server, "/1.png"), LIMIT).await.unwrap();
    assert_eq!(&content[..], b"content");
    assert_eq!(server.requests()[1].path, "/2.png");
}

#[tokio::test]
async fn redirect_to_a_disallowed_host_is_refused() {
    let private = WebServer::start(file);
    let secret = url(&private, "/secret");
    let origin = format!("http://{}", private.address());
    for (to, message) in [
        // Allowed by name and not by address; not allowed by name; no web at all.
        (secret.as_str(), "127.0.0.1, a private address"),
        (
            "http://169.254.169.254/latest?c0ffee",
            "files from http://169.254.169.254 are not allowed",
        ),
        ("file:///etc/passwd", "neither https nor http"),
        ("s3://bucket/1.png", "neither https nor http"),
    ] {
        let location = to.to_owned();
        let server = WebServer::start_at("127.0.0.2:0", move |_| WebResponse::redirect(&location));
        let hosts = [format!("http://{}", server.address()), origin.clone()];
        let error = refusal(&sources(&hosts, &["127.0.0.2"]), &url(&server, "/1.png")).await;
        assert!(error.contains("it redirects to") && error.contains(message), "{to}: {error}");
        assert_eq!(server.requests().len(), 1, "{to}");
    }
    assert_eq!(private.requests(), []);
}

#[tokio::test]
async fn redirect_loop_ends() {
    let server = WebServer::start(|_| WebResponse::redirect("/1.png"));
    let error = refusal(&sources_at(&server), &url(&server, "/1.png")).await;
    assert!(error.contains("redirects more than 5 times"), "{error}");
    assert_eq!(server.requests().len(), 6);
}

#[tokio::test]
async fn oversized_response_is_refused_with_and_without_content_length() {
    let body = vec![0; LIMIT as usize + 1];
    let untold = [b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n", &body[..]].concat();
    let chunk = [format!("{:x}\r\n", body.len()).as_bytes(), &body, b"\r\n0\r\n\r\n"].concat();
    let chunked = [b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", &chunk[..]].concat();
    for answer in
        [WebResponse::file(&body), WebResponse::Bytes(untold), WebResponse::Bytes(chunked)]
    {
        let mut answer = Some(answer);
        let server = WebServer::start(move |_| answer.take().unwrap());
        let error = refusal(&sources_at(&server), &url(&server, "/1.png")).await;
        assert!(error.ends_with("larger than the allowed 100 bytes"), "{error}");
    }
}

#[tokio::test]
async fn oversized_remote_code_is_a_finding_like_local_code() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 5242880\r\n\r\n";
    let server = WebServer::start(|_| WebResponse::Bytes(head.to_vec()));
    let code = Some(Text::Path(url(&server, "/large.html")));
    let item = Item { generated_code: code, ..Item::default() };
    let loaded = load(&item, &sources_at(&server)).await.unwrap();
    let place = format!("http://{}/large.html", server.address());
    let reason = format!("the code is larger than 4 MB: {place}");
    assert_eq!((loaded.code, loaded.unusable_code), (None, Some(reason)));
}

#[tokio::test]
async fn transient_failures_are_retried() {
    let cut = b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nonly".to_vec();
    for first in [
        WebResponse::status("503 Service Unavailable", &[], b""),
        WebResponse::status("429 Too Many Requests", &["retry-after: 0"], b""),
        WebResponse::Bytes(cut),
        WebResponse::Bytes(Vec::new()),
    ] {
        let mut answers = VecDeque::from([first]);
        let server =
            WebServer::start(move |_| answers.pop_front().unwrap_or(WebResponse::file(b"content")));
        let content = sources_at(&server).read(&url(&server, "/1.png"), LIMIT).await.unwrap();
        assert_eq!(&content[..], b"content");
        assert_eq!(server.requests().len(), 2);
    }
}

#[tokio::test]
async fn retries_are_limited_to_three_and_to_transient_failures() {
    for (status, requests, message) in [
        ("500 Internal Server Error", 3, "status 500, 3 times in a row"),
        ("403 Forbidden", 1, "status 403: access denied; renew the signed URL"),
        ("404 Not Found", 1, "status 404: no such file"),
        ("418 I'm a teapot", 1, "status 418"),
        ("204 No Content", 1, "status 204"),
    ] {
        let server = WebServer::start(move |_| WebResponse::status(status, &[], b""));
        let error = refusal(&sources_at(&server), &url(&server, "/1.png")).await;
        assert!(error.contains(message), "{error}");
        let shown = format!("http://{}/1.png: ", server.address());
        assert!(error.starts_with(&shown), "{error}");
        assert_eq!(server.requests().len(), requests, "{status}");
    }
    let server = WebServer::start(file);
    let (sources, reference) = (sources_at(&server), url(&server, "/1.png"));
    drop(server);
    let error = refusal(&sources, &reference).await;
    assert!(error.contains("cannot be reached") && error.contains("3 times"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn silent_server_times_out() {
    let server = WebServer::start(|_| WebResponse::Silence);
    let error = refusal(&sources_at(&server), &url(&server, "/1.png")).await;
    assert!(error.contains("3 times in a row"), "{error}");
}

#[tokio::test]
async fn each_host_has_its_own_rate_limit() {
    let servers = [WebServer::start(file), WebServer::start(file)];
    let hosts = servers.each_ref().map(|server| format!("http://{}", server.address()));
    let allowed = Arc::new(FetchPolicy::parse(&hosts, &["127.0.0.1".to_owned()], &[]).unwrap());
    // One fetch in about seventeen minutes.
    let web = Web::new(&allowed, 0.001, Duration::from_secs(60), Arc::new(SystemLookup)).unwrap();
    let fetch = |server: &WebServer| web.fetch(url(server, "/1.png").parse().unwrap(), LIMIT);
    fetch(&servers[0]).await.unwrap();
    tokio::select! {
        biased;
        _ = fetch(&servers[0]) => panic!("a second fetch at once"),
        fetched = fetch(&servers[1]) => assert_eq!(&fetched.unwrap()[..], b"content"),
    }
    assert_eq!(servers[0].requests().len(), 1);
}

#[tokio::test]
async fn objects_come_from_allowed_buckets() {
    let bucket = s3::new_bucket();
    for key in ["golden/1.png", "golden2/1.png", "other/1.png"] {
        s3::put(&bucket, key, b"content");
    }
    let settings = FileSettings {
        buckets: vec![format!("s3://{bucket}/golden")],
        s3_endpoint: Some(s3::shared_endpoint()),
        fetches_per_second_per_host: 1,
        fetch_timeout_seconds: 60,
        ..FileSettings::default()
    };
    let credentials = Credentials::gather(|name| match name {
        "AWS_ACCESS_KEY_ID" => Some(s3::ACCESS_KEY.to_owned()),
        "AWS_SECRET_ACCESS_KEY" => Some(s3::SECRET_KEY.to_owned()),
        _ => None,
    });
    let sources = Sources::open(Roots::new(vec![]), &settings, credentials).unwrap();
    let reference = |key: &str| format!("s3://{bucket}/{key}");
    let content = sources.read(&reference("golden/1.png"), LIMIT).await.unwrap();
    assert_eq!(&content[..], b"content");
    for (key, message) in [
        ("golden2/1.png", "files.buckets"),
        ("other/1.png", "files.buckets"),
        ("golden/../other/1.png", "'..'"),
        ("golden/2.png", "no such object"),
    ] {
        assert!(refusal(&sources, &reference(key)).await.contains(message), "{key}");
    }
    assert!(refusal(&sources, "s3://elsewhere/golden/1.png").await.contains("files.buckets"));
    let error = sources.read(&reference("golden/1.png"), 6).await.unwrap_err().to_string();
    assert!(error.ends_with("golden/1.png: larger than the allowed 6 bytes"));
}

#[tokio::test]
async fn busy_object_store_is_retried() {
    let mut count = 0;
    let server = WebServer::start(move |_| {
        count += 1;
        match count {
            1 => WebResponse::status("503 Slow Down", &[], b""),
            _ => {
                let modified = "last-modified: Wed, 21 Oct 2015 07:28:00 GMT";
                WebResponse::status("200 OK", &["etag: \"a\"", modified], b"content")
            }
        }
    });
    let settings = FileSettings {
        buckets: vec!["s3://bucket".to_owned()],
        s3_endpoint: Some(format!("http://{}", server.address())),
        fetch_timeout_seconds: 60,
        ..FileSettings::default()
    };
    let sources = Sources::open(Roots::new(vec![]), &settings, Credentials::default()).unwrap();
    let sources = Sources { pause: |_| Duration::ZERO, ..sources };
    assert_eq!(&sources.read("s3://bucket/1.png", LIMIT).await.unwrap()[..], b"content");
    assert_eq!(server.requests().len(), 2);
}
