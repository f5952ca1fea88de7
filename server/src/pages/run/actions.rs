//! Actions on a run: reports, comparison, cancel, resume.

use crate::{api::REPORT_FORMATS, pages::links, view::RunView};
use juror_analysis::history::are_comparable;
use juror_app::run_catalog::{ListedRun, RunState, runs_before};
use maud::{Markup, html};

/// Bar of actions; those that change a run need permission to write.
pub fn bar(view: &RunView, runs: &[ListedRun], may_write: bool, is_cancelling: bool) -> Markup {
    let run = &view.report.run.id;
    let own = view.files.record();
    let before = runs_before(runs, own, are_comparable).find(|run| run.figures.is_some());
    html! {
        div.actions data-refresh="actions" {
            @if let Some(before) = before {
                a.button href=(links::comparison(&before.record.run_id, run)) { "Compare with the previous run" }
            }
            details.menu {
                summary.button { "Reports" }
                ul {
                    @for (ending, name, ..) in REPORT_FORMATS {
                        li { a href=(format!("/api/v1/runs/{run}/report.{ending}")) { (name) } }
                    }
                }
            }
            @match view.state {
                RunState::Running if may_write && !is_cancelling => {
                    form method="post" action=(format!("/runs/{run}/cancel")) {
                        button type="submit" { "Cancel this run" }
                    }
                }
                RunState::Incomplete if may_write => { (resume(view)) }
                _ => {}
            }
        }
    }
}

fn resume(view: &RunView) -> Markup {
    let run = &view.report.run;
    html! {
        details.menu {
            summary.button { "Resume" }
            form.fields method="post" action=(format!("/runs/{}/resume", run.id)) {
                p { "Judges the jobs without a score, in a new round." }
                @if run.judge.is_some() {
                    label for="budget_usd" { "Total budget of the run in dollars" }
                    input #budget_usd name="budget_usd" inputmode="decimal" autocomplete="off"
                        placeholder="unchanged" pattern="[0-9]+([.][0-9]+)?";
                }
                button.primary type="submit" { "Resume this run" }
            }
        }
    }
}
