//! The form in which files are uploaded: multipart/form-data in one piece.

use bytes::Bytes;
use memchr::memmem;

/// Uploaded file with its purpose.
pub(super) struct UploadForm {
    pub(super) purpose: String,
    pub(super) name: String,
    pub(super) content: Bytes,
}

/// Reads a form; `None` if it is not one with a file and a purpose.
pub(super) fn read(content_type: &str, body: &Bytes) -> Option<UploadForm> {
    let (_, boundary) = content_type.split_once("boundary=")?;
    let boundary = boundary.split(';').next()?.trim().trim_matches('"');
    let delimiter = format!("\r\n--{boundary}");
    // The first delimiter has no line before it.
    let mut at = format!("--{boundary}").len();
    let (mut purpose, mut file) = (None, None);
    while body.get(at..)?.starts_with(b"\r\n") {
        let begin = at + 2;
        let head_end = begin + memmem::find(body.get(begin..)?, b"\r\n\r\n")?;
        let content = head_end + 4;
        let end = content + memmem::find(body.get(content..)?, delimiter.as_bytes())?;
        let head = String::from_utf8_lossy(body.get(begin..head_end)?).into_owned();
        match parameter(&head, "name")?.as_str() {
            "purpose" => {
                purpose = Some(String::from_utf8_lossy(body.get(content..end)?).into_owned());
            }
            "file" => {
                let name = parameter(&head, "filename").unwrap_or_default();
                file = Some((name, body.slice(content..end)));
            }
            _ => {}
        }
        at = end + delimiter.len();
    }
    let (name, content) = file?;
    Some(UploadForm { purpose: purpose?, name, content })
}

/// A parameter of the part's content disposition.
fn parameter(head: &str, name: &str) -> Option<String> {
    let line = head.lines().find(|line| line.to_lowercase().starts_with("content-disposition"))?;
    let value = line.split(';').find_map(|part| {
        let (key, value) = part.trim().split_once('=')?;
        (key == name).then_some(value)
    })?;
    Some(value.trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_file_is_read_byte_for_byte() {
        let body = "--b\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--b\r\n\
                    Content-Disposition: form-data; name=\"file\"; filename=\"x.jsonl\"\r\n\
                    Content-Type: application/jsonl\r\n\r\n{\"a\":1}\n--b-\n\r\n--b--\r\n";
        let form = read("multipart/form-data; boundary=b", &Bytes::from(body)).unwrap();
        assert_eq!((form.purpose.as_str(), form.name.as_str()), ("batch", "x.jsonl"));
        assert_eq!(form.content, "{\"a\":1}\n--b-\n");
    }

    #[test]
    fn invalid_form_is_none() {
        for (content_type, body) in [
            ("application/json", "{}"),
            ("multipart/form-data; boundary=b", "--b\r\nbroken"),
            ("multipart/form-data; boundary=b", "--b--\r\n"),
        ] {
            assert!(read(content_type, &Bytes::from(body)).is_none());
        }
    }
}
