//! References of items to their files: a path, `http(s)://…`, or an object in a bucket.

use std::{borrow::Cow, fmt};
use url::Url;

/// Target of a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference<'text> {
    /// A path, relative to the manifest's folder or absolute.
    Path(&'text str),
    /// A file on a web server.
    Web(Url),
    /// An object in a bucket.
    Object(ObjectReference),
}

/// An object in a bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectReference {
    /// The service that holds the bucket.
    pub service: ObjectStoreKind,
    /// The bucket's name.
    pub bucket: String,
    /// The object's key: segments between slashes, none of them empty, `.` or `..`.
    pub key: String,
}

crate::named_enum! {
    /// A family of object stores, named by the scheme of its references.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ObjectStoreKind {
        /// Amazon S3 and compatible stores.
        S3 = "s3",
        /// Google Cloud Storage.
        Google = "gs",
        /// Azure Blob Storage.
        Azure = "az",
    }
}

impl fmt::Display for ObjectReference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}://{}/{}", self.service.name(), self.bucket, self.key)
    }
}

/// The error of an invalid reference. Contains no secrets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidReference {
    /// An unsupported scheme, or control characters.
    #[error(
        "{0:?} is not a reference; use a path relative to the manifest's folder, http(s)://… or \
         s3://bucket/key"
    )]
    Unknown(String),
    /// An invalid URL.
    #[error("{shown:?} is invalid: {problem}")]
    Url {
        /// The URL as [`shown`] redacts it.
        shown: String,
        /// The problem, with the remedy.
        problem: &'static str,
    },
}

impl<'text> Reference<'text> {
    /// Parses a reference without accessing its target.
    pub fn parse(text: &'text str) -> Result<Self, InvalidReference> {
        let unknown = || InvalidReference::Unknown(beginning(&shown(text)));
        if text.is_empty() || text.chars().any(char::is_control) {
            return Err(unknown());
        }
        match scheme(text) {
            None => Ok(Self::Path(text)),
            Some("http" | "https") => web(text).map(Self::Web),
            Some(scheme) => {
                let service = ObjectStoreKind::from_name(scheme).ok_or_else(unknown)?;
                object(service, text).map(Self::Object)
            }
        }
    }

    /// True if the text is a path on this machine.
    pub fn is_path(text: &str) -> bool {
        matches!(Reference::parse(text), Ok(Reference::Path(_)))
    }
}

/// A reference for display, logs and records: without a URL's query and user, which may be a
/// signature or a password.
pub fn shown(text: &str) -> Cow<'_, str> {
    let Some((scheme, rest)) = text.split_once("://") else { return Cow::Borrowed(text) };
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return Cow::Borrowed(text);
    }
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let end = rest.find(['/', '\\']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    match authority.rsplit_once('@') {
        Some((_, host)) => Cow::Owned(format!("{scheme}://{host}{path}")),
        None => Cow::Borrowed(text.get(..scheme.len() + 3 + rest.len()).unwrap_or_default()),
    }
}

/// True if the name is valid for buckets of all services.
pub fn is_bucket(name: &str) -> bool {
    let letter = |letter: char| letter.is_ascii_alphanumeric() || "-._".contains(letter);
    name.starts_with(|first: char| first.is_ascii_alphanumeric()) && name.chars().all(letter)
}

/// True if the key is valid: no segment is empty, `.` or `..`.
pub fn is_key(key: &str) -> bool {
    key.split('/').all(|segment| !["", ".", ".."].contains(&segment))
}

/// The scheme of a URL in lower case: letters before `://`, or `data` before `:`.
fn scheme(text: &str) -> Option<&'static str> {
    let (scheme, rest) = text.split_once(':')?;
    let letter = |letter: char| letter.is_ascii_alphanumeric() || "+-.".contains(letter);
    if scheme.is_empty() || !scheme.chars().all(letter) {
        return None;
    }
    let known = ["http", "https", "s3", "gs", "az", "data"];
    let known = known.into_iter().find(|name| scheme.eq_ignore_ascii_case(name));
    (rest.starts_with("//") || known == Some("data")).then_some(known.unwrap_or("other"))
}

