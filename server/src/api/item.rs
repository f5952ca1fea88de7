//! One result in full, and what it was made of.

use super::image_address;
use crate::{
    api::{
        extract::{InRun, StrictQuery, blocking},
        openapi::published,
    },
    problem::Problem,
    state::AppState,
};
use axum::{Json, extract::State};
use juror_app::items::{AsJudged, ItemDetails, PromptPart, TokenLine};
use juror_types::outcome::JobResult;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use utoipa::ToSchema;

/// Result of an item.
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
pub struct ItemAnswer {
    /// As in `results.jsonl`.
    #[schema(value_type = published::JobResult)]
    result: JobResult,
    /// The images that were judged.
    images: Vec<Image>,
    /// The generated code; null if there is none to be shown.
    code: Option<CodeAnswer>,
    /// Expected and extracted design tokens; null if there are none to be shown.
    tokens: Option<Vec<Token>>,
    /// The pattern that retrieval should find.
    expected_pattern: Option<String>,
    /// Prompt for the judge; null with the judge off, or if it cannot be made again.
    prompt: Option<Vec<Part>>,
    /// Parts of the item that cannot be shown, and why.
    missing: Vec<String>,
    /// Notes on parts that are shown as they were judged, from what the run keeps, since they are
    /// others now or gone.
    remarks: Vec<String>,
}

/// An image that was judged.
#[derive(Serialize, ToSchema)]
struct Image {
    /// The name that the rubric gives it.
    name: String,
    /// Address of its bytes, as they were judged, or as they are now if no judge got them; null if
    /// they are not available.
    url: Option<String>,
}

/// Generated code.
#[derive(Serialize, ToSchema)]
#[schema(as = Code)]
struct CodeAnswer {
    /// Its beginning, or all of it.
    text: String,
    /// Bytes that were left out at its end.
    left_out: usize,
}

/// One design token as it should be and as it was found.
#[derive(Serialize, ToSchema)]
struct Token {
    /// Its dotted name.
    name: String,
    /// Null where nothing was expected.
    expected: Value,
    /// Null where nothing was found.
    extracted: Value,
    /// True if both are equal, as the stage compares them.
    equal: bool,
}

/// A part of what the judge is sent.
#[derive(Serialize, ToSchema)]
struct Part {
    /// `system` or `user`.
    role: &'static str,
    /// The text; an image stands as its name and its digest.
    text: String,
}

/// One result in full
#[utoipa::path(
    get, path = "/runs/{run}/items/{item}", tag = "runs",
    params(("run" = String, Path, description = "The run's name"),
           ("item" = String, Path, description = "The item's id, percent-encoded"), ItemQuery),
    responses((status = 200, description = "The result and its item", body = ItemAnswer),
              (status = 404, description = "No such run, item or repeat", body = Problem,
               content_type = "application/problem+json"))
)]
pub async fn show(
    State(site): State<AppState>,
    InRun(run, item): InRun,
    StrictQuery(query): StrictQuery<ItemQuery>,
) -> Result<Json<ItemAnswer>, Problem> {
    let view = site.views.of(&run).await?;
    let Some(place) = view.place_of(&item, query.repeat) else {
        return Err(Problem::missing(format!(
            "Run {run} has no result of this item and repeat; GET /api/v1/runs/{run}/items lists \
             what it has."
        )));
    };
    let reading = Arc::clone(&view);
    let results = blocking(move || Ok(reading.results(&[place])?)).await?;
    let result = results.into_iter().next().ok_or_else(|| Problem::internal(&"no result"))?;
    let (record, rubric) = (view.files.record(), &view.report.rubric);
    let on_show = site.item_source.item(record, rubric, &result).await;
    Ok(Json(ItemAnswer::of(result, on_show)))
}

impl ItemAnswer {
    fn of(result: JobResult, on_show: Result<ItemDetails, String>) -> Self {
        let mut missing = Vec::new();
        let on_show = on_show.unwrap_or_else(|reason| {
            missing.push(reason);
            ItemDetails::default()
        });
        let image = |input: &juror_types::outcome::InputRecord| Image {
            name: input.name.clone(),
            url: image_address(&result, input, Some(&on_show)),
        };
        let images = result.item.images().map(image).collect();
        let remarks = remarks(&result, &on_show);
        let code = on_show.exhibit.code.and_then(|code| noted(code, &mut missing));
        let tokens = on_show.tokens.and_then(|tokens| noted(tokens, &mut missing));
        let prompt = on_show.prompt.and_then(|prompt| noted(prompt, &mut missing));
        Self {
            result,
            images,
            code: code.map(|code| CodeAnswer { text: code.text, left_out: code.left_out }),
            tokens: tokens.map(|lines| lines.content.into_iter().map(Token::from).collect()),
            expected_pattern: on_show.expected_pattern,
            prompt: prompt.map(|parts| parts.content.into_iter().map(Part::from).collect()),
            missing,
            remarks,
        }
    }
}

/// The remarks on everything that is shown as it was judged, each with the name of what it is on.
fn remarks(result: &JobResult, on_show: &ItemDetails) -> Vec<String> {
    fn of<T>(part: Option<&Result<AsJudged<T>, String>>) -> Option<&str> {
        part?.as_ref().ok()?.remark.as_deref()
    }
    let exhibit = &on_show.exhibit;
    let code = exhibit.code.as_ref().and_then(|code| code.as_ref().ok()?.remark.as_deref());
    let images = result.item.images();
    let images = images.map(|input| (input.name.as_str(), exhibit.remark_on(&input.name)));
    let texts = [
        ("code", code),
        ("tokens", of(on_show.tokens.as_ref())),
        ("prompt", of(on_show.prompt.as_ref())),
    ];
    let all = images.chain(texts);
    all.filter_map(|(name, remark)| Some(format!("{name}: {}", remark?))).collect()
}

/// The part if it is there; one that is not is noted with its reason.
fn noted<T>(part: Result<T, String>, missing: &mut Vec<String>) -> Option<T> {
    part.map_err(|reason| missing.push(reason)).ok()
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
