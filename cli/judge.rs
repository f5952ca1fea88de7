//! From settings to a judge: model, price, key and endpoint, all checked before anything is spent.

use crate::exit::Failure;
use juror_common::{
    job::{Judge, Provider},
    model::{Endpoint, ImageFormat, ModelFacts, Models, PriceEntry, Prices},
    rubric::{Rubric, reply_schema},
    settings::Settings,
};
use juror_worker::{
    bounds::ModelTerms,
    ceiling::Ceiling,
    context::JudgeSetup,
    estimate::Candidate,
    image::{Format, Preparer, Rules},
    token_scale::TokenScale,
    vision::{ApiKey, HttpSettings, openai::OpenAi},
};
use std::{sync::Arc, thread::available_parallelism, time::Duration};

/// Connections that are kept where the concurrency adapts.
const ADAPTIVE_CONNECTIONS: usize = 64;

/// Every price that is known: the compiled-in ones, and over them those of the settings.
pub fn prices(settings: &Settings) -> Prices {
    let own = Prices::from_terms(settings.prices.clone(), "your settings");
    Prices::builtin().overlaid_with(own)
}

/// The judge that the settings name, for runs by this rubric.
pub fn candidate(settings: &Settings, rubric: &Rubric) -> Result<Candidate, Failure> {
    if settings.judge.provider != Provider::OpenAi {
        return Err(Failure::usage(format!(
            "judge.provider is {:?}, which this version cannot ask; take \"openai\" with the base \
             URL of a server that speaks OpenAI's chat completions",
            settings.judge.provider.name()
        )));
    }
    let prices = prices(settings);
    let price = prices.require(&settings.judge.model).map_err(Failure::usage)?;
    if price.endpoint == Endpoint::Responses {
        return Err(Failure::usage(format!(
            "model {:?} answers only at the responses endpoint, which this version cannot ask; \
             take another model",
            settings.judge.model
        )));
    }
    let models = Models::builtin();
    let facts = models.facts(&settings.judge.model).clone();
    Ok(candidate_of(settings, rubric, &settings.judge.model, facts, price))
}

/// Every model that could be asked in place of the settings' own, by name.
pub fn all_candidates(settings: &Settings, rubric: &Rubric) -> Vec<Candidate> {
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
            Some(candidate_of(settings, rubric, &entry.model, facts, entry))
        })
        .collect()
}

fn candidate_of(
    settings: &Settings,
    rubric: &Rubric,
    model: &str,
    facts: ModelFacts,
    price: &PriceEntry,
) -> Candidate {
    let judge = Judge {
        provider: settings.judge.provider,
        model: model.to_owned(),
        temperature: facts.temperature.then_some(settings.judge.temperature),
        detail: settings.judge.detail,
        max_output_tokens: settings.judge.max_output_tokens.unwrap_or(rubric.max_output_tokens),
    };
    let rules = rules(settings, &facts);
    Candidate { judge, terms: ModelTerms { facts, price: price.price }, rules }
}

fn rules(settings: &Settings, facts: &ModelFacts) -> Rules {
    let format = |format: &ImageFormat| match format {
        ImageFormat::Png => Format::Png,
        ImageFormat::Jpeg => Format::Jpeg,
        ImageFormat::Webp => Format::WebP,
        ImageFormat::Gif => Format::Gif,
    };
    Rules {
        formats: facts.limits.formats.iter().map(format).collect(),
        max_bytes: facts.limits.max_bytes,
        max_side: if facts.limits.max_side == 0 { u32::MAX } else { facts.limits.max_side },
        user_max_side: settings.image.max_side,
    }
}

/// How this process asks that judge. `key` is what the environment holds, if it holds one.
pub fn setup(
    settings: &Settings,
    rubric: &Rubric,
    candidate: &Candidate,
    key: Option<ApiKey>,
) -> Result<JudgeSetup, Failure> {
    let base_url = settings.judge.base_url.trim_end_matches('/').to_owned();
    let client = OpenAi::new(HttpSettings {
        base_url: base_url.clone(),
        key,
        timeout: Duration::from_secs(settings.judge.timeout_seconds),
        concurrency: settings.limits.max_concurrency.unwrap_or(ADAPTIVE_CONNECTIONS),
        proxy: None,
    })
    .map_err(Failure::usage)?;
    let ceiling = match settings.limits.calls_per_second {
        None => Ceiling::none(),
        Some(rate) => Ceiling::per_second(f64::from(rate)).map_err(Failure::usage)?,
    };
    let provider = candidate.judge.provider.name();
    Ok(JudgeSetup {
        client: Arc::new(client),
        endpoint: format!("{provider} {base_url} {}", candidate.judge.model),
        base_url,
        terms: candidate.terms.clone(),
        schema: reply_schema(rubric).to_string().into(),
        token_scale: TokenScale::default(),
        preparer: Preparer::new(available_parallelism().map_or(1, usize::from)),
        rules: candidate.rules.clone(),
        cache: settings.cache.enabled,
        ceiling,
    })
}

/// The API key: of the environment, or of the file that the settings name.
pub fn key(settings: &Settings) -> Result<Option<ApiKey>, Failure> {
    let variable = match settings.judge.provider {
        Provider::OpenAi => "OPENAI_API_KEY",
        Provider::Anthropic => "ANTHROPIC_API_KEY",
        Provider::Gemini => "GEMINI_API_KEY",
    };
    let (origin, text) = match (std::env::var(variable), &settings.judge.api_key_file) {
        (Ok(text), _) if !text.trim().is_empty() => {
            (format!("environment variable {variable}"), text)
        }
        (_, Some(file)) => {
            let shown = file.display();
            let text = std::fs::read_to_string(file).map_err(|error| {
                Failure::usage(format!("the API key's file {shown} cannot be read: {error}"))
            })?;
            (format!("file {shown}"), text)
        }
        _ => return Ok(None),
    };
    let key = ApiKey::new(text.trim());
    key.map(Some).map_err(|error| Failure::usage(format!("the API key in {origin}: {error}")))
}

/// Refuses to go on without a key where the endpoint certainly wants one.
pub fn require_key(settings: &Settings, key: Option<&ApiKey>) -> Result<(), Failure> {
    if key.is_none() && settings.judge.base_url.contains("://api.openai.com") {
        return Err(Failure::usage(
            "the judge needs an API key: set OPENAI_API_KEY, or judge.api_key_file in juror.toml; \
             to try without one, run `juror demo`, or `juror simulate` with --base-url",
        ));
    }
    Ok(())
}
