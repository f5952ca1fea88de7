//! Layout of the metrics: the judge's, and those of the deterministic stages.

use super::gate;
use crate::document::{Block, Level, RangeChart, ShownMetric, Topic};
use juror_analysis::{
    format::{figure, grouped, interval},
    metrics::{Metric, ScoreBands, Unit, title_of},
    run_report::Report,
};
use juror_types::rubric::Formula;

/// The judge's metrics, with how many verdicts earned which grade; `None` with the judge off.
pub fn semantic(report: &Report) -> Option<Topic> {
    report.run.judge.as_ref()?;
    let metrics = report.metrics.iter().filter(|metric| metric.definition.is_semantic());
    let shown = metrics.enumerate().map(|(number, metric)| ShownMetric {
        whole: number == 0,
        simulated: report.run.simulated,
        ..shown(report, metric)
    });
    let mut blocks = vec![Block::Metrics(shown.collect())];
    blocks.extend(report.grades.as_ref().map(|grades| {
        let counts = grades.iter().map(|(grade, count)| format!("{grade} {}", grouped(*count)));
        Block::Pairs(vec![("Grades".to_owned(), counts.collect::<Vec<_>>().join(", "))])
    }));
    // The scores of such a rubric add up to one metric, whatever its name.
    let kind = match report.rubric.formula {
        Formula::SumOverMax => "Semantic".to_owned(),
        Formula::WeightedGroups => title_of(&report.rubric.id),
    };
    let title = format!("{kind} evaluation");
    let topic = Topic::new("semantic", title, report.run.simulated, blocks);
    Some(Topic { name: "(LLM-as-judge)".to_owned(), ..topic })
}

/// The deterministic stages; `None` if they have no data beside a judge's.
pub fn pipeline(report: &Report) -> Option<Topic> {
    let metrics = report.metrics.iter().filter(|metric| is_stage(metric) && metric.value.is_some());
    let shown: Vec<_> = metrics
        .map(|metric| {
            // Passing depends on the verdict too.
            let judged = metric.definition.path == "pipeline_success_rate";
            let simulated = report.run.simulated && judged;
            ShownMetric { simulated, ..shown(report, metric) }
        })
        .collect();
    let block = match (shown.is_empty(), &report.run.judge) {
        (false, _) => Block::Metrics(shown),
        (true, None) => Block::Sentence(Level::Faint, "", "no stage has any data".to_owned()),
        (true, Some(_)) => return None,
    };
    Some(Topic::new("stages", "Pipeline", false, vec![block]))
}

/// True for a metric of a deterministic stage, or of them all.
fn is_stage(metric: &Metric) -> bool {
    let definition = &metric.definition;
    let is_elsewhere = definition.is_semantic() || definition.is_evidence();
    !is_elsewhere && definition.unit != Unit::Milliseconds
}

fn shown(report: &Report, metric: &Metric) -> ShownMetric {
    let definition = &metric.definition;
    let rules = report.gate.iter().flat_map(|gate| &gate.rules);
    let rule = rules.clone().find(|rule| rule.metric == definition.path);
    let demand = rule.map(|rule| {
        let text = format!("{}, {}", gate::demand(report, rule), rule.decision.name());
        (text, gate::level_of(rule.decision))
    });
    let bound = rule.and_then(|rule| rule.bound).map(|bound| bound.figure());
    ShownMetric {
        title: definition.title.clone(),
        origin: definition.provenance(report.run.judge.is_some()),
        value: metric.value.map(|value| figure(value, definition.unit)),
        interval: interval(&metric.interval, definition.unit),
        spread: metric.perfection.as_ref().map(spread).unwrap_or_default(),
        demand,
        range: range(metric, bound),
        whole: false,
        simulated: false,
    }
}

/// Chart of the figure on its possible range; `None` without such a range.
fn range(metric: &Metric, bound: Option<f64>) -> Option<RangeChart> {
    let unit = metric.definition.unit;
    let (least, most) = unit.bounds();
    let share = |value: f64| (value - least) / (most - least);
    let interval = metric.interval.low.zip(metric.interval.high);
    (unit != Unit::Milliseconds).then_some(RangeChart {
        value: share(metric.value?),
        interval: interval.map(|(low, high)| (share(low), share(high))),
        bound: bound.map(share),
    })
}

/// `(15/18 perfect, 3 with minor issues)`, `(11/16 perfect, 3 minor, 2 major)`.
fn spread(bands: &ScoreBands) -> String {
    let ScoreBands { perfect, minor, major } = *bands;
    let others = match (minor, major) {
        (0, 0) => String::new(),
        (minor, 0) => format!(", {} with minor issues", grouped(minor)),
        (0, major) => format!(", {} with major issues", grouped(major)),
        (minor, major) => format!(", {} minor, {} major", grouped(minor), grouped(major)),
    };
    format!("({}/{} perfect{others})", grouped(perfect), grouped(perfect + minor + major))
}
