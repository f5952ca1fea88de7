//! Pages to start a run: form, estimate, start.

mod form_html;
mod submitted_form;

use super::{NavigationPage, PageError, links, page};
use crate::{access::Visitor, app_state::AppState};
use axum::{
    Form,
    extract::{Extension, State},
    http::{StatusCode, header},
    response::{IntoResponse, Redirect, Response},
};
use juror_analysis::{
    format::{counted, dollars, duration, figure, grouped},
    metrics::Unit,
};
use juror_app::{
    error::AppError,
    run_request::{RequestField, RunEstimate, RunRequest},
};
use juror_report::sanitize::sanitize;
use maud::{Markup, html};
use std::sync::Arc;
use submitted_form::{FieldErrors, StartForm};
use tokio::task::spawn_blocking;

/// Renders the empty form.
pub async fn show(
    State(site): State<AppState>,
    Extension(visitor): Extension<Visitor>,
) -> Result<Markup, PageError> {
    let form = StartForm::blank(&site.launcher.defaults());
    form_page(&site, visitor, &form, &Refused::default()).await
}

/// Estimates the run of the form, or starts it after the estimate was confirmed.
pub async fn submit(
    State(site): State<AppState>,
    Extension(visitor): Extension<Visitor>,
    Form(form): Form<StartForm>,
) -> Result<Response, PageError> {
    let requested = match form.api_request() {
        Ok(requested) => requested,
        Err(errors) => {
            let refused = Refused { errors, reason: None };
            let page = form_page(&site, visitor, &form, &refused).await?;
            return Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response());
        }
    };
    let response = match form.step() {
        "change" => {
            let page = form_page(&site, visitor, &form, &Refused::default()).await?;
            return Ok(page.into_response());
        }
        "start" => {
            let started = site.launcher.start(&requested).await;
            started.map(|run| Redirect::to(&links::run(&run)).into_response())
        }
        _ => site.launcher.estimate(&requested).await.map(|estimate| {
            let content = confirmation(&form.clone().named(), &requested, &estimate);
            page(Some(visitor), "Start a run", NavigationPage::Start, &content).into_response()
        }),
    };
    match response {
        Ok(response) => Ok(response),
        Err(error @ AppError::Internal(_)) => Err(error.into()),
        Err(refusal) => refused(&site, visitor, &form, refusal).await,
    }
}

/// Errors with which the form is shown again.
#[derive(Default)]
struct Refused {
    errors: FieldErrors,
    /// Error that concerns no single field.
    reason: Option<String>,
}

impl From<AppError> for Refused {
    fn from(refusal: AppError) -> Self {
        let (field, message) = match refusal {
            AppError::Field { field, message } => (field, sentence(&message)),
            AppError::NameTaken(run) => (
                RequestField::RunId,
                format!("A run {run} exists. Enter another name, or resume that run on its page."),
            ),
            AppError::NotFound(_) => (RequestField::Dataset, sentence(&refusal.to_string())),
            other => return Self { reason: Some(sentence(&other.to_string())), ..Self::default() },
        };
        let mut errors = FieldErrors::default();
        errors.add(field, message);
        Self { errors, reason: None }
    }
}

async fn refused(
    site: &AppState,
    visitor: Visitor,
    form: &StartForm,
    refusal: AppError,
) -> Result<Response, PageError> {
    let retry_after = refusal.retry_after().map(|seconds| [(header::RETRY_AFTER, seconds)]);
    let status = match retry_after {
        Some(_) => StatusCode::SERVICE_UNAVAILABLE,
        None => StatusCode::UNPROCESSABLE_ENTITY,
    };
    let page = form_page(site, visitor, form, &Refused::from(refusal)).await?;
    Ok((status, retry_after, page).into_response())
}

