//! The dataset and the rubric whose runs the overview shows, as the address or a cookie has them.

use crate::{
    access::host_port,
    pages::{dataset, links, query::PageQuery},
};
use axum::http::{HeaderMap, header};
use juror_app::catalog::ListedRun;
use juror_report::sanitize::harmless;
use maud::{Markup, html};
use std::collections::BTreeMap;

/// Lifetime of the cookie in seconds: a year.
const COOKIE_SECONDS: u64 = 365 * 24 * 60 * 60;
/// Bytes of a choice that is kept; browsers drop longer cookies.
const MAX_COOKIE_BYTES: usize = 3_000;

/// A choice of runs; a part that is left out chooses all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunChoice {
    dataset: Option<String>,
    /// As in `semantic@1`.
    rubric: Option<String>,
}

impl RunChoice {
    /// The choice of an address, or else of the cookie.
    pub fn of(query: &PageQuery, headers: &HeaderMap) -> Self {
        let named = Self::of_query(query);
        if named != Self::default() {
            return named;
        }
        let name = cookie_name(headers);
        let values = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs =
            values.flat_map(|value| value.split(';')).filter_map(|pair| pair.split_once('='));
        let kept = pairs.find(|(other, _)| other.trim() == name);
        kept.map(|(_, value)| Self::of_query(&PageQuery::parse(value.trim()))).unwrap_or_default()
    }

    /// The choice of an address.
    pub fn of_query(query: &PageQuery) -> Self {
        let text = |name| query.text(name).map(str::to_owned);
        Self { dataset: text("dataset"), rubric: text("rubric") }
    }

    /// True if a run belongs to it.
    pub fn takes(&self, run: &ListedRun) -> bool {
        let record = &run.record;
        self.dataset.as_ref().is_none_or(|dataset| *dataset == record.dataset.path)
            && self.rubric.as_ref().is_none_or(|rubric| *rubric == rubric_of(run))
    }

    /// Its pairs in an address.
    pub fn pairs(&self) -> impl Iterator<Item = (&'static str, String)> {
        let pair = |name, value: &Option<String>| value.clone().map(|value| (name, value));
        [pair("dataset", &self.dataset), pair("rubric", &self.rubric)].into_iter().flatten()
    }

    /// The cookie that keeps it, or ends the one that kept another.
    pub fn cookie(&self, headers: &HeaderMap) -> String {
        let value = links::query(self.pairs());
        let value = value.trim_start_matches('?');
        let fits = value.len() <= MAX_COOKIE_BYTES && !value.is_empty();
        let (value, seconds) = if fits { (value, COOKIE_SECONDS) } else { ("", 0) };
        let name = cookie_name(headers);
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}")
    }

    /// The form that changes it; nothing where all runs are of one dataset and one rubric.
    pub fn form(&self, runs: &[ListedRun], wish: Option<bool>) -> Markup {
        let (mut datasets, mut rubrics) = (BTreeMap::new(), BTreeMap::new());
        for run in runs {
            *datasets.entry(run.record.dataset.path.as_str()).or_insert(0_u64) += 1;
            *rubrics.entry(rubric_of(run)).or_insert(0_u64) += 1;
        }
        if datasets.len() < 2 && rubrics.len() < 2 && *self == Self::default() {
            return html! {};
        }
        html! {
            form.choice method="get" action="/" aria-label="Runs of the overview" {
                input type="hidden" name="choose" value="true";
                @if let Some(wish) = wish { input type="hidden" name="enable_llm_judge" value=(wish); }
                label { "Dataset"
                    select name="dataset" {
                        option value="" { "all datasets" }
                        @for (path, count) in &datasets {
                            option value=(path) selected[self.dataset.as_deref() == Some(*path)] {
                                (dataset::short(path, datasets.keys().copied())) " (" (count) ")"
                            }
                        }
                    }
                }
                label { "Rubric"
                    select name="rubric" {
                        option value="" { "all rubrics" }
                        @for (rubric, count) in &rubrics {
                            option value=(rubric) selected[self.rubric.as_ref() == Some(rubric)] {
                                (harmless(rubric)) " (" (count) ")"
                            }
                        }
                    }
                }
                button type="submit" { "Show newest" }
            }
        }
    }
}

fn rubric_of(run: &ListedRun) -> String {
    format!("{}@{}", run.record.rubric.id, run.record.rubric.version)
}

fn cookie_name(headers: &HeaderMap) -> String {
    format!("juror_overview_{}", host_port(headers).unwrap_or(80))
}
