//! Choice of the dataset and the rubric whose runs the overview shows, from the query or a cookie.

use super::{PageQuery, dataset_name, links, select::select};
use crate::access::{cookie_value, host_port};
use axum::http::HeaderMap;
use juror_app::run_catalog::ListedRun;
use juror_report::sanitize::sanitize;
use maud::{Markup, html};
use std::collections::BTreeMap;

/// Lifetime of the cookie in seconds: a year.
const COOKIE_SECONDS: u64 = 365 * 24 * 60 * 60;
/// Maximum size of the cookie's value; browsers drop longer cookies.
const MAX_COOKIE_BYTES: usize = 3_000;

/// Choice of runs; a missing part matches all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunChoice {
    dataset: Option<String>,
    /// As in `semantic@1`.
    rubric: Option<String>,
}

impl RunChoice {
    /// The choice of the query, else of the cookie.
    pub fn from_query(query: &PageQuery, headers: &HeaderMap) -> Self {
        let named = Self::of_query(query);
        if named != Self::default() {
            return named;
        }
        let kept = cookie_value(headers, &cookie_name(headers));
        kept.map(|value| Self::of_query(&PageQuery::parse(value))).unwrap_or_default()
    }

    pub fn of_query(query: &PageQuery) -> Self {
        let text = |name| query.text(name).map(str::to_owned);
        Self { dataset: text("dataset"), rubric: text("rubric") }
    }

    /// True if a run matches the choice.
    pub fn matches(&self, run: &ListedRun) -> bool {
        let record = &run.record;
        self.dataset.as_ref().is_none_or(|dataset| *dataset == record.dataset.path)
            && self.rubric.as_ref().is_none_or(|rubric| *rubric == run.rubric_name())
    }

    /// Query parameters of the choice.
    pub fn pairs(&self) -> impl Iterator<Item = (&'static str, String)> {
        let pair = |name, value: &Option<String>| value.clone().map(|value| (name, value));
        [pair("dataset", &self.dataset), pair("rubric", &self.rubric)].into_iter().flatten()
    }

    /// Cookie that stores the choice, or removes a stored one if the choice is empty.
    pub fn cookie(&self, headers: &HeaderMap) -> String {
        let value = links::query(self.pairs());
        let value = value.trim_start_matches('?');
        let fits = value.len() <= MAX_COOKIE_BYTES && !value.is_empty();
        let (value, seconds) = if fits { (value, COOKIE_SECONDS) } else { ("", 0) };
        let name = cookie_name(headers);
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}")
    }

    /// Form of the choice; empty if all runs are of one dataset and one rubric. `judge` is the
    /// parameter `enable_llm_judge` to keep.
    pub fn form(&self, runs: &[ListedRun], judge: Option<bool>) -> Markup {
        let (mut datasets, mut rubrics) = (BTreeMap::new(), BTreeMap::new());
        for run in runs {
            *datasets.entry(run.record.dataset.path.as_str()).or_insert(0_u64) += 1;
            *rubrics.entry(run.rubric_name()).or_insert(0_u64) += 1;
        }
        if datasets.len() < 2 && rubrics.len() < 2 && *self == Self::default() {
            return html! {};
        }
        let counted = |text: String, count: &u64| format!("{text} ({count})");
        let datasets = datasets.iter().map(|(path, count)| {
            (*path, counted(dataset_name::short(path, datasets.keys().copied()), count))
        });
        let rubrics = rubrics.iter();
        let rubrics =
            rubrics.map(|(rubric, count)| (rubric.as_str(), counted(sanitize(rubric), count)));
        let (dataset, rubric) = (self.dataset.as_deref(), self.rubric.as_deref());
        html! {
            form.choice method="get" action="/" aria-label="Runs of the overview" {
                input type="hidden" name="choose" value="true";
                @if let Some(judge) = judge { input type="hidden" name="enable_llm_judge" value=(judge); }
                (select(("dataset", "Dataset"), false, "all datasets", dataset, datasets))
                (select(("rubric", "Rubric"), false, "all rubrics", rubric, rubrics))
                button type="submit" { "Show newest" }
            }
        }
    }
}

fn cookie_name(headers: &HeaderMap) -> String {
    format!("juror_overview_{}", host_port(headers).unwrap_or(80))
}