/// Formats a message as a sentence.
fn sentence(message: &str) -> String {
    let mut letters = message.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let end = if message.ends_with(['.', '?', '!']) { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

async fn form_page(
    site: &AppState,
    visitor: Visitor,
    form: &StartForm,
    refused: &Refused,
) -> Result<Markup, PageError> {
    let launcher = Arc::clone(&site.launcher);
    let datasets = spawn_blocking(move || launcher.datasets()).await?;
    let defaults = site.launcher.defaults();
    let content = html! {
        h1 { "Start a run" }
        @if let Some(reason) = &refused.reason { p.error #refused role="alert" { (sanitize(reason)) } }
        (error_summary(&refused.errors))
        @if visitor.may_write { (form_html::form(form, &refused.errors, &datasets, &defaults)) }
        @else {
            div.card {
                p { "The read token cannot start runs. Log in with the write token." }
            }
        }
    };
    Ok(page(Some(visitor), "Start a run", NavigationPage::Start, &content))
}

/// Summary of the errors, with links to their fields.
fn error_summary(errors: &FieldErrors) -> Markup {
    html! {
        @if !errors.is_empty() {
            div.error #refused role="alert" {
                p { "Nothing was started. " (counted(errors.iter().count() as u64, "field")) " to correct:" }
                ul {
                    @for (field, message) in errors.iter() {
                        li { a href=(format!("#{}", form_html::id(field))) { (sanitize(message)) } }
                    }
                }
            }
        }
    }
}

/// Page with the estimate, to confirm the start.
fn confirmation(form: &StartForm, requested: &RunRequest, estimate: &RunEstimate) -> Markup {
    html! {
        h1 { "Start this run?" }
        section.card.narrow aria-labelledby="estimate" {
            h2 #estimate { "Estimate" }
            @if requested.enable_llm_judge { (warning(estimate)) }
            @else { p { "The judge is off: no calls, no cost." } }
            dl.pairs {
                dt { "Dataset" } dd { bdi { (sanitize(&requested.dataset)) } }
                dt { "Items" }
                dd {
                    (grouped(estimate.items))
                    @if requested.sample.is_some() { ", a random sample (seed " (requested.seed.unwrap_or_default()) ")" }
                    @if let Some(limit) = requested.limit { ", of the first " (grouped(limit)) }
                }
                dt { "Jobs" } dd { (grouped(estimate.jobs)) }
                @if requested.enable_llm_judge {
                    dt { "Calls" }
                    dd {
                        (grouped(estimate.calls))
                        @if estimate.cached > 0 { ", " (grouped(estimate.cached)) " cached replies" }
                    }
                    dt { "Expected cost" } dd { (dollars(estimate.expected_usd)) }
                    dt { "At worst" } dd { (dollars(estimate.worst_case_usd)) ", with every possible retry" }
                    @if let Some(budget) = requested.budget_usd { dt { "Budget" } dd { (dollars(budget)) ", never exceeded" } }
                }
                dt { "Expected time" } dd { (duration(estimate.expected_seconds * 1000.0)) }
            }
            @for warning in &estimate.warnings { p.notice { (sanitize(warning)) } }
            form.confirm method="post" action="/start" {
                @for (name, value) in form.fields() {
                    @if !value.is_empty() { input type="hidden" name=(name) value=(value); }
                }
                button.primary type="submit" name="step" value="start" { "Start the run" }
                button type="submit" name="step" value="change" { "Change it" }
            }
        }
    }
}

/// Sentence about the cost and the time of the judge.
fn warning(estimate: &RunEstimate) -> Markup {
    let each = estimate.expected_seconds / estimate.jobs.max(1) as f64;
    let covered = estimate.worst_case_usd.approximate_dollars();
    let share = match covered > 0.0 {
        true => estimate.expected_usd.approximate_dollars() / covered,
        false => 1.0,
    };
    if estimate.calls == 0 {
        return html! {
            p.notice role="note" { "No call to the judge is expected, so the run costs nothing." }
        };
    }
    html! {
        p.notice role="note" {
            "The judge costs money and makes the run slower: expect "
            strong { (dollars(estimate.expected_usd)) } " and " strong { (duration(estimate.expected_seconds * 1000.0)) }
            @if estimate.jobs > 1 { ", about " (duration(each * 1000.0)) " per job" }
            ". The expected cost is " (figure(share.clamp(0.0, 1.0), Unit::Share)) " of the worst case."
        }
    }
}
