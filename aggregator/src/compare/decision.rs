//! Worse, better, same, or not to be told.

use super::{Difference, MetricDifference, figures};
use serde::Serialize;

/// What a comparison says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The whole 95 % interval of the difference lies within ± the margin.
    Same,
    /// It lies above + the margin.
    Better,
    /// It lies below − the margin.
    Worse,
    /// It reaches over a margin: the data cannot tell.
    Inconclusive,
}

impl Decision {
    /// The decision on a difference with this 95 % interval, by this margin.
    pub fn of(difference: &Difference, margin: f64) -> Self {
        match (difference.low, difference.high) {
            (_, Some(high)) if high < -margin => Self::Worse,
            (Some(low), _) if low > margin => Self::Better,
            (Some(low), Some(high)) if low >= -margin && high <= margin => Self::Same,
            _ => Self::Inconclusive,
        }
    }

    /// As [`Self::of`], for one of many tests: worse and better hold only if the adjusted p-value
    /// is at most 5 %.
    pub(crate) fn among_many(difference: &Difference, margin: f64, adjusted: Option<f64>) -> Self {
        match Self::of(difference, margin) {
            Self::Worse | Self::Better if adjusted.is_none_or(|p_value| p_value > 0.05) => {
                Self::Inconclusive
            }
            decision => decision,
        }
    }

    /// Where less is better.
    pub(crate) fn reversed(self) -> Self {
        match self {
            Self::Better => Self::Worse,
            Self::Worse => Self::Better,
            Self::Same | Self::Inconclusive => self,
        }
    }

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Inconclusive => "inconclusive",
        }
    }
}

/// The decision by the decisive metric, or, with `strict`, by any criterion that got worse; and why.
pub(crate) fn decide(
    decisive: &MetricDifference,
    criteria: &[MetricDifference],
    margin: f64,
    strict: bool,
) -> (Decision, String) {
    let decision = decisive.decision;
    let worse: Vec<&str> = criteria
        .iter()
        .filter(|criterion| strict && criterion.decision == Decision::Worse)
        .map(|criterion| criterion.title.as_str())
        .collect();
    if decision != Decision::Worse && !worse.is_empty() {
        let reason = format!(
            "{} is {}, but strictly a criterion that got worse decides: {}",
            decisive.title,
            decision.name(),
            worse.join(", ")
        );
        return (Decision::Worse, reason);
    }
    (decision, reason(decisive, margin))
}

fn reason(decisive: &MetricDifference, margin: f64) -> String {
    let Difference { n, low, high, .. } = decisive.difference;
    let unit = decisive.unit();
    let title = &decisive.title;
    if n == 0 {
        return "no item has a verdict in both runs, so nothing decides".to_owned();
    }
    let (Some(low), Some(high)) = (low, high) else {
        return format!("{n} paired items are too few to tell how sure the change of {title} is");
    };
    let ends = format!("[{}, {}]", figures::change(low, unit), figures::change(high, unit));
    let margin = figures::size(margin, unit);
    let place = match decisive.decision {
        Decision::Worse => format!("lies below −{margin}"),
        Decision::Better => format!("lies above +{margin}"),
        Decision::Same => format!("lies within ±{margin}"),
        Decision::Inconclusive => format!("reaches over a margin of ±{margin}"),
    };
    format!("the 95 % interval of the change of {title}, {ends}, {place}")
}
