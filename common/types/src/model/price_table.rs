//! `prices.toml`: prices of models, with the date and the source of each entry.

use super::{
    data_file::{self, DataFileError},
    name,
};
use crate::{
    job::Provider,
    lane::Lane,
    usage::{Price, scaled_rate},
};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Prices by model.
#[derive(Clone, Debug, Default)]
pub struct Prices(BTreeMap<String, PriceEntry>);

/// Price of one model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceEntry {
    /// The model, as the provider spells it.
    pub model: String,
    /// Provider of the model; `None` for a price that the user gave.
    pub provider: Option<Provider>,
    /// Endpoint that the price holds for.
    pub endpoint: Endpoint,
    /// Price of its tokens.
    pub price: Price,
    /// Price in the lane with results within 24 hours, where there is one.
    pub batch: Option<Price>,
    /// Price in the lane `flex`, where the provider has it for this model.
    pub flex: Option<Price>,
    /// Maximum number of input tokens of a request.
    pub max_input_tokens: Option<u64>,
    /// Maximum number of output tokens of a reply.
    pub max_output_tokens: Option<u64>,
    /// Date on which the provider retires it, as in `2026-12-11`.
    pub retires: Option<String>,
    /// The page with the price.
    pub source: Option<String>,
    /// The date and the table of the prices; for prices of the user, the file.
    pub origin: String,
}

/// Endpoint of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Endpoint {
    /// Chat completions or the provider's own equivalent.
    #[default]
    Chat,
    /// OpenAI's responses only.
    Responses,
}

/// A price in a file, under `[prices."name"]`: amounts in micro-dollars per million tokens.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceTerms {
    /// Provider of the model.
    pub provider: Option<Provider>,
    /// Endpoint; chat where not given.
    #[serde(default)]
    pub endpoint: Endpoint,
    /// Input tokens.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Input tokens from the prompt cache.
    pub cached_input: Option<u64>,
    /// Input tokens that are written into it.
    pub cache_write: Option<u64>,
    /// Input tokens in the slow lane.
    pub batch_input: Option<u64>,
    /// Output tokens in the slow lane.
    pub batch_output: Option<u64>,
    /// Input tokens in the lane `flex`.
    pub flex_input: Option<u64>,
    /// Output tokens in the lane `flex`.
    pub flex_output: Option<u64>,
    /// Input tokens from the prompt cache in the lane `flex`; as `flex_input` where not given.
    pub flex_cached_input: Option<u64>,
    /// Input tokens that are written into it in the lane `flex`; as `cache_write` where not given.
    pub flex_cache_write: Option<u64>,
    /// Input tokens of a long request.
    pub long_input: Option<u64>,
    /// Maximum number of input tokens of a request.
    pub max_input_tokens: Option<u64>,
    /// Maximum number of output tokens of a reply.
    pub max_output_tokens: Option<u64>,
    /// Date on which it is retired.
    pub retires: Option<String>,
    /// The page with the price.
    pub source: Option<String>,
}

/// A model of unknown cost, so that no budget can be held.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "model {model:?} has no price, so the cost of its calls has no upper bound{near}; use a known model, map it to one in juror.toml ([models.\"{model}\"] like = \"gpt-4o\"), or set its price there, in micro-dollars per million tokens (0 for a server of your own): [prices.\"{model}\"] input = … output = …",
    near = near_names(.nearest)
)]
pub struct NoPrice {
    /// The requested model.
    pub model: String,
    /// Known names similar to it, the best match first.
    pub nearest: Vec<String>,
}

impl PriceEntry {
    /// Price in a lane; the realtime price if the model has no separate one.
    pub fn price_in(&self, lane: Lane) -> &Price {
        let own = match lane {
            Lane::Flex => self.flex.as_ref(),
            Lane::Batch | Lane::Mixed => self.batch.as_ref(),
            Lane::Realtime => None,
        };
        own.unwrap_or(&self.price)
    }
}

impl Prices {
    /// The compiled-in prices.
    #[expect(clippy::expect_used, reason = "the file is compiled in, and a test reads it")]
    pub fn builtin() -> Self {
        Self::parse(include_str!("../../../../config/prices.toml"), "config/prices.toml")
            .expect("the compiled-in prices can be read")
    }

