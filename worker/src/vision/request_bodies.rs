//! Bodies of requests: one in one piece, which reports when the network has taken it, and a file as
//! the form in which it is uploaded, read piece by piece while it is sent.

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use std::{
    convert::Infallible,
    io,
    path::Path,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
};
use tokio::{
    fs::File,
    io::{AsyncRead, AsyncReadExt as _, ReadBuf},
};

/// The media type of the form. Rows of JSON hold no carriage return, so that no row can hold the
/// boundary's line.
pub(super) const FORM: &str = "multipart/form-data; boundary=juror-batch-rows";

const TAIL: &[u8] = b"\r\n--juror-batch-rows--\r\n";
const PIECE: usize = 64 << 10;

/// Flag that is set once a request is being sent. A connection reads the body only when it is
/// established, and a provider cannot bill a request without its body, so this distinguishes *not
/// sent* from *lost*.
#[derive(Clone, Debug, Default)]
pub(super) struct Sent(Arc<AtomicBool>);

impl Sent {
    /// True if any of the body may have left.
    pub(super) fn get(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// The body, in one piece.
pub(super) struct Upload {
    pub(super) content: Bytes,
    /// Flag that it sets.
    pub(super) sent: Sent,
}

impl Body for Upload {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.sent.0.store(true, Ordering::Release);
        let content = std::mem::take(&mut self.content);
        Poll::Ready(if content.is_empty() { None } else { Some(Ok(Frame::data(content))) })
    }

    fn is_end_stream(&self) -> bool {
        self.content.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.content.len() as u64)
    }
}

/// The form with the fields `purpose` and `file`.
pub(super) struct FileForm {
    content: Pin<Box<dyn AsyncRead + Send + Sync>>,
    /// Bytes of the content that are not sent yet.
    left: u64,
}

impl FileForm {
    /// The form of a file with rows of a batch.
    pub(super) async fn of_batch(path: &Path) -> io::Result<Self> {
        let file = File::open(path).await?;
        let length = file.metadata().await?.len();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let head = format!(
            "--juror-batch-rows\r\ncontent-disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n\
             --juror-batch-rows\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
             content-type: application/jsonl\r\n\r\n"
        );
        let left = head.len() as u64 + length + TAIL.len() as u64;
        let content = io::Cursor::new(head).chain(file.take(length)).chain(TAIL);
        Ok(Self { content: Box::pin(content), left })
    }
}

impl Body for FileForm {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let piece = usize::try_from(self.left).unwrap_or(PIECE).min(PIECE);
        let mut content = vec![0; piece];
        let mut buffer = ReadBuf::new(&mut content);
        ready!(self.content.as_mut().poll_read(context, &mut buffer))?;
        let read = buffer.filled().len();
        if read == 0 {
            let message = "the file became shorter while it was sent";
            return Poll::Ready(Some(Err(io::Error::other(message))));
        }
        content.truncate(read);
        self.left -= read as u64;
        Poll::Ready(Some(Ok(Frame::data(Bytes::from(content)))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;

    /// The content of a form, or the error that cuts it.
    async fn content(form: &mut FileForm) -> io::Result<String> {
        let mut content = Vec::new();
        while let Some(frame) = poll_fn(|context| Pin::new(&mut *form).poll_frame(context)).await {
            content.extend_from_slice(&frame?.into_data().unwrap());
        }
        Ok(String::from_utf8(content).unwrap())
    }

    #[tokio::test]
    async fn form_has_the_whole_file_and_the_announced_length() {
        let folder = tempfile::tempdir().unwrap();
        let (path, rows) = (folder.path().join("rows.jsonl"), "{\"a\":1}\n".repeat(20_000));
        std::fs::write(&path, &rows).unwrap();
        let mut form = FileForm::of_batch(&path).await.unwrap();
        let length = form.size_hint().exact();
        let sent = content(&mut form).await.unwrap();
        assert_eq!(Some(sent.len() as u64), length);
        assert!(form.is_end_stream() && sent.contains("filename=\"rows.jsonl\""));
        let (head, end) = sent.split_once(&rows).unwrap();
        assert!(head.starts_with("--juror-batch-rows\r\n") && head.ends_with("\r\n\r\n"));
        assert_eq!(end, "\r\n--juror-batch-rows--\r\n");

        let mut form = FileForm::of_batch(&path).await.unwrap();
        std::fs::write(&path, "{}\n").unwrap();
        let cut = content(&mut form).await.unwrap_err().to_string();
        assert!(cut.contains("became shorter"), "{cut}");
    }
}
