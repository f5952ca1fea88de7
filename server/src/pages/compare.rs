//! Comparison of two runs: decision, figures, changed items.

mod changed_items;

use super::{
    NavigationPage, PageError, PageQuery, first_steps::first_steps, links, page, run_named,
    select::select,
};
use crate::{access::Visitor, app_state::AppState, comparisons::NotCompared, view::RunView};
use axum::extract::{Extension, State};
use changed_items::ChangedItems;
use juror_analysis::{compare_runs::CompareError, comparison::Comparison};
use juror_app::run_catalog::ListedRun;
use juror_report::{
    document::NameKind,
    html::{blocks, card, minutes, simulated},
    phrasing::coverage_text,
    sanitize::sanitize,
    topics::{changes, comparison as topic},
};
use maud::{Markup, html};
use tokio::task::spawn_blocking;

/// Renders the page: a choice of runs, and their comparison.
pub async fn show(
    State(site): State<AppState>,
    Extension(visitor): Extension<Visitor>,
    query: PageQuery,
) -> Result<Markup, PageError> {
    let runs = site.runs().await?;
    let (base, head) = (query.text("base"), query.text("head"));
    let compared = match (base, head) {
        (Some(base), Some(head)) => {
            let base = site.views.get(&run_named(base)?).await?;
            let head = site.views.get(&run_named(head)?).await?;
            match site.comparisons.get(&base, &head, site.rules).await {
                Ok(comparison) => {
                    Some(spawn_blocking(move || compared(&base, &head, &comparison)).await??)
                }
                Err(NotCompared::Impossible(error @ CompareError::Rubric(_))) => {
                    Some(html! { p.error role="alert" { (sanitize(&error.to_string())) } })
                }
                Err(error) => return Err(error.into()),
            }
        }
        _ => None,
    };
    let content = html! {
        h1 { "Compare two runs" }
        @if runs.is_empty() { (first_steps("There are no runs to compare yet")) }
        @else { (choice(&runs, base, head)) }
        @if let Some(compared) = compared { (compared) }
    };
    Ok(page(Some(visitor), "Compare", NavigationPage::Compare, &content))
}

fn choice(runs: &[ListedRun], base: Option<&str>, head: Option<&str>) -> Markup {
    let options = || runs.iter().map(|run| run.record.run_id.as_str()).map(|id| (id, sanitize(id)));
    let choice = |field, chosen| select(field, true, "choose a run", chosen, options());
    html! {
        form.choice method="get" action="/compare" {
            (choice(("base", "Base: the reference run"), base))
            (choice(("head", "Head: the new run"), head))
            button type="submit" { "Compare" }
            @if let (Some(base), Some(head)) = (base, head) {
                a.button href=(format!("/compare{}", links::query([("base", head.to_owned()), ("head", base.to_owned())]))) { "Swap" }
            }
        }
    }
}

/// Renders the comparison. Reads the changed items and so blocks.
fn compared(base: &RunView, head: &RunView, comparison: &Comparison) -> Result<Markup, PageError> {
    let changed = ChangedItems::read(base, head, comparison)?;
    Ok(sections(base, head, comparison, &changed))
}

fn sections(
    base: &RunView,
    head: &RunView,
    comparison: &Comparison,
    changed: &ChangedItems,
) -> Markup {
    let link = |_: NameKind, id: &str| {
        let of = [head, base].into_iter().find(|view| view.place_of(id, 0).is_some());
        html! {
            @match of {
                Some(view) => { a href=(links::item(&view.report.run.id, id, "")) { bdi { (sanitize(id)) } } }
                None => { bdi { (sanitize(id)) } }
            }
        }
    };
    html! {
        section.card aria-labelledby="comparison" {
            h2 #comparison { "Decision" @if comparison.simulated { " " (simulated()) } }
            (blocks(&topic::decision(comparison), &link))
            div.two { (side("Base", base)) (side("Head", head)) }
        }
        (card(&changes::topic(comparison), &link))
        @if comparison.paired > 0 {
            section.card aria-labelledby="means" {
                h2 #means { "Figures" @if comparison.simulated { " " (simulated()) } }
                (blocks(&topic::figures(comparison), &link))
            }
        }
        (changed_items::section(base, head, comparison, changed))
        section.card aria-labelledby="lists" {
            h2 #lists { "Items and issues that changed" @if comparison.simulated { " " (simulated()) } }
            (blocks(&topic::changes(comparison), &link))
        }
    }
}

fn side(name: &str, view: &RunView) -> Markup {
    let run = &view.report.run;
    html! {
        div {
            h3 { (name) ": " (links::run_link(&run.id)) @if run.simulated { " " (simulated()) } }
            p.faint {
                time datetime=(run.created_at) { (minutes(&run.created_at)) } " · "
                (coverage_text(&view.report.coverage))
                " · "
                @match &run.judge { Some(judge) => { bdi { (sanitize(&judge.model)) } } None => { "judge off" } }
            }
        }
    }
}
