//! Gates: two built-in ones, and those of TOML files.

use super::{Bound, ChangeList, ChangeRule, DeclineRule, Gate, Rule};
use crate::{
    history::DeclineWatch,
    metrics::{MetricDefinition, round_stable},
};
use juror_types::{
    SCHEMA,
    id::RunId,
    rubric::{Formula, Need, Rubric, Success},
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
  { metric = "pipeline_success_rate", at_least = 0.85 },
  { metric = "semantic.avg_semantic_correctness", above = 0.85 },
  { metric = "semantic.avg_visual_similarity", above = 8.5 },
  { metric = "semantic.variant_accuracy_rate", above = 0.95 },
  { metric = "semantic.feature_completeness_rate", above = 0.9 },
]
"#;

/// The error of an invalid gate.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// There is no such gate.
    #[error("no gate {name:?}: use `targets`, `production` or the path of a TOML file")]
    Unknown {
        /// The requested name.
        name: String,
    },
    /// Its file cannot be read.
    #[error("cannot read the gate {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// Its file is malformed.
    #[error("gate {name}: {reason}")]
    Invalid {
        /// The gate.
        name: String,
        /// The problem, with its place.
        reason: String,
    },
    /// It has another schema version.
    #[error("gate {name}: schema {found}, but this program reads schema {SCHEMA}")]
    Schema {
        /// The gate.
        name: String,
        /// The version found.
        found: i64,
    },
    /// It has a rule for a metric that runs by this rubric do not have.
    #[error("gate {name}: rubric {rubric} has no metric {metric:?}; it has {known}")]
    Metric {
        /// The gate.
        name: String,
        /// The metric.
        metric: String,
        /// The rubric.
        rubric: String,
        /// The existing metrics.
        known: String,
    },
    /// It sets a bound that every value of the metric meets, or none does.
    #[error(
        "gate {name}: the rule for {metric} has {key} = {bound}, but {metric} ranges from {least} to \
         {most}{}", hint(*.bound, *.least, *.most)
    )]
    Range {
        /// The gate.
        name: String,
        /// The metric.
        metric: String,
        /// `above` or `at_least`.
        key: &'static str,
        /// The bound.
        bound: f64,
        /// The minimum of the metric.
        least: f64,
        /// The maximum of the metric.
        most: f64,
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
    at_most: Option<f64>,
    #[serde(default)]
    no_decline: bool,
    anchor_runs: Option<usize>,
    anchor_from: Option<String>,
    false_alarm_rate: Option<f64>,
    monitored_runs: Option<usize>,
    not_below_median_of_last: Option<toml::Value>,
    margin: Option<toml::Value>,
    #[serde(default)]
    sure: bool,
}

