//! Results of a run: filtered, sorted, in pages.

use crate::{
    api::extract::{RunPath, StrictQuery, blocking},
    app_state::AppState,
    problem::Problem,
    published,
    view::{EvidenceState, Order, RowQuery, RunView},
};
use axum::{Json, extract::State};
use juror_analysis::item_row::ItemRow;
use juror_types::{finding::Severity, outcome::Outcome};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Selection and order of results.
#[derive(Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ItemsQuery {
    /// Only results of this outcome.
    #[param(value_type = Option<published::Outcome>)]
    outcome: Option<Outcome>,
    /// Only results with this tag.
    tag: Option<String>,
    /// Only results with this common issue, by its label.
    issue: Option<String>,
    /// Only results with this common strength, by its label.
    strength: Option<String>,
    /// Only results with this repair, as in `border-radius of div: 8px, should be 12px`.
    repair: Option<String>,
    /// Only results with a finding of this kind, by its key.
    kind: Option<String>,
    /// Only results with a finding of this severity; with `kind`, of the same finding.
    #[param(value_type = Option<published::Severity>)]
    severity: Option<Severity>,
    /// Only results whose verdict contradicts itself (true) or does not (false).
    contradictory: Option<bool>,
    /// Only results whose measured evidence has this state.
    #[param(inline)]
    evidence: Option<EvidenceState>,
    /// Only results whose verdict reports attempts to instruct the judge (true) or none (false).
    suspected_instructions: Option<bool>,
    /// Minimum score, from 0 to 1.
    min_score: Option<f32>,
    /// Maximum score, from 0 to 1.
    max_score: Option<f32>,
    /// Only results whose id, tags or common issues contain this text, in any case.
    q: Option<String>,
    /// `urgency` (verdicts that contradict the measured evidence first, then results without a
    /// score, then the lowest scores), `id`, `outcome`,
    /// `score`, `tokens`, `pattern`, `compiles`, `quality`, `passed`, `latency`, `cost`, `issue`
    /// (the first one), or the key of a column of scores.
    sort: Option<String>,
    /// Direction of the order.
    #[param(inline)]
    order: Option<Direction>,
    /// Number of the page, from 1.
    #[param(minimum = 1)]
    page: Option<usize>,
    /// Number of results on a page; default: 100.
    #[param(minimum = 1, maximum = 1000)]
    per_page: Option<usize>,
}

/// A page of results.
#[derive(Serialize, ToSchema)]
pub struct ItemsResponse {
    /// Number of results on all pages.
    total: usize,
    /// Number of this page, from 1.
    page: usize,
    /// Number of results on a page.
    per_page: usize,
    #[schema(value_type = Vec<published::Row>)]
    items: Vec<ItemRow>,
}

impl ItemsQuery {
    /// The query of rows. A tag or a label that the run does not have selects none.
    fn rows(self, view: &RunView) -> Result<RowQuery, Problem> {
        let order = order(self.sort.as_deref().unwrap_or(Order::URGENCY), view)?;
        for (name, score) in [("min_score", self.min_score), ("max_score", self.max_score)] {
            if score.is_some_and(f32::is_nan) {
                return Err(Problem::bad_request(format!("{name} must be a number.")));
            }
        }
        Ok(RowQuery {
            outcome: self.outcome,
            tag: self.tag.map(|tag| view.tag(&tag)),
            issue: self.issue.map(|label| view.issue(&label)),
            strength: self.strength.map(|label| view.strength(&label)),
            repair: self.repair.map(|label| view.repair(&label)),
            kind: self.kind.map(|key| view.kind(&key)),
            severity: self.severity,
            contradictory: self.contradictory,
            evidence: self.evidence,
            suspected_instructions: self.suspected_instructions,
            min_score: self.min_score,
            max_score: self.max_score,
            text: self.q,
            selects_none: false,
            order,
            descending: self.order == Some(Direction::Desc),
        })
    }
}

/// The results of a run, in pages
#[utoipa::path(
    get, path = "/runs/{run}/items", tag = "runs",
    params(("run" = String, Path, description = "The run's name"), ItemsQuery),
    responses((status = 200, description = "A page of results", body = ItemsResponse),
              (status = 422, description = "Unknown sort key of this run"))
)]
pub async fn list(
    State(site): State<AppState>,
    RunPath(run): RunPath,
    StrictQuery(query): StrictQuery<ItemsQuery>,
) -> Result<Json<ItemsResponse>, Problem> {
    let page = within(query.page, 1, usize::MAX, "page")?;
    let per_page = within(query.per_page, 100, 1_000, "per_page")?;
    let view = site.views.get(&run).await?;
    let reading = blocking(move || {
        let places = view.select(&query.rows(&view)?);
        let before = (page - 1).saturating_mul(per_page);
        let end = before.saturating_add(per_page).min(places.len());
        let shown = places.get(before..end).unwrap_or_default();
        let items = view.results(shown)?.into_iter().map(ItemRow::from).collect();
        Ok(ItemsResponse { total: places.len(), page, per_page, items })
    });
    reading.await.map(Json)
}

/// Checks that a number of a query is from 1 to a maximum.
pub fn within(
    requested: Option<usize>,
    default: usize,
    most: usize,
    name: &str,
) -> Result<usize, Problem> {
    let number = requested.unwrap_or(default);
    if (1..=most).contains(&number) {
        return Ok(number);
    }
    let bounds = if most == usize::MAX { "1 or more".to_owned() } else { format!("1 to {most}") };
    Err(Problem::bad_request(format!("{name} must be {bounds}.")))
}

/// Direction of an order.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Direction {
    /// Ascending.
    Asc,
    /// Descending.
    Desc,
}

fn order(name: &str, view: &RunView) -> Result<Order, Problem> {
    Order::from_name(name, view).ok_or_else(|| {
        let keys = view.columns.iter().map(|column| column.key.as_str());
        let names: Vec<&str> = std::iter::once(Order::URGENCY).chain(keys).collect();
        Problem::unprocessable(format!("sort must be one of {}.", names.join(", ")))
    })
}