    /// Parses a price file; `origin` names it in errors.
    pub fn parse(text: &str, origin: &str) -> Result<Self, DataFileError> {
        let file = data_file::read(text, origin, |file: &PriceFile| file.schema)?;
        let table = file.origin.unwrap_or_else(|| origin.to_owned());
        let known_since =
            file.date.map_or_else(|| table.clone(), |date| format!("{table}, {date}"));
        Ok(Self::from_terms(file.prices, &known_since))
    }

    /// Prices from settings; `origin` is recorded as the source of each entry.
    pub fn from_terms(terms: BTreeMap<String, PriceTerms>, origin: &str) -> Self {
        let entry =
            |(model, terms): (String, PriceTerms)| (model.clone(), terms.into_entry(model, origin));
        Self(terms.into_iter().map(entry).collect())
    }

    /// These prices, with the entries of `other` in place of those for the same model.
    #[must_use]
    pub fn overlaid_with(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// The price of this exact name, else of the name without its date, else of the name behind a
    /// gateway's prefix (`openai/gpt-4o`), as [`Models::find`](super::Models::find) resolves it.
    pub fn find(&self, model: &str) -> Option<&PriceEntry> {
        let direct = self.0.get(model).or_else(|| self.0.get(name::without_date(model)?));
        direct.or_else(|| self.find(name::behind_gateway(model)?))
    }

    /// The price of a version of a known model (`gpt-4o-2024-05-13` of `gpt-4o`, or any model for a
    /// name that ends in `-latest`) that has an entry of its own.
    pub fn find_version(&self, known: &str, version: &str) -> Option<&PriceEntry> {
        let version = name::behind_gateway(version).unwrap_or(version);
        let is_version = name::without_date(version) == Some(known) || name::is_latest(known);
        self.0.get(version).filter(|_| is_version && version != known)
    }

    /// As [`Prices::find`]; a model without a price is an error with the remedy.
    pub fn require(&self, model: &str) -> Result<&PriceEntry, NoPrice> {
        self.find(model)
            .ok_or_else(|| NoPrice { model: model.to_owned(), nearest: self.nearest(model) })
    }

    /// All entries, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &PriceEntry> {
        self.0.values()
    }

    fn nearest(&self, model: &str) -> Vec<String> {
        let likeness = |name: &String| strsim::jaro_winkler(model, name);
        let mut names: Vec<_> = self.0.keys().map(|name| (likeness(name), name)).collect();
        names.sort_by(|one, other| other.0.total_cmp(&one.0));
        let alike = names.into_iter().filter(|(likeness, _)| *likeness > 0.8);
        alike.take(3).map(|(_, name)| name.clone()).collect()
    }
}

