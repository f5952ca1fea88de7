//! Content of the downloaded files of a batch.

use crate::{interruption::Interruption, vision::BatchProvider, worker_error::WorkerError};
use std::path::PathBuf;
use tokio::{
    fs::File,
    io::{AsyncBufReadExt as _, BufReader},
};

/// Numbers of a batch's files and of their lines.
#[derive(Debug, Default)]
pub struct FileContent {
    pub files: usize,
    /// Lines that name a row.
    pub rows: u64,
    /// Lines that are not JSON, as of a file that was cut.
    pub broken_lines: u64,
}

impl FileContent {
    /// Counts the lines of the files at these paths.
    pub async fn read(
        provider: &dyn BatchProvider,
        paths: &[PathBuf],
    ) -> Result<Self, WorkerError> {
        let mut content = Self { files: paths.len(), ..Self::default() };
        for path in paths {
            let unreadable = |error: std::io::Error| {
                Interruption::Paused(format!("file {} cannot be read: {error}", path.display()))
            };
            let file = File::open(path).await.map_err(unreadable)?;
            let mut lines = BufReader::new(file).split(b'\n');
            while let Some(line) = lines.next_segment().await.map_err(unreadable)? {
                if line.trim_ascii().is_empty() {
                    continue;
                }
                let is_row = provider.read_row(&line).is_some();
                let is_json = || serde_json::from_slice::<serde::de::IgnoredAny>(&line).is_ok();
                content.rows += u64::from(is_row);
                content.broken_lines += u64::from(!is_row && !is_json());
            }
        }
        Ok(content)
    }

    /// True if files that should have rows were cut or are of something else.
    pub fn is_broken(&self) -> bool {
        self.broken_lines > 0 || self.rows == 0 && self.files > 0
    }
}
