//! Fields of the form, with their values and errors.

use super::submitted_form::{FieldErrors, StartForm};
use juror_app::run_request::{RequestDefaults, RequestField};
use juror_report::sanitize::sanitize;
use juror_types::{evidence::EvidenceMode, lane::Lane, rubric::builtin};
use maud::{Markup, html};

/// Id of a field's control; `filters` is that of the table's filters, which have another style.
pub fn id(field: RequestField) -> &'static str {
    match field {
        RequestField::Filters => "item-filters",
        other => other.name(),
    }
}

/// The form, which leads to the estimate.
pub fn form(
    form: &StartForm,
    errors: &FieldErrors,
    datasets: &[String],
    defaults: &RequestDefaults,
) -> Markup {
    html! {
        form.start method="post" action="/start" novalidate {
            section.card aria-labelledby="what" {
                h2 #what { "Dataset and rubric" }
                div.fields { (dataset(form, errors, datasets)) (rubric(form, errors, defaults)) }
                (keep_inputs(form, errors))
                div.fields { (evidence(form, errors)) }
            }
            (judge(form, errors, defaults))
            (selection_and_limits(form, errors, defaults))
            p { button.primary type="submit" name="step" value="estimate" { "Estimate first" } }
        }
    }
}

/// A labeled control with its help and its error.
struct Field<'a> {
    field: RequestField,
    label: &'a str,
    help: &'a str,
    value: &'a str,
    error: Option<&'a str>,
}

impl<'a> Field<'a> {
    fn new(
        field: RequestField,
        (label, help): (&'a str, &'a str),
        (form, errors): (&'a StartForm, &'a FieldErrors),
    ) -> Self {
        Self { field, label, help, value: form.text(field), error: errors.message(field) }
    }

    fn input(&self) -> Markup {
        self.input_with("")
    }

    fn input_with(&self, placeholder: &str) -> Markup {
        let placeholder = Some(placeholder).filter(|text| !text.is_empty());
        self.around(&html! {
            input id=(id(self.field)) name=(self.field.name()) value=(self.value) autocomplete="off" placeholder=[placeholder]
                aria-describedby=(self.described_by()) aria-invalid=[self.invalid()];
        })
    }

    /// Choice of one value; `empty` is the text without one, where that is possible.
    fn choice<'v>(
        &self,
        empty: Option<String>,
        values: impl IntoIterator<Item = &'v str>,
    ) -> Markup {
        self.around(&html! {
            select id=(id(self.field)) name=(self.field.name()) aria-describedby=(self.described_by()) aria-invalid=[self.invalid()] {
                @if let Some(empty) = empty { option value="" { (empty) } }
                @for value in values {
                    option value=(value) selected[value == self.value] { (sanitize(value)) }
                }
            }
        })
    }

    fn invalid(&self) -> Option<&'static str> {
        self.error.map(|_| "true")
    }

    fn described_by(&self) -> String {
        let id = id(self.field);
        match self.error {
            Some(_) => format!("{id}-error {id}-help"),
            None => format!("{id}-help"),
        }
    }

    fn around(&self, control: &Markup) -> Markup {
        let id = id(self.field);
        html! {
            div {
                label for=(id) { (self.label) }
                (control)
                @if let Some(error) = self.error { small.field-error id=(format!("{id}-error")) { (sanitize(error)) } }
                small id=(format!("{id}-help")) { (self.help) }
            }
        }
    }
}

fn judge(form: &StartForm, errors: &FieldErrors, defaults: &RequestDefaults) -> Markup {
    let model = format!("Empty: {}, the default.", sanitize(&defaults.model));
    let placeholder = format!("default: {}", sanitize(&defaults.model));
    let budget = match defaults.max_budget_usd {
        Some(most) => {
            format!("Required with the judge on, at most ${most}; the run never spends more.")
        }
        None => "Required with the judge on; the run never spends more.".to_owned(),
    };
    html! {
        section.card aria-labelledby="judge" {
            h2 #judge { "The judge" }
            p.check {
                input #enable_llm_judge type="checkbox" name="enable_llm_judge" value="true" checked[form.is_checked(RequestField::EnableLlmJudge)]
                    aria-describedby="judge-help";
                label for="enable_llm_judge" { "Enable LLM judge" }
            }
            p.faint #judge-help {
                "If off, only the deterministic stages run, at no cost. If on, a vision model judges each"
                " item, which takes time and money; the next page shows an estimate before the start."
            }
            div.fields {
                (Field::new(RequestField::BudgetUsd, ("Budget in dollars", &budget), (form, errors)).input())
                (Field::new(RequestField::Model, ("Model", &model), (form, errors)).input_with(&placeholder))
                (lane(form, errors))
            }
        }
    }
}

