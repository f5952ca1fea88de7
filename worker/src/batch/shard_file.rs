//! The files of shards on this machine: the one that is being filled, and those to be uploaded.

use crate::interruption::Interruption;
use juror_types::id::{JobId, RunId};
use serde::Deserialize;
use std::{
    io,
    path::{Path, PathBuf},
};
use tokio::{
    fs::{self, File},
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, BufWriter},
};

/// A shard that is being filled.
#[derive(Default)]
pub struct OpenShard {
    /// File and where that is; `None` before its first row.
    file: Option<(BufWriter<File>, PathBuf)>,
    /// Jobs, in the order of its rows.
    pub jobs: Vec<JobId>,
    bytes: u64,
}

impl OpenShard {
    /// True if a further row of this size in bytes is within these limits.
    pub fn takes(&self, bytes: usize, max_rows: usize, max_bytes: u64) -> bool {
        self.jobs.is_empty()
            || (self.jobs.len() < max_rows && self.bytes + bytes as u64 <= max_bytes)
    }

    /// Appends a row; the first one creates the file, under this path until it is sealed.
    pub async fn push(&mut self, path: &Path, job: JobId, row: &[u8]) -> io::Result<()> {
        let (file, _) = match &mut self.file {
            Some(file) => file,
            None => {
                if let Some(folder) = path.parent() {
                    fs::create_dir_all(folder).await?;
                }
                let file = BufWriter::with_capacity(1 << 16, File::create(path).await?);
                self.file.insert((file, path.to_owned()))
            }
        };
        file.write_all(row).await?;
        self.bytes += row.len() as u64;
        self.jobs.push(job);
        Ok(())
    }

    /// Completes the file under the name of its shard; returns its jobs.
    pub async fn seal(&mut self, path: &Path) -> io::Result<Vec<JobId>> {
        if let Some((mut file, unfinished)) = self.file.take() {
            file.flush().await?;
            file.get_ref().sync_all().await?;
            fs::rename(unfinished, path).await?;
        }
        self.bytes = 0;
        Ok(std::mem::take(&mut self.jobs))
    }

    /// Removes the file.
    pub async fn discard(&mut self) {
        if let Some((_, unfinished)) = self.file.take() {
            // A leftover is removed with its folder.
            let _ = fs::remove_file(unfinished).await;
        }
        self.bytes = 0;
        self.jobs.clear();
    }
}

/// The file of a shard.
pub fn path(folder: &Path, run: &RunId, number: u32) -> PathBuf {
    folder.join(format!("{run}-{number}.jsonl"))
}

/// The file of a shard while it is being filled.
pub fn unfinished(folder: &Path, run: &RunId, number: u32) -> PathBuf {
    folder.join(format!("{run}-{number}.unfinished"))
}

/// Splits a shard's file into two of half the rows each; returns their jobs.
pub async fn split(file: &Path, halves: [&Path; 2]) -> io::Result<[Vec<JobId>; 2]> {
    let mut lines = 0_usize;
    let mut reader = BufReader::new(File::open(file).await?);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).await? > 0 {
        lines += 1;
        line.clear();
    }
    let mut reader = BufReader::new(File::open(file).await?);
    let mut jobs = [Vec::new(), Vec::new()];
    for ((half, jobs), count) in
        halves.into_iter().zip(&mut jobs).zip([lines / 2, lines - lines / 2])
    {
        let mut writer = BufWriter::new(File::create(half).await?);
        for _ in 0..count {
            line.clear();
            reader.read_until(b'\n', &mut line).await?;
            let name: RowName = serde_json::from_slice(&line)?;
            jobs.push(JobId::new(name.custom_id));
            writer.write_all(&line).await?;
        }
        writer.flush().await?;
        writer.get_ref().sync_all().await?;
    }
    Ok(jobs)
}

/// Error that pauses a run whose shard files cannot be written.
pub fn unwritable(folder: &Path, error: &io::Error) -> Interruption {
    Interruption::Paused(format!(
        "the file of a batch cannot be written in {}: {error}; make the folder writable or free \
         space, then resume",
        folder.display()
    ))
}

/// Error that pauses a run whose shard files cannot be read.
pub fn unreadable(file: &Path, error: &io::Error) -> Interruption {
    Interruption::Paused(format!("file {} cannot be read: {error}", file.display()))
}

#[derive(Deserialize)]
struct RowName {
    custom_id: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str) -> String {
        format!("{{\"custom_id\":\"{name}\",\"body\":{{}}}}\n")
    }

    #[tokio::test]
    async fn a_shard_is_filled_sealed_and_split() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunId::parse("r").unwrap();
        let next = unfinished(folder.path(), &run, 1);
        let mut shard = OpenShard::default();
        for name in ["a", "b", "c"] {
            assert!(shard.takes(30, 3, 1_000));
            let line = row(name);
            shard.push(&next, JobId::new(name), line.as_bytes()).await.unwrap();
        }
        assert!(
            !shard.takes(30, 3, 1_000) && !shard.takes(30, 9, 100) && shard.takes(30, 9, 1_000)
        );
        let [file, one, two] = [1, 2, 3].map(|number| path(folder.path(), &run, number));
        assert_eq!(shard.seal(&file).await.unwrap().len(), 3);
        assert!(file.exists() && !next.exists());
        assert!(shard.takes(5_000, 3, 1_000), "the first row always fits");

        let [first, second] = split(&file, [&one, &two]).await.unwrap();
        assert_eq!(first, [JobId::new("a")]);
        assert_eq!(second, [JobId::new("b"), JobId::new("c")]);
        assert_eq!(std::fs::read_to_string(&two).unwrap(), row("b") + &row("c"));

        shard.push(&next, JobId::new("d"), row("d").as_bytes()).await.unwrap();
        shard.discard().await;
        assert!(shard.jobs.is_empty() && !next.exists());
    }
}
