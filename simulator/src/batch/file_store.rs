//! Files that were uploaded, or written by batches.

use super::{BatchFault, BatchSettings, multipart::UploadForm};
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
    pub(super) fn show(&self, id: &str) -> Option<Value> {
        let file = self.files.get(id)?;
        Some(json!({
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
        let files: Vec<_> = self.files.keys().rev().filter_map(|id| self.show(id)).collect();
        json!({"object": "list", "data": files, "has_more": false})
    }

    /// The file's content.
    pub(super) fn content(&self, id: &str) -> Option<Bytes> {
        self.files.get(id).map(|file| file.content.clone())
    }

    /// The content of a file as a download has it.
    pub(super) fn download(&mut self, id: &str, settings: &BatchSettings) -> Option<Bytes> {
        let file = self.files.get(id)?;
        let content = file.content.clone();
        if file.purpose != OUTPUT {
            return Some(content);
        }
        if settings.has(BatchFault::EmptyFiles) {
            return Some(Bytes::new());
        }
        let is_cut = settings.has(BatchFault::CutOnce) && self.cut.insert(id.to_owned());
        Some(if is_cut { content.slice(..content.len() / 2) } else { content })
    }

    /// Deletes a file.
    pub(super) fn remove(&mut self, id: &str) -> Option<Value> {
        self.files.remove(id)?;
        Some(json!({"id": id, "object": "file", "deleted": true}))
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
