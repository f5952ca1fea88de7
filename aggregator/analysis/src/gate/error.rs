//! Error of an invalid gate.

use crate::metrics::round_stable;
use juror_types::{SCHEMA, toml_problem::TomlProblem};
use std::{io, path::PathBuf};

/// The error of an invalid gate.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// There is no such gate.
    #[error("no gate {name:?}: use `targets`, `production` or the path of a TOML file")]
    Unknown {
        /// The requested name.
        name: String,
    },
    /// File cannot be read.
    #[error("cannot read the gate {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// Its file is not TOML, or has an unknown key or a value of another type.
    #[error("{origin}{problem}")]
    File {
        /// The file.
        origin: String,
        /// The problem.
        problem: TomlProblem,
    },
    /// Its rules are invalid.
    #[error("gate {name}: {reason}")]
    Invalid {
        /// The gate.
        name: String,
        /// The problem, with its place.
        reason: String,
    },
    /// The gate has another schema version.
    #[error("gate {name}: schema {found}, but this program reads schema {SCHEMA}")]
    Schema {
        /// The gate.
        name: String,
        /// The version found.
        found: i64,
    },
    /// The gate has a rule for a metric that runs by this rubric do not have.
    #[error("gate {name}: rubric {rubric} has no metric {metric:?}; {remedy}")]
    Metric {
        /// The gate.
        name: String,
        /// The metric.
        metric: String,
        /// The rubric.
        rubric: String,
        /// Remedy: the metric that was meant, or those that exist.
        remedy: String,
    },
    /// The gate sets a bound that every value of the metric meets, or none does, or a share for
    /// points of a scale.
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

/// Remedy for a percentage given for a share, and for a share given for points of a scale.
fn hint(bound: f64, least: f64, most: f64) -> String {
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
