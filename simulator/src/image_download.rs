//! Images that a request names by URL: fetched as a provider fetches them, over plain HTTP alone.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::{Request, StatusCode, Uri, client::conn::http1, header::HOST};
use hyper_util::rt::TokioIo;
use memchr::memmem;
use std::time::Duration;
use tokio::{net::TcpStream, time::timeout};

/// Beginning of the URL of an image in a request's JSON.
const URL_KEY: &[u8] = b"\"image_url\":{\"url\":\"";
const MAX_IMAGE: usize = 20 << 20;
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// Downloads the images of a body: each `http://` URL of an image is replaced by its content. One
/// that leads to no image is kept and refused later.
pub(crate) async fn with_downloaded_images(body: Bytes) -> Bytes {
    let mut whole = Vec::new();
    let mut done = 0;
    while let Some((begin, end)) = next_url(&body, done) {
        let url = body.get(begin..end).and_then(|url| std::str::from_utf8(url).ok());
        let image = match url.filter(|url| url.starts_with("http://")) {
            Some(url) => timeout(TIME_LIMIT, download(url)).await.ok().flatten(),
            None => None,
        };
        whole.extend_from_slice(body.get(done..begin).unwrap_or_default());
        match image {
            Some(image) => whole.extend_from_slice(image.as_bytes()),
            None => whole.extend_from_slice(body.get(begin..end).unwrap_or_default()),
        }
        done = end;
    }
    if done == 0 {
        return body;
    }
    whole.extend_from_slice(body.get(done..).unwrap_or_default());
    whole.into()
}

/// Begin and end of the next URL of an image that is no data URL.
fn next_url(body: &[u8], from: usize) -> Option<(usize, usize)> {
    let mut at = from;
    loop {
        let rest = body.get(at..)?;
        let begin = at + memmem::find(rest, URL_KEY)? + URL_KEY.len();
        let url = body.get(begin..)?;
        if url.starts_with(b"http") {
            return Some((begin, begin + url.iter().position(|byte| *byte == b'"')?));
        }
        at = begin;
    }
}

/// The image at a URL, as a data URL.
async fn download(url: &str) -> Option<String> {
    let uri: Uri = url.parse().ok()?;
    let host = uri.authority()?;
    let stream = TcpStream::connect((uri.host()?, uri.port_u16().unwrap_or(80))).await.ok()?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let request =
        Request::get(path).header(HOST, host.as_str()).body(Empty::<Bytes>::new()).ok()?;
    let answering = async {
        let response = sender.send_request(request).await.ok()?;
        let found = response.status() == StatusCode::OK;
        let body = Limited::new(response.into_body(), MAX_IMAGE).collect().await.ok()?;
        found.then(|| body.to_bytes())
    };
    let (image, _) = tokio::join!(answering, connection);
    let image = image?;
    let kind = match imagesize::image_type(&image).ok()? {
        imagesize::ImageType::Png => "png",
        imagesize::ImageType::Jpeg => "jpeg",
        imagesize::ImageType::Webp => "webp",
        imagesize::ImageType::Gif => "gif",
        _ => return None,
    };
    Some(format!("data:image/{kind};base64,{}", STANDARD.encode(&image)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_http_urls_are_found() {
        let body = br#"{"image_url":{"url":"data:image/png;base64,AA"}},{"image_url":{"url":"http://a/1.png"}}"#;
        let (begin, end) = next_url(body, 0).unwrap();
        assert_eq!(&body[begin..end], b"http://a/1.png");
        assert!(next_url(body, end).is_none());
    }

    #[tokio::test]
    async fn unreachable_url_is_kept() {
        let body = Bytes::from_static(br#"{"image_url":{"url":"http://127.0.0.1:1/x.png"}}"#);
        assert_eq!(with_downloaded_images(body.clone()).await, body);
    }
}
