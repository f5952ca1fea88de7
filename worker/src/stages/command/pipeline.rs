//! The user's own pipeline, run for each item, so that a run covers it from end to end.

use super::{CommandInput, CommandSettings, process};
use crate::{
    design_tokens::flatten,
    item_texts::{LoadedItem, is_blank, language_of_code},
};
use juror_files::data_roots::Roots;
use juror_types::{
    item::{Item, Language, Tokens},
    outcome::JobError,
};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Runs the `pipeline_command` for an item and replaces the item's fields by its output. The
/// command gets the item as one JSON object on stdin and writes one to stdout.
pub async fn run_pipeline(
    item: &Item,
    loaded: LoadedItem,
    roots: &Roots,
    settings: &CommandSettings,
) -> Result<LoadedItem, JobError> {
    let failed = |problem: String| settings.error("pipeline_command", problem);
    let request = serde_json::to_vec(&CommandInput::new(item, roots))
        .map_err(|error| failed(error.to_string()))?;
    let finished = process::run(settings, &settings.arguments, &request)
        .await
        .map_err(|error| failed(error.to_string()))?;
    if !finished.status.success() {
        return Err(failed(format!("{}: {}", finished.status, finished.stderr_tail)));
    }
    let answer: PipelineOutput = serde_json::from_slice(&finished.stdout).map_err(|error| {
        failed(format!("its answer is not the JSON object that is expected: {error}"))
    })?;
    merge(loaded, answer).map_err(failed)
}

/// Output of the command on stdout. Fields that it leaves out stay as the item has them; code that is
/// `null` or blank is none.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PipelineOutput {
    #[serde(default, deserialize_with = "given")]
    generated_code: Option<Option<String>>,
    language: Option<Language>,
    extracted_tokens: Option<Value>,
    retrieved_pattern: Option<String>,
    quality_score: Option<f64>,
}

impl PipelineOutput {
    fn is_empty(&self) -> bool {
        let Self { generated_code, extracted_tokens, retrieved_pattern, quality_score, .. } = self;
        generated_code.is_none()
            && extracted_tokens.is_none()
            && retrieved_pattern.is_none()
            && quality_score.is_none()
    }
}

/// A field that is there, be it `null`.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

fn merge(mut loaded: LoadedItem, answer: PipelineOutput) -> Result<LoadedItem, String> {
    if answer.is_empty() {
        // The item's own code would be judged as the pipeline's.
        return Err(
            "its answer has no field: give at least generated_code, or null for none".into()
        );
    }
    if let Some(score) = answer.quality_score {
        if !(0.0..=1.0).contains(&score) {
            return Err(format!("its quality_score {score} is not from 0 to 1"));
        }
        loaded.quality_score = Some(score);
    }
    if let Some(tokens) = answer.extracted_tokens {
        let tokens: Tokens =
            flatten(&tokens).map_err(|error| format!("its extracted_tokens: {error}"))?;
        loaded.extracted_tokens = Some(tokens);
    }
    if let Some(code) = answer.generated_code {
        (loaded.code, loaded.language, loaded.unusable_code) = (None, None, None);
        if let Some(code) = code.filter(|code| !is_blank(code)) {
            loaded.language = Some(answer.language.unwrap_or_else(|| language_of_code(&code)));
            loaded.code = Some(code);
        }
    }
    loaded.retrieved_pattern = answer.retrieved_pattern.or(loaded.retrieved_pattern);
    Ok(loaded)
}
