//! Layout of each topic, once for all formats.

mod calibration;
pub mod calibration_file;
pub mod changes;
pub mod comparison;
pub mod cost;
pub mod coverage;
pub mod distribution;
pub mod gate;
pub mod head;
pub mod issues;
pub mod measured;
pub mod metrics;
mod repeats;
pub mod results;
pub mod trend;

use crate::document::Topic;
use juror_analysis::run_report::Report;

/// The topics behind the head of a report, in their order.
pub(crate) fn behind_head(report: &Report) -> Vec<Topic> {
    let comparison = report.comparison.as_ref();
    let topics = [
        comparison.map(changes::topic),
        comparison.map(comparison::topic),
        metrics::semantic(report),
        metrics::pipeline(report),
        report.gate.as_ref().map(|gate| gate::topic(report, gate)),
        issues::topic(report),
        measured::topic(report),
        repeats::topic(report),
        calibration::topic(report),
        Some(coverage::topic(report)),
        cost::topic(report),
    ];
    topics.into_iter().flatten().collect()
}
