//! A rubric: criteria, scale, weights, prompt, score formula and the metrics of a run's report. A
//! data file with everything that Juror knows of a rubric.

mod builtin;
mod contradiction_checks;
mod finding_rules;
mod parse;
mod placeholder;
mod reply_size;
mod reserved_columns;
mod schema;
mod score;
mod validate;

pub use builtin::{BuiltinRubric, builtin, builtin_named};
pub use contradiction_checks::contradictions_with_evidence;
pub use finding_rules::{FindingRules, ReplyVersion};
pub use parse::RubricError;
pub use reserved_columns::is_reserved_key;
pub use schema::reply_schema;
pub use score::{AnswerError, ParsedReply, score, zero};

use crate::{finding::FindingVocabulary, id::Digest, item::Item, job::RubricReference};
use serde::Deserialize;

/// A rubric from its file. [`Rubric::parse`] returns only valid rubrics.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rubric {
    /// Version of the file format, [`crate::SCHEMA`].
    pub schema: u32,
    /// Id of the rubric.
    pub id: String,
    /// Version; raised whenever the meaning of scores changes.
    pub version: u32,
    /// Title, one line.
    pub title: String,
    /// The images that an item must have unless they are optional, in the order in which the judge
    /// sees them; empty where only texts are judged.
    #[serde(default)]
    pub images: Vec<RubricImage>,
    /// Further fields of an item that the prompt uses.
    #[serde(default)]
    pub needs: Vec<PromptField>,
    /// The range of every score.
    pub scale: Scale,
    /// Meaning of each band of the scale for all criteria, best first.
    #[serde(default)]
    pub anchors: Vec<Anchor>,
    /// Maximum number of tokens of a reply.
    pub max_output_tokens: u32,
    /// Version of the reply's form.
    #[serde(default)]
    pub reply: ReplyVersion,
    /// Rules for the findings of a reply of version 2.
    #[serde(default)]
    pub findings: FindingRules,
    /// True if a reply of version 2 lists strengths.
    #[serde(default = "yes")]
    pub strengths: bool,
    /// Condition under which an item passes.
    pub success: Success,
    /// Formula from scores to one number.
    pub formula: Formula,
    /// Groups of criteria, for `weighted_groups`.
    #[serde(default)]
    pub groups: Vec<Group>,
    /// Criteria, in the order in which they are shown.
    pub criteria: Vec<Criterion>,
    /// Grades by percentage, best first.
    #[serde(default)]
    pub grades: Vec<Grade>,
    /// Metrics that a run reports beside the overall mean.
    #[serde(default)]
    pub metrics: Vec<RubricMetric>,
    /// Texts for the judge.
    pub prompt: Prompt,
    /// Kinds and elements of findings, from `findings`; set by parsing, empty in version 1.
    #[serde(skip)]
    pub vocabulary: FindingVocabulary,
    /// Digest of the file's bytes; set by parsing.
    #[serde(skip)]
    pub digest: Digest,
}

impl Rubric {
    /// Exact reference to this rubric, for jobs and run records.
    pub fn reference(&self) -> RubricReference {
        RubricReference { id: self.id.clone(), version: self.version, digest: self.digest }
    }

    /// The name in results, as in `semantic@1`.
    pub fn name(&self) -> String {
        format!("{}@{}", self.id, self.version)
    }

    /// The images that every item must name.
    pub fn images_of_items(&self) -> impl Iterator<Item = &RubricImage> {
        self.images.iter().filter(|image| !image.optional)
    }

    /// True if its prompt uses this field of an item.
    pub fn needs(&self, need: PromptField) -> bool {
        self.needs.contains(&need)
    }

