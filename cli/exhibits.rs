//! Pictures and code for a page: read anew from the dataset, where this process can reach it and it
//! is still what was judged.

mod code;
mod pictures;
mod shelf;

pub use shelf::Shelf;

use juror_aggregator::report::{Exhibit, Exhibits, Shown};
use juror_common::{
    file_identity::FileIdentity,
    files::Roots,
    item::Item,
    outcome::InputRecord,
    rubric::{Need, Rubric},
    run::RunRecord,
    settings::Settings,
};
use juror_producer::dataset::{Dataset, DatasetError, DatasetShape};
use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
};

/// Answers what the dataset of a run has of its items.
pub struct DatasetExhibits<'run> {
    /// The run.
    pub record: &'run RunRecord,
    /// Its rubric.
    pub rubric: &'run Rubric,
    /// Where files may be read from.
    pub settings: &'run Settings,
    /// Where datasets are kept that are asked for again; none where this is the only time.
    pub shelf: Option<&'run Shelf>,
}

/// What a page says of a file that is on a server or in a bucket.
pub const FETCHES_NOTHING: &str = "it is not on this machine, and a page fetches nothing";
/// Remark on a file that has changed since it was judged.
pub const CHANGED: &str = "the file has changed since it was judged";
/// What a page says of what the user's own program made of an item.
pub const NOT_KEPT: &str = "a pipeline command made what was judged, and it is not kept";

impl Exhibits for DatasetExhibits<'_> {
    fn gather(&self, shown: &[Shown]) -> HashMap<String, Exhibit> {
        let (dataset, items) = match self.items(shown) {
            Ok(found) => found,
            Err(reason) => return unreachable(shown, &reason),
        };
        let roots = self.roots_of(&dataset);
        let mut exhibits: HashMap<String, Exhibit> = HashMap::new();
        let mut room = code::MOST_BYTES;
        let made_on_the_way = !self.settings.stages.pipeline_command.is_empty();
        for one in shown {
            let Some(item) = items.get(&one.screenshot_id) else { continue };
            let code = item.generated_code.as_ref().filter(|_| !exhibits.contains_key(&item.id));
            let judged = one.code();
            let is_made = made_on_the_way
                || judged.is_some_and(|code| code.reference == InputRecord::PIPELINE);
            let code = code.map(|code| match is_made {
                true => Err(NOT_KEPT.to_owned()),
                false => {
                    let judged = judged.and_then(|code| code.digest);
                    code::read(code, judged, item.language, &roots, &mut room)
                }
            });
            exhibits.entry(item.id.clone()).or_default().code = code;
        }
        for (id, pictures) in pictures::of(shown, &items, &roots) {
            exhibits.entry(id).or_default().pictures = pictures;
        }
        exhibits
    }
}

impl DatasetExhibits<'_> {
    /// One item of the dataset, and the folders that its files may be read in; an error is the
    /// reason why there is nothing to show.
    pub fn item(&self, id: &str) -> Result<(Item, Roots), String> {
        let (dataset, mut items) = self.items_of(&HashSet::from([id]))?;
        let item = items.remove(id).ok_or("the dataset has no such item")?;
        Ok((item, self.roots_of(&dataset)))
    }

    /// The folders that files of the dataset may be read in.
    pub fn open_roots(&self) -> Result<Roots, String> {
        Ok(self.roots_of(&self.open()?))
    }

    /// The dataset, and those of its items that are shown.
    fn items(&self, shown: &[Shown]) -> Result<(Dataset, HashMap<String, Item>), String> {
        self.items_of(&shown.iter().map(|one| one.screenshot_id.as_str()).collect())
    }

    fn items_of(&self, wanted: &HashSet<&str>) -> Result<(Dataset, HashMap<String, Item>), String> {
        let dataset = self.open()?;
        let kept = self.shelf.and_then(|shelf| shelf.items(&dataset, self.record.rubric.digest));
        let digest = match &kept {
            Some((digest, _)) => *digest,
            None => dataset.digest().map_err(gone)?,
        };
        if digest != self.record.dataset.digest {
            return Err("the dataset has changed since it was judged".to_owned());
        }
        let items = match &kept {
            Some((_, kept)) => wanted.iter().filter_map(|id| kept.get(*id).cloned()).collect(),
            None => {
                let items = dataset.items().map_err(gone)?.flatten().map(|placed| placed.item);
                items.filter(|item| wanted.contains(item.id.as_str())).collect::<Vec<_>>()
            }
        };
        let items = items.into_iter().map(|item| (item.id.clone(), item)).collect();
        Ok((dataset, items))
    }

    fn open(&self) -> Result<Dataset, String> {
        self.open_besides(Vec::new()).map_err(gone)
    }

    /// The dataset, whose items must not name one of these files.
    pub fn open_besides(&self, outputs: Vec<FileIdentity>) -> Result<Dataset, DatasetError> {
        let shape = DatasetShape {
            images: self.rubric.images.iter().map(|image| image.name.clone()).collect(),
            style_required: self.rubric.needs(Need::Style),
            data_roots: self.roots(),
            allowed: self.settings.files.allowed().unwrap_or_default(),
            outputs,
        };
        Dataset::open(Path::new(&self.record.dataset.path), &shape)
    }

    fn roots_of(&self, dataset: &Dataset) -> Roots {
        Roots::new([dataset.folder().to_owned()].into_iter().chain(self.roots()).collect())
    }

    /// Folders beside the dataset's. What a fleet's record names are folders of another machine.
    fn roots(&self) -> Vec<PathBuf> {
        let recorded = self.record.data_roots.iter().filter(|_| self.record.fleet.is_none());
        let own = self.settings.files.data_roots.iter().cloned();
        own.chain(recorded.map(PathBuf::from)).collect()
    }
}

fn gone(_: DatasetError) -> String {
    "the dataset cannot be read from here".to_owned()
}

fn unreachable(shown: &[Shown], reason: &str) -> HashMap<String, Exhibit> {
    let none = |one: &Shown| {
        let pictures = one.images().map(|input| (input.name.clone(), Err(reason.to_owned())));
        (one.screenshot_id.clone(), Exhibit { pictures: pictures.collect(), code: None })
    };
    shown.iter().map(none).collect()
}
