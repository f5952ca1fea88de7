//! Check of an item's local files, as the worker reads them: code and tokens are parsed, image
//! files are walked completely without decoding. The judge is not called.

use crate::{item_texts::load, sources::Sources};
use futures_util::future::BoxFuture;
use juror_files::data_roots::MAX_IMAGE_BYTES;
use juror_types::{
    id::Digest,
    item::{ImageReference, Item, TokenSource},
    outcome::{ErrorKind, JobError},
    reference::{Reference, shown},
};
use tokio::task::spawn_blocking;

/// Inspects the files of an item that lie on this machine. Files on servers and in buckets are not
/// fetched.
///
/// # Errors
/// The first reason for which the job of this item would fail.
pub fn inspect<'a>(item: &'a Item, sources: &'a Sources) -> BoxFuture<'a, Result<(), JobError>> {
    Box::pin(async move {
        load(&with_local_texts(item), sources).await?;
        inspect_images(item, sources).await
    })
}

/// Inspects the images of an item that lie on this machine.
///
/// # Errors
/// The first reason for which an image cannot be judged.
pub(crate) async fn inspect_images(item: &Item, sources: &Sources) -> Result<(), JobError> {
    let rendered = item.rendered.iter().map(|image| (Item::RENDERED, image));
    let images = item.images.iter().map(|(name, image)| (name.as_str(), image));
    for (name, image) in images.chain(rendered) {
        if Reference::is_path(&image.reference) {
            inspect_image(image, sources).await.map_err(|message| JobError {
                kind: ErrorKind::Image,
                message: format!("{name}: {message}"),
            })?;
        }
    }
    Ok(())
}

fn with_local_texts(item: &Item) -> Item {
    let is_local = |tokens: &TokenSource| tokens.path().is_none_or(Reference::is_path);
    let code = item.generated_code.clone();
    Item {
        generated_code: code.filter(|code| code.path().is_none_or(Reference::is_path)),
        expected_tokens: item.expected_tokens.clone().filter(is_local),
        extracted_tokens: item.extracted_tokens.clone().filter(is_local),
        ..Item::default()
    }
}

async fn inspect_image(image: &ImageReference, sources: &Sources) -> Result<(), String> {
    let bytes =
        sources.read(&image.reference, MAX_IMAGE_BYTES).await.map_err(|error| error.to_string())?;
    let reference = shown(&image.reference).into_owned();
    let promised = image.sha256;
    // Walks and digests up to 64 MiB.
    let inspecting = spawn_blocking(move || inspect_content(&reference, &bytes, promised));
    // The task is only cancelled at process exit.
    inspecting.await.unwrap_or_else(|error| Err(format!("the file was not inspected: {error}")))
}

fn inspect_content(reference: &str, bytes: &[u8], promised: Option<Digest>) -> Result<(), String> {
    juror_image::check_container(bytes).map_err(|error| format!("{reference}: {error}"))?;
    match promised.map(|promised| (promised, Digest::from_content(bytes))) {
        Some((promised, digest)) if promised != digest => Err(format!(
            "{reference}: its SHA-256 is {digest}, and the manifest says {promised}; restore the \
             file or correct the manifest"
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_files::data_roots::Roots;
    use juror_types::item::Text;
    use std::fs;

    /// A PNG of one pixel.
    const PNG: &[u8] = b"\x89PNG\x0d\x0a\x1a\x0a\x00\x00\x00\x0dIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00:~\x9bU\
        \x00\x00\x00\x0aIDATx\x9cc`\x00\x00\x00\x02\x00\x01H\xaf\xa4q\x00\x00\x00\x00IEND\xaeB`\x82";

    fn item(image: &str, code: &str) -> Item {
        let reference = image.to_owned();
        let image = ImageReference { reference, sha256: None };
        let images = [("screenshot".to_owned(), image)].into_iter().collect();
        Item { images, generated_code: Some(Text::Path(code.to_owned())), ..Item::default() }
    }

    #[tokio::test]
    async fn missing_files_of_a_job_are_all_reported() {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in [
            ("sound.png", PNG),
            ("empty.png", &[]),
            ("cut.png", &PNG[..PNG.len() - 5]),
            ("page.png", b"<html>"),
            ("a.html", b"<p>"),
            ("latin1.html", b"caf\xe9"),
        ] {
            fs::write(folder.path().join(name), content).unwrap();
        }
        let sources = Sources::local(Roots::new(vec![folder.path().to_owned()]));
        assert_eq!(inspect(&item("sound.png", "a.html"), &sources).await, Ok(()));
        assert_eq!(inspect(&item("https://host/a.png", "s3://b/a.html"), &sources).await, Ok(()));
        for (image, code, message) in [
            ("empty.png", "a.html", "screenshot: empty.png: this is an empty file"),
            (
                "cut.png",
                "a.html",
                "screenshot: cut.png: this PNG file cannot be read: the file ends",
            ),
            ("page.png", "a.html", "screenshot: page.png: this is an HTML page"),
            ("none.png", "a.html", "screenshot: none.png: no such file"),
            ("sound.png", "latin1.html", "generated_code: latin1.html: not UTF-8"),
        ] {
            let error = inspect(&item(image, code), &sources).await.unwrap_err();
            assert!(error.message.starts_with(message), "{}", error.message);
        }
        let mut promised = item("sound.png", "a.html");
        promised.images[0].sha256 = Some(Digest::from_content(b"another"));
        let error = inspect(&promised, &sources).await.unwrap_err();
        assert!(error.message.contains("the manifest says"), "{}", error.message);
    }
}
