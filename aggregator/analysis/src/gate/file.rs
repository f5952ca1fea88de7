//! Gates: two built-in ones, and those of TOML files.

use super::{
    Bound, Gate, Rule,
    rule_line::{CHANGES, RuleLine},
};
use crate::metrics::{MetricDefinition, Unit, round_stable};
use juror_types::{
    SCHEMA,
    rubric::{Formula, PromptField, Rubric, Success},
    suggestion,
    toml_problem::TomlProblem,
};
use serde::Deserialize;
use std::{fmt::Display, fs, io};

const TARGETS: &str = r#"
schema = 1
rule = [
  { metric = "semantic.avg_semantic_correctness", above = 0.85 },
  { metric = "semantic.avg_visual_similarity", above = 9.0 },
  { metric = "semantic.variant_accuracy_rate", at_least = 1.0 },
  { metric = "semantic.feature_completeness_rate", at_least = 1.0 },
  { metric = "token_extraction.accuracy", above = 0.85 },
  { metric = "retrieval.accuracy", above = 0.9 },
  { metric = "generation.compilation_rate", above = 0.9 },
  { metric = "generation.avg_quality_score", above = 0.85 },
]
"#;

const PRODUCTION: &str = r#"
schema = 1
min_coverage = 1.0
consecutive_without_api_failure = 100
rule = [
  { metric = "pipeline_success_rate", at_least = 0.85 },
  { metric = "semantic.avg_semantic_correctness", above = 0.85 },
  { metric = "semantic.avg_visual_similarity", above = 8.5 },
  { metric = "semantic.variant_accuracy_rate", above = 0.95 },
  { metric = "semantic.feature_completeness_rate", above = 0.9 },
]
"#;

/// The error of loading a gate.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// There is no such gate, or its file cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// Its file or its rules are invalid, or do not fit the rubric.
    #[error("{0}")]
    Invalid(String),
}

impl Gate {
    /// The gate of this name, or of the file at this path, for runs by this rubric.
    pub fn load(name: &str, rubric: &Rubric) -> Result<Self, GateError> {
        match name {
            "targets" => Ok(Self::parse(name, TARGETS)?.fitted_to(rubric)),
            "production" => Ok(Self::parse(name, PRODUCTION)?.fitted_to(rubric)),
            path => {
                let text = fs::read_to_string(path).map_err(|source| match source.kind() {
                    io::ErrorKind::NotFound => GateError::Unreadable(format!(
                        "no gate {path:?}: use `targets`, `production` or the path of a TOML file"
                    )),
                    _ => GateError::Unreadable(format!("cannot read the gate {path}: {source}")),
                })?;
                let gate = Self::parse(path, &text)?;
                gate.check(rubric)?;
                Ok(gate)
            }
        }
    }

    /// True if a gate of this name is built in, and so is no file.
    pub fn is_built_in(name: &str) -> bool {
        matches!(name, "targets" | "production")
    }

    /// Parses a gate's file.
    pub fn parse(name: &str, text: &str) -> Result<Self, GateError> {
        let invalid = |reason: String| invalid(name, reason);
        // Another version may have unknown keys, so it is checked first.
        let version =
            text.parse::<toml::Table>().ok().and_then(|table| table.get("schema")?.as_integer());
        if let Some(found) = version.filter(|found| *found != i64::from(SCHEMA)) {
            return Err(invalid(format!("schema {found}, but this program reads schema {SCHEMA}")));
        }
        let file: GateFile = toml::from_str(text).map_err(|error| {
            GateError::Invalid(format!("{name}{}", TomlProblem::from_error(text, &error)))
        })?;
        if !(0.0..=1.0).contains(&file.min_coverage) {
            return Err(invalid(format!(
                "min_coverage is {}, but it must be a share from 0 to 1",
                file.min_coverage
            )));
        }
        let mut gate = Self {
            name: name.to_owned(),
            min_coverage: file.min_coverage,
            consecutive_without_api_failure: file.consecutive_without_api_failure,
            rules: Vec::new(),
            declines: Vec::new(),
            changes: Vec::new(),
        };
        let has_rules = !file.rules.is_empty();
        for line in file.rules {
            if line.metric.starts_with(CHANGES) {
                gate.changes.push(line.change().map_err(invalid)?);
            } else if line.no_decline {
                gate.declines.push(line.decline().map_err(invalid)?);
            } else {
                gate.rules.push(line.rule().map_err(invalid)?);
            }
        }
        let has_other_bounds =
            gate.min_coverage > 0.0 || gate.consecutive_without_api_failure.is_some();
        if !has_rules && !has_other_bounds {
            return Err(invalid("it has no rules: add a [[rule]] or min_coverage".to_owned()));
        }
        Ok(gate)
    }

