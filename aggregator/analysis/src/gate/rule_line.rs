//! Rule of a gate file.

use super::{Bound, ChangeList, ChangeRule, DeclineRule, Rule};
use crate::history::DeclineWatch;
use juror_types::id::RunId;
use serde::Deserialize;
use std::ops::RangeInclusive;

/// Prefix of lists of changes since a baseline.
pub(super) const CHANGES: &str = "changes.";
/// Wildcard for every metric.
const EVERY_METRIC: &str = "*";
/// Allowed number of anchor runs: fewer do not show the noise between runs.
const ANCHOR_RUNS: RangeInclusive<usize> = 3..=200;
/// Allowed number of monitored runs of a false-alarm rate.
const MONITORED_RUNS: RangeInclusive<usize> = 1..=1_000;
/// Allowed false-alarm rates, which the simulation of the limits can resolve.
const FALSE_ALARM_RATES: RangeInclusive<f64> = 0.01..=0.5;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleLine {
    pub(super) metric: String,
    above: Option<f64>,
    at_least: Option<f64>,
    at_most: Option<f64>,
    #[serde(default)]
    pub(super) no_decline: bool,
    anchor_runs: Option<usize>,
    anchor_from: Option<String>,
    false_alarm_rate: Option<f64>,
    monitored_runs: Option<usize>,
    #[serde(default)]
    sure: bool,
    min_n: Option<u64>,
}

impl RuleLine {
    pub(super) fn rule(self) -> Result<Rule, String> {
        let bound = match (self.above, self.at_least, self.at_most) {
            (Some(bound), None, None) => Bound::Above(bound),
            (None, Some(bound), None) => Bound::AtLeast(bound),
            (None, None, Some(bound)) => Bound::AtMost(bound),
            _ => {
                return Err(format!(
                    "the rule for {} needs either above or at_least, or no_decline = true; at_most \
                     is for metrics that are better when they are lower, and for changes since a \
                     baseline, as in changes.new.items",
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
        Ok(Rule { metric: self.metric, bound, sure: self.sure, min_n: self.min_n })
    }

    pub(super) fn change(self) -> Result<ChangeRule, String> {
        let metric = &self.metric;
        let Some(list) = ChangeList::from_path(metric) else {
            let known = ChangeList::ALL.map(ChangeList::name).join(", ");
            return Err(format!("there are no changes {metric:?}; use {known}"));
        };
        let is_plain =
            !self.sure && self.min_n.is_none() && !self.no_decline && !self.sets_a_watch();
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

    pub(super) fn decline(self) -> Result<DeclineRule, String> {
        let metric = &self.metric;
        let has_bound = self.above.is_some() || self.at_least.is_some() || self.at_most.is_some();
        if has_bound || self.sure || self.min_n.is_some() {
            return Err(format!(
                "the rule for {metric} has no_decline = true, which excludes above, at_least, \
                 at_most, sure and min_n"
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
}