/// Prefix of lists of changes since a baseline.
const CHANGES: &str = "changes.";
/// Wildcard for every metric.
const EVERY_METRIC: &str = "*";
/// Allowed number of anchor runs: fewer do not show the noise between runs.
const ANCHOR_RUNS: std::ops::RangeInclusive<usize> = 3..=200;
/// Allowed number of monitored runs of a false-alarm rate.
const MONITORED_RUNS: std::ops::RangeInclusive<usize> = 1..=1_000;
/// Allowed false-alarm rates, which the simulation of the limits can resolve.
const FALSE_ALARM_RATES: std::ops::RangeInclusive<f64> = 0.01..=0.5;

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

    /// Parses a gate's file.
    pub fn parse(name: &str, text: &str) -> Result<Self, GateError> {
        let invalid = |reason: String| GateError::Invalid { name: name.to_owned(), reason };
        // Another version may have unknown keys, so it is checked first.
        let version =
            text.parse::<toml::Table>().ok().and_then(|table| table.get("schema")?.as_integer());
        if let Some(found) = version.filter(|found| *found != i64::from(SCHEMA)) {
            return Err(GateError::Schema { name: name.to_owned(), found });
        }
        let file: GateFile = toml::from_str(text)
            .map_err(|error| invalid(error.to_string().trim_end().to_owned()))?;
        if !(0.0..=1.0).contains(&file.min_coverage) {
            return Err(invalid(format!(
                "min_coverage is {}, but it must be a share from 0 to 1",
                file.min_coverage
            )));
        }
        if let Some(line) = file.rules.iter().find(|line| line.names_the_median()) {
            return Err(invalid(format!(
                "the rule for {} has not_below_median_of_last or margin, which missed slow \
                 declines and were removed: use no_decline = true instead (docs/history.md)",
                line.metric
            )));
        }
        let (changes, rules): (Vec<_>, Vec<_>) =
            file.rules.into_iter().partition(|line| line.metric.starts_with(CHANGES));
        let changes: Vec<ChangeRule> =
            changes.into_iter().map(RuleLine::change).collect::<Result<_, _>>().map_err(invalid)?;
        let (declines, rules): (Vec<_>, Vec<_>) =
            rules.into_iter().partition(|line| line.no_decline);
        let rules: Vec<Rule> =
            rules.into_iter().map(RuleLine::rule).collect::<Result<_, _>>().map_err(invalid)?;
        let declines: Vec<DeclineRule> = declines
            .into_iter()
            .map(RuleLine::decline)
            .collect::<Result<_, _>>()
            .map_err(invalid)?;
        if rules.is_empty()
            && declines.is_empty()
            && changes.is_empty()
            && file.min_coverage == 0.0
            && file.consecutive_without_api_failure.is_none()
        {
            return Err(invalid("it has no rules: add a [[rule]] or min_coverage".into()));
        }
        Ok(Self {
            name: name.to_owned(),
            min_coverage: file.min_coverage,
            consecutive_without_api_failure: file.consecutive_without_api_failure,
            rules,
            declines,
            changes,
        })
    }

    /// Adapts a built-in gate, which bounds the metrics of `semantic`, to another rubric: it keeps
    /// the bounds of existing metrics, those of generated code only if the rubric needs code, and
    /// its minimum percentage is the rubric's success bound.
    fn fitted_to(mut self, rubric: &Rubric) -> Self {
        let known = MetricDefinition::all(rubric);
        let has_code = rubric.needs(Need::GeneratedCode);
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
            self.rules.insert(0, Rule { metric, bound, sure: false });
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
            return Err(GateError::Invalid { name: self.name.clone(), reason });
        }
        let mut paths = self.rules.iter().map(|rule| &rule.metric).chain(declines);
        match paths.find(|path| !is_known(path)) {
            None => self.check_ranges(&known),
            Some(path) => Err(GateError::Metric {
                name: self.name.clone(),
                metric: path.clone(),
                rubric: rubric.id.clone(),
                known: known.into_iter().map(|metric| metric.path).collect::<Vec<_>>().join(", "),
            }),
        }
    }
}

impl Gate {
    /// Refuses bounds that no run, or every run, meets, such as `above = 85` on a share.
    fn check_ranges(&self, known: &[MetricDefinition]) -> Result<(), GateError> {
        for Rule { metric, bound, .. } in &self.rules {
            let Some(definition) = known.iter().find(|each| each.path == *metric) else { continue };
            let (least, most) = definition.unit.bounds();
            let (key, bound, can_be_met) = match *bound {
                Bound::Above(bound) => ("above", bound, bound < most),
                Bound::AtLeast(bound) => ("at_least", bound, bound <= most),
                Bound::AtMost(bound) => ("at_most", bound, bound >= least),
            };
            if !can_be_met || bound < least || !bound.is_finite() {
                let (name, metric) = (self.name.clone(), metric.clone());
                return Err(GateError::Range { name, metric, key, bound, least, most });
            }
        }
        Ok(())
    }
}

/// Remedy for a percentage given for a share.
fn hint(bound: f64, least: f64, most: f64) -> String {
    let share = bound / 100.0;
    match least == 0.0 && most == 1.0 && bound > 1.0 && share <= 1.0 {
        true => format!("; for {bound} % use {share}"),
        false if bound == most => "; use at_least to require the maximum".to_owned(),
        false => String::new(),
    }
}

