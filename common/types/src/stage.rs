//! Results of an item's deterministic stages.

use serde::{Deserialize, Serialize};

/// The three deterministic stages of one item. A stage without data is `None`, never 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stages {
    /// Were the design tokens found?
    pub token_extraction: Option<TokenExtraction>,
    /// Was the right pattern found?
    pub retrieval: Option<Retrieval>,
    /// Is the generated code sound?
    pub generation: Option<Generation>,
}

/// Token extraction of one item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TokenExtraction {
    /// Share of the expected tokens that were extracted with an equal value, 0 to 1.
    pub accuracy: f64,
}

/// Retrieval of one item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Retrieval {
    /// True if the pattern that was found is the expected one.
    pub correct: bool,
    /// The pattern that was found; none if nothing was.
    pub retrieved: Option<String>,
}

/// Generation of one item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Generation {
    /// True if the code compiles; none if there is no code to tell by.
    pub code_compiles: Option<bool>,
    /// The pipeline's own quality score, 0 to 1, passed through.
    pub quality_score: Option<f64>,
    /// True if the code renders; none where it was not rendered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renders: Option<bool>,
    /// Reason why the code does not compile: the first error, with its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Conditions of an item's `pipeline_success`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Thresholds {
    /// Token accuracy must lie above this.
    pub token_accuracy: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { token_accuracy: 0.8 }
    }
}

impl Stages {
    /// True if every stage that has data passed; none where no stage has any.
    pub fn passed(&self, thresholds: &Thresholds) -> Option<bool> {
        let tokens = self.token_extraction.as_ref().map(|t| t.accuracy > thresholds.token_accuracy);
        let retrieval = self.retrieval.as_ref().map(|retrieval| retrieval.correct);
        let compiles = self.generation.as_ref().and_then(|generation| generation.code_compiles);
        let renders = self.generation.as_ref().and_then(|generation| generation.renders);
        [tokens, retrieval, compiles, renders].into_iter().flatten().reduce(|all, one| all && one)
    }
}
