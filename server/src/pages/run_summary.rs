//! Parts of a run's page that other pages show too.

use super::{
    dataset,
    links::{self, plain},
};
use juror_analysis::run_report::Report;
use juror_report::{
    document::{NameKind, Topic},
    html::card,
    sanitize::harmless,
    topics,
};
use juror_types::id::RunId;
use maud::{Markup, html};

/// Dataset, rubric, judge and time of a run; the dataset by the end of its path.
pub fn facts_line(report: &Report) -> Markup {
    let path = &report.run.dataset.path;
    // The first fact is the run's name, which the page's title has.
    let facts = topics::head::facts(report);
    html! {
        p.facts {
            @for fact in facts.iter().skip(1) {
                span { @if fact == path { (dataset::name(path)) } @else { bdi { (harmless(fact)) } } } " "
            }
        }
    }
}

/// Names that a run is blessed by.
pub fn baseline_chips(names: &[String]) -> Markup {
    html! {
        @for name in names { " " span.chip title="blessed: other runs are compared with it" { "baseline " (harmless(name)) } }
    }
}

/// Coverage beside cost and time.
pub fn coverage_and_cost(report: &Report) -> Markup {
    cards([Some(topics::coverage::topic(report)), topics::cost::topic(report)])
}

/// Topics beside each other; those without content are left out.
pub fn cards<const N: usize>(topics: [Option<Topic>; N]) -> Markup {
    html! { div.cards { @for topic in topics.into_iter().flatten() { (card(&topic, &plain)) } } }
}

/// Links from issues and strengths to the results of which they were said.
pub fn to_statements(run: &RunId) -> impl Fn(NameKind, &str) -> Markup {
    let address = links::run(run);
    move |kind, name| {
        let filter = match kind {
            NameKind::Issue => "issue",
            NameKind::Strength => "strength",
            _ => return plain(kind, name),
        };
        let query = links::query([(filter, name.to_owned())]);
        html! { a href=(format!("{address}{query}#items")) { bdi { (harmless(name)) } } }
    }
}
