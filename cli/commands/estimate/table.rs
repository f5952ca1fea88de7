//! An estimate as text and as JSON.

use super::total::{CandidateTotal, Experience, Total};
use crate::session::Session;
use juror_common::usage::Money;
use juror_worker::estimate::Candidate;
use serde_json::{Value, json};

/// Calls in flight where the concurrency adapts: where it starts.
const ADAPTIVE_CONCURRENCY: usize = 16;

/// A finished estimate.
pub struct Answer<'estimate> {
    /// What it is of.
    pub session: &'estimate Session,
    /// The models, the run's own first.
    pub candidates: &'estimate [Candidate],
    /// Their sums, in the same order.
    pub total: Total,
    /// What earlier runs have shown.
    pub experience: Experience,
}

impl Answer<'_> {
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
                format!("${}", self.expected_cost(total).rounded(4)),
                format!("${}", total.worst_cost.rounded(4)),
                duration(self.seconds(total)),
            ));
        }
        text.push_str(
            "\nAt worst means: every call costs its bound and none is repeated.\n\
             A budget is held whatever happens.\n",
        );
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
                    "seconds": self.seconds(total).round(),
                })
            })
            .collect();
        json!({
            "jobs": self.session.plan.jobs,
            "cached": self.total.cached,
            "without_call": self.total.without_call,
            "failing": self.total.failing,
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

    fn basis(&self) -> String {
        match self.experience.runs {
            0 => "no earlier run of this judge to learn from: expected figures are a guess"
                .to_owned(),
            runs => format!(
                "corrected by {runs} earlier runs of this judge, which cost {:.0} % of the guess",
                self.experience.cost_ratio * 100.0
            ),
        }
    }

    fn expected_cost(&self, total: &CandidateTotal) -> Money {
        // An estimate, so a float may scale it; nothing is decided by it.
        let scaled = total.expected_cost.pico() as f64 * self.experience.cost_ratio;
        Money::from_pico(scaled as i64).min(total.worst_cost)
    }

    /// The slowest of: calls in flight, requests a minute, tokens a minute.
    fn seconds(&self, total: &CandidateTotal) -> f64 {
        let limits = &self.session.settings.limits;
        let calls = total.calls as f64;
        let concurrency = limits.max_concurrency.unwrap_or(ADAPTIVE_CONCURRENCY) as f64;
        let by_latency = (calls / concurrency).ceil() * self.experience.seconds_a_call;
        let by_requests = limits.rpm.map_or(0.0, |rpm| calls / rpm as f64 * 60.0);
        let by_tokens = limits.tpm.map_or(0.0, |tpm| total.most_tokens as f64 / tpm as f64 * 60.0);
        by_latency.max(by_requests).max(by_tokens)
    }
}

fn duration(seconds: f64) -> String {
    let seconds = seconds.ceil() as u64;
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds:02}"),
        (hours, minutes, _) => format!("{hours} h {minutes:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn durations_read_as_people_write_them() {
        for (seconds, text) in
            [(0.0, "0 s"), (59.2, "1 min 00"), (61.0, "1 min 01"), (7_260.0, "2 h 01")]
        {
            assert_eq!(duration(seconds), text);
        }
    }
}
