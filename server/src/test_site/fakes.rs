//! An item source and a launcher without datasets.

use super::IMAGE;
use async_trait::async_trait;
use bytes::Bytes;
use juror_analysis::gate::Gate;
use juror_app::{
    budgets::BudgetState,
    error::AppError,
    item_source::{ItemDetails, ItemSource},
    run_request::{QueuedRun, RequestDefaults, RunEstimate, RunRequest},
    service::RunLauncher,
};
use juror_ledger::admission::RunAccount;
use juror_report::{AttachmentRequest, Attachments, NoAttachments};
use juror_types::{
    evidence::EvidenceMode,
    id::{Digest, RunId},
    lane::Lane,
    outcome::JobResult,
    rubric::Rubric,
    run::RunRecord,
    usage::Money,
};
use std::sync::Arc;
use tempfile::TempDir;

/// Item source with one image.
pub struct SingleImageSource;

#[async_trait]
impl ItemSource for SingleImageSource {
    async fn ledger(&self, _: &RunRecord) -> Option<RunAccount> {
        None
    }

    async fn budgets(&self) -> Option<Vec<BudgetState>> {
        None
    }

    fn gate(&self, _: &Rubric) -> Option<Gate> {
        None
    }

    fn attachments<'a>(&'a self, _: &'a RunRecord, _: &'a Rubric) -> Box<dyn Attachments + 'a> {
        Box::new(NoAttachments)
    }

    /// Never returns for items of a run `stuck`.
    async fn item(
        &self,
        record: &RunRecord,
        _: &Rubric,
        _: &JobResult,
    ) -> Result<ItemDetails, String> {
        if record.run_id.as_str() == "stuck" {
            std::future::pending::<()>().await;
        }
        Err("the dataset is gone".to_owned())
    }

    async fn image(
        &self,
        _: &RunRecord,
        _: &Rubric,
        _: &AttachmentRequest,
        digest: Digest,
    ) -> Result<Bytes, String> {
        assert_eq!(digest, Digest::from_content(IMAGE));
        Ok(Bytes::from_static(IMAGE))
    }
}

/// Launcher with one dataset, `golden`, whose runs exist already.
pub struct FakeLauncher {
    /// Keeps the runs directory alive.
    pub runs: Arc<TempDir>,
}

#[async_trait]
impl RunLauncher for FakeLauncher {
    async fn estimate(&self, request: &RunRequest) -> Result<RunEstimate, AppError> {
        if request.dataset != "golden" {
            return Err(AppError::not_found("there is no such dataset"));
        }
        Ok(RunEstimate {
            items: 3,
            jobs: 3,
            calls: 3,
            cached: 0,
            expected_usd: "0.02".parse().unwrap(),
            worst_case_usd: "0.05".parse().unwrap(),
            expected_seconds: 84.0,
            warnings: Vec::new(),
        })
    }

    async fn start(&self, request: &RunRequest) -> Result<RunId, AppError> {
        self.estimate(request).await?;
        if let Some(run) = request.run_id.as_ref().filter(|run| run.as_str() == "taken") {
            return Err(AppError::NameTaken(run.clone()));
        }
        Ok(request.run_id.clone().unwrap_or_else(|| RunId::new("judged")))
    }

    async fn resume(&self, run: &RunId, _: Option<Money>) -> Result<(), AppError> {
        Err(AppError::conflict(format!("run {run} is complete")))
    }

    async fn cancel(&self, run: &RunId) -> Result<(), AppError> {
        match self.runs.path().join(run.as_str()).is_dir() {
            true => Err(AppError::conflict(format!("run {run} is not running; nothing to cancel"))),
            false => Err(AppError::not_found(format!("there is no run {run}"))),
        }
    }

    /// True for a run of the name `cancelling`.
    fn is_cancelling(&self, run: &RunId) -> bool {
        run.as_str() == "cancelling"
    }

    fn defaults(&self) -> RequestDefaults {
        RequestDefaults {
            rubric: "semantic".to_owned(),
            model: "gpt-4o".to_owned(),
            repeat: 1,
            keep_inputs: false,
            evidence: EvidenceMode::None,
            lane: Lane::Realtime,
            baseline: None,
            max_budget_usd: None,
        }
    }

    async fn queued_run(&self, _: &RunId) -> Option<QueuedRun> {
        None
    }

    fn datasets(&self) -> Vec<String> {
        vec!["golden".to_owned()]
    }
}
