//! Values of the form, and their validation.

use juror_app::{
    run::run_invocation::new_run_id,
    run_specification::{RequestDefaults, RequestField, RunSpecification},
};
use juror_types::{evidence::EvidenceMode, id::RunId, usage::Money};
use serde::Deserialize;

/// Maximum number of judgments of an item.
const MAX_REPEATS: u32 = 100;
/// Maximum number of concurrent calls.
const MAX_CONCURRENCY: u64 = 10_000;

/// The submitted form. Values are text, so that invalid ones can be shown again.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct StartForm {
    /// `start` starts the run, `change` shows the form; anything else estimates.
    pub step: String,
    pub dataset: String,
    pub rubric: String,
    /// `true` if the judge is on.
    pub enable_llm_judge: String,
    pub model: String,
    /// Dollars.
    pub budget_usd: String,
    pub sample: String,
    pub seed: String,
    pub limit: String,
    /// One filter per line.
    pub filters: String,
    pub repeat: String,
    pub rpm: String,
    pub tpm: String,
    pub max_concurrency: String,
    /// `true` if inputs are kept.
    pub keep_inputs: String,
    pub evidence: String,
    pub baseline: String,
    pub run_id: String,
}

impl StartForm {
    /// The empty form, with defaults.
    pub fn blank(defaults: &RequestDefaults) -> Self {
        let keep_inputs = if defaults.keep_inputs { "true" } else { "" };
        let evidence = defaults.evidence.name().to_owned();
        Self { keep_inputs: keep_inputs.to_owned(), evidence, ..Self::default() }
    }

    /// The form with a name for the run, so that a confirmation that is sent twice starts one run.
    pub fn named(mut self) -> Self {
        if self.run_id.trim().is_empty() {
            self.run_id = new_run_id("").to_string();
        }
        self
    }

    /// True if inputs are kept.
    pub fn keeps_inputs(&self) -> bool {
        self.keep_inputs == "true"
    }

    /// True if the judge is on.
    pub fn is_judged(&self) -> bool {
        self.enable_llm_judge == "true"
    }

    /// Validates the form; errors are in the order of its fields.
    pub fn specification(&self) -> Result<RunSpecification, FieldErrors> {
        let mut errors = FieldErrors::default();
        let filters = self.filters.lines().map(str::trim).filter(|line| !line.is_empty());
        let filters: Vec<String> = filters.map(str::to_owned).collect();
        let dataset = self.dataset.trim().to_owned();
        if dataset.is_empty() {
            errors.add(RequestField::Dataset, "Choose a dataset.");
        }
        let budget_usd = errors.budget(&self.budget_usd);
        if self.is_judged() && self.budget_usd.trim().is_empty() {
            let message = "Enter a budget, the maximum cost of this run, such as 5.00.";
            errors.add(RequestField::BudgetUsd, message);
        }
        let sample = errors.count(RequestField::Sample, &self.sample, u64::MAX);
        let seed = errors.seed(&self.seed);
        let limit = errors.count(RequestField::Limit, &self.limit, u64::MAX);
        if let Some(filter) = filters.iter().find(|filter| !filter.contains('=')) {
            let message = format!("Write each filter as KEY=VALUE; {filter:?} has no =.");
            errors.add(RequestField::Filters, message);
        }
        let repeat = errors.count(RequestField::Repeat, &self.repeat, u64::from(MAX_REPEATS));
        let rpm = errors.count(RequestField::Rpm, &self.rpm, u64::MAX);
        let tpm = errors.count(RequestField::Tpm, &self.tpm, u64::MAX);
        let calls =
            errors.count(RequestField::MaxConcurrency, &self.max_concurrency, MAX_CONCURRENCY);
        let run_id = errors.run_id(&self.run_id);
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(RunSpecification {
            dataset,
            rubric: text(&self.rubric),
            enable_llm_judge: self.is_judged(),
            model: text(&self.model).filter(|_| self.is_judged()),
            budget_usd,
            sample,
            seed,
            limit,
            filters,
            repeat: repeat.and_then(|repeat| u32::try_from(repeat).ok()),
            rpm,
            tpm,
            max_concurrency: calls.and_then(|calls| usize::try_from(calls).ok()),
            keep_inputs: Some(self.keeps_inputs()),
            evidence: self.evidence_mode(),
            baseline: text(&self.baseline),
            run_id,
        })
    }

    fn evidence_mode(&self) -> Option<EvidenceMode> {
        EvidenceMode::ALL.into_iter().find(|mode| mode.name() == self.evidence)
    }

