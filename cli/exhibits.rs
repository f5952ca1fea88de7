//! Pictures and code for a page: read anew from the dataset, where this process can reach it and it
//! is still what was judged.

mod code;
mod pictures;

use juror_aggregator::report::{Exhibit, Exhibits, Shown};
use juror_common::{
    files::Roots,
    item::Item,
    rubric::{Need, Rubric},
    run::RunRecord,
    settings::Settings,
};
use juror_producer::dataset::{Dataset, DatasetShape};
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
}

impl Exhibits for DatasetExhibits<'_> {
    fn gather(&self, shown: &[Shown]) -> HashMap<String, Exhibit> {
        let (dataset, items) = match self.items(shown) {
            Ok(found) => found,
            Err(reason) => return unreachable(shown, &reason),
        };
        let roots =
            Roots::new([dataset.folder().to_owned()].into_iter().chain(self.roots()).collect());
        let mut exhibits: HashMap<String, Exhibit> = HashMap::new();
        let mut room = code::MOST_BYTES;
        let made_on_the_way = !self.settings.stages.pipeline_command.is_empty();
        for one in shown {
            let Some(item) = items.get(&one.screenshot_id) else { continue };
            let code = item.generated_code.as_ref().filter(|_| !exhibits.contains_key(&item.id));
            let code = code.map(|code| match made_on_the_way {
                true => Err("a pipeline command made what was judged, and it is not kept".into()),
                false => code::read(code, item.language, &roots, &mut room),
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
    /// The dataset, and those of its items that are shown; an error is the reason why there is
    /// nothing to show.
    fn items(&self, shown: &[Shown]) -> Result<(Dataset, HashMap<String, Item>), String> {
        let shape = DatasetShape {
            images: self.rubric.images.iter().map(|image| image.name.clone()).collect(),
            style_required: self.rubric.needs(Need::Style),
            data_roots: self.roots(),
            allowed: self.settings.files.allowed().unwrap_or_default(),
        };
        let path = Path::new(&self.record.dataset.path);
        let gone = |_| "the dataset cannot be read from here".to_owned();
        let dataset = Dataset::open(path, &shape).map_err(gone)?;
        if dataset.digest().map_err(gone)? != self.record.dataset.digest {
            return Err("the dataset has changed since it was judged".to_owned());
        }
        let wanted: HashSet<&str> = shown.iter().map(|one| one.screenshot_id.as_str()).collect();
        let items = dataset.items().map_err(gone)?.flatten().map(|placed| placed.item);
        let items = items.filter(|item| wanted.contains(item.id.as_str()));
        let items = items.map(|item| (item.id.clone(), item)).collect();
        Ok((dataset, items))
    }

    /// Folders beside the dataset's. What a fleet's record names are folders of another machine.
    fn roots(&self) -> Vec<PathBuf> {
        let recorded = self.record.data_roots.iter().filter(|_| self.record.fleet.is_none());
        let own = self.settings.files.data_roots.iter().cloned();
        own.chain(recorded.map(PathBuf::from)).collect()
    }
}

fn unreachable(shown: &[Shown], reason: &str) -> HashMap<String, Exhibit> {
    let none = |one: &Shown| {
        let pictures = one.inputs.iter().map(|input| (input.name.clone(), Err(reason.to_owned())));
        (one.screenshot_id.clone(), Exhibit { pictures: pictures.collect(), code: None })
    };
    shown.iter().map(none).collect()
}
