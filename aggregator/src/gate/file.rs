//! Where gates come from: two built in, or a TOML file of the user's.

use super::{Bound, Gate, Rule};
use crate::metrics::{MetricDefinition, tidy};
use juror_common::{
    SCHEMA,
    rubric::{Formula, Rubric, Success},
};
use serde::Deserialize;
use std::{fs, io, path::PathBuf};

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
  { metric = "semantic.avg_semantic_correctness", above = 0.85 },
  { metric = "semantic.avg_visual_similarity", above = 8.5 },
  { metric = "semantic.variant_accuracy_rate", above = 0.95 },
  { metric = "semantic.feature_completeness_rate", above = 0.9 },
]
"#;

/// Why a gate cannot be used: each is for its author to mend.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// There is no such gate.
    #[error("no gate {name:?}: take `targets`, `production` or the path of a TOML file")]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// Its file cannot be read.
    #[error("cannot read the gate {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Its file does not say a gate.
    #[error("gate {name}: {reason}")]
    Invalid {
        /// The gate.
        name: String,
        /// What is wrong, with its place.
        reason: String,
    },
    /// Another version of juror reads it.
    #[error("gate {name}: schema {found}, but this program reads schema {SCHEMA}")]
    Schema {
        /// The gate.
        name: String,
        /// The version that was found.
        found: i64,
    },
    /// It bounds a metric that runs by this rubric do not have.
    #[error("gate {name}: rubric {rubric} has no metric {metric:?}; it has {known}")]
    Metric {
        /// The gate.
        name: String,
        /// The metric.
        metric: String,
        /// The rubric.
        rubric: String,
        /// The metrics that there are.
        known: String,
    },
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleLine {
    metric: String,
    above: Option<f64>,
    at_least: Option<f64>,
}

impl Gate {
    /// The gate of this name, or of the file at this path, for runs by this rubric.
    pub fn load(name: &str, rubric: &Rubric) -> Result<Self, GateError> {
        match name {
            "targets" => Ok(Self::parse(name, TARGETS)?.fitted_to(rubric)),
            "production" => Ok(Self::parse(name, PRODUCTION)?.fitted_to(rubric)),
            path => {
                let text = fs::read_to_string(path).map_err(|source| match source.kind() {
                    io::ErrorKind::NotFound => GateError::Unknown { name: path.to_owned() },
                    _ => GateError::Read { path: path.into(), source },
                })?;
                let gate = Self::parse(path, &text)?;
                gate.check(rubric)?;
                Ok(gate)
            }
        }
    }

    /// Reads a gate's file.
    pub fn parse(name: &str, text: &str) -> Result<Self, GateError> {
        let invalid = |reason: String| GateError::Invalid { name: name.to_owned(), reason };
        // Another version may have keys that this one does not know, so it is looked at first.
        let version =
            text.parse::<toml::Table>().ok().and_then(|table| table.get("schema")?.as_integer());
        if let Some(found) = version.filter(|found| *found != i64::from(SCHEMA)) {
            return Err(GateError::Schema { name: name.to_owned(), found });
        }
        let file: GateFile = toml::from_str(text)
            .map_err(|error| invalid(error.to_string().trim_end().to_owned()))?;
        if !(0.0..=1.0).contains(&file.min_coverage) {
            return Err(invalid(format!(
                "min_coverage is {}, but it is a share from 0 to 1",
                file.min_coverage
            )));
        }
        let rules: Vec<Rule> = file
            .rules
            .into_iter()
            .map(|line| line.rule().map_err(invalid))
            .collect::<Result<_, _>>()?;
        if rules.is_empty()
            && file.min_coverage == 0.0
            && file.consecutive_without_api_failure.is_none()
        {
            return Err(invalid("it bounds nothing: give it a [[rule]] or min_coverage".into()));
        }
        Ok(Self {
            name: name.to_owned(),
            min_coverage: file.min_coverage,
            consecutive_without_api_failure: file.consecutive_without_api_failure,
            rules,
        })
    }

    /// The built-in gates bound what `semantic` reports. Another rubric keeps the bounds whose
    /// metrics it has, and a percentage must be what one item needs to pass.
    fn fitted_to(mut self, rubric: &Rubric) -> Self {
        let known = MetricDefinition::all(rubric);
        self.rules.retain(|rule| known.iter().any(|metric| metric.path == rule.metric));
        if rubric.formula == Formula::WeightedGroups {
            let bound = match rubric.success {
                Success::Above(bound) => Bound::Above(tidy(bound * 100.0)),
                Success::AtLeast(bound) => Bound::AtLeast(tidy(bound * 100.0)),
            };
            self.rules.insert(0, Rule { metric: "semantic.avg_percentage".into(), bound });
        }
        self
    }

    fn check(&self, rubric: &Rubric) -> Result<(), GateError> {
        let known = MetricDefinition::all(rubric);
        let is_known = |rule: &&Rule| known.iter().any(|metric| metric.path == rule.metric);
        match self.rules.iter().find(|rule| !is_known(rule)) {
            None => Ok(()),
            Some(rule) => Err(GateError::Metric {
                name: self.name.clone(),
                metric: rule.metric.clone(),
                rubric: rubric.id.clone(),
                known: known.into_iter().map(|metric| metric.path).collect::<Vec<_>>().join(", "),
            }),
        }
    }
}

impl RuleLine {
    fn rule(self) -> Result<Rule, String> {
        let bound = match (self.above, self.at_least) {
            (Some(bound), None) => Bound::Above(bound),
            (None, Some(bound)) => Bound::AtLeast(bound),
            _ => {
                return Err(format!("the rule for {} takes either above or at_least", self.metric));
            }
        };
        Ok(Rule { metric: self.metric, bound })
    }
}
