//! Parts of pages about a run.

use super::{
    dataset_name,
    links::{self, plain},
};
use juror_analysis::run_report::Report;
use juror_app::run_catalog::RunState;
use juror_report::{
    document::{NameKind, Topic},
    html::{NameLink, card},
    sanitize::sanitize,
    topics,
};
use juror_types::id::RunId;
use maud::{Markup, html};

/// Line of a run's dataset, rubric, judge and time.
pub fn facts_line(report: &Report) -> Markup {
    let path = &report.run.dataset.path;
    // The first fact is the run's id, which is in the title.
    let facts = topics::head::facts(report);
    html! {
        p.facts {
            @for fact in facts.iter().skip(1) {
                span { @if fact == path { (dataset_name::name(path)) } @else { bdi { (sanitize(fact)) } } } " "
            }
        }
    }
}

/// Chip of the state of a run.
pub fn state_chip(state: RunState) -> Markup {
    let (class, word) = match state {
        RunState::Running => ("undecided", "running"),
        RunState::Complete => ("met", "complete"),
        RunState::Incomplete => ("missed", "incomplete"),
        RunState::Damaged => ("missed", "damaged"),
    };
    html! { span class=(format!("chip {class}")) { (word) } }
}

/// Chips of a run's names as a baseline.
pub fn baseline_chips(names: &[String]) -> Markup {
    html! {
        @for name in names { " " span.chip title="blessed: other runs are compared with it" { "baseline " (sanitize(name)) } }
    }
}

/// Cards of coverage, cost and time.
pub fn coverage_and_cost(report: &Report) -> Markup {
    cards([Some(topics::coverage::topic(report)), topics::cost::topic(report)], &plain)
}

/// Cards of topics, without empty ones.
pub fn cards<const N: usize>(topics: [Option<Topic>; N], link: &NameLink<'_>) -> Markup {
    html! { div.cards { @for topic in topics.into_iter().flatten() { (card(&topic, link)) } } }
}

/// Links from items to their pages, and from issues, strengths, repairs and contradictions to their
/// results.
pub fn result_links(run: &RunId) -> impl Fn(NameKind, &str) -> Markup {
    let (run, address) = (run.clone(), links::run(run));
    move |kind, name| {
        let filter = match kind {
            NameKind::Issue => ("issue", name.to_owned()),
            NameKind::Strength => ("strength", name.to_owned()),
            NameKind::Repair => ("repair", name.to_owned()),
            NameKind::Contradictions => ("evidence", "contradicts".to_owned()),
            NameKind::Item => {
                return html! { a href=(links::item(&run, name, "")) { bdi { (sanitize(name)) } } };
            }
            NameKind::Text | NameKind::Run => return plain(kind, name),
        };
        let query = links::query([filter]);
        html! { a href=(format!("{address}{query}#items")) { bdi { (sanitize(name)) } } }
    }
}
