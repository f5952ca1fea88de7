//! Items of runs as they were judged: datasets, images, ledgers.

mod dataset_source;
mod details;

pub use crate::attachments::AsJudged;
pub use dataset_source::DatasetItemSource;

use crate::budgets::BudgetState;
use async_trait::async_trait;
use bytes::Bytes;
use juror_analysis::gate::Gate;
use juror_ledger::admission::RunAccount;
use juror_report::{Attachment, AttachmentRequest, Attachments};
use juror_types::{id::Digest, outcome::JobResult, rubric::Rubric, run::RunRecord};
use serde_json::Value;

/// Source of the items that pages show beside results. It opens no file outside the folders that
/// runs and settings name, and changes none.
#[async_trait]
pub trait ItemSource: Send + Sync {
    /// The ledger of a run; `None` if it has no record of it or cannot be reached.
    async fn ledger(&self, record: &RunRecord) -> Option<RunAccount>;

    /// Budgets of today and of this month, of the fleet's ledger where one is set; `None` if no
    /// ledger can be read.
    async fn budgets(&self) -> Option<Vec<BudgetState>>;

    /// The gate that is set for runs of this rubric; `None` if no gate is set.
    fn gate(&self, rubric: &Rubric) -> Option<Gate>;

    /// Attachments for result pages: thumbnails and code.
    fn attachments<'a>(
        &'a self,
        record: &'a RunRecord,
        rubric: &'a Rubric,
    ) -> Box<dyn Attachments + 'a>;

    /// Item in full, or the reason for its absence (its dataset is gone or changed).
    async fn item(
        &self,
        record: &RunRecord,
        rubric: &Rubric,
        result: &JobResult,
    ) -> Result<ItemDetails, String>;

    /// An image of an item, by the digest of its bytes: as it was judged, or, where no judge looked
    /// at it, as it is now.
    async fn image(
        &self,
        record: &RunRecord,
        rubric: &Rubric,
        shown: &AttachmentRequest,
        digest: Digest,
    ) -> Result<Bytes, String>;
}

/// An item beside its result.
#[derive(Clone, Debug, Default)]
pub struct ItemDetails {
    /// Thumbnails and code.
    pub attachment: Attachment,
    /// Digests of those images of which the result has none, since no judge looked at them: of
    /// their bytes as they are now, by the names that the rubric gives them.
    pub unjudged: Vec<(String, Digest)>,
    /// Every design token that was expected or extracted, by name; `None` if the item has none, or
    /// why they cannot be read.
    pub tokens: Option<Result<AsJudged<Vec<TokenLine>>, String>>,
    /// The pattern that retrieval should find.
    pub expected_pattern: Option<String>,
    /// The texts that the judge is sent, in order; `None` with the judge off, or why they cannot be
    /// made again.
    pub prompt: Option<Result<AsJudged<Vec<PromptPart>>, String>>,
}

/// Design token with its expected and its found value.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenLine {
    /// Dotted name.
    pub name: String,
    /// The true value; `None` if nothing was expected.
    pub expected: Option<Value>,
    /// The extracted value; `None` if nothing was found.
    pub extracted: Option<Value>,
    /// True if both are equal, as the stage compares them (colors as colors, lengths as lengths).
    pub equal: bool,
}

/// Part of the request to the judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptPart {
    /// `system` or `user`.
    pub role: &'static str,
    /// The text; an image stands as its name and its digest.
    pub text: String,
}
