//! Datasets, images and ledgers of runs, for the server.

use super::{ItemDetails, ItemSource, details::ItemTexts};
use crate::{
    attachments::{DatasetAttachments, DatasetCache, UnavailableInput, read_local},
    budgets::BudgetState,
    ledger_pool::LedgerPool,
    local_ledger::{ledger_file, ledger_file_of},
    selected_ledger::SelectedLedger,
    settings::Settings,
};
use async_trait::async_trait;
use bytes::Bytes;
use juror_analysis::gate::Gate;
use juror_files::data_roots::{MAX_IMAGE_BYTES, Roots};
use juror_ledger::{
    admission::{Admission as _, RunAccount},
    sqlite::SqliteLedger,
};
use juror_report::{Attachment, AttachmentRequest, Attachments};
use juror_types::{
    id::Digest,
    item::Item,
    outcome::{InputRecord, JobResult},
    rubric::Rubric,
    run::RunRecord,
};
use std::{path::PathBuf, sync::Arc, time::Duration};
use tokio::{runtime::Handle, task::spawn_blocking, time::timeout};

/// Items of the datasets of runs that are readable here and unchanged since they were judged.
#[derive(Clone)]
pub struct DatasetItemSource {
    settings: Arc<Settings>,
    cache: Arc<DatasetCache>,
}

/// Time limit for a fleet's ledger.
const LEDGER_TIMEOUT: Duration = Duration::from_secs(2);

const INTERRUPTED: &str = "reading was interrupted: try again";

impl DatasetItemSource {
    /// Reads files under the folders of runs and of these settings.
    pub fn new(settings: Settings) -> Self {
        Self { settings: Arc::new(settings), cache: Arc::default() }
    }

    fn dataset<'a>(&'a self, record: &'a RunRecord, rubric: &'a Rubric) -> DatasetAttachments<'a> {
        DatasetAttachments { record, rubric, settings: &self.settings, cache: Some(&self.cache) }
    }

    async fn local_ledger(&self, record: &RunRecord) -> Option<RunAccount> {
        let backend = open_existing(ledger_file_of(record, &self.settings)).await?;
        let run = &record.run_id;
        let ledger = backend.ledger(run).await;
        backend.close().await;
        ledger
            .inspect_err(|error| tracing::warn!("the ledger of run {run} cannot be read: {error}"))
            .ok()?
    }

    /// The ledger whose budgets are shown.
    async fn open_selected(&self) -> Option<SelectedLedger> {
        let settings = &*self.settings;
        if settings.fleet.redis.is_none() {
            return open_existing(ledger_file(settings)).await.map(SelectedLedger::Local);
        }
        let opened = SelectedLedger::open(settings).await;
        opened.inspect_err(|failure| tracing::warn!("the ledger cannot be opened: {failure}")).ok()
    }

    /// The fleet's ledger; a Redis that is away is not waited for.
    async fn fleet_ledger(&self, record: &RunRecord) -> Option<RunAccount> {
        self.settings.fleet.redis.as_ref()?;
        let reading = async {
            let mut ledgers = LedgerPool::new(&self.settings);
            let ledger = ledgers.ledger_for(record).await;
            for warning in ledgers.close().await {
                tracing::warn!("{warning}");
            }
            ledger
                .inspect_err(|failure| tracing::warn!("the ledger cannot be opened: {failure}"))
                .ok()?
        };
        timeout(LEDGER_TIMEOUT, reading).await.ok()?
    }
}

#[async_trait]
impl ItemSource for DatasetItemSource {
    async fn ledger(&self, record: &RunRecord) -> Option<RunAccount> {
        match record.fleet {
            None => self.local_ledger(record).await,
            Some(_) => self.fleet_ledger(record).await,
        }
    }

    async fn budgets(&self) -> Option<Vec<BudgetState>> {
        let reading = async {
            let ledger = self.open_selected().await?;
            let states = BudgetState::current(ledger.budgets(), &[]).await;
            ledger.close().await;
            states.inspect_err(|failure| tracing::warn!("budgets are not shown: {failure}")).ok()
        };
        timeout(LEDGER_TIMEOUT, reading).await.ok()?
    }

    fn gate(&self, rubric: &Rubric) -> Option<Gate> {
        let gate = Gate::load(self.settings.run.gate()?, rubric);
        gate.inspect_err(|error| tracing::warn!("the gate is not shown: {error}")).ok()
    }