    /// The criteria of a group, in the rubric's order.
    pub fn criteria_of<'rubric>(
        &'rubric self,
        group: &'rubric str,
    ) -> impl Iterator<Item = &'rubric Criterion> {
        self.criteria.iter().filter(move |criterion| criterion.group.as_deref() == Some(group))
    }

    /// A prompt's text with `{scale_min}`, `{scale_max}` and `{criteria_count}` replaced.
    pub fn fill_placeholders(&self, text: &str) -> String {
        placeholder::fill(text, self)
    }
}

/// One image that a rubric judges.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RubricImage {
    /// The manifest's field that names the file.
    pub name: String,
    /// The image's name for the judge.
    pub label: String,
    /// True if measured evidence provides it, where there is any, and no item has it: `rendered`
    /// and `crops`.
    #[serde(default)]
    pub optional: bool,
}

impl RubricImage {
    /// Name of the contact sheet of the differing regions.
    pub const CROPS: &str = "crops";
    /// Names of the images that measured evidence provides.
    pub const MEASURED: [&str; 2] = [Item::RENDERED, Self::CROPS];
}

/// A field of an item that a prompt may carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptField {
    /// The generated code; an item without it ends as `no_output`.
    GeneratedCode,
    /// The expected design tokens; an item without them is judged without.
    ExpectedTokens,
    /// Measurements of the rendered code; an item without them is judged without.
    Evidence,
    /// The style's name; an item without it is an error.
    Style,
}

/// The range of a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scale {
    /// The worst score.
    pub min: u32,
    /// The best score.
    pub max: u32,
}

/// Condition under which an item passes: one of two bounds, on a scale of 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "parse::SuccessBounds")]
pub enum Success {
    /// Exclusive minimum of the correctness.
    Above(f64),
    /// Inclusive minimum of the correctness.
    AtLeast(f64),
}

impl Success {
    /// True if a correctness of 0 to 1 passes.
    pub fn passes(self, correctness: f64) -> bool {
        match self {
            Self::Above(bound) => correctness > bound,
            Self::AtLeast(bound) => correctness >= bound,
        }
    }
}

/// Formula from scores to one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Formula {
    /// Weighted sum of the scores over its maximum.
    SumOverMax,
    /// Weighted sum of the groups' means over its maximum.
    WeightedGroups,
}

/// A group of criteria.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// The name in replies and results.
    pub key: String,
    /// The title in reports.
    pub title: String,
    /// Weight of its mean.
    pub weight: f64,
}

/// One criterion.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Criterion {
    /// The name in replies and results.
    pub key: String,
    /// The title in reports.
    pub title: String,
    /// Guidance for the judge.
    pub guidance: String,
    /// Meaning of each band of the scale for this criterion, best first.
    #[serde(default)]
    pub anchors: Vec<Anchor>,
    /// Weight in `sum_over_max`.
    #[serde(default = "whole_weight")]
    pub weight: f64,
    /// Key of its group, in `weighted_groups`.
    pub group: Option<String>,
}

/// Meaning of a band of the scale.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Anchor {
    /// Lowest score of the band.
    pub from: u32,
    /// Highest score of the band.
    pub to: u32,
    /// Meaning of the band.
    pub means: String,
}

/// A grade by percentage.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grade {
    /// Name of the grade.
    pub name: String,
    /// Minimum percentage.
    pub from: f64,
}

/// A metric of a run.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RubricMetric {
    /// The name in reports.
    pub name: String,
    /// Key of its criterion or group.
    pub of: String,
    /// Computation of the value.
    pub kind: MetricKind,
}

/// Computation of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MetricKind {
    /// Mean of a criterion's scores.
    Mean,
    /// Share of perfect scores.
    PerfectRate,
    /// Mean of a group's means.
    GroupMean,
}

/// Texts for the judge. Both may contain `{scale_min}`, `{scale_max}` and `{criteria_count}`; the
/// rest of the prompt is added by the worker.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prompt {
    /// The system message.
    pub system: String,
    /// The task, before the criteria and the item.
    pub task: String,
}

fn yes() -> bool {
    true
}

fn whole_weight() -> f64 {
    1.0
}
