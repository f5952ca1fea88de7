//! The result of a run in one sentence.

use crate::phrasing::{coverage_text, spent_text};
use juror_analysis::{
    comparison::Decision,
    format::{figure, interval},
    gate::GateDecision,
    metrics::MetricDefinition,
    run_report::Report,
};

/// The result of a run in one sentence without a final dot: coverage, the decisive score, gate,
/// comparison, money.
///
/// `27 of 27 scored, Semantic Correctness 87.4% [83.1, 91.7] n=27, no gate set, $0.19 of a
/// budget of $1.00`
pub fn summary_sentence(report: &Report) -> String {
    let mut parts = vec![coverage_text(&report.coverage)];
    parts.extend(score(report));
    parts.push(gate_result(report));
    parts.extend(comparison(report));
    parts.extend(money(report));
    parts.join(", ")
}

fn score(report: &Report) -> Option<String> {
    let metric = report.metric(&MetricDefinition::decisive(&report.rubric).path)?;
    let unit = metric.definition.unit;
    let simulated = if report.run.simulated { " (simulated)" } else { "" };
    Some(format!(
        "{} {} {}{simulated}",
        metric.definition.title,
        figure(metric.value?, unit),
        interval(&metric.interval, unit)
    ))
}

fn gate_result(report: &Report) -> String {
    let Some(gate) = &report.gate else { return "no gate set".to_owned() };
    let deciding = gate.rules.iter().filter(|rule| rule.decision == gate.decision).count();
    let rules = match gate.decision {
        GateDecision::Met => String::new(),
        _ => format!(" ({deciding} of {} rules)", gate.rules.len()),
    };
    format!("gate {} {}{rules}", gate.gate, gate.decision.name())
}

fn comparison(report: &Report) -> Option<String> {
    let comparison = report.comparison.as_ref()?;
    let base = &comparison.base.run;
    Some(match comparison.decision {
        Decision::Same => format!("same as {base}"),
        Decision::Better => format!("better than {base}"),
        Decision::Worse => format!("worse than {base}"),
        Decision::Inconclusive => format!("inconclusive against {base}"),
    })
}

/// Cost and budget; `None` without a judge.
fn money(report: &Report) -> Option<String> {
    report.run.judge.as_ref()?;
    Some(spent_text(report.cost.total_usd, report.cost.budget_usd))
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_analysis::gate::GateReport;
    use juror_analysis::test_fixtures::{SEMANTIC, judged, record, report_of};

    #[test]
    fn run_summary_is_one_sentence() {
        let results = [judged("a", [9, 8, 10, 10, 9], &[], &[]), judged("b", [7; 5], &[], &[])];
        let (mut report, _directory, _runs) = report_of(&record(SEMANTIC, 3), &results, None, None);
        let sentence = summary_sentence(&report);
        assert!(
            sentence.starts_with("2 of 3 scored (66.7%), 1 pending, Semantic Correctness 81% [")
        );
        assert!(sentence.contains("n=2") && sentence.contains(", no gate set, $"), "{sentence}");
        report.gate = Some(GateReport {
            gate: "production".to_owned(),
            decision: GateDecision::Missed,
            rules: Vec::new(),
        });
        assert!(summary_sentence(&report).contains("gate production missed (0 of 0 rules)"));
        report.run.judge = None;
        assert!(!summary_sentence(&report).contains('$'));
    }
}
