//! Differences between a requested run and the recorded one. Changed files of its items are found
//! by the application, which reads them.

use super::{DatasetRecord, RunRecord, StageCommands, StageTerms};
use crate::{
    budget_label::BudgetLabel,
    id::Digest,
    job::{Judge, RubricReference},
};
use serde_json::Value;

const RENDER_COMMAND: &str = "stages.render_command";

/// A setting of which two runs have other values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingDifference {
    /// The setting, such as `image.max_side`.
    pub setting: &'static str,
    /// Value in the first run.
    pub known: String,
    /// Value in the other one.
    pub requested: String,
}

impl RunRecord {
    /// Settings besides those of the judge that change inputs or counts, with both values:
    /// preparation of images and settings of stages, where both runs have them.
    pub fn differing_terms(&self, requested: &Self) -> Vec<SettingDifference> {
        let side = |record: &Self| {
            record.max_side.map_or("not set".to_owned(), |pixels| format!("{pixels} pixels"))
        };
        let prepared = self.preparation.zip(requested.preparation);
        let prepared = prepared.map(|pair| (pair.0.to_string(), pair.1.to_string()));
        let image = [
            differing("image.max_side", side(self), side(requested)),
            prepared
                .and_then(|(known, requested)| differing("image preparation", known, requested)),
        ];
        let stages = self.stages.as_ref().zip(requested.stages.as_ref());
        let stages =
            stages.into_iter().flat_map(|(known, requested)| stage_differences(known, requested));
        // A fleet's workers may render in different ways.
        let is_of_fleet = self.fleet.is_some() || requested.fleet.is_some();
        let stages = stages.filter(|found| !(is_of_fleet && found.setting == RENDER_COMMAND));
        image.into_iter().flatten().chain(stages).collect()
    }

    /// The first difference of a requested run from this one, with both values; `None` if it is the
    /// same run. Budget, limits, name and program version are not compared.
    pub fn difference(&self, requested: &Self) -> Option<String> {
        let known = self;
        let rubric = |rubric: &RubricReference| {
            format!("{}@{} (digest {})", rubric.id, rubric.version, rubric.digest.short())
        };
        let selection = |record: &RunRecord| {
            let limit = record.dataset.limit.map(|limit| format!("--limit {limit}"));
            let filters = record.dataset.filters.iter().map(|filter| format!("--filter {filter}"));
            let sample = record.dataset.sample.map(|sample| match sample.until_width {
                Some(_) => "--until-width".to_owned(),
                None => format!("--sample {} --seed {}", sample.items, sample.seed),
            });
            let flags: Vec<_> = filters.chain(sample).chain(limit).collect();
            if flags.is_empty() { "every item".to_owned() } else { flags.join(" ") }
        };
        let evidence = |record: &RunRecord| record.evidence.name().to_owned();
        let terms = || known.differing_terms(requested).into_iter().next();
        dataset_difference(&known.dataset, &requested.dataset)
            .or_else(|| differs("selection of items", selection(known), selection(requested)))
            .or_else(|| differs("rubric", rubric(&known.rubric), rubric(&requested.rubric)))
            .or_else(|| judge_difference(known.judge.as_ref(), requested.judge.as_ref()))
            .or_else(|| differs("evidence", evidence(known), evidence(requested)))
            .or_else(|| {
                terms().map(|SettingDifference { setting, known, requested }| {
                    format!("its {setting} is {known}, but {requested} is requested")
                })
            })
            .or_else(|| differs("list of budget tags", budget_tags(known), budget_tags(requested)))
            .or_else(|| differs("repeat", known.repeat.to_string(), requested.repeat.to_string()))
    }
}

/// Datasets are the same if their manifests have the same bytes, wherever they are.
fn dataset_difference(known: &DatasetRecord, requested: &DatasetRecord) -> Option<String> {
    let [was, is] = [&known.digest, &requested.digest].map(Digest::short);
    match known.path == requested.path {
        true => (known.digest != requested.digest).then(|| {
            format!("its dataset {} has changed since (digest {was}, now {is})", known.path)
        }),
        false if known.digest == requested.digest => None,
        false => differs(
            "dataset",
            format!("{} (digest {was})", known.path),
            format!("{} (digest {is})", requested.path),
        ),
    }
}

/// The first setting of the judge that differs.
fn judge_difference(known: Option<&Judge>, requested: Option<&Judge>) -> Option<String> {
    let switch = |judge: Option<&Judge>| if judge.is_some() { "on" } else { "off" }.to_owned();
    let [was, is] = [known, requested].map(|judge| {
        let value = serde_json::to_value(judge).unwrap_or_default();
        value.as_object().cloned().unwrap_or_default()
    });
    let shown = |value: Option<&Value>| match value {
        None | Some(Value::Null) => "not set".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    differs("judge", switch(known), switch(requested)).or_else(|| {
        let keys = was.keys().chain(is.keys().filter(|key| !was.contains_key(*key)));
        let mut keys = keys.filter(|key| was.get(*key) != is.get(*key));
        let key = keys.next()?;
        differs(&format!("judge.{key}"), shown(was.get(key)), shown(is.get(key)))
    })
}

fn budget_tags(record: &RunRecord) -> String {
    let tags = record.budget_labels.iter().filter_map(|label| match label {
        BudgetLabel::Tag(_) => Some(label.name()),
        BudgetLabel::Dataset(_) => None,
    });
    let tags: Vec<_> = tags.collect();
    if tags.is_empty() { "none".to_owned() } else { tags.join(", ") }
}

fn stage_differences(
    known: &StageTerms,
    requested: &StageTerms,
) -> impl Iterator<Item = SettingDifference> {
    let accuracy = |terms: &StageTerms| terms.token_accuracy.to_string();
    let correctness = |terms: &StageTerms| match terms.correctness {
        None => "the rubric's own".to_owned(),
        Some(bound) => bound.to_string(),
    };
    let thresholds = [
        differing("stages.token_accuracy", accuracy(known), accuracy(requested)),
        differing("stages.min_correctness", correctness(known), correctness(requested)),
    ];
    thresholds.into_iter().flatten().chain(known.commands.differences(&requested.commands))
}

impl StageCommands {
    /// Commands that differ from the requested ones; none while either are pending.
    pub fn differences(&self, requested: &Self) -> impl Iterator<Item = SettingDifference> {
        let command = |digest: &Option<Digest>| match digest {
            None => "not set".to_owned(),
            Some(digest) => format!("the one with digest {digest}"),
        };
        let commands = |commands: &Self| {
            [&commands.compile_command, &commands.pipeline_command, &commands.render_command]
                .map(command)
        };
        let names = ["stages.compile_command", "stages.pipeline_command", RENDER_COMMAND];
        let pairs = commands(self).into_iter().zip(commands(requested));
        let differences = names.into_iter().zip(pairs);
        let is_known = !self.pending && !requested.pending;
        differences
            .filter(move |_| is_known)
            .filter_map(|(setting, (known, requested))| differing(setting, known, requested))
    }
}

fn differing(setting: &'static str, known: String, requested: String) -> Option<SettingDifference> {
    (known != requested).then_some(SettingDifference { setting, known, requested })
}

fn differs(what: &str, known: String, requested: String) -> Option<String> {
    (known != requested).then(|| format!("its {what} is {known}, but {requested} is requested"))
}
