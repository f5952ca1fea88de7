//! Opens what runs judged, for the web door.

use super::texts::ItemTexts;
use crate::{
    execute::open_home,
    exhibits::{DatasetExhibits, FETCHES_NOTHING, Shelf},
    ledgers::Ledgers,
};
use async_trait::async_trait;
use bytes::Bytes;
use juror_aggregator::{
    gate::Gate,
    report::{Exhibits, Shown},
};
use juror_common::{
    admission::{Admission as _, Ledger},
    files::MOST_IMAGE_BYTES,
    id::{Digest, RunId},
    outcome::JobResult,
    reference::Reference,
    rubric::Rubric,
    run::RunRecord,
    settings::{RunSettings, Settings},
};
use juror_server::showcase::{ItemOnShow, Showcase};
use std::{sync::Arc, time::Duration};
use tokio::{task::spawn_blocking, time::timeout};

/// Shows what the datasets of runs hold, where this process can reach them and they are still what
/// was judged.
pub struct DatasetShowcase {
    open: Arc<Open>,
}

/// How long a page waits for a fleet's ledger.
const PATIENCE: Duration = Duration::from_secs(2);

const BROKEN_OFF: &str = "reading was broken off; ask again";

impl DatasetShowcase {
    /// Reads files under the folders of runs and of these settings.
    pub fn new(settings: Settings) -> Self {
        Self { open: Arc::new(Open { settings, shelf: Shelf::default() }) }
    }

    async fn local_ledger(&self, run: &RunId) -> Option<Ledger> {
        let open = Arc::clone(&self.open);
        let opening = spawn_blocking(move || {
            let RunSettings { state, runs_dir, .. } = &open.settings.run;
            let folder = state.as_ref().unwrap_or(runs_dir);
            // Looking must not make a database where there is none.
            folder.join("juror.db").is_file().then(|| open_home(&open.settings))
        });
        let opened = opening.await.ok().flatten()?;
        let home = opened.inspect_err(|failure| tracing::warn!("no ledger: {failure}")).ok()?;
        let ledger = home.ledger(run).await;
        home.close().await;
        ledger.inspect_err(|error| tracing::warn!("no ledger of run {run}: {error}")).ok()?
    }

    /// Whoever looks at a run does not wait for a Redis that is away.
    async fn fleet_ledger(&self, record: &RunRecord) -> Option<Ledger> {
        self.open.settings.fleet.redis.as_ref()?;
        let reading = async {
            let mut ledgers = Ledgers::new(&self.open.settings);
            let ledger = ledgers.of(record).await;
            ledgers.close().await;
            ledger.inspect_err(|failure| tracing::warn!("no ledger: {failure}")).ok()?
        };
        timeout(PATIENCE, reading).await.ok()?
    }
}

#[async_trait]
impl Showcase for DatasetShowcase {
    async fn ledger(&self, record: &RunRecord) -> Option<Ledger> {
        match record.fleet {
            None => self.local_ledger(&record.run_id).await,
            Some(_) => self.fleet_ledger(record).await,
        }
    }

    fn gate(&self, rubric: &Rubric) -> Option<Gate> {
        let set = self.open.settings.run.gate.as_deref();
        let gate = Gate::load(set.unwrap_or("targets"), rubric);
        let gate = gate.inspect_err(|error| tracing::warn!("no gate: {error}")).ok()?;
        (set.is_some() || !gate.rules.is_empty()).then_some(gate)
    }

    fn exhibits<'a>(&'a self, record: &'a RunRecord, rubric: &'a Rubric) -> Box<dyn Exhibits + 'a> {
        Box::new(self.open.exhibits(record, rubric))
    }

    async fn item(
        &self,
        record: &RunRecord,
        rubric: &Rubric,
        result: &JobResult,
    ) -> Result<ItemOnShow, String> {
        let (open, record, rubric) = (Arc::clone(&self.open), record.clone(), rubric.clone());
        let shown = Shown {
            screenshot_id: result.screenshot_id.clone(),
            inputs: result.item.inputs.clone(),
        };
        let judged = record.judge.is_some().then(|| (rubric.clone(), shown.inputs.clone()));
        let looking = spawn_blocking(move || {
            let exhibits = open.exhibits(&record, &rubric);
            let (item, roots) = exhibits.item(&shown.screenshot_id)?;
            let mut found = exhibits.gather(std::slice::from_ref(&shown));
            Ok::<_, String>((item, roots, found.remove(&shown.screenshot_id).unwrap_or_default()))
        });
        let (item, roots, exhibit) = looking.await.map_err(|_| BROKEN_OFF)??;
        let texts = ItemTexts::new(&item, roots, &self.open.settings.stages);
        let prompt = match judged {
            Some((rubric, inputs)) => Some(texts.prompt(&rubric, &inputs).await),
            None => None,
        };
        let tokens = texts.tokens().await;
        Ok(ItemOnShow { exhibit, tokens, expected_pattern: item.expected_pattern, prompt })
    }

    async fn image(
        &self,
        record: &RunRecord,
        rubric: &Rubric,
        shown: &Shown,
        digest: Digest,
    ) -> Result<Bytes, String> {
        let input = shown.inputs.iter().find(|input| input.digest == Some(digest));
        let reference = input.ok_or("no image of this run has this digest")?.reference.clone();
        let (open, record, rubric) = (Arc::clone(&self.open), record.clone(), rubric.clone());
        let reading = spawn_blocking(move || {
            let Ok(Reference::Path(path)) = Reference::parse(&reference) else {
                return Err(FETCHES_NOTHING.to_owned());
            };
            let roots = open.exhibits(&record, &rubric).open_roots()?;
            let bytes =
                roots.read_now(path, MOST_IMAGE_BYTES).map_err(|error| error.to_string())?;
            match Digest::of(&bytes) == digest {
                true => Ok(bytes),
                false => Err("the file has changed since it was judged".to_owned()),
            }
        });
        reading.await.map_err(|_| BROKEN_OFF)?
    }
}

/// What datasets are opened by.
struct Open {
    settings: Settings,
    shelf: Shelf,
}

impl Open {
    fn exhibits<'a>(&'a self, record: &'a RunRecord, rubric: &'a Rubric) -> DatasetExhibits<'a> {
        DatasetExhibits { record, rubric, settings: &self.settings, shelf: Some(&self.shelf) }
    }
}
