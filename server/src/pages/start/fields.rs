//! The fields of the form, with what was written into them before.

use super::form::StartForm;
use juror_aggregator::report::harmless::harmless;
use juror_common::rubric::builtin;
use maud::{Markup, html};

/// The form; it leads to the estimate, never straight to a start.
pub fn form(form: &StartForm, datasets: &[String]) -> Markup {
    html! {
        form.start method="post" action="/start" {
            section.card aria-labelledby="what" {
                h2 #what { "What is judged" }
                div.fields { (dataset(form, datasets)) (rubric(form)) }
            }
            section.card aria-labelledby="judge" {
                h2 #judge { "The judge" }
                p.check {
                    input #enable_llm_judge type="checkbox" name="enable_llm_judge" value="true" checked[form.is_judged()]
                        aria-describedby="judge-help";
                    label for="enable_llm_judge" { "Enable LLM judge" }
                }
                p.faint #judge-help {
                    "Off, only the deterministic stages run: quick and at no cost. On, a vision model judges each"
                    " item, which takes time and money; the next page says how much before anything starts."
                }
                div.fields {
                    (field("budget_usd", "Budget in dollars", &form.budget_usd, "Required with the judge on; the run never spends more."))
                    (field("model", "Model", &form.model, "Empty: the one that is set."))
                }
            }
            details.card open[has_more(form)] {
                summary { "More: which items, how often, how fast" }
                div.fields {
                    (field("limit", "Only the first items", &form.limit, "How many; empty: all."))
                    div {
                        label for="item-filters" { "Filters" }
                        textarea #item-filters name="filters" rows="2" aria-describedby="filters-help" { (form.filters) }
                        small #filters-help { "One KEY=VALUE a line; all of them hold." }
                    }
                    (field("repeat", "Repeats", &form.repeat, "How many times each item is judged."))
                    (field("rpm", "Requests per minute", &form.rpm, "At most."))
                    (field("tpm", "Tokens per minute", &form.tpm, "At most."))
                    (field("max_concurrency", "Calls at once", &form.max_concurrency, "At most; empty: adapting."))
                    (field("run_id", "Name of the run", &form.run_id, "Empty: made from date and time."))
                }
            }
            p { button.primary type="submit" name="step" value="estimate" { "Estimate first" } }
        }
    }
}

fn has_more(form: &StartForm) -> bool {
    let more = [
        &form.limit,
        &form.filters,
        &form.repeat,
        &form.rpm,
        &form.tpm,
        &form.max_concurrency,
        &form.run_id,
    ];
    more.iter().any(|field| !field.is_empty())
}

fn field(name: &str, label: &str, value: &str, help: &str) -> Markup {
    let helper = format!("{name}-help");
    html! {
        div {
            label for=(name) { (label) }
            input id=(name) name=(name) value=(value) autocomplete="off" aria-describedby=(helper);
            small id=(helper) { (help) }
        }
    }
}

fn dataset(form: &StartForm, datasets: &[String]) -> Markup {
    html! {
        div {
            label for="dataset" { "Dataset" }
            @if datasets.is_empty() {
                input #dataset name="dataset" value=(form.dataset) required autocomplete="off" aria-describedby="dataset-help";
                small #dataset-help {
                    "No dataset was found in the folders of this server. Start it with "
                    code { "juror serve --data-root FOLDER" } " where your datasets are."
                }
            } @else {
                select #dataset name="dataset" required aria-describedby="dataset-help" {
                    option value="" { "choose a dataset" }
                    @for dataset in datasets {
                        option value=(dataset) selected[*dataset == form.dataset] { (harmless(dataset)) }
                    }
                }
                small #dataset-help { "From the folders that this server may read." }
            }
        }
    }
}

fn rubric(form: &StartForm) -> Markup {
    html! {
        div {
            label for="rubric" { "Rubric" }
            select #rubric name="rubric" aria-describedby="rubric-help" {
                option value="" { "the one that is set" }
                @for rubric in builtin() {
                    option value=(rubric.id) selected[rubric.id == form.rubric] { (rubric.id) }
                }
            }
            small #rubric-help { "What is looked at, and how it is scored." }
        }
    }
}
