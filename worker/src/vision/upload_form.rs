//! A file as the form in which it is uploaded, read piece by piece while it is sent.

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use std::{
    io,
    path::Path,
    pin::Pin,
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
