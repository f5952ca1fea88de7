//! A result with its item.

use super::image_address;
use crate::{
    api::extract::{RunSubpath, StrictQuery, blocking},
    app_state::AppState,
    problem::Problem,
    published,
};
use axum::{Json, extract::State};
use juror_app::item_source::{AsJudged, ItemDetails, PromptPart, TokenLine};
use juror_types::outcome::JobResult;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use utoipa::ToSchema;

/// Repeat of an item.
#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ItemQuery {
    /// Number of the item's repeat, from 0.
    #[serde(default)]
    repeat: u32,
}

/// A result and its item.
#[derive(Serialize, ToSchema)]
pub struct ItemResponse {
    /// As in `results.jsonl`.
    #[schema(value_type = published::JobResult)]
    result: JobResult,
    /// The images that were judged.
    images: Vec<Image>,
    /// The generated code; null if not available.
    code: Option<CodeResponse>,
    /// Expected and extracted design tokens; null if not available.
    tokens: Option<Vec<Token>>,
    /// The pattern that retrieval should find.
    expected_pattern: Option<String>,
    /// Prompt for the judge; null with the judge off, or if it cannot be rendered again.
    prompt: Option<Vec<Part>>,
    /// Reasons why parts of the item are not available.
    missing: Vec<String>,
    /// Remarks on parts that are shown from the run's copies, since their files have changed or are
    /// missing.
    remarks: Vec<String>,
}

impl ItemResponse {
    fn from_result(result: JobResult, details: Result<ItemDetails, String>) -> Self {
        let mut missing = Vec::new();
        let details = details.unwrap_or_else(|reason| {
            missing.push(reason);
            ItemDetails::default()
        });
        let image = |input: &juror_types::outcome::InputRecord| Image {
            name: input.name.clone(),
            url: image_address(&result, input, Some(&details)),
        };
        let images = result.item.images().map(image).collect();
        let remarks = remarks(&result, &details);
        let code = details.attachment.code.and_then(|code| available(code, &mut missing));
        let tokens = details.tokens.and_then(|tokens| available(tokens, &mut missing));
        let prompt = details.prompt.and_then(|prompt| available(prompt, &mut missing));
        Self {
            result,
            images,
            code: code.map(|code| CodeResponse { text: code.text, left_out: code.left_out }),
            tokens: tokens.map(|lines| lines.content.into_iter().map(Token::from).collect()),
            expected_pattern: details.expected_pattern,
            prompt: prompt.map(|parts| parts.content.into_iter().map(Part::from).collect()),
            missing,
            remarks,
        }
    }
}

/// A result with its item
#[utoipa::path(
    get, path = "/runs/{run}/items/{item}", tag = "runs",
    params(("run" = String, Path, description = "The run's name"),
           ("item" = String, Path, description = "The item's id, percent-encoded"), ItemQuery),
    responses((status = 200, description = "The result and its item", body = ItemResponse),
              (status = 404, description = "No such run, item or repeat"))
)]
pub async fn show(
    State(site): State<AppState>,
    RunSubpath(run, item): RunSubpath,
    StrictQuery(query): StrictQuery<ItemQuery>,
) -> Result<Json<ItemResponse>, Problem> {
    let view = site.views.get(&run).await?;
    let Some(place) = view.place_of(&item, query.repeat) else {
        return Err(Problem::missing(format!(
            "Run {run} has no result of this item and repeat; GET /api/v1/runs/{run}/items lists \
             its results."
        )));
    };
    let reading = Arc::clone(&view);
    let result = blocking(move || Ok(reading.result(place)?)).await?;
    let result = result.ok_or_else(|| Problem::internal(&"no result"))?;
    let (record, rubric) = (view.files.record(), &view.report.rubric);
    let details = site.item_source.item(record, rubric, &result).await;
    Ok(Json(ItemResponse::from_result(result, details)))
}

/// An image that was judged.
#[derive(Serialize, ToSchema)]
struct Image {
    /// Name of the image in the rubric.
    name: String,
    /// URL of the judged bytes, or of the current ones if the image was not judged; null if not
    /// available.
    url: Option<String>,
}

/// Generated code.
#[derive(Serialize, ToSchema)]
#[schema(as = Code)]
struct CodeResponse {
    /// The code, possibly truncated.
    text: String,
    /// Number of bytes truncated at the end.
    left_out: usize,
}

/// Expected and extracted value of a design token.
#[derive(Serialize, ToSchema)]
struct Token {
    /// Dotted name of the token.
    name: String,
    /// Expected value; null if none.
    expected: Value,
    /// Extracted value; null if none.
    extracted: Value,
    /// True if both are equal, as the stage compares them.
    equal: bool,
}

/// A part of the prompt.
#[derive(Serialize, ToSchema)]
struct Part {
    /// `system` or `user`.
    role: &'static str,
    /// The text; images are replaced by name and digest.
    text: String,
}

impl From<TokenLine> for Token {
    fn from(TokenLine { name, expected, extracted, equal }: TokenLine) -> Self {
        let (expected, extracted) = (expected.unwrap_or_default(), extracted.unwrap_or_default());
        Self { name, expected, extracted, equal }
    }
}

impl From<PromptPart> for Part {
    fn from(PromptPart { role, text }: PromptPart) -> Self {
        Self { role, text }
    }
}

/// The remarks on parts, each with the part's name.
fn remarks(result: &JobResult, details: &ItemDetails) -> Vec<String> {
    fn of<T>(part: Option<&Result<AsJudged<T>, String>>) -> Option<&str> {
        part?.as_ref().ok()?.remark.as_deref()
    }
    let attachment = &details.attachment;
    let code = attachment.code.as_ref().and_then(|code| code.as_ref().ok()?.remark.as_deref());
    let images = result.item.images();
    let images = images.map(|input| (input.name.as_str(), attachment.remark_on(&input.name)));
    let texts = [
        ("code", code),
        ("tokens", of(details.tokens.as_ref())),
        ("prompt", of(details.prompt.as_ref())),
    ];
    let all = images.chain(texts);
    all.filter_map(|(name, remark)| Some(format!("{name}: {}", remark?))).collect()
}

/// The part, if available; otherwise adds its reason to `missing`.
fn available<T>(part: Result<T, String>, missing: &mut Vec<String>) -> Option<T> {
    part.map_err(|reason| missing.push(reason)).ok()
}
