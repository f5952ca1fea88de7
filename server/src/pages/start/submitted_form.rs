//! Values of the form, and their validation.

use juror_app::{
    run::run_setup_request::new_run_id,
    run_request::{RequestDefaults, RequestField, RunRequest},
    settings::MAX_REPEATS,
};
use juror_types::{evidence::EvidenceMode, id::RunId, lane::Lane, usage::Money};
use serde::Deserialize;
use std::collections::HashMap;

/// Maximum number of concurrent calls.
const MAX_CONCURRENCY: u64 = 10_000;
/// Value of a checked box.
const TRUE: &str = "true";

/// The submitted form: texts by the names of their fields, so that invalid ones can be shown again.
/// `step` is `start` to start the run, `change` to show the form again; anything else estimates.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct StartForm(HashMap<String, String>);

impl StartForm {
    /// The empty form, with defaults.
    pub fn blank(defaults: &RequestDefaults) -> Self {
        let mut form = Self::default();
        form.set(RequestField::KeepInputs, if defaults.keep_inputs { TRUE } else { "" });
        form.set(RequestField::Evidence, defaults.evidence.name());
        form.set(RequestField::Lane, defaults.lane.name());
        form
    }

    /// The form with a name for the run, so that a confirmation that is sent twice starts one run.
    pub fn named(mut self) -> Self {
        if self.text(RequestField::RunId).is_empty() {
            self.set(RequestField::RunId, new_run_id("").as_str());
        }
        self
    }

    /// The next step.
    pub fn step(&self) -> &str {
        self.value("step")
    }

    /// The text of a field; empty if the field is.
    pub fn text(&self, field: RequestField) -> &str {
        self.value(field.name())
    }

    /// True if a box is checked.
    pub fn is_checked(&self, field: RequestField) -> bool {
        self.text(field) == TRUE
    }

    fn value(&self, name: &str) -> &str {
        self.0.get(name).map_or("", |text| text.trim())
    }

    fn set(&mut self, field: RequestField, text: &str) {
        self.0.insert(field.name().to_owned(), text.to_owned());
    }

    /// Validates the form; errors are in the order of its fields.
    pub fn api_request(&self) -> Result<RunRequest, FieldErrors> {
        use RequestField as F;
        let mut errors = FieldErrors::default();
        let is_judged = self.is_checked(F::EnableLlmJudge);
        let filters = self.text(F::Filters).lines().map(str::trim).filter(|line| !line.is_empty());
        let filters: Vec<String> = filters.map(str::to_owned).collect();
        if self.text(F::Dataset).is_empty() {
            errors.add(F::Dataset, "Choose a dataset.");
        }
        let amount = |text: &str| text.parse().ok().filter(|amount| *amount >= Money::ZERO);
        let message = "Enter an amount in dollars, such as 5.00.";
        let budget_usd = errors.parse(F::BudgetUsd, self.text(F::BudgetUsd), message, amount);
        if is_judged && self.text(F::BudgetUsd).is_empty() {
            let message = "Enter a budget, the maximum cost of this run, such as 5.00.";
            errors.add(F::BudgetUsd, message);
        }
        let sample = errors.count(F::Sample, self.text(F::Sample), u64::MAX);
        let message = "Enter a whole number of 0 or more.";
        let seed = errors.parse(F::Seed, self.text(F::Seed), message, |text| text.parse().ok());
        let limit = errors.count(F::Limit, self.text(F::Limit), u64::MAX);
        if let Some(filter) = filters.iter().find(|filter| !filter.contains('=')) {
            let message = format!("Write each filter as KEY=VALUE; {filter:?} has no =.");
            errors.add(F::Filters, message);
        }
        let mut count = |field, most| errors.count(field, self.text(field), most);
        let repeat = count(F::Repeat, u64::from(MAX_REPEATS));
        let (rpm, tpm) = (count(F::Rpm, u64::MAX), count(F::Tpm, u64::MAX));
        let calls = count(F::MaxConcurrency, MAX_CONCURRENCY);
        let message = "Use at most 100 letters, digits, dots, dashes and underscores; the first \
                       must not be a dot.";
        let name = |text: &str| RunId::parse(text).ok();
        let run_id = errors.parse(F::RunId, self.text(F::RunId), message, name);
        if !errors.is_empty() {
            return Err(errors);
        }
        let optional = |field| Some(self.text(field).to_owned()).filter(|text| !text.is_empty());
        Ok(RunRequest {
            dataset: self.text(F::Dataset).to_owned(),
            rubric: optional(F::Rubric),
            enable_llm_judge: is_judged,
            model: optional(F::Model).filter(|_| is_judged),
            budget_usd,
            sample,
            seed,
            limit,
            filters,
            repeat: repeat.and_then(|repeat| u32::try_from(repeat).ok()),
            rpm,
            tpm,
            max_concurrency: calls.and_then(|calls| usize::try_from(calls).ok()),
            keep_inputs: Some(self.is_checked(F::KeepInputs)),
            evidence: EvidenceMode::from_name(self.text(F::Evidence)),
            lane: Lane::from_name(self.text(F::Lane)),
            baseline: optional(F::Baseline),
            run_id,
        })
    }

