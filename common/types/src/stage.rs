//! Results of an item's deterministic stages.

use serde::{Deserialize, Serialize};

/// The three deterministic stages of one item. A stage without data is `None`, never 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stages {
    /// Token extraction: were the design tokens found?
    pub token_extraction: Option<TokenExtraction>,
    /// Retrieval: was the right pattern found?
    pub retrieval: Option<Retrieval>,
    /// Generation: does the generated code work?
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
    /// True if the retrieved pattern is the expected one.
    pub correct: bool,
    /// The retrieved pattern, if there is one.
    pub retrieved: Option<String>,
}

/// Generation of one item.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Generation {
    /// True if the code compiles; `None` without code.
    pub code_compiles: Option<bool>,
    /// The pipeline's own quality score, 0 to 1, passed through.
    pub quality_score: Option<f64>,
    /// True if the code renders; `None` if it was not rendered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renders: Option<bool>,
    /// Compile error: the first one, with its position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Stages {
    /// True if every stage that has data passed; `None` if no stage has any. `token_accuracy` is
    /// the exclusive minimum of token accuracy.
    pub fn passed(&self, token_accuracy: f64) -> Option<bool> {
        let tokens = self.token_extraction.as_ref().map(|tokens| tokens.accuracy > token_accuracy);
        let retrieval = self.retrieval.as_ref().map(|retrieval| retrieval.correct);
        let compiles = self.generation.as_ref().and_then(|generation| generation.code_compiles);
        let renders = self.generation.as_ref().and_then(|generation| generation.renders);
        [tokens, retrieval, compiles, renders].into_iter().flatten().reduce(|all, one| all && one)
    }
}