    /// Adapts a built-in gate, which bounds the metrics of `semantic`, to another rubric: it keeps
    /// the bounds of existing metrics, those of generated code only if the rubric needs code, and
    /// its minimum percentage is the rubric's success bound.
    fn fitted_to(mut self, rubric: &Rubric) -> Self {
        let known = MetricDefinition::all(rubric);
        let has_code = rubric.needs(PromptField::GeneratedCode);
        self.rules.retain(|rule| {
            let metric = known.iter().find(|metric| metric.path == rule.metric);
            metric.is_some_and(|metric| has_code || !metric.is_of_generated_code())
        });
        if rubric.formula == Formula::WeightedGroups {
            let bound = match rubric.success {
                Success::Above(bound) => Bound::Above(round_stable(bound * 100.0)),
                Success::AtLeast(bound) => Bound::AtLeast(round_stable(bound * 100.0)),
            };
            let metric = "semantic.avg_percentage".to_owned();
            self.rules.insert(0, Rule { metric, bound, sure: false, min_n: None });
        }
        self
    }

    fn check(&self, rubric: &Rubric) -> Result<(), GateError> {
        let known = MetricDefinition::all(rubric);
        let is_known = |path: &&String| known.iter().any(|metric| metric.path == **path);
        let declines = self.declines.iter().filter_map(|rule| rule.metric.as_ref());
        let is_time = |path: &&String| {
            let is_it = |metric: &MetricDefinition| metric.path == **path;
            known.iter().any(|metric| is_it(metric) && !metric.can_decline())
        };
        if let Some(path) = declines.clone().find(is_time) {
            let reason = format!("{path} is better when it is lower, so no_decline does not apply");
            return Err(invalid(&self.name, reason));
        }
        let mut paths = self.rules.iter().map(|rule| &rule.metric).chain(declines);
        match paths.find(|path| !is_known(path)) {
            None => self.check_ranges(&known),
            Some(path) => {
                let paths: Vec<_> = known.iter().map(|metric| metric.path.as_str()).collect();
                let remedy = match suggestion::find(path, &paths)
                    .or_else(|| without_section(path, &paths))
                {
                    Some(meant) => format!("did you mean {meant:?}?"),
                    None => format!("it has {}", paths.join(", ")),
                };
                let reason = format!("rubric {} has no metric {path:?}; {remedy}", rubric.id);
                Err(invalid(&self.name, reason))
            }
        }
    }

    /// Refuses bounds that no run, or practically every run, meets, such as `above = 85` on a share or
    /// `above = 0.85` on a score of 0 to 10, and bounds on the side that is better.
    fn check_ranges(&self, known: &[MetricDefinition]) -> Result<(), GateError> {
        for Rule { metric, bound, .. } in &self.rules {
            let Some(definition) = known.iter().find(|each| each.path == *metric) else { continue };
            let (better, fitting) = match definition.can_decline() {
                true => ("higher", "above or at_least"),
                false => ("lower", "at_most"),
            };
            if definition.can_decline() == matches!(bound, Bound::AtMost(_)) {
                let reason = format!(
                    "{metric} is better when it is {better}, so its rule needs {fitting}; at_most is \
                     also for changes since a baseline, as in changes.new.items"
                );
                return Err(invalid(&self.name, reason));
            }
            let (least, most) = definition.unit.bounds();
            let (key, bound, can_be_met) = match *bound {
                Bound::Above(bound) => ("above", bound, bound < most),
                Bound::AtLeast(bound) => ("at_least", bound, bound <= most),
                Bound::AtMost(bound) => ("at_most", bound, bound >= least),
            };
            let is_share = takes_points(definition.unit) && bound > 0.0 && bound < 1.0;
            if !can_be_met || bound < least || !bound.is_finite() || is_share {
                let reason = format!(
                    "the rule for {metric} has {key} = {bound}, but {metric} ranges from {least} to \
                     {most}{}",
                    range_remedy(bound, least, most)
                );
                return Err(invalid(&self.name, reason));
            }
        }
        Ok(())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GateFile {
    #[serde(rename = "schema")]
    _schema: u32,
    #[serde(default)]
    min_coverage: f64,
    consecutive_without_api_failure: Option<u64>,
    #[serde(default, rename = "rule")]
    rules: Vec<RuleLine>,
}

fn invalid(gate: &str, reason: impl Display) -> GateError {
    GateError::Invalid(format!("gate {gate}: {reason}"))
}

/// Remedy for a percentage given for a share, and for a share given for points of a scale.
fn range_remedy(bound: f64, least: f64, most: f64) -> String {
    let share = bound / 100.0;
    if least == 0.0 && most > 1.0 && bound > 0.0 && bound < 1.0 {
        let (percent, points) = (round_stable(bound * 100.0), round_stable(bound * most));
        return format!("; for {percent} % of {most} use {points}");
    }
    match least == 0.0 && most == 1.0 && bound > 1.0 && share <= 1.0 {
        true => format!("; for {bound} % use {share}"),
        false if bound == most => "; use at_least to require the maximum".to_owned(),
        false => String::new(),
    }
}

/// True for a percentage, and for points of a scale so long that a bound between 0 and 1 is a share
/// by mistake.
fn takes_points(unit: Unit) -> bool {
    matches!(unit, Unit::Percent) || matches!(unit, Unit::Points { most, .. } if most >= 5.0)
}

/// The metric of this name without its section, as `pixels_equal` for `evidence.pixels_equal`.
fn without_section<'a>(name: &str, paths: &[&'a str]) -> Option<&'a str> {
    paths.iter().copied().find(|path| path.rsplit_once('.').is_some_and(|(_, last)| last == name))
}
