//! The judge of the settings: model, price, key and endpoint, checked before anything is spent.

mod network;

use crate::{
    cores::cores,
    environment::Environment,
    error::AppError,
    settings::{OtherModelPolicy, Settings},
};
use juror_image::{ImageRules, PreparationPool, ReadableFormat};
use juror_ledger::admission::{CountRule, Limits};
use juror_types::{
    job::{Judge, Provider},
    lane::Lane,
    model::{Endpoint, ImageFormat, ModelCapabilities, Models, PriceEntry, Prices},
    rubric::Rubric,
    run::RunRecord,
};
use juror_worker::{
    call_bill::CallPricing,
    cost_bounds::ModelTerms,
    estimate::PricedJudge,
    per_second_limiter::PerSecondLimiter,
    prompt::Instructions,
    run_context::JudgeSetup,
    token_count::TokenCounter,
    token_count_scale::TokenScale,
    vision::{ApiKey, BatchProvider, HttpSettings, openai::OpenAi},
};
use std::{sync::Arc, time::Duration};

/// Size of the connection pool with adaptive concurrency.
const ADAPTIVE_CONNECTIONS: usize = 64;

/// Built-in prices, overlaid with those of the settings.
pub fn prices(settings: &Settings) -> Prices {
    let own = Prices::from_terms(settings.prices.clone(), "your settings");
    Prices::builtin().overlaid_with(own)
}

/// The judge of the settings, for runs by this rubric.
pub fn priced(settings: &Settings, rubric: &Rubric) -> Result<PricedJudge, AppError> {
    let terms = terms(settings, &settings.judge.model, settings.run.lane)?;
    Ok(priced_for_model(settings, rubric, &settings.judge.model, terms))
}

/// The judge in a run's record, on the terms of these settings; `None` with the judge off.
pub fn recorded(settings: &Settings, record: &RunRecord) -> Result<Option<PricedJudge>, AppError> {
    let Some(judge) = record.judge.clone() else { return Ok(None) };
    let terms = terms(settings, &judge.model, record.lane)?;
    let rules = rules(settings, record.max_side, &terms.facts);
    Ok(Some(PricedJudge { judge, terms, rules }))
}

/// Every supported model with a price, by name.
pub fn all_candidates(settings: &Settings, rubric: &Rubric) -> Vec<PricedJudge> {
    let models = Models::builtin();
    let prices = prices(settings);
    let undated = |entry: &&PriceEntry| {
        let is_date =
            |part: &str| part.len() >= 8 && part.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        !entry.model.split_once("-20").is_some_and(|(_, rest)| is_date(&format!("20{rest}")))
    };
    prices
        .iter()
        .filter(|entry| entry.endpoint == Endpoint::Chat)
        .filter(undated)
        .filter_map(|entry| {
            let facts = models.find(&entry.model)?.clone();
            let terms = ModelTerms::new(facts, entry, settings.run.lane);
            Some(priced_for_model(settings, rubric, &entry.model, terms))
        })
        .collect()
}

/// This process's ceiling on calls per second.
pub fn ceiling(settings: &Settings) -> Result<PerSecondLimiter, AppError> {
    match settings.limits.calls_per_second {
        None => Ok(PerSecondLimiter::none()),
        Some(rate) => PerSecondLimiter::per_second(f64::from(rate)).map_err(AppError::invalid),
    }
}

/// Pool that prepares images with a thread for each core.
pub fn image_preparation() -> PreparationPool {
    PreparationPool::new(cores())
}

/// Rate limits of the judge's endpoint in the settings.
pub fn limits(settings: &Settings, facts: Option<&ModelCapabilities>) -> Limits {
    Limits {
        requests_per_minute: settings.limits.rpm,
        tokens_per_minute: settings.limits.tpm,
        refund_unused: facts.is_some_and(|facts| facts.refunds_unused),
    }
}

/// Client, terms and rules for calls to a judge, with the API key, if there is one.
pub fn setup(
    settings: &Settings,
    environment: &Environment,
    rubric: &Rubric,
    priced_judge: &PricedJudge,
    key: Option<ApiKey>,
) -> Result<JudgeSetup, AppError> {
    let client = Arc::new(client(settings, environment, key)?);
    let base_url = base_url(settings);
    let provider = priced_judge.judge.provider.name();
    let model = &priced_judge.judge.model;
    let like = settings.models.get(model).map(|alias| alias.like.clone());
    let names = [model.clone()].into_iter().chain(like).collect();
    let counts_output = priced_judge.terms.facts.counts_output_limit;
    let documented_count = if counts_output { CountRule::Sum } else { CountRule::Input };
    Ok(JudgeSetup {
        batches: Some(Arc::clone(&client) as Arc<dyn BatchProvider>),
        client,
        endpoint: format!("{provider} {base_url} {}", priced_judge.judge.model),
        base_url,
        terms: priced_judge.terms.clone(),
        pricing: CallPricing::new(names, priced_judge.terms.clone(), prices(settings)),
        refuse_other_model: settings.judge.other_model == OtherModelPolicy::Refuse,
        instructions: Instructions::for_rubric(rubric),
        token_scale: TokenScale::default(),
        token_count: TokenCounter::new(documented_count, settings.limits.tpm),
        image_preparation: image_preparation(),
        rules: priced_judge.rules.clone(),
        cache: settings.cache.enabled,
        ceiling: Arc::new(ceiling(settings)?),
    })
}

