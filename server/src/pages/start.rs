//! A new run: what is wanted, what that would take, and only then the start.

mod fields;
mod form;

use super::links;
use crate::{
    access::Visitor,
    pages::{
        error_page::PageError,
        layout::{NavigationPage, page},
    },
    state::AppState,
};
use axum::{
    Form,
    extract::{Extension, State},
    http::{StatusCode, header},
    response::{IntoResponse, Redirect, Response},
};
use form::{FieldErrors, StartForm};
use juror_analysis::{
    format::{counted, dollars, duration, figure, grouped},
    metrics::Unit,
};
use juror_app::{
    error::AppError,
    request::{RequestField, RunEstimate, RunSpecification},
};
use juror_report::sanitize::harmless;
use maud::{Markup, html};
use std::sync::Arc;
use tokio::task::spawn_blocking;

/// The empty form.
pub async fn show(
    State(site): State<AppState>,
    Extension(visitor): Extension<Visitor>,
) -> Result<Markup, PageError> {
    let form = StartForm::blank(&site.starter.defaults());
    form_page(&site, visitor, &form, &Refused::default()).await
}

/// Estimates what is asked for, or starts it if the estimate was seen.
pub async fn asked(
    State(site): State<AppState>,
    Extension(visitor): Extension<Visitor>,
    Form(form): Form<StartForm>,
) -> Result<Response, PageError> {
    let asked = match form.asked() {
        Ok(asked) => asked,
        Err(errors) => {
            let refused = Refused { errors, reason: None };
            let page = form_page(&site, visitor, &form, &refused).await?;
            return Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response());
        }
    };
    let answered = match form.step.as_str() {
        "start" => site
            .starter
            .start(&asked)
            .await
            .map(|run| Redirect::to(&links::run(&run)).into_response()),
        "change" => {
            let page = form_page(&site, visitor, &form, &Refused::default()).await?;
            return Ok(page.into_response());
        }
        _ => {
            let estimated = site.starter.estimate(&asked).await;
            estimated.map(|estimate| {
                page(
                    Some(visitor),
                    "Start a run",
                    NavigationPage::Start,
                    &confirmation(&form, &asked, &estimate),
                )
                .into_response()
            })
        }
    };
    match answered {
        Ok(answer) => Ok(answer),
        Err(AppError::Internal(reason)) => Err(AppError::Internal(reason).into()),
        Err(refusal) => refused(&site, visitor, &form, refusal).await,
    }
}

async fn refused(
    site: &AppState,
    visitor: Visitor,
    form: &StartForm,
    refusal: AppError,
) -> Result<Response, PageError> {
    let again = refusal.retry_after().map(|seconds| [(header::RETRY_AFTER, seconds)]);
    let status = match again {
        Some(_) => StatusCode::SERVICE_UNAVAILABLE,
        None => StatusCode::UNPROCESSABLE_ENTITY,
    };
    let page = form_page(site, visitor, form, &Refused::from(refusal)).await?;
    Ok((status, again, page).into_response())
}

/// Reason why a form is shown again.
#[derive(Default)]
struct Refused {
    errors: FieldErrors,
    /// Problems that concern no single field.
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
            AppError::NotFound(message) => (RequestField::Dataset, sentence(&message)),
            other => return Self { reason: Some(sentence(&other.to_string())), ..Self::default() },
        };
        let mut errors = FieldErrors::default();
        errors.add(field, message);
        Self { errors, reason: None }
    }
}

/// A message as a sentence of the page.
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
    let starter = Arc::clone(&site.starter);
    let datasets = spawn_blocking(move || starter.datasets()).await?;
    let defaults = site.starter.defaults();
    let content = html! {
        h1 { "Start a run" }
        @if let Some(reason) = &refused.reason { p.error #refused role="alert" { (harmless(reason)) } }
        (error_summary(&refused.errors))
        @if visitor.may_write { (fields::form(form, &refused.errors, &datasets, &defaults)) }
        @else {
            div.card {
                p { "The read token starts no runs. Log in with the write token to start one." }
            }
        }
    };
    Ok(page(Some(visitor), "Start a run", NavigationPage::Start, &content))
}

/// Links to the fields with errors, which stand beside them too.
fn error_summary(errors: &FieldErrors) -> Markup {
    html! {
        @if !errors.is_empty() {
            div.error #refused role="alert" {
                p { "Nothing was started. " (counted(errors.iter().count() as u64, "field")) " to correct:" }
                ul {
                    @for (field, message) in errors.iter() {
                        li { a href=(format!("#{}", fields::id(field))) { (harmless(message)) } }
                    }
                }
            }
        }
    }
}

/// Estimate of the run, before anything is begun.
fn confirmation(form: &StartForm, asked: &RunSpecification, estimate: &RunEstimate) -> Markup {
    html! {
        h1 { "Start this run?" }
        section.card.narrow aria-labelledby="estimate" {
            h2 #estimate { "What it would take" }
            @if asked.enable_llm_judge { (warning(estimate)) }
            @else { p { "The judge is off: no call goes out, and it costs nothing." } }
            dl.pairs {
                dt { "Dataset" } dd { bdi { (harmless(&asked.dataset)) } }
                dt { "Items" }
                dd {
                    (grouped(estimate.items))
                    @if asked.sample.is_some() { ", a random sample (seed " (asked.seed.unwrap_or_default()) ")" }
                    @if let Some(limit) = asked.limit { ", of the first " (grouped(limit)) }
                }
                dt { "Jobs" } dd { (grouped(estimate.jobs)) }
                @if asked.enable_llm_judge {
                    dt { "Calls" }
                    dd {
                        (grouped(estimate.calls))
                        @if estimate.cached > 0 { ", " (grouped(estimate.cached)) " answers are in the cache" }
                    }
                    dt { "Expected cost" } dd { (dollars(estimate.expected_usd)) }
                    dt { "At worst" } dd { (dollars(estimate.worst_case_usd)) ", with every call that may be repeated" }
                    @if let Some(budget) = asked.budget_usd { dt { "Budget" } dd { (dollars(budget)) ", never more" } }
                }
                dt { "Expected time" } dd { (duration(estimate.expected_seconds * 1000.0)) }
            }
            @for warning in &estimate.warnings { p.notice { (harmless(warning)) } }
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

/// The judge takes money and time: both are said in one sentence before they are spent.
fn warning(estimate: &RunEstimate) -> Markup {
    let each = estimate.expected_seconds / estimate.jobs.max(1) as f64;
    let covered = estimate.worst_case_usd.approximate_dollars();
    let share = match covered > 0.0 {
        true => estimate.expected_usd.approximate_dollars() / covered,
        false => 1.0,
    };
    html! {
        p.notice role="note" {
            "The judge costs money and makes the run slower: expect "
            strong { (dollars(estimate.expected_usd)) } " and " strong { (duration(estimate.expected_seconds * 1000.0)) }
            @if estimate.jobs > 1 { ", some " (duration(each * 1000.0)) " for each job" }
            ". The expected cost is " (figure(share.clamp(0.0, 1.0), Unit::Share)) " of the worst case."
        }
    }
}
