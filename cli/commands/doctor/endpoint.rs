//! The judge's endpoint, asked by calls that cost nothing.

use super::{Check, bad, good, warning};
use juror_app::{environment::Environment, judge, settings::Settings};
use juror_types::{model::Models, rubric::Rubric};
use juror_worker::vision::{ProbeError, ProbeReport};

/// Key and address of the judge, and whether it takes this model and its images.
pub async fn checks(settings: &Settings, environment: &Environment, rubric: &Rubric) -> Vec<Check> {
    let url = &settings.judge.base_url;
    let key = match judge::key(settings, environment) {
        Ok(key) => key,
        Err(failure) => return vec![bad("key", failure.to_string())],
    };
    let key_check = match (judge::require_key(settings, key.as_ref()), &key) {
        (Err(failure), _) => return vec![bad("key", failure.to_string())],
        (Ok(()), Some(_)) => good("key", "there is one (it is never shown)".to_owned()),
        (Ok(()), None) => {
            warning("key", "there is none; fine if the endpoint wants none".to_owned())
        }
    };
    let setup = judge::candidate(settings, rubric)
        .and_then(|candidate| judge::setup(settings, environment, rubric, &candidate, key));
    let setup = match setup {
        Ok(setup) => setup,
        Err(failure) => return vec![key_check, bad("endpoint", failure.to_string())],
    };
    let answered = match setup.client.probe(&settings.judge.model).await {
        Ok(report) => {
            let model = &settings.judge.model;
            let takes_images = match report.takes_images {
                // Every model that is known by its name takes images.
                None if Models::builtin().find(model).is_none() => {
                    setup.client.takes_images(model).await
                }
                told => told,
            };
            reached(model, url, &report, takes_images)
        }
        Err(error @ ProbeError::NoList { .. }) => {
            match below_v1(settings, environment, rubric).await {
                Some(better) => bad("endpoint", format!("{url}: {error}; {better}")),
                None => warning("endpoint", format!("{url}: {error}; calls may work all the same")),
            }
        }
        Err(error) => bad("endpoint", format!("{url}: {error}")),
    };
    vec![key_check, answered]
}

/// The hint that the API is at `/v1` of the base URL, if a server answers there and not here.
async fn below_v1(
    settings: &Settings,
    environment: &Environment,
    rubric: &Rubric,
) -> Option<String> {
    let url = settings.judge.base_url.trim_end_matches('/');
    if url.ends_with("/v1") {
        return None;
    }
    let mut other = settings.clone();
    other.judge.base_url = format!("{url}/v1");
    let key = judge::key(&other, environment).ok()?;
    let candidate = judge::candidate(&other, rubric).ok()?;
    let setup = judge::setup(&other, environment, rubric, &candidate, key).ok()?;
    setup.client.probe(&settings.judge.model).await.ok()?;
    Some(format!("the API is at {url}/v1: take that as the base URL"))
}

/// True if an endpoint lists models and not the names that calls take: Azure lists what could be
/// deployed, and calls name a deployment.
fn names_deployments(url: &str) -> bool {
    url.contains(".azure.com") || url.trim_end_matches('/').ends_with("/openai/v1")
}

fn reached(model: &str, url: &str, report: &ProbeReport, takes_images: Option<bool>) -> Check {
    let milliseconds = report.latency.as_millis();
    let simulated = if report.simulated { ", which is the simulator" } else { "" };
    let says = format!("{url} answers in {milliseconds} ms{simulated}");
    if takes_images == Some(false) {
        let remedy = "it cannot judge screenshots: choose one that does";
        bad("endpoint", format!("{says}, but the model {model:?} takes no images: {remedy}"))
    } else if report.models.is_empty() || report.models.iter().any(|known| known == model) {
        good("endpoint", says)
    } else if names_deployments(url) {
        let hint = format!("calls name a deployment, so {model:?} must be the name of one");
        good("endpoint", says).and(&hint)
    } else {
        bad("endpoint", format!("{says}, but does not list the model {model:?}: check its name"))
    }
}