    /// Names and values of the fields.
    pub fn fields(&self) -> [(&'static str, &str); 17] {
        [
            ("dataset", &self.dataset),
            ("rubric", &self.rubric),
            ("enable_llm_judge", &self.enable_llm_judge),
            ("model", &self.model),
            ("budget_usd", &self.budget_usd),
            ("sample", &self.sample),
            ("seed", &self.seed),
            ("limit", &self.limit),
            ("filters", &self.filters),
            ("repeat", &self.repeat),
            ("rpm", &self.rpm),
            ("tpm", &self.tpm),
            ("max_concurrency", &self.max_concurrency),
            ("keep_inputs", &self.keep_inputs),
            ("evidence", &self.evidence),
            ("baseline", &self.baseline),
            ("run_id", &self.run_id),
        ]
    }
}

/// Errors of the form by field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldErrors(Vec<(RequestField, String)>);

impl FieldErrors {
    /// Adds the error of a field.
    pub fn add(&mut self, field: RequestField, message: impl Into<String>) {
        self.0.push((field, message.into()));
    }

    /// True if there are no errors.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Errors with their fields.
    pub fn iter(&self) -> impl Iterator<Item = (RequestField, &str)> {
        self.0.iter().map(|(field, message)| (*field, message.as_str()))
    }

    /// The error of a field.
    pub fn message(&self, field: RequestField) -> Option<&str> {
        self.iter().find(|(other, _)| *other == field).map(|(_, message)| message)
    }

    fn budget(&mut self, text: &str) -> Option<Money> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        let budget = text.parse::<Money>().ok().filter(|budget| *budget >= Money::ZERO);
        if budget.is_none() {
            self.add(RequestField::BudgetUsd, "Enter an amount in dollars, such as 5.00.");
        }
        budget
    }

    /// Parses a whole number from 1 to a maximum.
    fn count(&mut self, field: RequestField, text: &str, most: u64) -> Option<u64> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        let count = text.parse().ok().filter(|count| (1..=most).contains(count));
        if count.is_none() {
            let message = match most {
                u64::MAX => "Enter a whole number of 1 or more.".to_owned(),
                most => format!("Enter a whole number from 1 to {most}."),
            };
            self.add(field, message);
        }
        count
    }

    /// Parses a whole number from 0.
    fn seed(&mut self, text: &str) -> Option<u64> {
        let text = text.trim();
        let seed = text.parse().ok();
        if seed.is_none() && !text.is_empty() {
            self.add(RequestField::Seed, "Enter a whole number of 0 or more.");
        }
        seed
    }

    fn run_id(&mut self, text: &str) -> Option<RunId> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        let run = RunId::parse(text).ok();
        if run.is_none() {
            let message = "Use at most 100 letters, digits, dots, dashes and underscores; the \
                           first must not be a dot.";
            self.add(RequestField::RunId, message);
        }
        run
    }
}

fn text(field: &str) -> Option<String> {
    Some(field.trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_form_becomes_a_specification() {
        let form = StartForm {
            sample: "20".into(),
            seed: "0".into(),
            dataset: " golden/manifest.jsonl ".into(),
            enable_llm_judge: "true".into(),
            budget_usd: "1.50".into(),
            limit: "10".into(),
            filters: "tag=button\r\n\r\ncluster=form ".into(),
            ..StartForm::default()
        };
        let run = form.specification().unwrap();
        assert_eq!(run.dataset, "golden/manifest.jsonl");
        assert_eq!(run.budget_usd, Some("1.5".parse().unwrap()));
        assert_eq!((run.limit, run.rubric), (Some(10), None));
        assert_eq!((run.sample, run.seed, run.keep_inputs), (Some(20), Some(0), Some(false)));
        assert_eq!(run.filters, ["tag=button", "cluster=form"]);
    }

    #[test]
    fn invalid_fields_are_reported() {
        let form = StartForm { dataset: "a".into(), ..StartForm::default() };
        let judged = StartForm { enable_llm_judge: "true".into(), ..form.clone() };
        let errors = |form: StartForm| {
            let errors = form.specification().unwrap_err();
            errors.iter().map(|(field, _)| field).collect::<Vec<_>>()
        };
        assert_eq!(errors(judged), [RequestField::BudgetUsd]);
        let odd = StartForm {
            sample: "0".into(),
            seed: "-1".into(),
            limit: "many".into(),
            filters: "button".into(),
            repeat: "101".into(),
            run_id: "../x".into(),
            ..form.clone()
        };
        let expected = [
            RequestField::Sample,
            RequestField::Seed,
            RequestField::Limit,
            RequestField::Filters,
            RequestField::Repeat,
            RequestField::RunId,
        ];
        assert_eq!(errors(odd), expected, "all at once");
        assert_eq!(errors(StartForm::default()), [RequestField::Dataset]);
        let negative = StartForm { budget_usd: "-1".into(), ..form };
        assert_eq!(errors(negative), [RequestField::BudgetUsd]);
    }
}
