//! Chart of a metric over runs: axis, dates, intervals and target.

use crate::pages::links;
use juror_analysis::{format::figure, history::PastMetric, metrics::Unit};
use juror_report::sanitize::sanitize;
use juror_types::id::RunId;
use maud::{Markup, html};

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 260.0;
/// Margins for the labels of the axis and the dates.
const LEFT: f64 = 64.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 28.0;
/// Approximate number of steps of the grid.
const GRID_STEPS: f64 = 4.0;
/// Maximum number of dates below the chart.
const MAX_DATES: usize = 8;

/// A run in a chart.
pub struct ChartPoint {
    pub run: RunId,
    /// Time of its creation, RFC 3339.
    pub created_at: String,
    pub metric: PastMetric,
}

/// Chart of a metric, oldest run first.
pub struct TrendChart<'a> {
    pub title: &'a str,
    pub unit: Unit,
    /// Bound of the gate, if there is one.
    pub target: Option<f64>,
    /// Points, oldest first.
    pub points: &'a [ChartPoint],
}

impl TrendChart<'_> {
    /// Renders the chart; the table below it has the same figures.
    pub fn markup(&self) -> Markup {
        let axis = self.axis();
        let right = WIDTH - RIGHT;
        html! {
            div.scroll tabindex="0" role="region" aria-label=(format!("Chart of {}", sanitize(self.title))) {
                svg.trend-chart viewBox=(format!("0 0 {WIDTH:.0} {HEIGHT:.0}")) role="group"
                    aria-label=(format!("{}, oldest run first", sanitize(self.title))) {
                    @for value in axis.ticks() {
                        @let y = axis.y(value);
                        line.grid x1=(LEFT) x2=(right) y1=(format!("{y:.1}")) y2=(format!("{y:.1}")) {}
                        text.axis x=(LEFT - 8.0) y=(format!("{:.1}", y + 4.0)) text-anchor="end" { (figure(value, self.unit)) }
                    }
                    @if let Some(target) = self.target { (target_line(axis, target, self.unit)) }
                    polyline points=(self.line(axis)) {}
                    @for (place, point) in self.points.iter().enumerate() { (self.point(axis, place, point)) }
                    @for (place, point) in self.points.iter().enumerate().step_by(self.points.len().div_ceil(MAX_DATES).max(1)) {
                        text.axis x=(format!("{:.1}", self.x(place))) y=(HEIGHT - 8.0) text-anchor="middle" {
                            (sanitize(point.created_at.get(5..10).unwrap_or_default()))
                        }
                    }
                }
            }
            p.faint {
                "Each point is a run, its bar the 95 % interval"
                @if let Some(target) = self.target { "; the dashed line is the target, " (figure(target, self.unit)) }
                ". Dates are month and day."
            }
        }
    }

    /// Axis of all values, intervals and the target.
    fn axis(&self) -> Axis {
        let (low, high) = ends(self.points.iter().map(|point| &point.metric), self.target);
        match low <= high {
            true => Axis::around(low, high, self.unit),
            false => Axis::around(0.0, 1.0, self.unit),
        }
    }

    fn x(&self, place: usize) -> f64 {
        let step = (WIDTH - LEFT - RIGHT) / self.points.len().max(1) as f64;
        LEFT + step * (place as f64 + 0.5)
    }

    fn line(&self, axis: Axis) -> String {
        let point = |(place, point): (usize, &ChartPoint)| {
            format!("{:.1},{:.1}", self.x(place), axis.y(point.metric.value))
        };
        self.points.iter().enumerate().map(point).collect::<Vec<_>>().join(" ")
    }

    fn point(&self, axis: Axis, place: usize, point: &ChartPoint) -> Markup {
        let (x, y) = (self.x(place), axis.y(point.metric.value));
        let day = point.created_at.get(..10).unwrap_or_default();
        let text = format!("{}, {day}: {}", point.run, figure(point.metric.value, self.unit));
        html! {
            a href=(links::run(&point.run)) aria-label=(sanitize(&text)) {
                @if let (Some(low), Some(high)) = (point.metric.low, point.metric.high) {
                    rect.sure x=(format!("{:.1}", x - 4.0)) y=(format!("{:.1}", axis.y(high))) width="8"
                        height=(format!("{:.1}", (axis.y(low) - axis.y(high)).max(1.0))) {}
                }
                circle cx=(format!("{x:.1}")) cy=(format!("{y:.1}")) r="4.5" { title { (sanitize(&text)) } }
            }
        }
    }
}

/// The lowest and the highest of the points' values and interval ends, and of a target.
pub fn ends<'a>(points: impl Iterator<Item = &'a PastMetric>, target: Option<f64>) -> (f64, f64) {
    let ends = points.flat_map(|PastMetric { value, low, high, .. }| {
        [*value, low.unwrap_or(*value), high.unwrap_or(*value)]
    });
    let ends = ends.chain(target).filter(|end| end.is_finite());
    ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), end| (low.min(end), high.max(end)))
}

/// Ends of the axis, and the step of the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Axis {
    low: f64,
    high: f64,
    step: f64,
}

impl Axis {
    /// Axis with round figures: steps are 1, 2 or 5 times a power of ten, and ends are multiples of
    /// the step within the unit's bounds.
    fn around(low: f64, high: f64, unit: Unit) -> Self {
        let (least, most) = unit.bounds();
        let finest = most.min(100.0).abs() * 0.01;
        let wanted = ((high - low) / GRID_STEPS).max(finest).max(1e-6);
        let power = 10_f64.powf(wanted.log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
        // The tolerance covers the rounding of the logarithm.
        let step = steps.into_iter().find(|step| *step >= wanted * 0.999).unwrap_or(10.0 * power);
        let (mut low, mut high) = ((low / step).floor() * step, (high / step).ceil() * step);
        if high - low < step {
            (low, high) = (low - step, high + step);
        }
        Self { low: low.max(least), high: high.min(most), step }
    }

    /// Values of the grid's lines.
    fn ticks(self) -> impl Iterator<Item = f64> {
        let count = ((self.high - self.low) / self.step + 0.001).floor() as u32;
        (0..=count).map(move |place| self.low + self.step * f64::from(place))
    }

    fn y(self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        HEIGHT - BOTTOM - share.clamp(0.0, 1.0) * (HEIGHT - TOP - BOTTOM)
    }
}

fn target_line(axis: Axis, target: f64, unit: Unit) -> Markup {
    let y = axis.y(target);
    html! {
        line.target x1=(LEFT) x2=(WIDTH - RIGHT) y1=(format!("{y:.1}")) y2=(format!("{y:.1}")) {}
        text.axis.target-name x=(WIDTH - RIGHT) y=(format!("{:.1}", y - 5.0)) text-anchor="end" {
            "target " (figure(target, unit))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_round_figures_and_contains_all_values() {
        let ticks = |low, high, unit| {
            let axis = Axis::around(low, high, unit);
            assert!(axis.low <= low && axis.high >= high, "{axis:?}");
            axis.ticks().map(|tick| figure(tick, unit)).collect::<Vec<_>>()
        };
        assert_eq!(ticks(0.7312, 0.8871, Unit::Share), ["70%", "75%", "80%", "85%", "90%"]);
        assert_eq!(ticks(0.93, 0.99, Unit::Share), ["92%", "94%", "96%", "98%", "100%"]);
        assert_eq!(ticks(0.9, 0.9, Unit::Share), ["89%", "90%", "91%"]);
        assert_eq!(ticks(0.0, 1.0, Unit::Share), ["0%", "50%", "100%"]);
    }
}
