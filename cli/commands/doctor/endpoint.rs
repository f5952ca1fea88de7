//! Checks of the judge's key and endpoint, by calls that cost nothing.

use super::{Check, bad, good, warning};
use juror_app::{environment::Environment, judge, settings::Settings};
use juror_types::{model::Models, rubric::Rubric};
use juror_worker::vision::{ProbeError, ProbeReport};

/// Checks of the judge's key, and of the endpoint with this model and its images.
pub async fn checks(settings: &Settings, environment: &Environment, rubric: &Rubric) -> Vec<Check> {
    let url = &settings.judge.base_url;
    let key = match judge::key(settings, environment) {
        Ok(key) => key,
        Err(failure) => return vec![bad("key", failure)],
    };
    let key_check = match (judge::require_key(settings, key.as_ref()), &key) {
        (Err(failure), _) => return vec![bad("key", failure)],
        (Ok(()), Some(_)) => good("key", "found (never printed)"),
        (Ok(()), None) => warning("key", "none; fine if the endpoint needs none"),
    };
    let setup = judge::priced(settings, rubric)
        .and_then(|priced_judge| judge::setup(settings, environment, rubric, &priced_judge, key));
    let setup = match setup {
        Ok(setup) => setup,
        Err(failure) => return vec![key_check, bad("endpoint", failure)],
    };
    let endpoint = match setup.client.probe(&settings.judge.model).await {
        Ok(report) => {
            let model = &settings.judge.model;
            let takes_images = match report.takes_images {
                // Every built-in model takes images.
                None if Models::builtin().find(model).is_none() => {
                    setup.client.takes_images(model).await
                }
                reported => reported,
            };
            reached(model, url, &report, takes_images)
        }
        Err(error @ ProbeError::NoList { .. }) => {
            match below_v1(settings, environment, rubric).await {
                Some(better) => bad("endpoint", format!("{url}: {error}; {better}")),
                None => warning("endpoint", format!("{url}: {error}; calls may work nevertheless")),
            }
        }
        Err(error) => bad("endpoint", format!("{url}: {error}")),
    };
    vec![key_check, endpoint]
}

/// Remedy for a base URL without `/v1`, if the API is there.
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
    let priced_judge = judge::priced(&other, rubric).ok()?;
    let setup = judge::setup(&other, environment, rubric, &priced_judge, key).ok()?;
    setup.client.probe(&settings.judge.model).await.ok()?;
    Some(format!("the API is at {url}/v1: use that as the base URL"))
}

/// True if an endpoint lists models while calls name a deployment, as on Azure.
fn names_deployments(url: &str) -> bool {
    url.contains(".azure.com") || url.trim_end_matches('/').ends_with("/openai/v1")
}

fn reached(model: &str, url: &str, report: &ProbeReport, takes_images: Option<bool>) -> Check {
    let milliseconds = report.latency.as_millis();
    let simulated = if report.simulated { ", which is the simulator" } else { "" };
    let message = format!("{url} answers in {milliseconds} ms{simulated}");
    if takes_images == Some(false) {
        let remedy = "choose a vision model";
        bad("endpoint", format!("{message}, but the model {model:?} takes no images: {remedy}"))
    } else if report.models.is_empty() || report.models.iter().any(|known| known == model) {
        good("endpoint", message)
    } else if names_deployments(url) {
        let hint = format!("calls name a deployment, so {model:?} must be the name of one");
        good("endpoint", message).and(&hint)
    } else {
        bad("endpoint", format!("{message}, but does not list the model {model:?}: check its name"))
    }
}
