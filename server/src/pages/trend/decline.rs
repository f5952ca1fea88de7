//! Declines of metrics from a fixed anchor.

use crate::view::RunView;
use juror_analysis::{
    history::{DeclineWatch, is_of_one_kind},
    metrics::Metric,
};
use juror_app::run_catalog::{ListedRun, runs_before};
use juror_report::{
    html::class_of, phrasing::decline_text, sanitize::sanitize, topics::trend::level_of,
};
use maud::{Markup, html};

/// List of the decision on each metric.
pub(super) fn list(view: &RunView, runs: &[ListedRun], metrics: &[&Metric]) -> Markup {
    let directory = view.files.directory();
    let runs_dir = directory.parent().unwrap_or(directory);
    let watch = DeclineWatch::default().anchored_at_blessed(runs_dir);
    let own = view.files.record();
    let mut earlier: Vec<&ListedRun> = runs_before(runs, own, is_of_one_kind).collect();
    earlier.reverse();
    let from_cache = view.report.is_from_cache();
    let judge = |metric: &&Metric| {
        let definition = &metric.definition;
        let points: Vec<_> = earlier
            .iter()
            .filter_map(|run| run.figures.as_ref()?.point(&run.record.run_id, &definition.path))
            .chain(metric.newest_point(from_cache))
            .collect();
        definition.can_decline().then(|| watch.watch(definition, &points, 1))
    };
    html! {
        h3 { "Slow declines" }
        p.faint {
            "Each metric is compared by CUSUM with " (watch.anchor_runs) " runs, the first of this kind or those"
            " from the blessed run on."
            " Without any change, it raises an alarm in 5 of 100 series of "
            (watch.monitored_runs) " runs."
        }
        ul {
            @for metric in metrics {
                @if let Some(decline) = judge(metric) {
                    @let class = class_of(level_of(decline.state));
                    li {
                        (sanitize(&metric.definition.title)) ": "
                        span class=(class) { (sanitize(&decline_text(&decline, metric.definition.unit))) }
                    }
                }
            }
        }
    }
}