impl PriceTerms {
    fn into_entry(self, model: String, origin: &str) -> PriceEntry {
        let price = Price {
            input: self.input,
            output: self.output,
            cached_input: self.cached_input,
            cache_write: self.cache_write,
            long_input: self.long_input,
        };
        let batch = self.batch_input.zip(self.batch_output).map(|(input, output)| Price {
            input,
            output,
            // Some providers give no further discount on cached tokens of batches.
            cached_input: None,
            cache_write: self.cache_write.map(|write| scaled_rate(write, input, self.input)),
            long_input: self.long_input.map(|long| scaled_rate(long, input, self.input)),
        });
        let flex = self.flex_input.zip(self.flex_output).map(|(input, output)| Price {
            input,
            output,
            cached_input: self.flex_cached_input,
            cache_write: self.flex_cache_write.or(self.cache_write),
            long_input: self.long_input.map(|long| scaled_rate(long, input, self.input)),
        });
        PriceEntry {
            model,
            provider: self.provider,
            endpoint: self.endpoint,
            price,
            batch,
            flex,
            max_input_tokens: self.max_input_tokens,
            max_output_tokens: self.max_output_tokens,
            retires: self.retires,
            source: self.source,
            origin: origin.to_owned(),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceFile {
    schema: u32,
    date: Option<String>,
    origin: Option<String>,
    #[serde(default)]
    prices: BTreeMap<String, PriceTerms>,
}

fn near_names(nearest: &[String]) -> String {
    if nearest.is_empty() {
        return String::new();
    }
    format!(" (known names like it: {})", nearest.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiled_in_prices_match_their_source() {
        let prices = Prices::builtin();
        assert!(prices.iter().count() >= 82);
        let entry = prices.find("gpt-4o").unwrap();
        assert_eq!((entry.price.input, entry.price.output), (2_500_000, 10_000_000));
        let batch = entry.batch.unwrap();
        assert_eq!((batch.input, batch.output), (1_250_000, 5_000_000));
        assert!(
            entry.origin.starts_with("LiteLLM's open price table (MIT), 20"),
            "{}",
            entry.origin
        );
        let older = prices.find("gpt-4o-2024-05-13").unwrap();
        assert_eq!(older.price.input, 5_000_000, "an older version has a price of its own");
        let retiring = prices.find("claude-sonnet-4-5").unwrap();
        assert_eq!(retiring.retires.as_deref(), Some("2026-11-30"));
        assert_eq!(retiring.provider, Some(Provider::Anthropic));
        assert_eq!(prices.find("o3-pro").unwrap().endpoint, Endpoint::Responses);
        assert_eq!(prices.find("gpt-5.4").unwrap().price.long_input, Some(5_000_000));
    }

    #[test]
    fn the_flex_lane_costs_half_where_the_provider_has_it() {
        let prices = Prices::builtin();
        let entry = prices.find("gpt-5.4").unwrap();
        let flex = entry.flex.unwrap();
        assert_eq!((flex.input * 2, flex.output * 2), (entry.price.input, entry.price.output));
        assert_eq!(flex.long_input.unwrap() * 2, entry.price.long_input.unwrap());
        assert_eq!(prices.find("gpt-4o").unwrap().flex, None);
    }

    #[test]
    fn dated_name_takes_precedence_over_its_family() {
        let prices = Prices::builtin();
        assert_eq!(prices.find("gpt-4o-2024-08-06").unwrap().model, "gpt-4o-2024-08-06");
        assert_eq!(prices.find("gpt-4o-2026-01-01").unwrap().model, "gpt-4o");
        assert!(prices.find("gpt-4o-next").is_none());
    }

    #[test]
    fn gateway_model_has_its_provider_price_unless_it_has_its_own() {
        let prices = Prices::builtin();
        assert_eq!(prices.find("openai/gpt-4o").unwrap().model, "gpt-4o");
        assert_eq!(prices.find("router/openai/gpt-4o-2026-01-01").unwrap().model, "gpt-4o");
        let own = "schema = 1\n[prices.\"openai/gpt-4o\"]\ninput = 1\noutput = 2\n";
        let prices = prices.overlaid_with(Prices::parse(own, "mine.toml").unwrap());
        assert_eq!(prices.find("openai/gpt-4o").unwrap().price.output, 2);
    }

    #[test]
    fn user_prices_override_only_their_models() {
        let mine = "schema = 1\n[prices.\"gpt-4o\"]\ninput = 1\noutput = 2\n[prices.mine]\ninput = 0\noutput = 0\n";
        let prices = Prices::builtin().overlaid_with(Prices::parse(mine, "mine.toml").unwrap());
        assert_eq!(prices.find("gpt-4o").unwrap().price.output, 2);
        assert_eq!(prices.find("gpt-4o").unwrap().origin, "mine.toml");
        assert_eq!(prices.find("mine").unwrap().price.input, 0);
        assert_eq!(prices.find("o3").unwrap().price.input, 2_000_000);
    }

    #[test]
    fn missing_price_error_has_a_remedy() {
        let error = Prices::builtin().require("gpt-4p").unwrap_err();
        assert!(error.nearest.contains(&"gpt-4o".to_owned()), "{error}");
        let message = error.to_string();
        assert!(message.contains("\"gpt-4p\"") && message.contains("[prices.\"gpt-4p\"]"));
        let strange = Prices::builtin().require("llava").unwrap_err();
        assert!(strange.nearest.is_empty(), "{strange}");
    }

    #[test]
    fn errors_name_key_file_and_line() {
        for (text, line, key) in [
            ("schema = 1\n\n[prices.mine]\ninput = 1\noutput = 2\ncahced = 1\n", 6, "cahced"),
            ("schema = 1\n[prices.mine]\ninput = -1\noutput = 2\n", 3, "-1"),
            ("schema = 1\n[prices.mine]\ninput = 1\n", 2, "output"),
            ("schema = 1\ncurrency = \"EUR\"\n", 2, "currency"),
            ("schema = 1\n[prices.mine\n", 2, ""),
        ] {
            let error = Prices::parse(text, "mine.toml").unwrap_err().to_string();
            assert!(error.starts_with(&format!("mine.toml:{line}: ")), "{error}");
            assert!(error.contains(key), "{error}");
        }
        let error = Prices::parse("schema = 2\n", "mine.toml").unwrap_err().to_string();
        assert!(error.contains("schema 2") && error.contains("schema 1"), "{error}");
    }
}
