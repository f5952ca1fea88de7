//! Built-in rubrics.

use crate::{problem::Problem, published};
use axum::{
    Json,
    extract::{Path, rejection::PathRejection},
};
use juror_types::{
    id::Digest,
    rubric::{BuiltinRubric, Rubric, builtin, builtin_named},
};
use serde::Serialize;
use utoipa::ToSchema;

/// All rubrics.
#[derive(Serialize, ToSchema)]
pub struct RubricsResponse {
    rubrics: Vec<RubricResponse>,
}

/// Rubric of a judge.
#[derive(Serialize, ToSchema)]
#[schema(as = RubricDescription)]
pub struct RubricResponse {
    id: String,
    version: u32,
    /// SHA-256 of the rubric file.
    #[schema(value_type = published::Digest)]
    digest: Digest,
    title: String,
    /// The images that an item must have.
    images: Vec<String>,
    /// The worst score.
    scale_min: u32,
    /// The best score.
    scale_max: u32,
    criteria: Vec<CriterionResponse>,
}

/// All rubrics
#[utoipa::path(
    get, path = "/rubrics", tag = "rubrics",
    responses((status = 200, description = "The built-in rubrics", body = RubricsResponse))
)]
pub async fn list() -> Result<Json<RubricsResponse>, Problem> {
    let rubrics: Result<Vec<_>, Problem> = builtin().iter().map(described).collect();
    Ok(Json(RubricsResponse { rubrics: rubrics? }))
}

/// One rubric
#[utoipa::path(
    get, path = "/rubrics/{rubric}", tag = "rubrics",
    params(("rubric" = String, Path, description = "Its name")),
    responses((status = 200, description = "The rubric", body = RubricResponse),
              (status = 404, description = "No such rubric"))
)]
pub async fn show(
    rubric: Result<Path<String>, PathRejection>,
) -> Result<Json<RubricResponse>, Problem> {
    let Path(name) = rubric?;
    let Some(found) = builtin_named(&name) else {
        let known: Vec<_> = builtin().iter().map(|rubric| rubric.id).collect();
        return Err(Problem::missing(format!("The rubrics are {}.", known.join(", "))));
    };
    described(&found).map(Json)
}

/// Criterion of a rubric.
#[derive(Serialize, ToSchema)]
#[schema(as = Criterion)]
struct CriterionResponse {
    /// Key in results.
    key: String,
    title: String,
    /// Guidance for the judge.
    guidance: String,
    /// Weight in the sum.
    weight: f64,
    /// Group of the criterion.
    group: Option<String>,
}

fn described(rubric: &BuiltinRubric) -> Result<RubricResponse, Problem> {
    let Rubric { id, version, digest, title, images, scale, criteria, .. } =
        rubric.parse().map_err(|error| Problem::internal(&error))?;
    let criteria = criteria.into_iter().map(|criterion| CriterionResponse {
        key: criterion.key,
        title: criterion.title,
        guidance: criterion.guidance,
        weight: criterion.weight,
        group: criterion.group,
    });
    Ok(RubricResponse {
        id,
        version,
        digest,
        title,
        images: images.into_iter().map(|image| image.name).collect(),
        scale_min: scale.min,
        scale_max: scale.max,
        criteria: criteria.collect(),
    })
}