    /// Names and texts of the fields.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, &str)> {
        RequestField::ALL.into_iter().map(|field| (field.name(), self.text(field)))
    }
}

/// Errors of the form by field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldErrors(Vec<(RequestField, String)>);

impl FieldErrors {
    pub fn add(&mut self, field: RequestField, message: impl Into<String>) {
        self.0.push((field, message.into()));
    }

    /// True if there are no errors.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (RequestField, &str)> {
        self.0.iter().map(|(field, message)| (*field, message.as_str()))
    }

    pub fn message(&self, field: RequestField) -> Option<&str> {
        self.iter().find(|(other, _)| *other == field).map(|(_, message)| message)
    }

    /// Parses a field, unless it is empty; `message` is the error of an invalid one.
    fn parse<T>(
        &mut self,
        field: RequestField,
        text: &str,
        message: &str,
        value_of: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let parsed = value_of(text).filter(|_| !text.is_empty());
        if parsed.is_none() && !text.is_empty() {
            self.add(field, message);
        }
        parsed
    }

    /// Parses a whole number from 1 to a maximum.
    fn count(&mut self, field: RequestField, text: &str, most: u64) -> Option<u64> {
        let message = match most {
            u64::MAX => "Enter a whole number of 1 or more.".to_owned(),
            most => format!("Enter a whole number from 1 to {most}."),
        };
        let parse = |text: &str| text.parse().ok().filter(|count| (1..=most).contains(count));
        self.parse(field, text, &message, parse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(fields: &[(&str, &str)]) -> StartForm {
        let text = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
        StartForm(fields.iter().map(text).collect())
    }

    #[test]
    fn valid_form_becomes_a_request() {
        let form = form(&[
            ("sample", "20"),
            ("seed", "0"),
            ("dataset", " golden/manifest.jsonl "),
            ("enable_llm_judge", "true"),
            ("budget_usd", "1.50"),
            ("lane", "flex"),
            ("limit", "10"),
            ("filters", "tag=button\r\n\r\ncluster=form "),
        ]);
        let run = form.api_request().unwrap();
        assert_eq!(run.dataset, "golden/manifest.jsonl");
        assert_eq!(run.budget_usd, Some("1.5".parse().unwrap()));
        assert_eq!(run.lane, Some(Lane::Flex));
        assert_eq!((run.limit, run.rubric), (Some(10), None));
        assert_eq!((run.sample, run.seed, run.keep_inputs), (Some(20), Some(0), Some(false)));
        assert_eq!(run.filters, ["tag=button", "cluster=form"]);
    }

    #[test]
    fn invalid_fields_are_reported() {
        let errors = |fields: &[(&str, &str)]| {
            let errors = form(fields).api_request().unwrap_err();
            errors.iter().map(|(field, _)| field).collect::<Vec<_>>()
        };
        let (dataset, judged) = (("dataset", "a"), ("enable_llm_judge", "true"));
        assert_eq!(errors(&[dataset, judged]), [RequestField::BudgetUsd]);
        let odd = [
            dataset,
            ("sample", "0"),
            ("seed", "-1"),
            ("limit", "many"),
            ("filters", "button"),
            ("repeat", "101"),
            ("run_id", "../x"),
        ];
        let expected = [
            RequestField::Sample,
            RequestField::Seed,
            RequestField::Limit,
            RequestField::Filters,
            RequestField::Repeat,
            RequestField::RunId,
        ];
        assert_eq!(errors(&odd), expected, "all at once");
        assert_eq!(errors(&[]), [RequestField::Dataset]);
        assert_eq!(errors(&[dataset, ("budget_usd", "-1")]), [RequestField::BudgetUsd]);
    }
}
