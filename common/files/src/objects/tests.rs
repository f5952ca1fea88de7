//! Tests against moto's S3 and against scripted servers.

use super::*;
use juror_services::{
    s3::{self, ACCESS_KEY, SECRET_KEY},
    web::{WebResponse, WebServer},
};

fn settings(endpoint: String) -> ObjectSettings {
    let credentials = Credentials::gather(|name| match name {
        "AWS_ACCESS_KEY_ID" => Some(ACCESS_KEY.to_owned()),
        "AWS_SECRET_ACCESS_KEY" => Some(SECRET_KEY.to_owned()),
        _ => None,
    });
    ObjectSettings {
        endpoint: Some(endpoint),
        region: None,
        credentials,
        timeout: Duration::from_secs(60),
        retries: 0,
    }
}

fn served_by(server: &WebServer) -> ObjectSettings {
    settings(format!("http://{}", server.address()))
}

fn open(name: &str, settings: &ObjectSettings) -> Bucket {
    Bucket::open(ObjectStoreKind::S3, name, settings).unwrap()
}

#[tokio::test]
async fn written_object_is_read_and_found() {
    let bucket = open(&s3::new_bucket(), &settings(s3::shared_endpoint()));
    let content = Bytes::from(vec![7; 300_000]);
    for key in ["1.png", "a b/ü?#%2F.png"] {
        assert_eq!(bucket.size(key).await, Ok(None), "{key}");
        bucket.write(key, content.clone()).await.unwrap();
        assert_eq!(bucket.size(key).await, Ok(Some(300_000)), "{key}");
        assert_eq!(bucket.read(key, 300_000).await, Ok(content.clone()), "{key}");
    }
    assert_eq!(bucket.read("1.png", 299_999).await, Err(ObjectError::TooLarge(299_999)));
    assert_eq!(bucket.read("2.png", 9).await, Err(ObjectError::Missing));
    let refused = bucket.read("a/../1.png", 9).await;
    assert!(matches!(refused, Err(ObjectError::Refused(_))), "{refused:?}");
}

#[tokio::test]
async fn status_determines_whether_a_retry_may_help() {
    for (status, passes, message) in [
        ("503 Slow Down", true, "status 503"),
        ("429 Too Many Requests", true, "status 429"),
        ("403 Forbidden", false, "status 403; check the credentials"),
        ("301 Moved Permanently", false, "status 301; check the region"),
        ("400 Bad Request", false, "status 400; check the region"),
    ] {
        let server = WebServer::start(move |_| WebResponse::status(status, &[], b""));
        let error = open("bucket", &served_by(&server)).read("1.png", 9).await.unwrap_err();
        assert_eq!(matches!(error, ObjectError::Unavailable(_)), passes, "{error:?}");
        assert!(error.to_string().contains(message), "{error}");
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn truncated_response_is_retryable() {
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\netag: \"a\"\r\n\
                last-modified: Wed, 21 Oct 2015 07:28:00 GMT\r\n\r\nonly";
    let server = WebServer::start(move |_| WebResponse::Bytes(head.into()));
    let error = open("bucket", &served_by(&server)).read("1.png", 9).await.unwrap_err();
    assert!(matches!(error, ObjectError::Unavailable(_)), "{error:?}");
}

#[tokio::test]
async fn refused_connection_is_retryable() {
    let server = WebServer::start(|_| WebResponse::file(b""));
    let settings = served_by(&server);
    drop(server);
    let error = open("bucket", &settings).size("1.png").await.unwrap_err();
    assert!(matches!(error, ObjectError::Unavailable(_)), "{error:?}");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let other = WebServer::start(|_| WebResponse::file(b"content"));
    let location = format!("http://{}/bucket/1.png", other.address());
    let server = WebServer::start(move |_| WebResponse::redirect(&location));
    open("bucket", &served_by(&server)).read("1.png", 9).await.unwrap_err();
    assert_eq!(other.requests(), []);
}

#[tokio::test]
async fn requests_are_retried_where_configured() {
    let mut count = 0;
    let server = WebServer::start(move |_| {
        count += 1;
        let status = if count < 3 { "503 Slow Down" } else { "200 OK" };
        WebResponse::status(status, &["etag: \"a\""], b"")
    });
    let settings = ObjectSettings { retries: 2, ..served_by(&server) };
    open("bucket", &settings).write("1.png", Bytes::from_static(b"content")).await.unwrap();
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn anonymous_requests_are_unsigned_and_fetch_no_credentials() {
    let server = WebServer::start(|_| WebResponse::status("404 Not Found", &[], b""));
    let credentials = Credentials::default();
    let settings = ObjectSettings { credentials, ..served_by(&server) };
    assert_eq!(open("bucket", &settings).size("a/1.png").await, Ok(None));
    let requests = server.requests();
    assert_eq!(requests[0].path, "/bucket/a/1.png");
    assert!(!requests[0].headers.iter().any(|(name, _)| name == "authorization"));
}

#[tokio::test]
async fn machine_role_signs_where_configured() {
    let server = WebServer::start(|request| match request.path.as_str() {
        "/latest/api/token" => WebResponse::file(b"token"),
        "/latest/meta-data/iam/security-credentials/" => WebResponse::file(b"night"),
        "/latest/meta-data/iam/security-credentials/night" => WebResponse::file(
            br#"{"AccessKeyId":"role-key","SecretAccessKey":"s","Token":"t",
                 "Expiration":"2099-01-01T00:00:00Z","Code":"Success"}"#,
        ),
        _ => WebResponse::status("404 Not Found", &[], b""),
    });
    let endpoint = format!("http://{}", server.address());
    let credentials = Credentials::gather(|name| {
        (name == "AWS_EC2_METADATA_SERVICE_ENDPOINT").then(|| endpoint.clone())
    });
    let credentials = credentials.with_account(S3Account::Instance);
    let settings = ObjectSettings { credentials, ..served_by(&server) };
    assert_eq!(open("bucket", &settings).size("1.png").await, Ok(None));
    let requests = server.requests();
    let signed = requests.iter().find(|request| request.path == "/bucket/1.png").unwrap();
    let header = signed.headers.iter().find(|(name, _)| name == "authorization").unwrap();
    assert!(header.1.contains("role-key"), "{header:?}");
}

#[test]
fn incomplete_credentials_are_refused() {
    let credentials =
        Credentials::gather(|name| (name == "AWS_ACCESS_KEY_ID").then(|| "id".to_owned()));
    let settings = ObjectSettings { credentials, ..settings("http://127.0.0.1:1".to_owned()) };
    let error = Bucket::open(ObjectStoreKind::S3, "bucket", &settings).unwrap_err().to_string();
    assert!(error.contains("s3://bucket") && error.contains("AWS_SECRET_ACCESS_KEY"), "{error}");
}

#[cfg(not(feature = "gcp"))]
#[test]
fn missing_feature_error_names_the_build_flag() {
    let settings = settings("http://127.0.0.1:1".to_owned());
    let error = Bucket::open(ObjectStoreKind::Google, "bucket", &settings).unwrap_err().to_string();
    assert!(error.contains("gs://bucket") && error.contains("--features gcp"), "{error}");
}