fn web(text: &str) -> Result<Url, InvalidReference> {
    let wrong = |problem| InvalidReference::Url { shown: beginning(&shown(text)), problem };
    let mut url =
        Url::parse(text).map_err(|_| wrong("this is not a URL; use https://host/path"))?;
    if url.host_str().is_none_or(str::is_empty) {
        return Err(wrong("it has no host; use https://host/path"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong(
            "it contains a user or password, which would be sent with every job; use a signed URL",
        ));
    }
    url.set_fragment(None);
    Ok(url)
}

fn object(service: ObjectStoreKind, text: &str) -> Result<ObjectReference, InvalidReference> {
    let wrong = |problem| InvalidReference::Url { shown: beginning(text), problem };
    let rest = text.split_once("://").map_or("", |(_, rest)| rest);
    let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
    if !is_bucket(bucket) {
        return Err(wrong("it has no bucket; use s3://bucket/key"));
    }
    if key.is_empty() {
        return Err(wrong("it has no object key; use s3://bucket/key"));
    }
    if !is_key(key) {
        return Err(wrong("a segment of its key is empty, '.' or '..'; use the object's own key"));
    }
    Ok(ObjectReference { service, bucket: bucket.to_owned(), key: key.to_owned() })
}

fn beginning(text: &str) -> String {
    text.chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_urls_and_objects_are_distinguished() {
        for path in ["1.png", "a/../b.png", "/etc/passwd", "state:hover.png", "a?b.png", "c:\\d"] {
            assert_eq!(Reference::parse(path), Ok(Reference::Path(path)));
        }
        let web = Reference::parse("HTTPS://Example.COM/a b.png?sig=1#top").unwrap();
        assert_eq!(web, Reference::Web("https://example.com/a%20b.png?sig=1".parse().unwrap()));
        for (text, service) in [
            ("s3://my-bucket/a b/ü?.png", ObjectStoreKind::S3),
            ("GS://my-bucket/a b/ü?.png", ObjectStoreKind::Google),
            ("az://my-bucket/a b/ü?.png", ObjectStoreKind::Azure),
        ] {
            let object = ObjectReference {
                service,
                bucket: "my-bucket".to_owned(),
                key: "a b/ü?.png".to_owned(),
            };
            assert_eq!(object.to_string().to_lowercase(), text.to_lowercase());
            assert_eq!(Reference::parse(text), Ok(Reference::Object(object)));
        }
    }

    #[test]
    fn unsupported_scheme_is_no_reference() {
        for (text, message) in [
            ("", "is not a reference"),
            ("a\0b", "is not a reference"),
            ("data:image/png;base64,AAAA", "is not a reference"),
            ("file:///etc/passwd", "is not a reference"),
            ("ftp://host/1.png", "is not a reference"),
            ("https://", "not a URL"),
            ("https://exa mple.com/1.png", "not a URL"),
            ("https://user:secret@host/1.png", "a user or password"),
            ("https://user@host/1.png", "a user or password"),
            ("s3://", "has no bucket"),
            ("s3://../1.png", "has no bucket"),
            ("s3://key:secret@bucket/1.png", "has no bucket"),
            ("s3://bucket", "no object"),
            ("s3://bucket/", "no object"),
            ("s3://bucket/a/../1.png", "'..'"),
            ("s3://bucket/./1.png", "'.'"),
            ("s3://bucket//1.png", "empty"),
        ] {
            let error = Reference::parse(text).unwrap_err().to_string();
            assert!(error.contains(message) && !error.contains("secret@host"), "{text}: {error}");
        }
    }

    #[test]
    fn displayed_reference_has_no_signature_and_no_password() {
        for (text, expected) in [
            ("shots/1.png?x", "shots/1.png?x"),
            ("s3://bucket/1?.png", "s3://bucket/1?.png"),
            ("https://host/1.png", "https://host/1.png"),
            ("HTTPS://host:8/1.png?X-Amz-Signature=abc", "HTTPS://host:8/1.png"),
            ("https://host/1.png#abc", "https://host/1.png"),
            ("https://host?abc", "https://host"),
            ("http://user:secret@host/a@b?c", "http://host/a@b"),
            ("https://user:secret@host\\a", "https://host\\a"),
            ("https://a@b@c/d", "https://c/d"),
        ] {
            assert_eq!(shown(text), expected);
        }
    }
}
