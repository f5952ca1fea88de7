//! Lifecycle of a batch.

use super::{
    BatchEnd, BatchFault, BatchSettings,
    file_store::{FileStore, OUTPUT, now},
    multipart::UploadForm,
    outputs::{InputRow, InvalidRow, Outputs, RowAnswerer},
};
use bytes::Bytes;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Batch with its results so far.
#[derive(Debug)]
pub(super) struct SimulatedBatch {
    pub(super) id: String,
    pub(super) status: SimulatedStatus,
    pub(super) tokens: u64,
    pub(super) metadata: Map<String, Value>,
    pub(super) number: u64,
    endpoint: String,
    input_file: String,
    created: u64,
    ended: Option<u64>,
    rows: Vec<InputRow>,
    total: usize,
    polls: u32,
    may_end: bool,
    outputs: Outputs,
    output_file: Option<String>,
    error_file: Option<String>,
    errors: Vec<Value>,
}

/// Status of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SimulatedStatus {
    Failed,
    InProgress,
    Completed,
    Expired,
    Cancelling,
    Cancelled,
}

impl SimulatedStatus {
    pub(super) fn is_under_way(self) -> bool {
        matches!(self, Self::InProgress | Self::Cancelling)
    }
}

/// Request for a batch.
pub(super) struct NewBatch {
    pub(super) number: u64,
    pub(super) endpoint: String,
    pub(super) input_file: String,
    pub(super) metadata: Map<String, Value>,
}

impl SimulatedBatch {
    /// A batch of checked rows.
    pub(super) fn new(new: NewBatch, rows: Vec<InputRow>, tokens: u64) -> Self {
        let NewBatch { number, endpoint, input_file, metadata } = new;
        Self {
            id: format!("batch_simulated{number:08}"),
            status: SimulatedStatus::InProgress,
            tokens,
            metadata,
            number,
            endpoint,
            input_file,
            created: now(),
            ended: None,
            total: rows.len(),
            rows,
            polls: 0,
            may_end: false,
            outputs: Outputs::default(),
            output_file: None,
            error_file: None,
            errors: Vec::new(),
        }
    }

    /// A batch that failed validation.
    pub(super) fn failed(new: NewBatch, rows: Vec<InputRow>, invalid: &InvalidRow) -> Self {
        let error = json!({
            "code": invalid.code, "line": invalid.line, "message": invalid.message, "param": null,
        });
        Self {
            status: SimulatedStatus::Failed,
            ended: Some(now()),
            total: 0,
            errors: vec![error],
            ..Self::new(new, rows, 0)
        }
    }

    /// Lets a batch configured with `BatchEnd::OnRequest` end at the next poll.
    pub(super) fn allow_end(&mut self) {
        self.may_end = true;
    }

    /// Counts a poll, and ends the batch if it is due.
    pub(super) fn poll(
        &mut self,
        files: &mut FileStore,
        settings: &BatchSettings,
        answerer: &impl RowAnswerer,
    ) {
        let due = match settings.end {
            _ if self.may_end || self.status == SimulatedStatus::Cancelling => true,
            BatchEnd::AfterPolls(polls) => self.polls >= polls,
            BatchEnd::OnRequest => false,
        };
        self.polls += 1;
        if !due || !self.status.is_under_way() {
            return;
        }
        if self.status == SimulatedStatus::Cancelling {
            self.status = SimulatedStatus::Cancelled;
        } else {
            let rows = std::mem::take(&mut self.rows);
            self.run(&rows, files, settings, answerer);
            self.status = match self.outputs.has_expired {
                true => SimulatedStatus::Expired,
                false => SimulatedStatus::Completed,
            };
        }
        self.write_files(files);
        self.ended = Some(now());
    }

    /// Cancels the batch after running the first half of its rows.
    pub(super) fn cancel(
        &mut self,
        files: &FileStore,
        settings: &BatchSettings,
        answerer: &impl RowAnswerer,
    ) {
        if self.status != SimulatedStatus::InProgress {
            return;
        }
        self.status = SimulatedStatus::Cancelling;
        let mut rows = std::mem::take(&mut self.rows);
        rows.truncate(rows.len() / 2);
        self.run(&rows, files, settings, answerer);
    }

    fn run(
        &mut self,
        rows: &[InputRow],
        files: &FileStore,
        settings: &BatchSettings,
        answerer: &impl RowAnswerer,
    ) {
        let content = files.content(&self.input_file).unwrap_or_default();
        self.outputs.run(rows, &content, self.number, settings, answerer);
    }

    fn write_files(&mut self, files: &mut FileStore) {
        let mut write = |kind: &str, content: Vec<u8>| {
            let name = format!("{}_{kind}.jsonl", self.id);
            let purpose = OUTPUT.to_owned();
            let form = UploadForm { purpose, name, content: Bytes::from(content) };
            (!form.content.is_empty()).then(|| files.add(form))
        };
        self.output_file = write("output", std::mem::take(&mut self.outputs.output));
        self.error_file = write("error", std::mem::take(&mut self.outputs.errors));
    }

    /// True if the provider has deleted the batch.
    pub(super) fn is_forgotten(&self, settings: &BatchSettings) -> bool {
        self.ended.is_some() && settings.has(BatchFault::Forgotten)
    }

    /// The API's batch object.
    pub(super) fn to_json(&self, settings: &BatchSettings) -> Value {
        let ended_as = |status| (self.status == status).then_some(self.ended).flatten();
        let mut batch = json!({
            "id": self.id,
            "object": "batch",
            "endpoint": self.endpoint,
            "errors": null,
            "input_file_id": self.input_file,
            "completion_window": "24h",
            "status": self.status,
            "output_file_id": self.output_file,
            "error_file_id": self.error_file,
            "created_at": self.created,
            "in_progress_at": self.created,
            "expires_at": self.created + 24 * 60 * 60,
            "finalizing_at": null,
            "completed_at": ended_as(SimulatedStatus::Completed),
            "failed_at": ended_as(SimulatedStatus::Failed),
            "expired_at": ended_as(SimulatedStatus::Expired),
            "cancelling_at": null,
            "cancelled_at": ended_as(SimulatedStatus::Cancelled),
            "request_counts": {
                "total": self.total,
                "completed": self.outputs.completed,
                "failed": self.outputs.failed,
            },
            "metadata": self.metadata,
        });
        if !self.errors.is_empty()
            && let Some(field) = batch.get_mut("errors")
        {
            *field = json!({"object": "list", "data": self.errors});
        }
        if !settings.has(BatchFault::NoUsage)
            && self.ended.is_some()
            && let Some(fields) = batch.as_object_mut()
        {
            let factor = if settings.has(BatchFault::WrongUsage) { 2 } else { 1 };
            let (input, output) = (
                self.outputs.usage.input_tokens * factor,
                self.outputs.usage.output_tokens * factor,
            );
            fields.insert("usage".to_owned(), json!({
                "input_tokens": input,
                "input_tokens_details": {"cached_tokens": self.outputs.usage.cached_input_tokens},
                "output_tokens": output,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": input + output,
            }));
        }
        batch
    }
}
