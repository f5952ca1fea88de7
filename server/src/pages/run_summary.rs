//! Parts of a run's page that other pages show too.

use super::{
    dataset,
    links::{self, plain},
};
use juror_analysis::run_report::Report;
use juror_report::{
    document::{NameKind, Topic},
    html::{NameLink, card},
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
    cards([Some(topics::coverage::topic(report)), topics::cost::topic(report)], &plain)
}

/// Topics beside each other; those without content are left out.
pub fn cards<const N: usize>(topics: [Option<Topic>; N], link: &NameLink<'_>) -> Markup {
    html! { div.cards { @for topic in topics.into_iter().flatten() { (card(&topic, link)) } } }
}

/// Links from items to their pages, and from issues, strengths, repairs and contradictions to the
/// results that have them.
pub fn to_results(run: &RunId) -> impl Fn(NameKind, &str) -> Markup {
    let (run, address) = (run.clone(), links::run(run));
    move |kind, name| {
        let filter = match kind {
            NameKind::Issue => ("issue", name.to_owned()),
            NameKind::Strength => ("strength", name.to_owned()),
            NameKind::Repair => ("repair", name.to_owned()),
            NameKind::Contradictions => ("evidence", "contradicts".to_owned()),
            NameKind::Item => {
                return html! { a href=(links::item(&run, name, "")) { bdi { (harmless(name)) } } };
            }
            NameKind::Text | NameKind::Run => return plain(kind, name),
        };
        let query = links::query([filter]);
        html! { a href=(format!("{address}{query}#items")) { bdi { (harmless(name)) } } }
    }
}
