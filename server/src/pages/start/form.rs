//! What a person writes into the form, and the run that this asks for.

use crate::starter::AskedRun;
use juror_common::{id::RunId, usage::Money};
use serde::Deserialize;
use std::str::FromStr;

/// The form as it was sent: everything is text, so that whatever was written can be shown again.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct StartForm {
    /// `start` begins the run; anything else estimates it first.
    pub step: String,
    /// The dataset.
    pub dataset: String,
    /// The rubric.
    pub rubric: String,
    /// `true` where the judge is on.
    pub enable_llm_judge: String,
    /// The model.
    pub model: String,
    /// Dollars.
    pub budget_usd: String,
    /// Only the first so many items.
    pub limit: String,
    /// One filter a line.
    pub filters: String,
    /// How many times each item is judged.
    pub repeat: String,
    /// Requests per minute.
    pub rpm: String,
    /// Tokens per minute.
    pub tpm: String,
    /// Calls at once.
    pub max_concurrency: String,
    /// The run's name.
    pub run_id: String,
}

impl StartForm {
    /// Whether the judge is on.
    pub fn is_judged(&self) -> bool {
        self.enable_llm_judge == "true"
    }

    /// The run; an error says which field to change.
    pub fn asked(&self) -> Result<AskedRun, String> {
        let filters = self.filters.lines().map(str::trim).filter(|line| !line.is_empty());
        let asked = AskedRun {
            dataset: self.dataset.trim().to_owned(),
            rubric: text(&self.rubric),
            enable_llm_judge: self.is_judged(),
            model: text(&self.model).filter(|_| self.is_judged()),
            budget_usd: number::<Money>("The budget", &self.budget_usd)?,
            limit: number("The number of items", &self.limit)?,
            filters: filters.map(str::to_owned).collect(),
            repeat: number("The number of repeats", &self.repeat)?,
            rpm: number("Requests per minute", &self.rpm)?,
            tpm: number("Tokens per minute", &self.tpm)?,
            max_concurrency: number("Calls at once", &self.max_concurrency)?,
            run_id: name(&self.run_id)?,
        };
        if asked.dataset.is_empty() {
            return Err("Choose a dataset.".to_owned());
        }
        if asked.enable_llm_judge && asked.budget_usd.is_none() {
            return Err("With the judge on, say how much the run may cost at most.".to_owned());
        }
        Ok(asked)
    }

    /// Every field by its name, to be sent once more.
    pub fn fields(&self) -> [(&'static str, &str); 12] {
        [
            ("dataset", &self.dataset),
            ("rubric", &self.rubric),
            ("enable_llm_judge", &self.enable_llm_judge),
            ("model", &self.model),
            ("budget_usd", &self.budget_usd),
            ("limit", &self.limit),
            ("filters", &self.filters),
            ("repeat", &self.repeat),
            ("rpm", &self.rpm),
            ("tpm", &self.tpm),
            ("max_concurrency", &self.max_concurrency),
            ("run_id", &self.run_id),
        ]
    }
}

fn text(field: &str) -> Option<String> {
    Some(field.trim().to_owned()).filter(|text| !text.is_empty())
}

fn number<T: FromStr>(what: &str, field: &str) -> Result<Option<T>, String> {
    let field = field.trim();
    if field.is_empty() {
        return Ok(None);
    }
    field.parse().map(Some).map_err(|_| format!("{what} {field:?} is no number that can be used."))
}

fn name(field: &str) -> Result<Option<RunId>, String> {
    let read = |name: String| RunId::parse(&name).map_err(|error| error.to_string());
    text(field).map(read).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_asks_for_what_is_written_in_it() {
        let form = StartForm {
            dataset: " golden/manifest.jsonl ".into(),
            enable_llm_judge: "true".into(),
            budget_usd: "1.50".into(),
            limit: "10".into(),
            filters: "tag=button\r\n\r\ncluster=form ".into(),
            ..StartForm::default()
        };
        let asked = form.asked().unwrap();
        assert_eq!(asked.dataset, "golden/manifest.jsonl");
        assert_eq!(asked.budget_usd, Some("1.5".parse().unwrap()));
        assert_eq!((asked.limit, asked.rubric), (Some(10), None));
        assert_eq!(asked.filters, ["tag=button", "cluster=form"]);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let form = StartForm { dataset: "a".into(), ..StartForm::default() };
        let judged = StartForm { enable_llm_judge: "true".into(), ..form.clone() };
        assert!(judged.asked().unwrap_err().contains("cost at most"));
        let odd = StartForm { limit: "many".into(), ..form.clone() };
        assert!(odd.asked().unwrap_err().contains("number of items"));
        assert!(StartForm::default().asked().unwrap_err().contains("dataset"));
    }
}