    fn attachments<'a>(
        &'a self,
        record: &'a RunRecord,
        rubric: &'a Rubric,
    ) -> Box<dyn Attachments + 'a> {
        Box::new(self.dataset(record, rubric))
    }

    async fn item(
        &self,
        record: &RunRecord,
        rubric: &Rubric,
        result: &JobResult,
    ) -> Result<ItemDetails, String> {
        let (source, record, rubric) = (self.clone(), record.clone(), rubric.clone());
        let (result, runtime) = (result.clone(), Handle::current());
        let looking = spawn_blocking(move || {
            let attachments = source.dataset(&record, &rubric);
            let shown = AttachmentRequest::from(result.clone());
            let kept = attachments.judged_inputs();
            let (item, roots) = match attachments.item(&shown.screenshot_id) {
                Ok((item, roots)) => (item, Ok(roots)),
                Err(reason) if kept.are_kept() => (recorded_item(&result), Err(reason)),
                Err(reason) => return Err(reason),
            };
            let mut found = attachments.gather(std::slice::from_ref(&shown));
            let attachment = found.remove(&shown.screenshot_id).unwrap_or_default();
            let unjudged = match &roots {
                Ok(roots) => unjudged(&shown, &attachment, &item, roots),
                Err(_) => Vec::new(),
            };
            let item = Item { language: item.language.or(result.item.language), ..item };
            let texts = ItemTexts::new(&item, &shown.inputs, roots, kept, &source.settings.stages);
            // Texts that are kept are read on this thread.
            let (prompt, tokens) = runtime.block_on(async {
                let prompt = match &record.judge {
                    Some(judge) => {
                        let evidence = result.evidence.as_ref();
                        Some(texts.prompt(&rubric, judge, record.evidence, evidence).await)
                    }
                    None => None,
                };
                (prompt, texts.tokens().await)
            });
            let expected_pattern = item.expected_pattern;
            Ok(ItemDetails { attachment, unjudged, tokens, expected_pattern, prompt })
        });
        looking.await.map_err(|_| INTERRUPTED)?
    }

    async fn image(
        &self,
        record: &RunRecord,
        rubric: &Rubric,
        shown: &AttachmentRequest,
        digest: Digest,
    ) -> Result<Bytes, String> {
        let may_be = |input: &&InputRecord| input.digest.is_none_or(|known| known == digest);
        let references = shown.images().filter(may_be).map(|input| input.reference.clone());
        let references: Vec<String> = references.collect();
        let is_judged = shown.images().any(|input| input.digest == Some(digest));
        let (source, record, rubric) = (self.clone(), record.clone(), rubric.clone());
        let reading = spawn_blocking(move || {
            let attachments = source.dataset(&record, &rubric);
            if is_judged
                && let Some(kept) = attachments.judged_inputs().kept(digest, MAX_IMAGE_BYTES)
            {
                return Ok(kept);
            }
            let roots = attachments.open_roots()?;
            let mut reason = "no image of this item has this digest".to_owned();
            for reference in references {
                match read_local(&reference, &roots, MAX_IMAGE_BYTES) {
                    Ok(bytes) if Digest::from_content(&bytes) == digest => return Ok(bytes),
                    Ok(_) => reason = UnavailableInput::Changed.to_string(),
                    Err(error) => reason = error,
                }
            }
            Err(reason)
        });
        reading.await.map_err(|_| INTERRUPTED)?
    }
}

/// An item as its result has it, where its dataset cannot be read: without files.
fn recorded_item(result: &JobResult) -> Item {
    let record = &result.item;
    Item {
        id: result.screenshot_id.clone(),
        language: record.language,
        expected_pattern: record.expected_pattern.clone(),
        style: record.style.clone(),
        ..Item::default()
    }
}

/// The ledger of this machine; `None` if there is none yet: opening would create it.
async fn open_existing(file: PathBuf) -> Option<SqliteLedger> {
    let opening = spawn_blocking(move || file.is_file().then(|| SqliteLedger::open(&file)));
    let opened = opening.await.ok().flatten()?;
    opened.inspect_err(|error| tracing::warn!("the ledger cannot be opened: {error}")).ok()
}

/// Digests of the present images that the result has no digest of: those that can be decoded and
/// match the dataset's digest.
fn unjudged(
    shown: &AttachmentRequest,
    attachment: &Attachment,
    item: &Item,
    roots: &Roots,
) -> Vec<(String, Digest)> {
    let is_picture = |name: &str| {
        attachment.pictures.iter().any(|(other, picture)| other == name && picture.is_ok())
    };
    let of_one = |input: &InputRecord| {
        let image = item.images.get(&input.name)?;
        let bytes = read_local(&image.reference, roots, MAX_IMAGE_BYTES).ok()?;
        let digest = Digest::from_content(&bytes);
        let is_meant = image.sha256.is_none_or(|known| known == digest);
        is_meant.then(|| (input.name.clone(), digest))
    };
    let inputs = shown.images().filter(|input| input.digest.is_none());
    inputs.filter(|input| is_picture(&input.name)).filter_map(of_one).collect()
}
