//! An estimate as text and as JSON.

use juror_analysis::format::dollars;
use juror_app::estimate::{CandidateTotal, Estimation, duration};
use juror_types::lane::Lane;
use juror_worker::{
    estimate::PricedJudge,
    retry_policy::{MAX_BILLED_CALLS, MAX_REPLIES},
};
use serde_json::{Value, json};

/// Table of an estimate.
pub struct EstimateTable<'a>(pub &'a Estimation<'a>);

impl EstimateTable<'_> {
    pub fn text(&self) -> String {
        format!("{}\n{}{}", self.heading(), self.models(), self.notes())
    }

    /// The number of calls, and what the figures are based on.
    fn heading(&self) -> String {
        let total = &self.0.total;
        let mut text =
            format!("{} jobs by the rubric {}", self.0.setup.plan.jobs, self.0.setup.rubric.name());
        let calls = total.candidates.first().map_or(0, |own| own.calls);
        text.push_str(&format!(": {calls} calls"));
        for (count, what) in [
            (total.cached, "answered from the cache"),
            (total.without_call, "without a call"),
            (total.failing, "that would fail before any call"),
        ] {
            if count > 0 {
                text.push_str(&format!(", {count} {what}"));
            }
        }
        text.push('\n');
        if let Some(failure) = &total.first_failure {
            text.push_str(&format!("  the first failure: {failure}\n"));
        }
        if let Some(sample) = self.0.sample() {
            text.push_str(&format!("  {sample}\n"));
        }
        text.push_str(&format!("  {}\n", self.0.basis()));
        text
    }

    /// A row for each model.
    fn models(&self) -> String {
        let mut text = format!(
            "{:24} {:>10} {:>9} {:>10} {:>10} {:>10}\n",
            "MODEL", "INPUT", "OUTPUT", "EXPECTED", "AT WORST", "TIME"
        );
        for (candidate, total) in self.rows() {
            text.push_str(&format!(
                "{:24} {:>10} {:>9} {:>10} {:>10} {:>10}\n",
                candidate.judge.model,
                total.expected.input_tokens,
                total.expected.output_tokens,
                dollars(self.0.expected_cost(total)),
                dollars(total.worst_cost),
                duration(self.0.seconds(total)),
            ));
        }
        text
    }

    /// Meaning of the columns.
    fn notes(&self) -> String {
        let mut text = String::new();
        if let Some(own) = self.0.total.candidates.first() {
            text.push_str(&format!(
                "\nAt worst: every call costs its bound, and every job takes the maximum of {} calls\n\
                 (up to {} unusable replies, one of them truncated and requested again with twice the\n\
                 output limit, and one call without a reply). With one call per job it is at most {}.\n\
                 A budget is never exceeded.\n",
                MAX_BILLED_CALLS,
                MAX_REPLIES,
                dollars(own.worst_one_call),
            ));
        }
        let lane = self.0.setup.settings.run.lane;
        let full_price = match lane {
            Lane::Flex => "a server may ignore the lane flex",
            Lane::Mixed => "no batch may judge a job in time",
            Lane::Realtime | Lane::Batch => "",
        };
        if !full_price.is_empty() {
            text.push_str(&format!("AT WORST is at the ordinary price: {full_price}.\n"));
        }
        if lane.is_batched() {
            text.push_str(
                "TIME is the provider's limit for batches; a deadline ends the wait earlier.\n",
            );
        }
        if self.0.candidates.len() == 1 {
            text.push_str("Compare every model with --all-models.\n");
        }
        text
    }

    pub fn json(&self) -> Value {
        let models: Vec<_> = self
            .rows()
            .into_iter()
            .map(|(candidate, total)| {
                json!({
                    "model": candidate.judge.model,
                    "calls": total.calls,
                    "input_tokens": total.expected.input_tokens,
                    "output_tokens": total.expected.output_tokens,
                    "expected_usd": self.0.expected_cost(total),
                    "worst_case_usd": total.worst_cost,
                    "worst_one_call_usd": total.worst_one_call,
                    "seconds": self.0.seconds(total).round(),
                })
            })
            .collect();
        json!({
            "jobs": self.0.setup.plan.jobs,
            "cached": self.0.total.cached,
            "without_call": self.0.total.without_call,
            "failing": self.0.total.failing,
            "examined": self.0.total.examined,
            "sampling_error": self.0.total.sampling_error,
            "runs_learned_from": self.0.experience.runs,
            "models": models,
        })
    }

    /// Rows: the run's own model first, the others by expected cost.
    fn rows(&self) -> Vec<(&PricedJudge, &CandidateTotal)> {
        let mut rows: Vec<_> = self.0.candidates.iter().zip(&self.0.total.candidates).collect();
        if let Some((_, others)) = rows.split_first_mut() {
            others.sort_by_key(|(_, total)| total.expected_cost);
        }
        rows
    }
}
