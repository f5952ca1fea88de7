//! Distributions of the scores of a run.

use crate::view::RunView;
use juror_report::{
    html::{distribution, simulated},
    topics::distribution::ScoreDistribution,
};
use maud::{Markup, html};

/// Histograms of the total score and of each criterion or group; empty without a verdict.
pub fn distributions(view: &RunView) -> Markup {
    let columns = || view.columns.iter().enumerate().filter(|(_, column)| column.is_part());
    let titles = columns().map(|(_, column)| column.title.clone().unwrap_or_default());
    let mut scores = ScoreDistribution::new(view.report.rubric.scale, titles);
    for row in (0..).map_while(|place| view.row(place)) {
        let values = columns().map(|(place, _)| row.values.get(place).copied().map(f64::from));
        if let Some(score) = row.score {
            scores.add(score.into(), values.map(|value| value.filter(|value| !value.is_nan())));
        }
    }
    html! {
        @if scores.verdicts > 0 {
            details.card #spread-fold {
                summary { "Distribution of scores" @if view.report.run.simulated { " " (simulated()) } }
                (distribution(&scores))
            }
        }
    }
}
