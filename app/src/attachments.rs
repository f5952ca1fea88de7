//! Images and code for a page: from the dataset, if this process can read it and it is unchanged
//! since judging, else from the run's stored inputs.

mod bounded_pictures;
mod cache;
mod code;
mod judged_inputs;

pub use cache::DatasetCache;
pub use judged_inputs::{AsJudged, JudgedInputs, UnavailableInput};

use crate::{rendering::renders, settings::Settings};
use bytes::Bytes;
use juror_files::data_roots::Roots;
use juror_producer::dataset::{Dataset, DatasetError, DatasetShape};
use juror_report::{Attachment, AttachmentRequest, Attachments};
use juror_types::{
    file_identity::FileIdentity, item::Item, reference::Reference, rubric::Rubric, run::RunRecord,
};
use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
};

/// Attachments of items, read from the dataset of a run.
pub struct DatasetAttachments<'run> {
    /// Record of the run.
    pub record: &'run RunRecord,
    /// Rubric of the run.
    pub rubric: &'run Rubric,
    /// Settings of the sources that files may be read from.
    pub settings: &'run Settings,
    /// Cache of datasets that are read repeatedly; `None` for a single use.
    pub cache: Option<&'run DatasetCache>,
}

/// Text of a page for a file that is on a server or in a bucket.
pub const FETCHES_NOTHING: &str = "it is not on this machine, and reports fetch no remote files";

const NO_SUCH_ITEM: &str = "the dataset has no such item";

impl Attachments for DatasetAttachments<'_> {
    fn gather(&self, shown: &[AttachmentRequest]) -> HashMap<String, Attachment> {
        let (inputs, current) = (self.judged_inputs(), self.current(shown));
        let mut attachments: HashMap<String, Attachment> = HashMap::new();
        let mut remaining_bytes = code::MAX_BYTES;
        let has_pipeline = self.settings.stages.has_pipeline();
        for one in shown {
            if attachments.contains_key(&one.screenshot_id) {
                continue;
            }
            let item = match &current {
                Ok(current) => current.item(one).map(|item| (item, &current.roots)),
                Err(reason) => Err(reason.as_str()),
            };
            let code = code::load(one, item, has_pipeline, &inputs, &mut remaining_bytes);
            attachments
                .insert(one.screenshot_id.clone(), Attachment { code, ..Attachment::default() });
        }
        for (id, pictures) in bounded_pictures::load_all(shown, &current, &inputs) {
            attachments.entry(id).or_default().pictures = pictures;
        }
        attachments
    }
}

impl DatasetAttachments<'_> {
    /// Item of the dataset, with the folders of its files; an error is the reason for a missing
    /// item.
    pub fn item(&self, id: &str) -> Result<(Item, Roots), String> {
        let (dataset, mut items) = self.items_of(&HashSet::from([id]))?;
        let item = items.remove(id).ok_or(NO_SUCH_ITEM)?;
        Ok((item, self.roots_of(&dataset)))
    }

    /// The folders that files of the dataset may be read in.
    pub fn open_roots(&self) -> Result<Roots, String> {
        Ok(self.roots_of(&self.open()?))
    }

    /// Inputs that the run keeps.
    pub fn judged_inputs(&self) -> JudgedInputs {
        let RunRecord { run_id, .. } = self.record;
        let directory = self.settings.run.runs_dir.join(run_id.as_str());
        JudgedInputs::for_run(&directory, renders(self.settings))
    }

    /// Loads the shown items of the dataset.
    fn current(&self, shown: &[AttachmentRequest]) -> Result<CurrentDataset, String> {
        let wanted = shown.iter().map(|one| one.screenshot_id.as_str()).collect();
        let (dataset, items) = self.items_of(&wanted)?;
        Ok(CurrentDataset { items, roots: self.roots_of(&dataset) })
    }

    fn items_of(&self, wanted: &HashSet<&str>) -> Result<(Dataset, HashMap<String, Item>), String> {
        let dataset = self.open()?;
        let kept = self.cache.and_then(|cache| cache.items(&dataset, self.record.rubric.digest));
        let digest = match &kept {
            Some((digest, _)) => *digest,
            None => dataset.digest().map_err(missing_message)?,
        };
        if digest != self.record.dataset.digest {
            return Err("the dataset has changed since it was judged".to_owned());
        }
        let items = match &kept {
            Some((_, kept)) => wanted.iter().filter_map(|id| kept.get(*id).cloned()).collect(),
            None => {
                let items =
                    dataset.items().map_err(missing_message)?.flatten().map(|placed| placed.item);
                items.filter(|item| wanted.contains(item.id.as_str())).collect::<Vec<_>>()
            }
        };
        let items = items.into_iter().map(|item| (item.id.clone(), item)).collect();
        Ok((dataset, items))
    }

    fn open(&self) -> Result<Dataset, String> {
        self.open_besides(Vec::new()).map_err(missing_message)
    }

    /// Opens the dataset, whose items must not reference one of these files.
    pub fn open_besides(&self, outputs: Vec<FileIdentity>) -> Result<Dataset, DatasetError> {
        let shape = DatasetShape {
            data_roots: self.roots(),
            allowed: self.settings.files.allowed().unwrap_or_default(),
            outputs,
            ..DatasetShape::for_rubric(self.rubric)
        };
        Dataset::open(Path::new(&self.record.dataset.path), &shape)
    }

    fn roots_of(&self, dataset: &Dataset) -> Roots {
        Roots::new([dataset.folder().to_owned()].into_iter().chain(self.roots()).collect())
    }

    /// Further folders besides the dataset's. The folders in a fleet's record are on another
    /// machine.
    fn roots(&self) -> Vec<PathBuf> {
        let recorded = self.record.data_roots.iter().filter(|_| self.record.fleet.is_none());
        let own = self.settings.files.data_roots.iter().cloned();
        own.chain(recorded.map(PathBuf::from)).collect()
    }
}

/// Reads a local file, without a request over the network.
pub(crate) fn read_local(reference: &str, roots: &Roots, max_bytes: u64) -> Result<Bytes, String> {
    let Ok(Reference::Path(path)) = Reference::parse(reference) else {
        return Err(FETCHES_NOTHING.to_owned());
    };
    roots.read_now(path, max_bytes).map_err(|error| error.to_string())
}

/// Items of the dataset as it is now, and the folders that their files may be read in.
struct CurrentDataset {
    items: HashMap<String, Item>,
    roots: Roots,
}

impl CurrentDataset {
    fn item(&self, one: &AttachmentRequest) -> Result<&Item, &'static str> {
        self.items.get(&one.screenshot_id).ok_or(NO_SUCH_ITEM)
    }
}

fn missing_message(_: DatasetError) -> String {
    "the dataset cannot be read on this machine".to_owned()
}
