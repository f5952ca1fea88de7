//! Tests with servers that have certificates of test authorities.

use super::*;
use juror_services::certificates::{Authority, Identity};
use rustls::{
    RootCertStore, ServerConfig, pki_types::pem::PemObject as _, server::WebPkiClientVerifier,
};
use tokio::{io::AsyncWriteExt as _, net::TcpListener, task::JoinHandle};
use tokio_rustls::TlsAcceptor;

const NAMES: TlsSettingNames = TlsSettingNames::REDIS;

/// Server for one connection; `clients` is the authority of the required client certificates.
async fn serve(identity: &Identity, clients: Option<&Authority>) -> (u16, JoinHandle<()>) {
    let chain = read_certificates("", &identity.certificate).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::from_pem_file(&identity.key).unwrap();
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap();
    let builder = match clients {
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            roots.add_parsable_certificates(read_certificates("", &authority.file()).unwrap());
            let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
        None => builder.with_no_client_auth(),
    };
    let acceptor = TlsAcceptor::from(Arc::new(builder.with_single_cert(chain, key).unwrap()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        if let Ok(mut stream) = acceptor.accept(stream).await {
            stream.write_all(b"hello").await.unwrap();
            // Until the client closes it.
            let _ = stream.read_u8().await;
        }
    });
    (port, serving)
}

fn files(ca: Option<&Authority>, client: Option<&Identity>) -> TlsFiles {
    TlsFiles {
        ca: ca.map(Authority::file),
        client_certificate: client.map(|client| client.certificate.clone()),
        client_key: client.map(|client| client.key.clone()),
    }
}

/// Greeting of a connection to this port, or the explained failure.
async fn greeting(files: TlsFiles, host: &str, port: u16) -> Result<String, TlsFailure> {
    let client = TlsClient::new(files, NAMES).unwrap();
    let greeting = async {
        let mut stream = client.connect(host, port).await?;
        let mut text = [0; 5];
        stream.read_exact(&mut text).await?;
        Ok::<_, io::Error>(String::from_utf8_lossy(&text).into_owned())
    };
    greeting.await.map_err(|error| client.explain(&error).expect("an error of TLS"))
}

#[tokio::test]
async fn known_ca_and_client_certificate_establish_a_connection() {
    let (authority, clients) = (Authority::new(), Authority::new());
    let server = authority.issue("server", &["127.0.0.1", "localhost"]);
    let client = clients.issue("client", &["juror"]);
    for host in ["127.0.0.1", "localhost"] {
        let (port, serving) = serve(&server, Some(&clients)).await;
        let greeting = greeting(files(Some(&authority), Some(&client)), host, port).await;
        assert_eq!(greeting.unwrap(), "hello");
        serving.await.unwrap();
    }
}

#[tokio::test]
async fn each_failure_names_its_remedy() {
    let (authority, other) = (Authority::new(), Authority::new());
    let server = authority.issue("server", &["127.0.0.1"]);
    let elsewhere = authority.issue("elsewhere", &["redis.example.com", "10.0.0.1"]);
    let expired = authority.issue_expired("expired", &["127.0.0.1"]);
    let client = other.issue("client", &["juror"]);
    let known = Some(&authority);
    for (identity, clients, files, words) in [
        (&server, None, files(None, None), ["an unknown authority", "fleet.redis_ca_file"]),
        (
            &server,
            None,
            files(Some(&other), None),
            ["not signed by an authority in", "(fleet.redis_ca_file)"],
        ),
        (
            &elsewhere,
            None,
            files(known, None),
            ["not for 127.0.0.1, but for redis.example.com, 10.0.0.1", "fleet.redis"],
        ),
        (&expired, None, files(known, None), ["expired at 2021-01-01T00:00:00Z", "renew it"]),
        (
            &server,
            known,
            files(known, None),
            ["requires a client certificate", "fleet.redis_client_key_file"],
        ),
        (
            &server,
            known,
            files(known, Some(&client)),
            ["refused the client certificate", "fleet.redis_client_certificate_file"],
        ),
    ] {
        let (port, serving) = serve(identity, clients).await;
        let failure = greeting(files, "127.0.0.1", port).await.unwrap_err();
        assert!(failure.is_permanent, "{}", failure.message);
        assert!(words.iter().all(|word| failure.message.contains(word)), "{}", failure.message);
        serving.await.unwrap();
    }
}

#[tokio::test]
async fn reading_client_receives_the_refusal_alert() {
    let (authority, other) = (Authority::new(), Authority::new());
    let server = authority.issue("server", &["127.0.0.1"]);
    let (known, stranger) =
        (authority.issue("known", &["juror"]), other.issue("other", &["juror"]));
    for (identity, is_refused) in [(&known, false), (&stranger, true)] {
        let (port, serving) = serve(&server, Some(&authority)).await;
        let client = TlsClient::new(files(Some(&authority), Some(identity)), NAMES).unwrap();
        let refusal = client.refusal("127.0.0.1", port).await;
        let explained = refusal.and_then(|error| client.explain(&error));
        let reported = explained
            .is_some_and(|failure| failure.message.contains("refused the client certificate"));
        assert_eq!(reported, is_refused);
        serving.await.unwrap();
    }
}

#[tokio::test]
async fn plaintext_server_is_detected() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"-ERR unknown command\r\n").await.unwrap();
        let _ = stream.read_u8().await;
    });
    let failure = greeting(TlsFiles::default(), "127.0.0.1", port).await.unwrap_err();
    assert!(failure.message.contains("does not speak TLS"), "{}", failure.message);
    assert!(failure.is_permanent && failure.message.contains("fleet.redis"));
    serving.await.unwrap();
}

#[test]
fn unusable_files_are_named_with_their_setting() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let (authority, other) = (Authority::new(), Authority::new());
    let (one, two) = (authority.issue("one", &["juror"]), other.issue("two", &["juror"]));
    let with_key = |key: PathBuf| TlsFiles { client_key: Some(key), ..files(None, Some(&one)) };
    let secret =
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nc2VjcmV0\n-----END ENCRYPTED PRIVATE KEY-----\n";
    let only_certificate = TlsFiles { client_key: None, ..files(None, Some(&one)) };
    let with_ca = |ca: PathBuf| TlsFiles { ca: Some(ca), ..TlsFiles::default() };
    for (files, words) in [
        (with_ca("none.pem".into()), ["fleet.redis_ca_file none.pem", "cannot be read"]),
        (with_ca(file("empty.pem", "")), ["empty.pem", "contains no certificate"]),
        (
            with_ca(file("cut.pem", "-----BEGIN CERTIFICATE-----\nMII")),
            ["cut.pem", "not a valid PEM"],
        ),
        (with_key(file("secret.key", secret)), ["protected by a password", "openssl pkey"]),
        (with_key(one.certificate.clone()), ["contains no private key", "openssl pkcs12"]),
        (
            with_key(two.key.clone()),
            ["fleet.redis_client_key_file", "not the key of the certificate"],
        ),
        (only_certificate, ["fleet.redis_client_certificate_file is set without", "set both"]),
    ] {
        let error = TlsClient::new(files, NAMES).unwrap_err().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
        assert!(!error.contains("c2VjcmV0"), "{error}");
    }
}
