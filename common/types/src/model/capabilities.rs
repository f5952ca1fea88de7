//! `models.toml`: families of models and their capabilities.

use super::{
    data_file::{self, DataFileError},
    image_tokens::ImageFormula,
    name,
    text_tokens::TextTokens,
};
use crate::{
    job::{Detail, Provider},
    toml_problem::TomlProblem,
};
use serde::Deserialize;

/// Capabilities of all known models.
#[derive(Clone, Debug)]
pub struct Models {
    date: String,
    families: Vec<ModelCapabilities>,
    unknown: ModelCapabilities,
}

/// Capabilities of a family of models.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelCapabilities {
    /// Name of the family.
    #[serde(rename = "name")]
    pub family: String,
    /// Provider of the model.
    pub provider: Provider,
    /// Models of the family; a name that ends in `*` is a prefix.
    pub names: Vec<String>,
    /// Formula of its image tokens.
    pub image: ImageFormula,
    /// Limits on its images.
    pub limits: ImageLimits,
    /// The parameter that limits the output tokens.
    pub output_limit: OutputLimit,
    /// True if it accepts a sampling temperature.
    pub temperature: bool,
    /// Number of tokens to add to the output limit, since reasoning counts as output.
    pub reasoning_allowance: u32,
    /// Maximum output limit that its models accept; 0 where unknown.
    pub max_output_tokens: u32,
    /// True if a request's output limit counts against tokens per minute at its admission.
    pub counts_output_limit: bool,
    /// True if the provider refunds the unused part of a request's count.
    pub refunds_unused: bool,
    /// Control over the prompt cache.
    #[serde(default)]
    pub prompt_cache: PromptCache,
    /// Source of the facts.
    pub source: String,
}

/// Control over the provider's prompt cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptCache {
    /// None: the provider decides, or has no such cache.
    #[default]
    Automatic,
    /// `cache_control` beside the part to cache, which no request has: nothing is written, unless a
    /// gateway adds it.
    Marked,
    /// `prompt_cache_options` with mode `explicit`, and a breakpoint after the part to cache.
    /// Without them everything is written, which costs extra.
    Explicit,
}

impl PromptCache {
    /// Input tokens that a reply wrote into the cache if it does not report them; `None` if that is
    /// unknown.
    pub fn unreported_writes(self) -> Option<u64> {
        (self == Self::Marked).then_some(0)
    }
}

/// Limits on a model's images. An image within them is sent unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageLimits {
    /// Maximum number of bytes of the file, before base64.
    pub max_bytes: u64,
    /// Longest side in pixels; 0 where the provider shrinks any image.
    pub max_side: u32,
    /// File formats.
    pub formats: Vec<ImageFormat>,
}

/// A file format of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ImageFormat {
    /// PNG.
    Png,
    /// JPEG.
    Jpeg,
    /// WebP.
    Webp,
    /// GIF, of one frame.
    Gif,
}

crate::serde_enum! {
    /// The parameter that limits the output tokens.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
    pub enum OutputLimit {
        /// `max_tokens`.
        MaxTokens = "max_tokens",
        /// `max_completion_tokens`.
        MaxCompletionTokens = "max_completion_tokens",
    }
}

/// Number of tokens of a request beside its texts and images: roles, separators, names of parts.
const FRAMING_TOKENS: u64 = 256;

impl ModelCapabilities {
    /// Upper bound of a request's input tokens: its texts (every message, and the schema sent with
    /// it), its images by width and height, and framing.
    pub fn input_bound(
        &self,
        texts: TextTokens,
        images: impl IntoIterator<Item = (u32, u32)>,
        detail: Detail,
    ) -> u64 {
        let others = FRAMING_TOKENS.saturating_add(texts.bound);
        others.saturating_add(self.image_tokens(images, detail))
    }

    /// Expected input tokens of the same request: for estimates, never for reservations.
    pub fn expected_input(
        &self,
        texts: TextTokens,
        images: impl IntoIterator<Item = (u32, u32)>,
        detail: Detail,
    ) -> u64 {
        texts.expected.saturating_add(self.image_tokens(images, detail))
    }

    fn image_tokens(&self, images: impl IntoIterator<Item = (u32, u32)>, detail: Detail) -> u64 {
        let tokens = |(width, height)| self.image.tokens(width, height, detail);
        images.into_iter().map(tokens).fold(0, u64::saturating_add)
    }

    /// Rank of the best matching name; higher is better.
    fn fit(&self, model: &str) -> Option<usize> {
        let fits = self.names.iter().filter_map(|pattern| match pattern.strip_suffix('*') {
            Some(beginning) => model.starts_with(beginning).then_some(beginning.len()),
            None if pattern == model => Some(usize::MAX),
            None => (name::without_date(model) == Some(pattern)).then_some(usize::MAX - 1),
        });
        fits.max()
    }
}

impl Models {
    /// The compiled-in models.
    #[expect(clippy::expect_used, reason = "the file is compiled in, and a test reads it")]
    pub fn builtin() -> Self {
        Self::parse(include_str!("../../../../config/models.toml"), "config/models.toml")
            .expect("the compiled-in models can be read")
    }

