//! The deterministic stages: results that need no call.

pub mod command;
pub(crate) mod compile;
pub mod component;
pub(crate) mod strip;

use crate::item_texts::LoadedItem;
use command::CommandSettings;
use compile::Compilation;
use juror_types::{
    outcome::JobError,
    stage::{Generation, Retrieval, Stages, TokenExtraction},
};

/// Settings of the deterministic stages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StageRules {
    /// Command in place of the built-in check that code compiles.
    pub compile_command: Option<CommandSettings>,
    /// Command that produces code, tokens, pattern and quality score of each item; see
    /// `run_pipeline`, which runs before `evaluate`.
    pub pipeline_command: Option<CommandSettings>,
    /// Command that renders the image of an item's code; see `run_render`.
    pub render_command: Option<CommandSettings>,
}

/// Evaluates the stages that have data. Fails only if the `compile_command` could not do its work.
pub(crate) async fn evaluate(
    loaded: &LoadedItem,
    settings: &StageRules,
) -> Result<Stages, JobError> {
    Ok(Stages {
        token_extraction: token_extraction(loaded),
        retrieval: retrieval(loaded),
        generation: generation(loaded, settings).await?,
    })
}

fn token_extraction(loaded: &LoadedItem) -> Option<TokenExtraction> {
    let (expected, extracted) =
        (loaded.expected_tokens.as_ref()?, loaded.extracted_tokens.as_ref()?);
    crate::design_tokens::accuracy(expected, extracted).map(|accuracy| TokenExtraction { accuracy })
}

/// Compares the retrieved pattern with the expected one, ignoring case and outer blanks. `None`
/// without an expectation, or if the pipeline named no pattern.
fn retrieval(loaded: &LoadedItem) -> Option<Retrieval> {
    let expected = loaded.expected_pattern.as_deref()?;
    let retrieved = loaded.retrieved_pattern.as_deref()?;
    let correct = expected.trim().to_lowercase() == retrieved.trim().to_lowercase();
    Some(Retrieval { correct, retrieved: Some(retrieved.to_owned()) })
}

async fn generation(
    loaded: &LoadedItem,
    settings: &StageRules,
) -> Result<Option<Generation>, JobError> {
    let compilation = match (&loaded.code, loaded.language, &settings.compile_command) {
        (Some(code), Some(language), Some(command)) => {
            Some(command::compile(code, language, command).await?)
        }
        (Some(code), Some(language), None) => Some(compile::check(code, language).await),
        _ => None,
    };
    let (code_compiles, error) = match compilation {
        None if loaded.unusable_code.is_some() => (Some(false), loaded.unusable_code.clone()),
        None => (None, None),
        Some(Compilation::Sound) => (Some(true), None),
        Some(Compilation::Broken(error)) => (Some(false), Some(error)),
        Some(Compilation::Unchecked(reason)) => (None, Some(reason.to_owned())),
    };
    let has_data = code_compiles.is_some() || error.is_some() || loaded.quality_score.is_some();
    let quality_score = loaded.quality_score;
    Ok(has_data.then_some(Generation { code_compiles, quality_score, renders: None, error }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_types::item::Language;
    use serde_json::json;

    #[tokio::test]
    async fn a_stage_without_data_is_none() {
        let settings = StageRules::default();
        let stages = evaluate(&LoadedItem::default(), &settings).await.unwrap();
        assert_eq!(stages, Stages::default());
    }

    #[tokio::test]
    async fn oversized_code_does_not_compile() {
        let reason = Some("the code is larger than 4 MB: a.html".to_owned());
        let loaded = LoadedItem { unusable_code: reason.clone(), ..LoadedItem::default() };
        let stages = evaluate(&loaded, &StageRules::default()).await.unwrap();
        let generation = stages.generation.unwrap();
        assert_eq!((generation.code_compiles, generation.error), (Some(false), reason));
    }

    #[tokio::test]
    async fn every_stage_with_data_is_reported() {
        let loaded = LoadedItem {
            unusable_code: None,
            code: Some("<p>a</b>".to_owned()),
            language: Some(Language::Html),
            expected_tokens: crate::design_tokens::flatten(&json!({"a": "#fff", "b": 1})).ok(),
            extracted_tokens: crate::design_tokens::flatten(&json!({"a": "white"})).ok(),
            expected_pattern: Some("card".to_owned()),
            retrieved_pattern: Some("card".to_owned()),
            quality_score: Some(0.9),
        };
        let stages = evaluate(&loaded, &StageRules::default()).await.unwrap();
        assert_eq!(stages.token_extraction.unwrap().accuracy, 0.5);
        assert!(stages.retrieval.unwrap().correct);
        let generation = stages.generation.unwrap();
        assert_eq!(generation.code_compiles, Some(false));
        assert_eq!(generation.quality_score, Some(0.9));
        assert!(generation.error.unwrap().starts_with("line 1: </b>"));
    }

    #[test]
    fn patterns_are_compared_as_names() {
        for (expected, retrieved, correct) in [
            (Some("button"), Some(" Button"), Some(true)),
            (Some("button"), Some("card"), Some(false)),
            (Some("button"), Some(""), Some(false)),
            (Some("button"), None, None),
            (None, Some("button"), None),
        ] {
            let loaded = LoadedItem {
                expected_pattern: expected.map(str::to_owned),
                retrieved_pattern: retrieved.map(str::to_owned),
                ..LoadedItem::default()
            };
            assert_eq!(retrieval(&loaded).map(|stage| stage.correct), correct);
        }
    }
}