/// A client of the judge's API.
pub fn client(
    settings: &Settings,
    environment: &Environment,
    key: Option<ApiKey>,
) -> Result<OpenAi, AppError> {
    let variable = |name: &str| environment.variable(name);
    OpenAi::new(HttpSettings {
        base_url: base_url(settings),
        key,
        timeout: Duration::from_secs(settings.judge.timeout_seconds),
        concurrency: settings.limits.max_concurrency.unwrap_or(ADAPTIVE_CONNECTIONS),
        proxy: network::proxy(&settings.judge, variable),
        ca_file: settings.judge.ca_file.clone(),
        headers: network::headers(&settings.judge, variable)?,
    })
    .map_err(AppError::invalid)
}

/// The API key from the environment, or from the file in the settings.
pub fn key(settings: &Settings, environment: &Environment) -> Result<Option<ApiKey>, AppError> {
    let (origin, text) = match (environment.filled("OPENAI_API_KEY"), &settings.judge.api_key_file)
    {
        (Some(text), _) => ("environment variable OPENAI_API_KEY".to_owned(), text),
        (_, Some(file)) => {
            let shown = file.display();
            let text = std::fs::read_to_string(file).map_err(|error| {
                AppError::invalid(format!("API key file {shown} cannot be read: {error}"))
            })?;
            (format!("file {shown}"), text)
        }
        _ => return Ok(None),
    };
    let key = ApiKey::new(text.trim());
    key.map(Some).map_err(|error| AppError::invalid(format!("the API key in {origin}: {error}")))
}

/// Client, terms and rules for calls to a judge, with the key that its endpoint needs.
pub fn setup_with_key(
    settings: &Settings,
    environment: &Environment,
    rubric: &Rubric,
    priced_judge: &PricedJudge,
) -> Result<JudgeSetup, AppError> {
    let key = key(settings, environment)?;
    require_key(settings, key.as_ref())?;
    setup(settings, environment, rubric, priced_judge, key)
}

/// Refuses a missing key if the endpoint is OpenAI's.
pub fn require_key(settings: &Settings, key: Option<&ApiKey>) -> Result<(), AppError> {
    let has_own =
        settings.judge.headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"));
    if key.is_none() && !has_own && settings.judge.base_url.contains("://api.openai.com") {
        return Err(AppError::invalid(
            "the judge needs an API key: set OPENAI_API_KEY, or judge.api_key_file in juror.toml; \
             to try without one, run `juror demo`, or `juror simulate` with --base-url",
        ));
    }
    Ok(())
}

/// Terms of a model; an error if it is not supported or has no price.
fn terms(settings: &Settings, model: &str, lane: Lane) -> Result<ModelTerms, AppError> {
    let (models, prices) = (Models::builtin(), prices(settings));
    let like = settings.models.get(model).map(|alias| alias.like.as_str());
    if let Some(like) = like.filter(|like| models.find(like).is_none()) {
        return Err(AppError::invalid(format!(
            "[models.{model:?}] like = {like:?}: unknown model; use one of config/models.toml, as \
             in like = \"gpt-4o\""
        )));
    }
    // A price of the alias itself takes precedence.
    let of_alias = like.filter(|_| prices.find(model).is_none());
    let price = prices.require(of_alias.unwrap_or(model)).map_err(AppError::invalid)?;
    if price.endpoint == Endpoint::Responses {
        return Err(AppError::invalid(format!(
            "model {model:?} needs the responses endpoint, which this version does not support; \
             use another model"
        )));
    }
    if lane == Lane::Flex && price.flex.is_none() {
        return Err(AppError::invalid(format!(
            "model {model:?} has no price in the lane flex: use another model, --lane realtime, or \
             set its price in juror.toml, [prices.{model:?}] flex_input = … flex_output = …"
        )));
    }
    if lane.is_batched() && price.batch.is_none() {
        return Err(AppError::invalid(format!(
            "model {model:?} has no price in batches: use another model, --lane realtime, or set \
             its price in juror.toml, [prices.{model:?}] batch_input = … batch_output = …"
        )));
    }
    Ok(ModelTerms::new(models.facts(like.unwrap_or(model)).clone(), price, lane))
}

fn priced_for_model(
    settings: &Settings,
    rubric: &Rubric,
    model: &str,
    terms: ModelTerms,
) -> PricedJudge {
    let judge = Judge {
        provider: Provider::OpenAi,
        model: model.to_owned(),
        temperature: terms.facts.temperature.then_some(settings.judge.temperature),
        detail: settings.judge.detail,
        max_output_tokens: settings.judge.max_output_tokens.unwrap_or(rubric.max_output_tokens),
        strip_comments: settings.judge.strip_comments,
    };
    let rules = rules(settings, settings.image.max_side, &terms.facts);
    PricedJudge { judge, terms, rules }
}

fn rules(settings: &Settings, max_side: Option<u32>, facts: &ModelCapabilities) -> ImageRules {
    let format = |format: &ImageFormat| match format {
        ImageFormat::Png => ReadableFormat::Png,
        ImageFormat::Jpeg => ReadableFormat::Jpeg,
        ImageFormat::Webp => ReadableFormat::WebP,
        ImageFormat::Gif => ReadableFormat::Gif,
    };
    ImageRules {
        formats: facts.limits.formats.iter().map(format).collect(),
        max_bytes: facts.limits.max_bytes,
        max_side: if facts.limits.max_side == 0 { u32::MAX } else { facts.limits.max_side },
        user_max_side: max_side,
        signatures: settings.image.signatures,
    }
}

fn base_url(settings: &Settings) -> String {
    settings.judge.base_url.trim_end_matches('/').to_owned()
}
