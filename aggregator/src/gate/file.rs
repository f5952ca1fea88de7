//! Where gates come from: two built in, or a TOML file of the user's.

use super::{Bound, Gate, Rule, TrendRule};
use crate::metrics::{MetricDefinition, Unit, tidy};
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
    not_below_median_of_last: Option<usize>,
    margin: Option<f64>,
}

/// What a rule says of the metric that stands for all of them.
const EVERY_METRIC: &str = "*";
/// More runs than this nobody looks back at.
const MOST_RUNS: usize = 1_000;
/// How far below the median of earlier runs a metric may lie, unless the rule says otherwise.
const MARGIN: f64 = 0.01;

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
        let (trends, rules): (Vec<_>, Vec<_>) =
            file.rules.into_iter().partition(|line| line.not_below_median_of_last.is_some());
        let rules: Vec<Rule> =
            rules.into_iter().map(RuleLine::rule).collect::<Result<_, _>>().map_err(invalid)?;
        let trends: Vec<TrendRule> =
            trends.into_iter().map(RuleLine::trend).collect::<Result<_, _>>().map_err(invalid)?;
        if rules.is_empty()
            && trends.is_empty()
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
            trends,
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
        let is_known = |path: &&String| known.iter().any(|metric| metric.path == **path);
        let trends = self.trends.iter().filter_map(|trend| trend.metric.as_ref());
        let is_time = |path: &&String| {
            let is_it = |metric: &MetricDefinition| metric.path == **path;
            known.iter().any(|metric| is_it(metric) && metric.unit == Unit::Milliseconds)
        };
        if let Some(path) = trends.clone().find(is_time) {
            let reason = format!("{path} is better when it is lower, and a trend bounds it below");
            return Err(GateError::Invalid { name: self.name.clone(), reason });
        }
        let mut paths = self.rules.iter().map(|rule| &rule.metric).chain(trends);
        match paths.find(|path| !is_known(path)) {
            None => Ok(()),
            Some(path) => Err(GateError::Metric {
                name: self.name.clone(),
                metric: path.clone(),
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
                return Err(format!(
                    "the rule for {} takes either above or at_least, or else \
                     not_below_median_of_last",
                    self.metric
                ));
            }
        };
        if self.metric == EVERY_METRIC || self.margin.is_some() {
            return Err(format!(
                "the rule for {} bounds by a figure: \"*\" and margin go with \
                 not_below_median_of_last alone",
                self.metric
            ));
        }
        Ok(Rule { metric: self.metric, bound })
    }

    fn trend(self) -> Result<TrendRule, String> {
        let Self { metric, above, at_least, not_below_median_of_last, margin } = self;
        let last = not_below_median_of_last.unwrap_or(0);
        let margin = margin.unwrap_or(MARGIN);
        if above.is_some() || at_least.is_some() {
            return Err(format!("the rule for {metric} takes one bound, and has two"));
        }
        if !(1..=MOST_RUNS).contains(&last) || !(0.0..=1.0).contains(&margin) {
            return Err(format!(
                "the rule for {metric} looks at 1 to {MOST_RUNS} runs, with a margin from 0 to 1"
            ));
        }
        Ok(TrendRule { metric: Some(metric).filter(|metric| metric != EVERY_METRIC), last, margin })
    }
}
