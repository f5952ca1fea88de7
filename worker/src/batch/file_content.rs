//! Content of the downloaded files of a batch.

use super::shard_file::unreadable;
use crate::{
    interruption::Interruption,
    vision::{BatchProvider, CallEnd},
};
use juror_types::usage::Usage;
use std::{collections::HashSet, path::PathBuf};
use tokio::{
    fs::File,
    io::{AsyncBufReadExt as _, BufReader},
};

/// Numbers of a batch's files and of their lines, and the usage of its rows.
#[derive(Debug, Default)]
pub struct FileContent {
    pub files: usize,
    /// Lines that name a row.
    pub rows: u64,
    /// Lines that are not JSON, as of a file that was cut.
    pub broken_lines: u64,
    /// Sum over the rows; one that is there twice counts once.
    pub usage: Usage,
}

impl FileContent {
    /// Counts the lines of the files at these paths.
    pub async fn read(
        provider: &dyn BatchProvider,
        paths: &[PathBuf],
    ) -> Result<Self, Interruption> {
        let mut content = Self { files: paths.len(), ..Self::default() };
        let mut seen = HashSet::new();
        for path in paths {
            let unreadable = |error| unreadable(path, &error);
            let file = File::open(path).await.map_err(unreadable)?;
            let mut lines = BufReader::new(file).split(b'\n');
            while let Some(line) = lines.next_segment().await.map_err(unreadable)? {
                if line.trim_ascii().is_empty() {
                    continue;
                }
                let Some(row) = provider.read_row(&line) else {
                    let json = serde_json::from_slice::<serde::de::IgnoredAny>(&line);
                    content.broken_lines += u64::from(json.is_err());
                    continue;
                };
                content.rows += 1;
                if seen.insert(row.id) {
                    content.usage += row.end.as_ref().and_then(usage_of).unwrap_or_default();
                }
            }
        }
        Ok(content)
    }

    /// True if files that should have rows were cut or are of something else.
    pub fn is_broken(&self) -> bool {
        self.broken_lines > 0 || self.rows == 0 && self.files > 0
    }
}

fn usage_of(end: &CallEnd) -> Option<Usage> {
    match end {
        CallEnd::Completed(answer) => answer.usage,
        CallEnd::UnusableReply { usage, .. } | CallEnd::Refused { usage, .. } => *usage,
        _ => None,
    }
}
