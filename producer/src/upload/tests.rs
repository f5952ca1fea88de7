//! Tests against moto's S3.

use super::*;
use juror_services::s3;
use serde_json::json;
use std::fs;

fn credentials() -> Credentials {
    Credentials::gather(|name| match name {
        "AWS_ACCESS_KEY_ID" => Some(s3::ACCESS_KEY.to_owned()),
        "AWS_SECRET_ACCESS_KEY" => Some(s3::SECRET_KEY.to_owned()),
        _ => None,
    })
}

fn settings() -> FileSettings {
    FileSettings { s3_endpoint: Some(s3::shared_endpoint()), ..FileSettings::default() }
}

/// Dataset folder, and an uploader to a prefix of a bucket.
struct Bench {
    folder: tempfile::TempDir,
    bucket: String,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in
            [("1.PNG", "one"), ("2.png", "two"), ("a.tsx", "code"), ("t.json", "{}")]
        {
            fs::write(folder.path().join(name), content).unwrap();
        }
        Self { folder, bucket: s3::new_bucket() }
    }

    fn uploader(&self) -> Uploader {
        let roots = Roots::new(vec![self.folder.path().to_owned()]);
        let destination = format!("s3://{}/sets/golden/", self.bucket);
        Uploader::open(&destination, &settings(), credentials(), roots).unwrap()
    }

    fn object(&self, content: &str, ending: &str) -> String {
        let digest = Digest::from_content(content.as_bytes());
        format!("s3://{}/sets/golden/{digest}{ending}", self.bucket)
    }
}

fn item(images: &[(&str, &str)]) -> Item {
    let image = |(name, reference): &(&str, &str)| {
        let reference = ImageReference { reference: (*reference).to_owned(), sha256: None };
        ((*name).to_owned(), reference)
    };
    Item { id: "i".to_owned(), images: images.iter().map(image).collect(), ..Item::default() }
}

#[tokio::test]
async fn local_files_are_uploaded_to_their_new_references() {
    let bench = Bench::new();
    let before = Item {
        generated_code: Some(Text::Path("a.tsx".to_owned())),
        expected_tokens: Some(TokenSource::Path("t.json".to_owned())),
        extracted_tokens: Some(TokenSource::Inline(json!({}))),
        ..item(&[("original", "1.PNG"), ("restyled", "https://host/2.png")])
    };
    let uploader = bench.uploader();
    let after = uploader.upload_item(before.clone()).await.unwrap();
    let original = &after.images["original"];
    assert_eq!(original.reference, bench.object("one", ".png"));
    assert_eq!(original.sha256, Some(Digest::from_content(b"one")));
    assert_eq!(after.images["restyled"], before.images["restyled"]);
    assert_eq!(after.generated_code, Some(Text::Path(bench.object("code", ".tsx"))));
    assert_eq!(after.expected_tokens, Some(TokenSource::Path(bench.object("{}", ".json"))));
    assert_eq!(after.extracted_tokens, before.extracted_tokens);
    assert_eq!(uploader.uploaded(), Uploaded { sent: 3, found: 0 });
    let key = format!("sets/golden/{}.png", Digest::from_content(b"one"));
    assert_eq!(&uploader.bucket.read(&key, 9).await.unwrap()[..], b"one");
}

#[tokio::test]
async fn existing_objects_are_not_uploaded_again() {
    let bench = Bench::new();
    let first = bench.uploader();
    let uploaded = first.upload_item(item(&[("screenshot", "1.PNG")])).await.unwrap();
    let again = first.upload_item(item(&[("screenshot", "1.PNG")])).await.unwrap();
    assert_eq!(uploaded, again);
    assert_eq!(first.uploaded(), Uploaded { sent: 1, found: 0 });
    // Another process continues.
    let second = bench.uploader();
    let both = item(&[("original", "1.PNG"), ("restyled", "2.png")]);
    let after = second.upload_item(both).await.unwrap();
    assert_eq!(after.images["original"].reference, uploaded.images["screenshot"].reference);
    assert_eq!(second.uploaded(), Uploaded { sent: 1, found: 1 });
    // An uploaded item has nothing left to upload.
    assert_eq!(second.upload_item(after.clone()).await.unwrap(), after);
}

#[tokio::test]
async fn unreadable_or_changed_file_stops_the_upload() {
    let bench = Bench::new();
    let uploader = bench.uploader();
    for (reference, message) in [
        ("3.png", "no such file"),
        ("../1.PNG", "'..' is not allowed"),
        ("/etc/passwd", "outside the allowed folders"),
    ] {
        let error = uploader.upload_item(item(&[("screenshot", reference)])).await.unwrap_err();
        let output = error.to_string();
        assert!(output.starts_with("item \"i\": ") && output.contains(message), "{output}");
    }
    let mut promised = item(&[("screenshot", "1.PNG")]);
    promised.images["screenshot"].sha256 = Some(Digest::from_content(b"two"));
    let error = uploader.upload_item(promised).await.unwrap_err();
    assert!(matches!(error, UploadError::Digest { .. }), "{error}");
    assert_eq!(uploader.uploaded(), Uploaded::default());
}

#[tokio::test]
async fn missing_bucket_is_named() {
    let bench = Bench::new();
    let roots = Roots::new(vec![bench.folder.path().to_owned()]);
    let open = |destination| Uploader::open(destination, &settings(), credentials(), roots.clone());
    let uploader = open("s3://there-is-no-such-bucket").unwrap();
    let error = uploader.upload_item(item(&[("screenshot", "1.PNG")])).await.unwrap_err();
    let object = format!("s3://there-is-no-such-bucket/{}.png", Digest::from_content(b"one"));
    assert!(error.to_string().starts_with(&object), "{error}");
    for destination in ["bucket", "https://host/bucket", "s3://", "s3://a/../b"] {
        let error = open(destination).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("use s3://bucket/prefix"), "{error}");
    }
}