    /// Parses a file of models; `origin` names it in errors.
    pub fn parse(text: &str, origin: &str) -> Result<Self, DataFileError> {
        let file = data_file::read(text, origin, |file: &ModelsFile| file.schema)?;
        let mut families = file.family;
        let unknown = families.iter().position(|facts| facts.family == UNKNOWN);
        let unknown = unknown.map(|position| families.remove(position));
        let unknown = unknown.ok_or_else(|| DataFileError::Invalid {
            origin: origin.to_owned(),
            problem: TomlProblem {
                line: None,
                key: "family".to_owned(),
                message: format!("{UNKNOWN:?} is missing: models of no other family need it"),
            },
        })?;
        Ok(Self { date: file.date, families, unknown })
    }

    /// Date of the file, as in `2026-11-21`.
    pub fn date(&self) -> &str {
        &self.date
    }

    /// The family of this model. An exact name takes precedence over a name with a date, that over
    /// a `*`, a longer `*` over a shorter one. A gateway's prefix (`openai/`) is ignored.
    pub fn find(&self, model: &str) -> Option<&ModelCapabilities> {
        let direct = self.families.iter().filter_map(|facts| Some((facts.fit(model)?, facts)));
        let found = direct.max_by_key(|(fit, _)| *fit).map(|(_, facts)| facts);
        found.or_else(|| self.find(name::behind_gateway(model)?))
    }

    /// The capabilities of a model: those of its family, or of the family `unknown`.
    pub fn facts(&self, model: &str) -> &ModelCapabilities {
        self.find(model).unwrap_or(&self.unknown)
    }
}

const UNKNOWN: &str = "unknown";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelsFile {
    schema: u32,
    date: String,
    family: Vec<ModelCapabilities>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_family_is_found_by_name_date_wildcard_and_gateway_prefix() {
        let models = Models::builtin();
        for (model, family) in [
            ("gpt-4o", "gpt-4o"),
            ("gpt-4o-2024-08-06", "gpt-4o"),
            ("gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
            ("gpt-4.1-2025-04-14", "gpt-4o"),
            ("gpt-5.1", "gpt-5"),
            ("gpt-5.5-2026-04-23", "gpt-5.4"),
            ("gpt-6.1-terra", "gpt-5.6"),
            ("openai/gpt-5.4-mini", "gpt-5.4-mini"),
            ("claude-haiku-4-5-20251001", "claude-4"),
            ("claude-sonnet-5-5", "claude-5"),
            ("claude-opus-4-8", "claude-5"),
            ("gemini-2.5-flash-lite", "gemini-2"),
            ("gemini-4-argon", "gemini-3"),
        ] {
            assert_eq!(models.find(model).unwrap().family, family, "{model}");
        }
        assert!(models.find("llava").is_none());
        assert!(models.find("gpt-4").is_none());
        assert_eq!(models.facts("llava").family, "unknown");
    }

    #[test]
    fn priced_models_have_capabilities_of_their_provider() {
        let models = Models::builtin();
        for entry in crate::model::Prices::builtin().iter() {
            let facts = models.find(&entry.model).unwrap_or_else(|| panic!("{}", entry.model));
            assert_eq!(Some(facts.provider), entry.provider, "{}", entry.model);
        }
    }

    #[test]
    fn capabilities_match_the_check_values() {
        let models = Models::builtin();
        for (model, tokens) in [
            ("gpt-4o", 1105),
            ("gpt-4o-mini", 36835),
            ("gpt-4.1-mini", 2115),
            ("gpt-5-mini", 2115),
            ("gpt-5.2", 1566),
            ("gpt-6-sol", 1566),
            ("claude-sonnet-4-5", 1550),
            ("claude-opus-5", 1716),
            ("gemini-2.5-pro", 1548),
            ("gemini-3-pro", 1120),
        ] {
            let facts = models.find(model).unwrap();
            assert_eq!(facts.image.tokens(1440, 900, Detail::High), tokens, "{model}");
        }
    }

    #[test]
    fn only_claude_is_known_to_write_nothing_unreported() {
        let models = Models::builtin();
        for (model, writes) in [
            ("claude-haiku-4-5", Some(0)),
            ("claude-opus-5", Some(0)),
            ("gpt-5.6", None),
            ("gpt-4o", None),
            ("llava", None),
        ] {
            assert_eq!(models.facts(model).prompt_cache.unreported_writes(), writes, "{model}");
        }
    }

    #[test]
    fn request_size_is_bounded_by_texts_and_images() {
        let models = Models::builtin();
        let facts = models.facts("gpt-4o");
        let texts = TextTokens::from_text("abcd").plus(TextTokens::from_text("é"));
        let bound = facts.input_bound(texts, [(1440, 900), (390, 844)], Detail::High);
        assert_eq!(bound, 256 + 2 + 2 + 1105 + 425);
        let expected = facts.expected_input(texts, [(1440, 900)], Detail::High);
        assert_eq!(expected, 1 + 1 + 1105);
    }

    #[test]
    fn an_unknown_key_is_named_with_its_place() {
        let text = include_str!("../../../../config/models.toml")
            .replace("temperature = false", "temprature = false");
        let error = Models::parse(&text, "mine.toml").unwrap_err().to_string();
        let line = text.lines().position(|line| line.starts_with("temprature")).unwrap() + 1;
        assert!(error.starts_with(&format!("mine.toml:{line}: ")), "{error}");
        assert!(error.contains("temprature"), "{error}");
    }
}