fn selection_and_limits(
    form: &StartForm,
    errors: &FieldErrors,
    defaults: &RequestDefaults,
) -> Markup {
    use RequestField as F;
    let repeat = format!("Number of judgments of each item; empty: {}.", defaults.repeat);
    let baseline = defaults.baseline.as_deref().map_or("none".to_owned(), sanitize);
    let baseline = format!("A blessed run, or a run's name; empty: {baseline}.");
    let fields: [(F, &str, &str); 10] = [
        (F::Sample, "Only a random sample", "Number of items; empty: all."),
        (F::Seed, "Seed of the sample", "The same seed chooses the same items; empty: 0."),
        (F::Limit, "Only the first items", "Number of items; empty: all."),
        (F::Filters, "Filters", "One KEY=VALUE per line; all must hold."),
        (F::Repeat, "Repeats", &repeat),
        (F::Rpm, "Requests per minute", "Maximum."),
        (F::Tpm, "Tokens per minute", "Maximum."),
        (F::MaxConcurrency, "Calls at once", "Maximum; empty: adapting."),
        (F::Baseline, "Compare with", &baseline),
        (F::RunId, "Name of the run", "Empty: made from date and time."),
    ];
    let is_used = fields.iter().any(|(field, ..)| !form.text(*field).is_empty());
    html! {
        details.card open[is_used] {
            summary { "More: selection, repeats, limits" }
            div.fields {
                @for (name, label, help) in fields {
                    @let field = Field::new(name, (label, help), (form, errors));
                    @if name == F::Filters { (lines(&field)) } @else { (field.input()) }
                }
            }
        }
    }
}

fn keep_inputs(form: &StartForm, errors: &FieldErrors) -> Markup {
    let error = errors.message(RequestField::KeepInputs);
    html! {
        p.check {
            input #keep_inputs type="checkbox" name="keep_inputs" value="true" checked[form.is_checked(RequestField::KeepInputs)]
                aria-describedby="keep_inputs-help" aria-invalid=[error.map(|_| "true")];
            label for="keep_inputs" { "Keep inputs" }
        }
        @if let Some(error) = error { small.field-error #keep_inputs-error { (sanitize(error)) } }
        p.faint #keep_inputs-help {
            "Copies screenshots, code and tokens into the run directory, to show them after the dataset has changed."
        }
    }
}

fn evidence(form: &StartForm, errors: &FieldErrors) -> Markup {
    let help = "Renders the generated code and measures how it differs from the screenshot. Facts adds \
                the differences to the prompt; full also sends the pictures, which costs more.";
    let field = Field::new(RequestField::Evidence, ("Evidence", help), (form, errors));
    field.choice(None, EvidenceMode::ALL.map(EvidenceMode::name))
}

fn lane(form: &StartForm, errors: &FieldErrors) -> Markup {
    let help =
        "Flex and batch cost half as much; a batch may take a day. Mixed begins with batches.";
    let field = Field::new(RequestField::Lane, ("Lane", help), (form, errors));
    field.choice(None, Lane::ALL.map(Lane::name))
}

/// Text of several lines.
fn lines(field: &Field<'_>) -> Markup {
    field.around(&html! {
        textarea id=(id(field.field)) name=(field.field.name()) rows="2" aria-describedby=(field.described_by())
            aria-invalid=[field.invalid()] { (field.value) }
    })
}

fn dataset(form: &StartForm, errors: &FieldErrors, datasets: &[String]) -> Markup {
    let help = match datasets.is_empty() {
        true => {
            "No dataset found in the server's data roots: start it with juror serve --data-root FOLDER."
        }
        false => "From the server's data roots.",
    };
    let field = Field::new(RequestField::Dataset, ("Dataset", help), (form, errors));
    if datasets.is_empty() {
        return field.input();
    }
    let datasets = datasets.iter().map(String::as_str);
    field.choice(Some("choose a dataset".to_owned()), datasets)
}

fn rubric(form: &StartForm, errors: &FieldErrors, defaults: &RequestDefaults) -> Markup {
    let help = "Criteria and scoring.";
    let field = Field::new(RequestField::Rubric, ("Rubric", help), (form, errors));
    let default = format!("default: {}", sanitize(&defaults.rubric));
    field.choice(Some(default), builtin().iter().map(|rubric| rubric.id))
}
