//! An estimate as text and as JSON.

use crate::estimate::{CandidateTotal, Estimation, duration};
use juror_analysis::format::dollars;
use juror_worker::{
    estimate::Candidate,
    retry::{MAX_ANSWERS, MAX_BILLED_CALLS},
};
use serde_json::{Value, json};

impl Estimation<'_> {
    /// For people.
    pub fn text(&self) -> String {
        let total = &self.total;
        let mut text =
            format!("{} jobs by the rubric {}", self.session.plan.jobs, self.session.rubric.name());
        let calls = total.candidates.first().map_or(0, |own| own.calls);
        text.push_str(&format!(": {calls} calls"));
        for (count, what) in [
            (total.cached, "answered from the cache"),
            (total.without_call, "with nothing to ask"),
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
        if let Some(sample) = self.sample() {
            text.push_str(&format!("  {sample}\n"));
        }
        text.push_str(&format!("  {}\n\n", self.basis()));
        text.push_str(&format!(
            "{:24} {:>10} {:>9} {:>10} {:>10} {:>10}\n",
            "MODEL", "INPUT", "OUTPUT", "EXPECTED", "AT WORST", "TIME"
        ));
        for (candidate, total) in self.rows() {
            text.push_str(&format!(
                "{:24} {:>10} {:>9} {:>10} {:>10} {:>10}\n",
                candidate.judge.model,
                total.expected.input_tokens,
                total.expected.output_tokens,
                dollars(self.expected_cost(total)),
                dollars(total.worst_cost),
                duration(self.seconds(total)),
            ));
        }
        if let Some(own) = total.candidates.first() {
            text.push_str(&format!(
                "\nAt worst means: every call costs its bound, and every job takes all {} calls that \
                 it may\n(up to {} answers that cannot be used, one of them cut and asked for again \
                 with twice the\noutput limit, and one call without an answer). With one call a job \
                 it is at most ${}.\nA budget is held whatever happens.\n",
                MAX_BILLED_CALLS,
                MAX_ANSWERS,
                own.worst_one_call.rounded(4),
            ));
        }
        if self.candidates.len() == 1 {
            text.push_str("Compare every model with --all-models.\n");
        }
        text
    }

    /// For programs.
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
                    "expected_usd": self.expected_cost(total),
                    "worst_case_usd": total.worst_cost,
                    "worst_one_call_usd": total.worst_one_call,
                    "seconds": self.seconds(total).round(),
                })
            })
            .collect();
        json!({
            "jobs": self.session.plan.jobs,
            "cached": self.total.cached,
            "without_call": self.total.without_call,
            "failing": self.total.failing,
            "examined": self.total.examined,
            "sampling_error": self.total.sampling_error,
            "runs_learned_from": self.experience.runs,
            "models": models,
        })
    }

    /// The run's own model first, the others by what they would cost.
    fn rows(&self) -> Vec<(&Candidate, &CandidateTotal)> {
        let mut rows: Vec<_> = self.candidates.iter().zip(&self.total.candidates).collect();
        if let Some((_, others)) = rows.split_first_mut() {
            others.sort_by_key(|(_, total)| total.expected_cost);
        }
        rows
    }
}
