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
    io::{AsyncRead as _, ReadBuf},
};

/// The media type of the form. Rows of JSON hold no carriage return, so that no row can hold the
/// boundary's line.
pub(super) const FORM: &str = "multipart/form-data; boundary=juror-batch-rows";

const TAIL: &[u8] = b"\r\n--juror-batch-rows--\r\n";
const PIECE: usize = 64 << 10;

/// The form with the fields `purpose` and `file`.
pub(super) struct FileForm {
    head: Bytes,
    file: File,
    /// Bytes of the file that are not sent yet.
    left: u64,
    tail: Bytes,
}

impl FileForm {
    /// The form of a file with rows of a batch.
    pub(super) async fn of_batch(path: &Path) -> io::Result<Self> {
        let file = File::open(path).await?;
        let left = file.metadata().await?.len();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let head = format!(
            "--juror-batch-rows\r\ncontent-disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n\
             --juror-batch-rows\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
             content-type: application/jsonl\r\n\r\n"
        );
        Ok(Self { head: Bytes::from(head), file, left, tail: Bytes::from_static(TAIL) })
    }
}

impl Body for FileForm {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let frame = |bytes: Bytes| Poll::Ready(Some(Ok(Frame::data(bytes))));
        if !self.head.is_empty() {
            return frame(std::mem::take(&mut self.head));
        }
        if self.left > 0 {
            let piece = usize::try_from(self.left).unwrap_or(PIECE).min(PIECE);
            let mut content = vec![0; piece];
            let mut buffer = ReadBuf::new(&mut content);
            ready!(Pin::new(&mut self.file).poll_read(context, &mut buffer))?;
            let read = buffer.filled().len();
            if read == 0 {
                let message = "the file became shorter while it was sent";
                return Poll::Ready(Some(Err(io::Error::other(message))));
            }
            content.truncate(read);
            self.left -= read as u64;
            return frame(Bytes::from(content));
        }
        if self.tail.is_empty() {
            return Poll::Ready(None);
        }
        frame(std::mem::take(&mut self.tail))
    }

    fn is_end_stream(&self) -> bool {
        self.head.is_empty() && self.left == 0 && self.tail.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.head.len() as u64 + self.left + self.tail.len() as u64)
    }
}