impl RuleLine {
    fn rule(self) -> Result<Rule, String> {
        let bound = match (self.above, self.at_least) {
            (Some(bound), None) if self.at_most.is_none() => Bound::Above(bound),
            (None, Some(bound)) if self.at_most.is_none() => Bound::AtLeast(bound),
            _ => {
                return Err(format!(
                    "the rule for {} needs either above or at_least, or no_decline = true; \
                     at_most is for changes since a baseline, as in changes.new.items",
                    self.metric
                ));
            }
        };
        if self.metric == EVERY_METRIC || self.sets_a_watch() {
            return Err(format!(
                "the rule for {} has a fixed bound: \"*\", anchor_runs, anchor_from, \
                 false_alarm_rate and monitored_runs require no_decline = true",
                self.metric
            ));
        }
        Ok(Rule { metric: self.metric, bound, sure: self.sure })
    }

    fn change(self) -> Result<ChangeRule, String> {
        let metric = &self.metric;
        let Some(list) = ChangeList::from_path(metric) else {
            let known = ChangeList::ALL.map(ChangeList::path).join(", ");
            return Err(format!("there are no changes {metric:?}; use {known}"));
        };
        let is_plain = !self.sure && !self.no_decline && !self.sets_a_watch();
        let at_most = self
            .at_most
            .filter(|most| (0.0..=f64::from(u32::MAX)).contains(most) && most.fract() == 0.0);
        match (self.above, self.at_least, at_most) {
            (None, None, Some(at_most)) if is_plain => {
                Ok(ChangeRule { list, at_most: at_most as u32 })
            }
            _ => Err(format!(
                "the rule for {metric} counts items or issues: set only at_most = N, a whole number \
                 from 0"
            )),
        }
    }

    fn decline(self) -> Result<DeclineRule, String> {
        let metric = &self.metric;
        if self.above.is_some() || self.at_least.is_some() || self.at_most.is_some() || self.sure {
            return Err(format!(
                "the rule for {metric} has no_decline = true, which excludes above, at_least, \
                 at_most and sure"
            ));
        }
        let usual = DeclineWatch::default();
        let watch =
            DeclineWatch {
                anchor_runs: self.anchor_runs.unwrap_or(usual.anchor_runs),
                monitored_runs: self.monitored_runs.unwrap_or(usual.monitored_runs),
                false_alarm_rate: self.false_alarm_rate.unwrap_or(usual.false_alarm_rate),
                anchor_from: match &self.anchor_from {
                    None => None,
                    Some(run) => {
                        let named = RunId::parse(run);
                        Some(named.map_err(|error| {
                            format!("the rule for {metric}: anchor_from: {error}")
                        })?)
                    }
                },
                blessed: None,
            };
        if !ANCHOR_RUNS.contains(&watch.anchor_runs)
            || !MONITORED_RUNS.contains(&watch.monitored_runs)
            || !FALSE_ALARM_RATES.contains(&watch.false_alarm_rate)
        {
            return Err(format!(
                "the rule for {metric} needs anchor_runs from {} to {}, monitored_runs from {} to \
                 {} and a false_alarm_rate from {} to {}",
                ANCHOR_RUNS.start(),
                ANCHOR_RUNS.end(),
                MONITORED_RUNS.start(),
                MONITORED_RUNS.end(),
                FALSE_ALARM_RATES.start(),
                FALSE_ALARM_RATES.end()
            ));
        }
        let metric = Some(self.metric).filter(|metric| metric != EVERY_METRIC);
        Ok(DeclineRule { metric, watch })
    }

    fn sets_a_watch(&self) -> bool {
        self.anchor_runs.is_some()
            || self.anchor_from.is_some()
            || self.false_alarm_rate.is_some()
            || self.monitored_runs.is_some()
    }

    fn names_the_median(&self) -> bool {
        self.not_below_median_of_last.is_some() || self.margin.is_some()
    }
}
