//! Files that were uploaded, or written by batches.

use super::{BatchFault, BatchSettings, multipart::UploadForm};
use crate::refusal::Refusal;
use bytes::Bytes;
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::{SystemTime, UNIX_EPOCH},
};

/// The files of one account, in memory.
#[derive(Debug, Default)]
pub(super) struct FileStore {
    files: BTreeMap<String, StoredFile>,
    serial: u64,
    /// Files whose content was truncated once.
    cut: BTreeSet<String>,
}

/// Purpose of a file that a batch has written.
pub(super) const OUTPUT: &str = "batch_output";

impl FileStore {
    /// Takes a file; returns its id.
    pub(super) fn add(&mut self, form: UploadForm) -> String {
        self.serial += 1;
        let id = format!("file-simulated{:08}", self.serial);
        let UploadForm { purpose, name, content } = form;
        let file = StoredFile { name, purpose, created: now(), content };
        self.files.insert(id.clone(), file);
        id
    }

    /// The file as the API shows it.
    pub(super) fn show(&self, id: &str) -> Result<Value, Refusal> {
        let file = self.file(id)?;
        Ok(json!({
            "id": id,
            "object": "file",
            "bytes": file.content.len(),
            "created_at": file.created,
            "filename": file.name,
            "purpose": file.purpose,
            "status": "processed",
        }))
    }

    /// Every file, newest first.
    pub(super) fn list(&self) -> Value {
        let files: Vec<_> = self.files.keys().rev().flat_map(|id| self.show(id)).collect();
        json!({"object": "list", "data": files, "has_more": false})
    }

    /// The file's content.
    pub(super) fn content(&self, id: &str) -> Result<Bytes, Refusal> {
        self.file(id).map(|file| file.content.clone())
    }

    /// The content of a file as a download has it.
    pub(super) fn download(
        &mut self,
        id: &str,
        settings: &BatchSettings,
    ) -> Result<Bytes, Refusal> {
        let file = self.file(id)?;
        let content = file.content.clone();
        if file.purpose != OUTPUT {
            return Ok(content);
        }
        if settings.has(BatchFault::EmptyFiles) {
            return Ok(Bytes::new());
        }
        let is_cut = settings.has(BatchFault::CutOnce) && self.cut.insert(id.to_owned());
        Ok(if is_cut { content.slice(..content.len() / 2) } else { content })
    }

    /// Deletes a file.
    pub(super) fn remove(&mut self, id: &str) -> Result<Value, Refusal> {
        self.files.remove(id).ok_or_else(|| Refusal::no_such("file", id))?;
        Ok(json!({"id": id, "object": "file", "deleted": true}))
    }

    fn file(&self, id: &str) -> Result<&StoredFile, Refusal> {
        self.files.get(id).ok_or_else(|| Refusal::no_such("file", id))
    }
}

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[derive(Debug)]
struct StoredFile {
    name: String,
    purpose: String,
    created: u64,
    content: Bytes,
}
