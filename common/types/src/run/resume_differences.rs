//! Differences between a requested run and the recorded one.

use super::{RunRecord, StageTerms};
use crate::{
    budget_label::BudgetLabel,
    id::Digest,
    job::{Judge, RubricReference},
};

impl RunRecord {
    /// The first difference of a requested run from this one, with both values; none if it is the
    /// same run. Budget, limits, name and program version are not compared.
    pub fn difference(&self, asked: &Self) -> Option<String> {
        let known = self;
        let rubric = |rubric: &RubricReference| {
            format!("{}@{} ({})", rubric.id, rubric.version, rubric.digest)
        };
        let judge = |judge: &Option<Judge>| match judge {
            None => "off".to_owned(),
            Some(judge) => serde_json::to_string(judge).unwrap_or_default(),
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
        let side = |record: &RunRecord| {
            record.max_side.map_or("not set".to_owned(), |pixels| format!("{pixels} pixels"))
        };
        let evidence = |record: &RunRecord| record.evidence.name().to_owned();
        // Records of earlier versions have no image preparation.
        let prepared = |record: &RunRecord| {
            let known = known.preparation.and(record.preparation);
            known.map_or_else(String::new, |preparation| preparation.to_string())
        };
        // Records of earlier versions have no labels.
        let tags = |record: &RunRecord| match known.budget_labels.is_empty() {
            true => String::new(),
            false => budget_tags(record),
        };
        let digest = |record: &RunRecord| record.dataset.digest.to_string();
        differs("dataset", digest(known), digest(asked))
            .or_else(|| differs("selection of items", selection(known), selection(asked)))
            .or_else(|| differs("rubric", rubric(&known.rubric), rubric(&asked.rubric)))
            .or_else(|| differs("judge", judge(&known.judge), judge(&asked.judge)))
            .or_else(|| differs("evidence", evidence(known), evidence(asked)))
            .or_else(|| differs("image.max_side", side(known), side(asked)))
            .or_else(|| differs("image preparation", prepared(known), prepared(asked)))
            .or_else(|| differs("list of budget tags", tags(known), tags(asked)))
            .or_else(|| differs("repeat", known.repeat.to_string(), asked.repeat.to_string()))
            .or_else(|| stage_difference(known.stages.as_ref()?, asked.stages.as_ref()?))
    }
}

fn budget_tags(record: &RunRecord) -> String {
    let tags = record.budget_labels.iter().filter_map(|label| match label {
        BudgetLabel::Tag(_) => Some(label.name()),
        BudgetLabel::Dataset(_) => None,
    });
    let tags: Vec<_> = tags.collect();
    if tags.is_empty() { "none".to_owned() } else { tags.join(", ") }
}

fn stage_difference(known: &StageTerms, asked: &StageTerms) -> Option<String> {
    let accuracy = |terms: &StageTerms| terms.token_accuracy.to_string();
    let correctness = |terms: &StageTerms| match terms.correctness {
        None => "the rubric's own".to_owned(),
        Some(bound) => bound.to_string(),
    };
    let command = |digest: &Option<Digest>| match digest {
        None => "not set".to_owned(),
        Some(digest) => format!("the one with digest {digest}"),
    };
    let commands = |terms: &StageTerms| {
        [&terms.compile_command, &terms.pipeline_command, &terms.render_command].map(command)
    };
    let [compile, pipeline, render] = commands(known);
    let [compile_now, pipeline_now, render_now] = commands(asked);
    differs("stages.token_accuracy", accuracy(known), accuracy(asked))
        .or_else(|| differs("stages.min_correctness", correctness(known), correctness(asked)))
        .or_else(|| differs("stages.compile_command", compile, compile_now))
        .or_else(|| differs("stages.pipeline_command", pipeline, pipeline_now))
        .or_else(|| differs("stages.render_command", render, render_now))
}

fn differs(what: &str, known: String, asked: String) -> Option<String> {
    (known != asked).then(|| format!("its {what} is {known}, but {asked} is requested"))
}
